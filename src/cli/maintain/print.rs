//! Prints what happens: sentences, or JSON lines.

use super::args::EventFormat;
use crate::cli::exit::CliError;
use crate::cli::output;
use crate::domain::text::sanitise;
use crate::maintenance::event::Event;
use crate::maintenance::round::event::RoundEvent;
use crate::maintenance::state::{State, Step};
use std::io;

/// Prints events.
pub struct Printer {
    format: EventFormat,
    waiting_for: String,
}

impl Printer {
    /// Prints in this format.
    pub const fn new(format: EventFormat) -> Self {
        Self {
            format,
            waiting_for: String::new(),
        }
    }

    /// Prints these.
    ///
    /// # Errors
    /// The output is gone.
    pub fn events(&mut self, events: &[Event]) -> Result<(), CliError> {
        for event in events {
            let line = match self.format {
                EventFormat::Json => serde_json::to_string(event).map_err(io::Error::from)?,
                EventFormat::Text => {
                    let text = event.what.to_string();
                    let lines: Vec<_> = text.lines().map(sanitise).collect();
                    format!(
                        "{} {}  {}",
                        event.at.format("%H:%M:%S"),
                        event.node,
                        lines.join("\n")
                    )
                }
            };
            output::print(&(line + "\n"))?;
        }
        Ok(())
    }

    /// Prints what happened in a round.
    ///
    /// # Errors
    /// The output is gone.
    pub fn round(&self, events: &[RoundEvent]) -> Result<(), CliError> {
        for event in events {
            let line = match self.format {
                EventFormat::Json => serde_json::to_string(event).map_err(io::Error::from)?,
                EventFormat::Text => format!(
                    "{} {}  {}",
                    event.at.format("%H:%M:%S"),
                    event.node.as_deref().unwrap_or("round"),
                    sanitise(&event.what.to_string())
                ),
            };
            output::print(&(line + "\n"))?;
        }
        Ok(())
    }

    /// Prints a line of the reboot command: beside the events, so that JSON lines stay JSON.
    ///
    /// # Errors
    /// The output is gone.
    pub fn output(&mut self, line: &str) -> Result<(), CliError> {
        match self.format {
            EventFormat::Json => output::say(&sanitise(line)),
            EventFormat::Text => output::print(&format!("         | {}\n", sanitise(line)))?,
        }
        Ok(())
    }

    /// Says what is waited for, when that changed and is not a count of pods.
    ///
    /// # Errors
    /// The output is gone.
    pub fn waiting(&mut self, state: &State) -> Result<(), CliError> {
        let told = matches!(
            state.step,
            Step::Restart | Step::Revision | Step::Network | Step::Uncordon | Step::PodsBack
        );
        // That the API server is lost is an event.
        let told = told && !state.api_is_lost();
        if self.format == EventFormat::Text && told && state.waiting_for != self.waiting_for {
            self.waiting_for.clone_from(&state.waiting_for);
            if !self.waiting_for.is_empty() {
                output::print(&format!("         waiting for {}\n", sanitise(&self.waiting_for)))?;
            }
        }
        Ok(())
    }
}
