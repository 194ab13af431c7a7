//! A question at the terminal.

use crate::cli::output;
use std::io;
use tokio::task::JoinHandle;

/// At most one question at a time, read without holding anything up.
#[derive(Default)]
pub struct Ask {
    asked: String,
    reading: Option<JoinHandle<String>>,
}

impl Ask {
    /// Asks this, unless it was asked last.
    pub fn once(&mut self, question: &str) {
        if self.asked == question {
            return;
        }
        question.clone_into(&mut self.asked);
        output::say(&format!("{question}: "));
        self.reading = Some(tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            // The end of the input answers as an empty line does: not confirmed.
            let _ = io::stdin().read_line(&mut line);
            line
        }));
    }

    /// The answer, once. Cancel safe.
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
