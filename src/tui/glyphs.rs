//! The last pass over a drawn frame, the only place that knows what the terminal can show: glyphs become ASCII
//! twins of the same width where needed, and whatever could move the cursor or turn the writing direction is
//! replaced, wherever it came from.

use ratatui::buffer::Buffer;
use ratatui::layout::Position;

/// Characters that the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8 with block elements and geometric shapes.
    Unicode,
    /// The 95 printable ASCII characters.
    Ascii,
}

impl Charset {
    /// What the environment says: the locale's character set, and the Linux console, whose font has few glyphs.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        if variable("TERM").is_some_and(|term| term == "linux" || term == "dumb") {
            return Self::Ascii;
        }
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .filter_map(&variable)
            .find(|value| !value.is_empty());
        match locale.map(|locale| locale.to_ascii_lowercase()) {
            Some(locale) if locale.contains("utf-8") || locale.contains("utf8") => Self::Unicode,
            _ => Self::Ascii,
        }
    }
}

/// Whether the environment refuses colours (<https://no-color.org>), or the terminal has none.
pub fn without_colour(variable: impl Fn(&str) -> Option<String>) -> bool {
    variable("NO_COLOR").is_some_and(|value| !value.is_empty())
        || variable("TERM").is_some_and(|term| term == "dumb" || term.starts_with("vt1"))
}

/// Replaces what must not, or cannot, be shown.
pub fn finish(buffer: &mut Buffer, charset: Charset) {
    let area = buffer.area;
    for position in area.positions() {
        let symbol = buffer[position].symbol();
        if symbol.chars().any(is_unsafe) {
            buffer[position].set_symbol("?");
        } else if charset == Charset::Ascii && !symbol.is_ascii() {
            let wide = super::render::text::width(symbol) > 1;
            let twin = twin(symbol);
            buffer[position].set_symbol(twin);
            let next = Position::new(position.x + 1, position.y);
            if wide && area.contains(next) {
                buffer[next].set_symbol(" ");
            }
        }
    }
}

/// Control characters, and the invisible ones that turn the writing direction or hide text.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// ASCII twins of the glyphs that the screens use, each one cell wide.
const TWINS: &[(&str, &str)] = &[
    // Rules and arrows.
    ("─", "-"),
    ("│", "|"),
    ("–", "-"),
    ("—", "-"),
    ("−", "-"),
    ("▸", ">"),
    ("→", ">"),
    ("›", ">"),
    ("←", "<"),
    ("‹", "<"),
    ("↑", "^"),
    ("↓", "v"),
    // Marks: amber, red, live, stale, to do, done, paused, restarts.
    ("▲", "!"),
    ("✖", "X"),
    ("●", "*"),
    ("◌", "~"),
    ("○", "o"),
    ("✔", "+"),
    ("⏸", "="),
    ("↻", "R"),
    // Bars and charts, from low to high.
    ("▁", "_"),
    ("▂", "."),
    ("▃", ":"),
    ("▄", "-"),
    ("▅", "="),
    ("▆", "+"),
    ("▇", "%"),
    ("█", "#"),
    // Signs.
    ("·", "."),
    ("…", "~"),
    ("≈", "~"),
    ("÷", "/"),
    ("×", "x"),
    ("²", "2"),
    ("µ", "u"),
];

/// The ASCII twin of a glyph.
fn twin(symbol: &str) -> &'static str {
    TWINS
        .iter()
        .find(|(glyph, _)| *glyph == symbol)
        .map_or("?", |(_, twin)| twin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    fn environment<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| {
            pairs
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        }
    }

    #[test]
    fn the_locale_decides_between_glyphs_and_ascii() {
        let charset = |pairs: &[(&str, &str)]| Charset::detect(environment(pairs));
        assert_eq!(charset(&[("LANG", "de_AT.UTF-8")]), Charset::Unicode);
        assert_eq!(
            charset(&[("LANG", "C.utf8"), ("TERM", "xterm")]),
            Charset::Unicode
        );
        assert_eq!(
            charset(&[("LC_ALL", "C"), ("LANG", "de_AT.UTF-8")]),
            Charset::Ascii
        );
        assert_eq!(
            charset(&[("LC_ALL", ""), ("LANG", "de_AT.UTF-8")]),
            Charset::Unicode
        );
        assert_eq!(charset(&[("LANG", "C.UTF-8"), ("TERM", "linux")]), Charset::Ascii);
        assert_eq!(charset(&[]), Charset::Ascii);
    }

    #[test]
    fn no_color_counts_only_with_a_value() {
        assert!(without_colour(environment(&[("NO_COLOR", "1")])));
        assert!(!without_colour(environment(&[("NO_COLOR", "")])));
        assert!(!without_colour(environment(&[("TERM", "xterm-256color")])));
    }

    #[test]
    fn in_ascii_every_cell_is_one_printable_character() {
        let area = Rect::new(0, 0, 30, 1);
        let mut buffer = Buffer::empty(area);
        buffer.set_string(0, 0, "▸ web ▁▄█ ● 31 % 漢字 é …", Style::new());
        finish(&mut buffer, Charset::Ascii);
        let line: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(line, "> web _-# * 31 % ? ?  ? ~     ");
    }

    #[test]
    fn a_control_or_direction_character_in_a_cell_is_replaced() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 3, 1));
        buffer[(0, 0)].set_symbol("\u{1b}");
        buffer[(1, 0)].set_symbol("a\u{202e}");
        buffer[(2, 0)].set_symbol("b");
        finish(&mut buffer, Charset::Unicode);
        let line: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(line, "??b");
    }
}
