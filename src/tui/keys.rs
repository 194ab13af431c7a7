//! Keys as the operator names them. Releases (sent by Windows and by enhanced keyboards) are no keys.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::fmt;

/// A key or a key with Ctrl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A character, upper case with Shift.
    Char(char),
    /// A letter with Ctrl.
    Ctrl(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Shift-Tab.
    BackTab,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
}

impl Key {
    /// The key of a terminal event; `None` for releases, for Alt, and for keys that nothing is bound to.
    pub fn of(event: &KeyEvent) -> Option<Self> {
        let held = |modifiers| event.modifiers.intersects(modifiers);
        let ctrl = held(KeyModifiers::CONTROL);
        // Esc and then Ctrl-C in one go arrive as Alt-Ctrl-C, and must not be lost.
        let alt = held(KeyModifiers::ALT | KeyModifiers::META) && !ctrl;
        if event.kind == KeyEventKind::Release || alt || held(KeyModifiers::SUPER) {
            return None;
        }
        Some(match event.code {
            KeyCode::Char(c) if ctrl => Self::Ctrl(c.to_ascii_lowercase()),
            KeyCode::Char(c) => Self::Char(c),
            KeyCode::Enter => Self::Enter,
            KeyCode::Esc => Self::Esc,
            KeyCode::Tab => Self::Tab,
            KeyCode::BackTab => Self::BackTab,
            KeyCode::Up => Self::Up,
            KeyCode::Down => Self::Down,
            KeyCode::Left => Self::Left,
            KeyCode::Right => Self::Right,
            KeyCode::PageUp => Self::PageUp,
            KeyCode::PageDown => Self::PageDown,
            KeyCode::Home => Self::Home,
            KeyCode::End => Self::End,
            _ => return None,
        })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Char(' ') => f.write_str("space"),
            Self::Char(c) => write!(f, "{c}"),
            Self::Ctrl(c) => write!(f, "ctrl-{c}"),
            Self::Enter => f.write_str("enter"),
            Self::Esc => f.write_str("esc"),
            Self::Tab => f.write_str("tab"),
            Self::BackTab => f.write_str("shift-tab"),
            Self::Up => f.write_str("↑"),
            Self::Down => f.write_str("↓"),
            Self::Left => f.write_str("←"),
            Self::Right => f.write_str("→"),
            Self::PageUp => f.write_str("pgup"),
            Self::PageDown => f.write_str("pgdn"),
            Self::Home => f.write_str("home"),
            Self::End => f.write_str("end"),
        }
    }
}
