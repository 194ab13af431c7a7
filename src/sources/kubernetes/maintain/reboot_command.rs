//! The reboot command that the operator configured: words, no shell, nothing to read from.

use super::Desk;
use super::node::{look, look_failed};
use super::seen::SeenNode;
use crate::domain::text::{sanitise, truncate};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::sync::mpsc::UnboundedSender;

/// Longest line that is passed on, in cells; the rest of it is left out.
const LONGEST_LINE: usize = 400;
/// Bytes of a line that are kept for that.
const KEPT_BYTES: usize = 4 * LONGEST_LINE;
/// How long what the command left running may still hold its output open after it ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs it to its end and gives its exit code.
///
/// # Errors
/// In words: why it could not be run, or that a signal ended it.
pub async fn run(desk: &Desk, command: &[String], output: &UnboundedSender<String>) -> Result<i32, String> {
    let words = fill_in(desk, command).await?;
    let Some((program, arguments)) = words.split_first() else {
        return Err("--reboot-command is empty".to_owned());
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("`{}` cannot be started: {error}", sanitise(program)))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let told = async {
        tokio::join!(tell_lines(stdout, output), tell_lines(stderr, output));
    };
    tokio::pin!(told);
    let mut silent = false;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status,
            () = &mut told, if !silent => silent = true,
        }
    };
    if !silent && tokio::time::timeout(LAST_WORDS, told).await.is_err() {
        tracing::debug!("something that the reboot command started still holds its output");
    }
    let status = status.map_err(|error| format!("`{}` is out of sight: {error}", sanitise(program)))?;
    status
        .code()
        .ok_or_else(|| format!("`{}` was ended by a signal ({status})", sanitise(program)))
}

/// Replaces `{node}` and `{address}`. The node is asked for only when its address is needed.
async fn fill_in(desk: &Desk, words: &[String]) -> Result<Vec<String>, String> {
    let mut address = String::new();
    if words.iter().any(|word| word.contains("{address}")) {
        let missing = || format!("there is no node {} any more", desk.node);
        let failed = |failure| look_failed(desk, &failure);
        let reply = look(desk).await.map_err(failed)?.ok_or_else(missing)?;
        let node: SeenNode<'_> = reply.json().map_err(failed)?;
        let found = node.address();
        address = found
            .ok_or_else(|| format!("node {} has no InternalIP for {{address}}", desk.node))?
            .to_string();
    }
    let fill = |word: &String| word.replace("{node}", &desk.node).replace("{address}", &address);
    Ok(words.iter().map(fill).collect())
}

/// Passes the lines on, cut and made fit for a terminal.
async fn tell_lines(from: Option<impl AsyncRead + Unpin>, output: &UnboundedSender<String>) {
    let Some(mut from) = from else { return };
    let mut piece = vec![0; 4096];
    let mut line: Vec<u8> = Vec::new();
    loop {
        let read = match from.read(&mut piece).await {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) => {
                tracing::debug!(%error, "the output of the reboot command broke off");
                break;
            }
        };
        for byte in &piece[..read] {
            if *byte == b'\n' {
                tell_line(&line, output);
                line.clear();
            } else if line.len() < KEPT_BYTES {
                line.push(*byte);
            }
        }
    }
    if !line.is_empty() {
        tell_line(&line, output);
    }
}

fn tell_line(line: &[u8], output: &UnboundedSender<String>) {
    let text = String::from_utf8_lossy(line);
    let clean = truncate(sanitise(text.trim_end()).as_ref(), LONGEST_LINE).into_owned();
    // That nobody reads it any more is fine.
    let _ = output.send(clean);
}
