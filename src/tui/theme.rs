//! Themes: what each [`Role`] looks like. A theme names every role once, in the terminal's own sixteen colours
//! and the marks that any terminal has; so one theme is right at every colour depth.

use crate::store::view::Role;
use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

/// Text of the theme in the terminal's own colours.
const TERMINAL: &str = include_str!("../../themes/terminal.toml");
/// Text of the theme without colours.
const MONOCHROME: &str = include_str!("../../themes/monochrome.toml");

/// A theme.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Theme {
    /// Name, as `--theme` takes it.
    pub name: String,
    roles: Roles,
}

/// One look for each role. A missing role is an error of the theme, so a theme cannot leave a gap.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Roles {
    text: Look,
    muted: Look,
    title: Look,
    border: Look,
    key: Look,
    ok: Look,
    warn: Look,
    error: Look,
    stale: Look,
    absent: Look,
    windows: Look,
    linux: Look,
    series1: Look,
    series2: Look,
    highlight: Look,
    selection: Look,
    active_tab: Look,
    mark: Look,
}

/// Colours and marks of a role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the marks of a terminal are independent of each other"
)]
struct Look {
    fg: Option<Ansi>,
    bg: Option<Ansi>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    reverse: bool,
}

/// The sixteen colours that every colour terminal has, by the names of their usual hue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Ansi {
    Black,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    White,
    BrightBlack,
    BrightRed,
    BrightGreen,
    BrightYellow,
    BrightBlue,
    BrightMagenta,
    BrightCyan,
    BrightWhite,
}

impl From<Ansi> for Color {
    fn from(ansi: Ansi) -> Self {
        match ansi {
            Ansi::Black => Self::Black,
            Ansi::Red => Self::Red,
            Ansi::Green => Self::Green,
            Ansi::Yellow => Self::Yellow,
            Ansi::Blue => Self::Blue,
            Ansi::Magenta => Self::Magenta,
            Ansi::Cyan => Self::Cyan,
            Ansi::White => Self::Gray,
            Ansi::BrightBlack => Self::DarkGray,
            Ansi::BrightRed => Self::LightRed,
            Ansi::BrightGreen => Self::LightGreen,
            Ansi::BrightYellow => Self::LightYellow,
            Ansi::BrightBlue => Self::LightBlue,
            Ansi::BrightMagenta => Self::LightMagenta,
            Ansi::BrightCyan => Self::LightCyan,
            Ansi::BrightWhite => Self::White,
        }
    }
}

impl Look {
    fn style(self) -> Style {
        let mut style = Style::new();
        if let Some(fg) = self.fg {
            style = style.fg(fg.into());
        }
        if let Some(bg) = self.bg {
            style = style.bg(bg.into());
        }
        for (wanted, modifier) in [
            (self.bold, Modifier::BOLD),
            (self.dim, Modifier::DIM),
            (self.italic, Modifier::ITALIC),
            (self.underline, Modifier::UNDERLINED),
            (self.reverse, Modifier::REVERSED),
        ] {
            if wanted {
                style = style.add_modifier(modifier);
            }
        }
        style
    }
}

/// A theme that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    /// No theme has that name.
    #[error("there is no theme '{0}'; there are: terminal, monochrome")]
    Unknown(String),
    /// The text of the theme is wrong: a role is missing or unknown, or a colour has no such name.
    #[error("theme '{name}' is wrong: {reason}")]
    Invalid {
        /// Which theme.
        name: String,
        /// What is wrong, with the line.
        reason: String,
    },
}

impl Theme {
    /// The built-in theme of that name.
    pub fn named(name: &str) -> Result<Self, ThemeError> {
        let text = match name {
            "terminal" => TERMINAL,
            "monochrome" => MONOCHROME,
            other => return Err(ThemeError::Unknown(other.to_owned())),
        };
        toml::from_str(text).map_err(|error| ThemeError::Invalid {
            name: name.to_owned(),
            reason: error.to_string(),
        })
    }

    /// Look of a piece of text.
    pub fn role(&self, role: Role) -> Style {
        match role {
            Role::Text => self.roles.text,
            Role::Muted => self.roles.muted,
            Role::Title => self.roles.title,
            Role::Border => self.roles.border,
            Role::Key => self.roles.key,
            Role::Ok => self.roles.ok,
            Role::Warn => self.roles.warn,
            Role::Error => self.roles.error,
            Role::Stale => self.roles.stale,
            Role::Absent => self.roles.absent,
            Role::Windows => self.roles.windows,
            Role::Linux => self.roles.linux,
            Role::Series2 => self.roles.series2,
            Role::Series1 => self.roles.series1,
            Role::Highlight => self.roles.highlight,
        }
        .style()
    }

    /// Look laid over the selected row.
    pub fn selection(&self) -> Style {
        self.roles.selection.style()
    }

    /// Look of the tab that is shown.
    pub fn active_tab(&self) -> Style {
        self.roles.active_tab.style()
    }

    /// Look of the marks DEMO and READ-ONLY.
    pub fn mark(&self) -> Style {
        self.roles.mark.style()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_themes_name_every_role() {
        for name in ["terminal", "monochrome"] {
            assert_eq!(Theme::named(name).unwrap().name, name);
        }
    }

    #[test]
    fn a_theme_without_a_role_says_which_one_is_missing() {
        let text: String = TERMINAL
            .lines()
            .filter(|line| !line.starts_with("warn"))
            .collect::<Vec<_>>()
            .join("\n");
        let error = toml::from_str::<Theme>(&text).unwrap_err().to_string();
        assert!(error.contains("missing field `warn`"), "{error}");
    }

    #[test]
    fn a_theme_with_an_unknown_role_is_refused() {
        let error = toml::from_str::<Theme>(&format!("{TERMINAL}\nwarning = {{}}\n"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("unknown field `warning`"), "{error}");
    }

    #[test]
    fn the_monochrome_theme_has_no_colour() {
        assert!(!MONOCHROME.contains("fg ") && !MONOCHROME.contains("bg "));
    }

    #[test]
    fn an_unknown_theme_is_told_with_the_ones_there_are() {
        let error = Theme::named("solarized").unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no theme 'solarized'; there are: terminal, monochrome"
        );
    }
}
