//! How much something matters. A severity has a glyph as well as a colour on the screens, and an exit code on
//! the command line.

/// How much something matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// As it should be, or plain information.
    #[default]
    Fine,
    /// Amber: look at it soon.
    Warning,
    /// Red: act.
    Critical,
}

impl Severity {
    /// The word in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}
