//! The log goes to a file, never to the screen: `drainboard/drainboard.log` in the user's state directory
//! (`$XDG_STATE_HOME`, else `~/.local/state`). `$DRAINBOARD_LOG` says how much (`debug`, `drainboard=trace`, …).

use etcetera::BaseStrategy;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use tracing_subscriber::EnvFilter;

/// Names the variable that says how much is logged.
const VARIABLE: &str = "DRAINBOARD_LOG";
/// A log that has grown beyond this is begun anew, bytes.
const LARGEST: u64 = 4 << 20;

/// Begins to log. Without a place for the file nothing is logged: that is no reason not to work.
pub fn start() {
    let Some(file) = path().and_then(|path| open(path).ok()) else {
        return;
    };
    let filter = EnvFilter::try_from_env(VARIABLE).unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        // A full disk is no reason to write over the screens.
        .log_internal_errors(false)
        .with_writer(Mutex::new(file))
        .init();
}

fn path() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    let state = strategy.state_dir().unwrap_or_else(|| strategy.cache_dir());
    Some(state.join("drainboard").join("drainboard.log"))
}

fn open(path: PathBuf) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let grown = path.metadata().is_ok_and(|found| found.len() > LARGEST);
    if grown {
        File::create(path)
    } else {
        OpenOptions::new().create(true).append(true).open(path)
    }
}
