//! A question at the terminal.

use crate::cli::output;
use std::io;
use tokio::task::JoinHandle;

/// At most one question at a time, read without holding anything up. One for the whole program: a line is never read by
/// somebody who has stopped asking.
#[derive(Default)]
pub struct Ask {
    asked: String,
    reading: Option<JoinHandle<String>>,
}

impl Ask {
    /// Asks this, unless it was asked last. A line that is still awaited from an older question answers this one.
    pub fn once(&mut self, question: &str) {
        if self.asked == question {
            return;
        }
        question.clone_into(&mut self.asked);
        output::say(&format!("{question}: "));
        if self.reading.is_none() {
            self.reading = Some(tokio::task::spawn_blocking(|| {
                let mut line = String::new();
                // The end of the input answers with nothing, not even a line end: not confirmed.
                let _ = io::stdin().read_line(&mut line);
                line
            }));
        }
    }

    /// The last question may be asked again.
    pub fn forget(&mut self) {
        self.asked.clear();
    }

    /// The answer, once; empty at the end of the input. Cancel safe.
    pub async fn answer(&mut self) -> String {
        match &mut self.reading {
            Some(reading) => {
                let answer = reading.await.unwrap_or_default();
                self.reading = None;
                answer
            }
            None => std::future::pending().await,
        }
    }
}
