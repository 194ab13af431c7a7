//! `drainboard` without a command: the screens.

use super::exit::{CliError, Outcome};
use super::output;
use crate::sources::{self, SourcesOptions};
use crate::tui::{self, TuiOptions};
use std::io::{self, IsTerminal};

/// Opens the screens and returns when the operator leaves them.
///
/// # Errors
/// Standard input and output are no terminal; no usable kubeconfig, context or credentials.
pub async fn run(options: SourcesOptions, look: &TuiOptions) -> Result<Outcome, CliError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(CliError::Usage(
            "the screens need a terminal as standard input and output; `nodes`, `pods`, `check` and \
             --snapshot print without one"
                .to_owned(),
        ));
    }
    // A credential plugin may ask the operator something now, and never once the screens are open.
    let running = sources::start(options).await?;
    if let Some(node) = tui::run(running, look).await? {
        output::say(&format!(
            "drainboard: node {node} stays as it is; go on with `drainboard maintain {node} --resume`, or m on the screens"
        ));
    }
    Ok(Outcome::Fine)
}
