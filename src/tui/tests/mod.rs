//! The screens as the operator meets them: keys go in, the screen comes out.

mod fixture;
mod flows;
mod looping;
mod maintaining;
mod panes;
mod rounds;

use super::app::{self, Effect, Input};
use super::glyphs::Charset;
use super::render::{self, Frame, Look};
use super::scene;
use super::theme::Theme;
use super::ui::{Options, Ui};
use crate::domain::Timestamp;
use crate::sources::event::Request;
use fixture::Cluster;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Size;

/// 14:02:05 on a Tuesday of the article's month.
fn now() -> Timestamp {
    "2026-08-04T14:02:05Z".parse().unwrap()
}

fn look() -> Look {
    Look {
        theme: Theme::named("terminal").unwrap(),
        charset: Charset::Unicode,
    }
}

/// A key as a test writes it: `j`, `G`, `enter`, `esc`, `ctrl-d`, `right`…
fn key(name: &str) -> KeyEvent {
    let mut modifiers = KeyModifiers::NONE;
    let mut rest = name;
    if let Some(letter) = name.strip_prefix("ctrl-") {
        modifiers = KeyModifiers::CONTROL;
        rest = letter;
    }
    let code = match rest {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "backtab" => KeyCode::BackTab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "space" => KeyCode::Char(' '),
        "backspace" => KeyCode::Backspace,
        "pgdn" => KeyCode::PageDown,
        letter => KeyCode::Char(letter.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

/// An operator at a terminal.
struct Operator {
    ui: Ui,
    cluster: Cluster,
    look: Look,
    effects: Vec<Effect>,
    frame: Frame,
}

impl Operator {
    fn at(width: u16, height: u16, cluster: Cluster) -> Self {
        let mut ui = Ui::new(Options::default());
        ui.size = Size::new(width, height);
        let mut operator = Self {
            frame: Frame {
                buffer: ratatui::buffer::Buffer::default(),
                cursor: None,
            },
            ui,
            cluster,
            look: look(),
            effects: Vec::new(),
        };
        operator.look_again();
        operator
    }

    fn look_again(&mut self) {
        let scene = scene::build(&mut self.ui, &mut self.cluster, now());
        self.frame = render::frame(&scene, &self.ui, &self.look);
    }

    /// Presses keys, separated by spaces; the screen follows each.
    fn press(&mut self, keys: &str) -> &mut Self {
        for name in keys.split_whitespace() {
            let effects = app::update(&mut self.ui, Input::Key(key(name)));
            self.effects.extend(effects);
            self.look_again();
        }
        self
    }

    /// Types a text, letter by letter.
    fn types(&mut self, text: &str) -> &mut Self {
        for letter in text.chars() {
            let event = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
            let effects = app::update(&mut self.ui, Input::Key(event));
            self.effects.extend(effects);
            self.look_again();
        }
        self
    }

    fn lines(&self) -> Vec<String> {
        super::lines(&self.frame.buffer)
    }

    fn screen(&self) -> String {
        self.lines().join("\n")
    }

    /// The row with the pointer.
    fn pointed(&self) -> String {
        let lines = self.lines();
        let line = lines.iter().find(|line| line.starts_with('▸'));
        line.map(|line| line.trim_start_matches("▸ ").to_owned())
            .unwrap_or_default()
    }

    fn footer(&self) -> String {
        self.lines().pop().unwrap_or_default()
    }

    #[track_caller]
    fn sees(&self, words: &str) -> &Self {
        assert!(
            self.screen().contains(words),
            "'{words}' is not on the screen:\n{}",
            self.screen()
        );
        self
    }

    #[track_caller]
    fn sees_not(&self, words: &str) -> &Self {
        assert!(
            !self.screen().contains(words),
            "'{words}' is on the screen:\n{}",
            self.screen()
        );
        self
    }

    /// What the sources were asked since the last look.
    fn asked(&mut self) -> Vec<String> {
        let effects = std::mem::take(&mut self.effects);
        effects
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::Request(Request::Demand(_)) => None,
                Effect::Request(request) => Some(format!("{request:?}")),
                Effect::Suspend => Some("suspend".to_owned()),
                Effect::Quit => Some("quit".to_owned()),
                Effect::Maintain(order) => Some(format!("{order:?}")),
                Effect::CopyCommands => Some("copy".to_owned()),
            })
            .collect()
    }
}
