//! The journal: what happened, line by line as JSON, appended and synced before anything else goes on. One file per
//! cluster and node, in the user's state directory (`$XDG_STATE_HOME/drainboard/maintenance`).

use crate::domain::Timestamp;
use crate::maintenance::event::{Event, Happening};
use crate::maintenance::record::Record;
use etcetera::BaseStrategy;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The record as it was about to be written to the node.
    Record(Box<Record>),
    /// Something happened, in the maintenance of this id.
    Happened {
        /// The maintenance.
        id: String,
        /// What.
        #[serde(flatten)]
        event: Event,
    },
    /// A line of the restart by command or pod, cut and made harmless, in the maintenance of this id.
    Output {
        /// The maintenance.
        id: String,
        /// When it was read.
        at: Timestamp,
        /// The line.
        text: String,
    },
}

/// A file of JSON lines that only grows.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    file: File,
}

impl Lines {
    /// Opens it to append to it; makes it and its directory where they are missing.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn open(path: PathBuf) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
        // A line that a crash or a full disk cut off must not swallow the next one.
        if std::fs::read(&path)?.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n")?;
        }
        Ok(Self { path, file })
    }

    /// Appends a line and waits until it is on the disk.
    ///
    /// # Errors
    /// The disk is full, or the file cannot be written.
    pub fn append(&mut self, line: &impl Serialize) -> io::Result<()> {
        self.write(line)?;
        self.file.sync_data()
    }

    /// Appends a line; it is on the disk with the next one that is waited for.
    fn write(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)
    }

    /// Keeps other runs of the program out as long as this one lives. False if another one has it.
    ///
    /// # Errors
    /// The file system has no locks.
    pub fn lock(&self) -> io::Result<bool> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// The lines of such a file. One that was cut off by a crash is skipped.
///
/// # Errors
/// The file cannot be read.
pub fn read<L: DeserializeOwned>(path: &Path) -> io::Result<Vec<L>> {
    let mut lines = Vec::new();
    for text in std::fs::read(path)?.split(|byte| *byte == b'\n') {
        if text.is_empty() {
            continue;
        }
        match serde_json::from_slice(text) {
            Ok(line) => lines.push(line),
            Err(error) => tracing::debug!(%error, "a line of a journal cannot be read"),
        }
    }
    Ok(lines)
}

/// The journal of one node.
#[derive(Debug)]
pub struct Journal(Lines);

impl Journal {
    /// Opens the journal of `node` in the cluster behind `server` to append to it.
    ///
    /// # Errors
    /// There is no state directory, or it cannot be written.
    pub fn open(server: &str, node: &str) -> io::Result<Self> {
        Lines::open(path_of(server, node)?).map(Self)
    }

    /// Appends a line and waits until it is on the disk; output is on the disk with the next line of another kind.
    ///
    /// # Errors
    /// The disk is full, or the file cannot be written.
    pub fn append(&mut self, line: &Line) -> io::Result<()> {
        match line {
            Line::Output { .. } => self.0.write(line),
            Line::Record(_) | Line::Happened { .. } => self.0.append(line),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The events of this maintenance, oldest first. A line that was cut off by a crash is skipped.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn events(&self, id: &str) -> io::Result<Vec<Event>> {
        Ok(events_of(read(&self.0.path)?, id))
    }
}

/// The events of this maintenance among these lines.
pub fn events_of(lines: Vec<Line>, id: &str) -> Vec<Event> {
    let event = |line| match line {
        Line::Happened { id: of, event } if of == id => Some(event),
        _ => None,
    };
    lines.into_iter().filter_map(event).collect()
}

/// What the journal of `node` holds; nothing where there is none.
pub fn lines_of(server: &str, node: &str) -> Vec<Line> {
    path_of(server, node)
        .and_then(|path| read(&path))
        .inspect_err(|error| tracing::debug!(%error, %node, "there is no journal of the node"))
        .unwrap_or_default()
}

/// How long maintenances took that ended well, of all nodes of the cluster behind `server`, in seconds.
pub fn durations(server: &str) -> Vec<f64> {
    let files = directory_of(server).and_then(std::fs::read_dir);
    let paths = files.into_iter().flatten().flatten().map(|file| file.path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .flat_map(|path| read::<Line>(&path).unwrap_or_default())
        .filter_map(|line| match line {
            Line::Happened { event, .. } => match event.what {
                Happening::Done { seconds } => Some(seconds),
                _ => None,
            },
            Line::Record(_) | Line::Output { .. } => None,
        })
        .collect()
}

fn path_of(server: &str, node: &str) -> io::Result<PathBuf> {
    Ok(directory_of(server)?.join(file_part(node) + ".jsonl"))
}

/// Where everything about the cluster behind `server` is kept.
///
/// # Errors
/// There is no state directory.
pub fn directory_of(server: &str) -> io::Result<PathBuf> {
    let strategy = etcetera::choose_base_strategy().map_err(io::Error::other)?;
    let state = strategy.state_dir().unwrap_or_else(|| strategy.cache_dir());
    let all = state.join("drainboard").join("maintenance");
    Ok(all.join(file_part(server)))
}

/// A name or URL as part of a path: letters, digits, dots and dashes stay.
fn file_part(text: &str) -> String {
    let kept = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
    let part: String = text
        .trim_start_matches("https://")
        .chars()
        .map(|letter| if kept(letter) { letter } else { '_' })
        .collect();
    // Neither hidden nor a way out of the directory.
    format!("_{}", part.trim_start_matches('.'))
        .trim_end_matches('/')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_server_or_node_name_leads_out_of_the_directory() {
        for text in ["..", "../../etc", "https://10.0.0.1:6443/a/../b", "a\\b", "", "."] {
            let part = file_part(text);
            assert!(!part.contains('/') && !part.contains('\\'), "{part}");
            assert!(part.starts_with('_'), "{part}");
        }
    }
}
