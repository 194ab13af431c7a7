//! The thin binary: parse, log to a file, choose the TLS provider, call one command.

use anyhow::Context;
use clap::Parser;
use drainboard::cli::args::CommandLine;
use drainboard::cli::exit::Outcome;
use drainboard::cli::{logging, output, run};
use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        Err(answer) => {
            answer.print().context("the answer to the command line")?;
            let outcome = if answer.use_stderr() {
                Outcome::Usage
            } else {
                Outcome::Fine
            };
            return Ok(outcome.into());
        }
    };
    logging::start();
    // Fails only if a provider was chosen before, and nobody did.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the threads of the program")?;
    let outcome = runtime
        .block_on(run::run(line))
        .unwrap_or_else(|error| output::fail(&error));
    // A thread that still waits for a slow name server does not hold the shell up.
    runtime.shutdown_background();
    Ok(outcome.into())
}
