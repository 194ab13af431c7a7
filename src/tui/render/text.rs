//! Text in cells: how wide it is, how it is cut, how it is wrapped. Cuts fall between graphemes.

use crate::store::view::{Line, Role, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// What stands for the part that was cut out.
const ELLIPSIS: &str = "…";

/// Width in cells.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Width of a line in cells.
pub fn line_width(line: &[Span]) -> usize {
    line.iter().map(|span| width(&span.text)).sum()
}

/// A line of one span.
pub fn plain(text: impl Into<compact_str::CompactString>, role: Role) -> Line {
    vec![Span::new(text, role)]
}

/// Text without meaning for search and tests.
pub fn flat(line: &Line) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}

/// The longest beginning that fits.
fn head(text: &str, cells: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += width(grapheme);
        if used > cells {
            return &text[..at];
        }
    }
    text
}

/// The longest end that fits.
fn tail(text: &str, cells: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        used += width(grapheme);
        if used > cells {
            return &text[at + grapheme.len()..];
        }
    }
    text
}

/// Cuts the end off.
pub fn elide_end(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    match cells {
        0 => String::new(),
        _ => format!("{}{ELLIPSIS}", head(text, cells - 1)),
    }
}

/// Cuts the middle out: the ends of Kubernetes names tell them apart.
pub fn elide_middle(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    if cells == 0 {
        String::new()
    } else {
        let right = (cells - 1) / 2;
        format!("{}{ELLIPSIS}{}", head(text, cells - 1 - right), tail(text, right))
    }
}

/// The line cut at its end to so many cells.
pub fn clip(line: &Line, cells: usize) -> Line {
    if line_width(line) <= cells {
        return line.clone();
    }
    let mut left = cells;
    let mut clipped = Line::new();
    for span in line {
        let wide = width(&span.text);
        if wide < left {
            left -= wide;
            clipped.push(span.clone());
            continue;
        }
        // The last span that has room is cut even if it fits exactly: something follows it.
        let cut = if left == 0 {
            String::new()
        } else {
            format!("{}{ELLIPSIS}", head(&span.text, left - 1))
        };
        clipped.push(Span::new(cut, span.role));
        break;
    }
    clipped
}

/// The line without its first cells.
pub fn skip(line: &Line, cells: usize) -> Line {
    let mut left = cells;
    let mut rest = Line::new();
    for span in line {
        let wide = width(&span.text);
        if left >= wide {
            left -= wide;
            continue;
        }
        rest.push(Span::new(tail(&span.text, wide - left), span.role));
        left = 0;
    }
    rest
}

/// Breaks a line between words so that it fits; what follows is indented like its beginning and two cells more.
pub fn wrap(line: &Line, cells: usize) -> Vec<Line> {
    if line_width(line) <= cells {
        return vec![line.clone()];
    }
    let text = flat(line);
    let leading = text.len() - text.trim_start_matches(' ').len();
    let indent = (leading + 2).min(cells / 3);
    let mut lines = vec![Line::new()];
    let mut used = 0;
    for span in line {
        let words = span.text.split_inclusive(' ');
        for word in words.flat_map(|word| pieces(word, cells - indent)) {
            let letters = word.trim_end_matches(' ');
            if used > indent && used + width(letters) > cells {
                lines.push(vec![Span::new(" ".repeat(indent), Role::Text)]);
                used = indent;
            }
            // A space that would begin a line, or stick out, is not missed.
            let word = if used + width(word) > cells { letters } else { word };
            used += width(word);
            append(&mut lines, word, span.role);
        }
    }
    lines
}

fn append(lines: &mut [Line], word: &str, role: Role) {
    let Some(line) = lines.last_mut() else { return };
    match line.last_mut() {
        Some(last) if last.role == role => last.text.push_str(word),
        _ => line.push(Span::new(word, role)),
    }
}

/// A word that is longer than a line comes in pieces.
fn pieces(word: &str, cells: usize) -> Vec<&str> {
    let mut rest = word;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let piece = match head(rest, cells) {
            "" => rest,
            piece => piece,
        };
        pieces.push(piece);
        rest = &rest[piece.len()..];
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_hash_of_a_pod_name_stays_visible() {
        assert_eq!(elide_middle("hello-win-759c899954-tq5nc", 15), "hello-w…4-tq5nc");
        assert_eq!(elide_end("CrashLoopBackOff", 9), "CrashLoo…");
    }

    #[test]
    fn a_long_line_is_wrapped_between_words_under_its_beginning() {
        let line = vec![
            Span::new("  memory ", Role::Muted),
            Span::new("256Mi is the commit limit", Role::Text),
        ];
        let lines: Vec<String> = wrap(&line, 20).iter().map(flat).collect();
        assert_eq!(lines, ["  memory 256Mi is ", "    the commit limit"]);
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_it_may_be(text in "\\PC{0,40}", cells in 0usize..30) {
            prop_assert!(width(&elide_end(&text, cells)) <= cells);
            prop_assert!(width(&elide_middle(&text, cells)) <= cells);
            let line = vec![Span::new(text.clone(), Role::Text), Span::new(" tail", Role::Muted)];
            prop_assert!(line_width(&clip(&line, cells)) <= cells);
        }

        #[test]
        fn wrapping_loses_no_word(text in "[a-z ]{0,80}", cells in 12usize..40) {
            let line = plain(text.clone(), Role::Text);
            let wrapped = wrap(&line, cells);
            prop_assert!(wrapped.iter().all(|line| line_width(line) <= cells));
            let joined: String = wrapped.iter().map(flat).collect();
            let letters = |text: &str| text.replace(' ', "");
            prop_assert_eq!(letters(&joined), letters(&text));
        }
    }
}
