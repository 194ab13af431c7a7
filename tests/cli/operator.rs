//! Somebody with a shell: a home directory of their own, nothing inherited that points at a cluster.

use assert_cmd::Command;
use std::path::PathBuf;
use std::process::Output;
use tempfile::TempDir;

/// A shell.
pub struct Operator {
    home: TempDir,
}

/// How a command ended.
pub struct Ended {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Operator {
    /// In an empty home directory.
    pub fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
        }
    }

    /// The home directory.
    #[allow(dead_code, reason = "not every test starts programs there by itself")]
    pub fn path(&self) -> &std::path::Path {
        self.home.path()
    }

    /// Writes a file into the home directory.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs `drainboard` with these words and waits for its end.
    pub async fn drainboard<const N: usize>(&self, words: [&str; N]) -> Ended {
        self.drainboard_with(&words).await
    }

    /// The same, with as many words as needed.
    pub async fn drainboard_with(&self, words: &[&str]) -> Ended {
        self.drainboard_given(words, "").await
    }

    /// The same, with something to read on standard input.
    pub async fn drainboard_given(&self, words: &[&str], input: &str) -> Ended {
        let mut command = Command::cargo_bin("drainboard").unwrap();
        command
            .args(words)
            .current_dir(self.home.path())
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            .write_stdin(input)
            .timeout(std::time::Duration::from_mins(2));
        let output: Output = tokio::task::spawn_blocking(move || command.output().unwrap())
            .await
            .unwrap();
        Ended {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// Fails unless the command ended with this code and told the operator all of these.
    #[track_caller]
    pub fn told(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in: {}", self.err);
        }
        assert!(!self.err.contains('\u{1b}'), "{:?}", self.err);
    }
}
