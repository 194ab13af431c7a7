//! Real programs that some tests ask: those of `tests/real/build`, where they stand in `PATH`.

use std::env;
use std::path::PathBuf;

/// The program with this name in `PATH`. Nothing when this machine does not have it: the test then says so and checks
/// nothing; `.ci/run` has them all.
pub fn part(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let found = env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file());
    if found.is_none() {
        println!("not checked: no {name} in PATH");
    }
    found
}
