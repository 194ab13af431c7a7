//! The first row: which cluster the rows are of, how each source is, and the time. What matters least is said
//! shorter first, and left out last, when the row is narrow.

use super::canvas::Canvas;
use super::text;
use crate::domain::Timestamp;
use crate::store::view::{HeaderView, Line, Role, SourceBadge, Span};

/// Cells that a long context or namespace may take when the row is narrow.
const SHORT_NAME: usize = 18;

/// One part of the row in its forms, the longest first; the empty form leaves it out.
struct Part {
    forms: Vec<Line>,
    form: usize,
    /// The least important shrinks first.
    importance: u8,
    right: bool,
}

impl Part {
    fn line(&self) -> Option<&Line> {
        self.forms.get(self.form).filter(|line| !line.is_empty())
    }
}

/// Draws the row.
pub fn render(canvas: &mut Canvas, y: u16, header: &HeaderView, now: Timestamp) {
    let width = canvas.width();
    let mut parts = parts(header, now);
    shrink(&mut parts, usize::from(width.saturating_sub(2)));
    let mut x = 1;
    for line in parts.iter().filter(|part| !part.right).filter_map(Part::line) {
        x = canvas.line(x, y, width.saturating_sub(x), line) + 2;
    }
    let mut right = width.saturating_sub(1);
    for line in parts
        .iter()
        .rev()
        .filter(|part| part.right)
        .filter_map(Part::line)
    {
        right = canvas
            .line_right(right, y, right.saturating_sub(x), line)
            .saturating_sub(2);
    }
}

fn shrink(parts: &mut [Part], room: usize) {
    let needed = |parts: &[Part]| -> usize {
        let lines = parts.iter().filter_map(Part::line);
        lines
            .map(|line| text::line_width(line) + 2)
            .sum::<usize>()
            .saturating_sub(2)
    };
    while needed(parts) > room {
        let next = parts
            .iter_mut()
            .filter(|part| part.form < part.forms.len())
            .filter(|part| part.form + 1 < part.forms.len())
            .min_by_key(|part| (part.form, part.importance));
        match next {
            Some(part) => part.form += 1,
            None => break,
        }
    }
}

fn parts(header: &HeaderView, now: Timestamp) -> Vec<Part> {
    let mut parts = vec![context(header)];
    if let Some(version) = &header.version {
        parts.push(Part {
            forms: vec![
                text::plain(format!("Kubernetes {version}"), Role::Muted),
                text::plain(version.to_string(), Role::Muted),
                Line::new(),
            ],
            form: 0,
            importance: 3,
            right: false,
        });
    }
    parts.extend(scope(header));
    parts.extend(header.sources.iter().map(badge));
    parts.push(Part {
        forms: vec![
            text::plain(patch_tuesday(header.days_to_patch_tuesday), Role::Muted),
            text::plain(format!("PT {} d", header.days_to_patch_tuesday), Role::Muted),
            Line::new(),
        ],
        form: 0,
        importance: 1,
        right: true,
    });
    parts.push(Part {
        forms: vec![
            text::plain(format!("{} UTC", now.format("%H:%M:%S")), Role::Text),
            text::plain(now.format("%H:%MZ").to_string(), Role::Text),
        ],
        form: 0,
        importance: 2,
        right: true,
    });
    parts
}

fn patch_tuesday(days: u32) -> String {
    match days {
        0 => "Patch Tuesday today".to_owned(),
        1 => "Patch Tuesday tomorrow".to_owned(),
        days => format!("Patch Tuesday in {days} d"),
    }
}

fn context(header: &HeaderView) -> Part {
    let name = match header.context.as_str() {
        "" => "connecting",
        name => name,
    };
    Part {
        forms: vec![
            text::plain(name, Role::Title),
            text::plain(text::elide_middle(name, SHORT_NAME), Role::Title),
        ],
        form: 0,
        importance: 8,
        right: false,
    }
}

/// Namespace and label selector restrict what every row and sum is about, so they are never left out.
fn scope(header: &HeaderView) -> Option<Part> {
    let mut whole = Line::new();
    if let Some(namespace) = &header.namespace {
        whole.push(Span::new(format!("ns {namespace}"), Role::Highlight));
    }
    if !header.pod_selector.is_empty() {
        let space = if whole.is_empty() { "" } else { " " };
        whole.push(Span::new(
            format!("{space}-l {}", header.pod_selector),
            Role::Highlight,
        ));
    }
    if whole.is_empty() {
        return None;
    }
    let short = text::clip(&whole, SHORT_NAME);
    Some(Part {
        forms: vec![whole, short],
        form: 0,
        importance: 9,
        right: false,
    })
}

fn badge(badge: &SourceBadge) -> Part {
    let name = Span::new(format!("{} ", badge.name), Role::Muted);
    let glyph = Span::new(badge.glyph, badge.role);
    let age = Span::new(format!(" {}", badge.age), badge.role);
    let first: String = badge.name.chars().take(4).collect();
    Part {
        forms: vec![
            vec![name.clone(), glyph.clone(), age],
            vec![name, glyph.clone()],
            vec![Span::new(format!("{first} "), Role::Muted), glyph],
        ],
        form: 0,
        importance: 5,
        right: false,
    }
}
