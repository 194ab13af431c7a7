//! What is remembered of the boots of a cluster's nodes, in the user's state directory beside the journals: one file per
//! API server. A memory that cannot be read or written is a pity and never an error: nothing but a crash overnight is
//! missed by it.

use super::journal;
use crate::domain::{Name, Timestamp};
use crate::maintenance::boots::{Boots, Sighting, UndrainedRestart};
use crate::store::Store;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const FILE: &str = "boots.json";
/// Largest file that is read, bytes: ten thousand nodes need a quarter of it.
const LARGEST: u64 = 16 << 20;

/// The memory of one cluster.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    file: Option<PathBuf>,
    boots: Boots,
}

impl Memory {
    /// What this user's commands remember of the cluster behind `server`.
    pub fn of(server: &str) -> Self {
        let directory = journal::directory_of(server);
        let file = directory
            .inspect_err(|error| tracing::debug!(%error, "boots are not remembered"))
            .ok()
            .map(|directory| directory.join(FILE));
        Self {
            file,
            boots: Boots::default(),
        }
    }

    /// A memory that ends with the program.
    pub fn in_program() -> Self {
        Self::default()
    }

    /// Takes note of what is seen at `now`, with what other commands have noted meanwhile. Answers the nodes (UID) that
    /// restarted without drain. Waits for the disk.
    pub fn note(&mut self, sightings: &[Sighting], now: Timestamp) -> BTreeMap<Name, UndrainedRestart> {
        let read = self.file.as_deref().map(read);
        match read {
            Some(Ok(boots)) => self.boots = boots,
            Some(Err(error)) => tracing::debug!(%error, "what was remembered of boots cannot be read"),
            None => {}
        }
        let before = self.boots.clone();
        self.boots.note(sightings, now);
        if self.boots != before
            && let Some(file) = &self.file
            && let Err(error) = write(file, &self.boots)
        {
            tracing::debug!(%error, "boots cannot be remembered");
        }
        self.boots.restarted_without_drain()
    }

    /// Takes note of what the store knows, and tells it what is remembered.
    pub fn share(&mut self, store: &mut Store, now: Timestamp) {
        if let Some(sightings) = store.sightings(now) {
            store.learn_restarts(self.note(&sightings, now));
        }
    }
}

fn read(file: &Path) -> io::Result<Boots> {
    let mut text = Vec::new();
    File::open(file)?.take(LARGEST).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// Whoever reads meanwhile finds the old file or the new one. It is not synced: after a power cut an older memory, or
/// none, does as well.
fn write(file: &Path, boots: &Boots) -> io::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let mut new = tempfile::NamedTempFile::new_in(directory)?;
    new.write_all(&serde_json::to_vec(boots)?)?;
    new.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_timestamp(1_794_045_600 + second, 0).unwrap()
    }

    fn seen(boot_id: &str, second: i64) -> [Sighting; 1] {
        [Sighting {
            node: "uid-win-1".into(),
            boot_id: boot_id.into(),
            alive_at: at(second),
            vouched: false,
            pods_known: true,
            pods: Vec::new(),
            sandbox_changed_at: None,
            too_early: boot_id == "12",
        }]
    }

    fn memory(directory: &Path) -> Memory {
        Memory {
            file: Some(directory.join("server").join(FILE)),
            boots: Boots::default(),
        }
    }

    #[test]
    fn what_one_command_saw_the_next_one_remembers() {
        let directory = tempfile::tempdir().unwrap();
        assert!(memory(directory.path()).note(&seen("11", 0), at(0)).is_empty());
        let told = memory(directory.path()).note(&seen("12", 60), at(60));
        assert_eq!(&*told["uid-win-1"].before, "11");
        assert_eq!(memory(directory.path()).note(&seen("12", 90), at(90)), told);
        let files = fs::read_dir(directory.path().join("server")).unwrap();
        assert_eq!(files.count(), 1, "nothing but the memory is left behind");
    }

    #[test]
    fn garbage_is_forgotten_and_written_over() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("server").join(FILE);
        for garbage in [
            "",
            "{",
            "[1]",
            "{\"nodes\":{\"uid-win-1\":{\"boot_id\":7}}}",
            "\u{0}\u{1}",
        ] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, garbage).unwrap();
            assert!(memory(directory.path()).note(&seen("11", 0), at(0)).is_empty());
            let told = memory(directory.path()).note(&seen("12", 60), at(60));
            assert_eq!(told.len(), 1, "after {garbage:?}");
        }
    }

    #[test]
    fn without_a_place_to_write_the_program_itself_remembers() {
        let directory = tempfile::tempdir().unwrap();
        let occupied = directory.path().join("server");
        fs::write(&occupied, "a file where a directory is needed").unwrap();
        for mut memory in [memory(directory.path()), Memory::in_program()] {
            assert!(memory.note(&seen("11", 0), at(0)).is_empty());
            assert_eq!(memory.note(&seen("12", 60), at(60)).len(), 1);
        }
    }
}
