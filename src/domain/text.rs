//! Text from outside (logs, events, names, labels, errors) made fit for a terminal.

use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// One line of text without anything that could steer the terminal or mislead the reader: escape sequences,
/// control characters, characters that turn the writing direction or have no width are taken out; line ends
/// and tabs become spaces. Clean text is not copied.
pub fn sanitise(text: &str) -> Cow<'_, str> {
    // Nearly all text is printable ASCII.
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if printable || text.chars().all(|c| kept(c) == Some(c)) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '\u{1b}' => rest = after_sequence(rest),
            // The eight-bit introducer of the same sequences.
            '\u{9b}' => rest = after_control_sequence(rest).unwrap_or(rest),
            '\r' if rest.starts_with('\n') => {}
            _ => clean.extend(kept(character)),
        }
    }
    Cow::Owned(clean)
}

/// What stands for a character: itself, a space, or nothing.
fn kept(character: char) -> Option<char> {
    match character {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => Some(' '),
        _ if character.is_control() || misleads(character) => None,
        _ => Some(character),
    }
}

/// Format characters that have no width of their own or turn the writing direction.
const fn misleads(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// What follows a sequence whose escape character was just read. An unfinished sequence hides nothing: only its
/// escape character is lost.
fn after_sequence(rest: &str) -> &str {
    let Some(kind) = rest.chars().next() else {
        return rest;
    };
    let body = &rest[kind.len_utf8()..];
    match kind {
        '[' => after_control_sequence(body).unwrap_or(rest),
        ']' | 'P' | 'X' | '^' | '_' => after_string(body).unwrap_or(rest),
        ' '..='/' => body.strip_prefix(|c| matches!(c, '0'..='~')).unwrap_or(rest),
        '0'..='~' => body,
        _ => rest,
    }
}

/// Behind the final byte of `CSI parameters final`.
fn after_control_sequence(body: &str) -> Option<&str> {
    let end = body.find(|c| !matches!(c, ' '..='?'))?;
    body[end..].strip_prefix(|c| matches!(c, '@'..='~'))
}

/// Behind the terminator (BEL or ESC backslash) of an operating system command or device string.
fn after_string(body: &str) -> Option<&str> {
    let end = body.find(['\u{7}', '\u{1b}', '\n'])?;
    let tail = &body[end..];
    tail.strip_prefix('\u{7}')
        .or_else(|| tail.strip_prefix("\u{1b}\\"))
}

/// Width of a text in cells of the terminal.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text in at most `cells` cells, cut between graphemes; a cut shows as `…`.
pub fn truncate(text: &str, cells: usize) -> Cow<'_, str> {
    if width(text) <= cells {
        return Cow::Borrowed(text);
    }
    let Some(room) = cells.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let mut used = 0;
    let fitting: String = text
        .graphemes(true)
        .take_while(|grapheme| {
            used += width(grapheme);
            used <= room
        })
        .collect();
    Cow::Owned(fitting + "…")
}

#[cfg(test)]
mod tests;
