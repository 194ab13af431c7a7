//! Writing lines of spans into cells. Every text of the screens goes through here.

use super::text;
use crate::store::view::{Line, Role};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// A buffer and the theme to write with.
pub struct Canvas<'a> {
    /// Cells.
    pub buffer: &'a mut Buffer,
    /// Looks.
    pub theme: &'a Theme,
}

/// Cells of a title that stay beside what stands at the right end of its rule.
const LEAST_TITLE: u16 = 24;

impl Canvas<'_> {
    /// Width of the screen in cells.
    pub fn width(&self) -> u16 {
        self.buffer.area.width
    }

    /// Writes at most `cells` cells and answers where it ended. ratatui drops control characters.
    pub fn put(&mut self, x: u16, y: u16, cells: u16, text: &str, style: Style) -> u16 {
        if x >= self.buffer.area.right() || y >= self.buffer.area.bottom() {
            return x;
        }
        self.buffer.set_stringn(x, y, text, usize::from(cells), style).0
    }

    /// Writes a text of one meaning.
    pub fn text(&mut self, x: u16, y: u16, cells: u16, text: &str, role: Role) -> u16 {
        self.put(x, y, cells, text, self.theme.role(role))
    }

    /// Writes a line, cut with an ellipsis where it does not fit.
    pub fn line(&mut self, x: u16, y: u16, cells: u16, line: &Line) -> u16 {
        let mut at = x;
        for span in &text::clip(line, usize::from(cells)) {
            let left = (x + cells).saturating_sub(at);
            at = self.text(at, y, left, &span.text, span.role);
        }
        at
    }

    /// Writes a line that ends at the right border; answers where it begins.
    pub fn line_right(&mut self, right: u16, y: u16, cells: u16, line: &Line) -> u16 {
        let wide = text::line_width(line).min(usize::from(cells));
        let x = right.saturating_sub(u16::try_from(wide).unwrap_or(cells));
        self.line(x, y, right - x, line);
        x
    }

    /// A rule over the whole width, with a text in it on the left and one on the right. The left one has
    /// precedence.
    pub fn rule(&mut self, y: u16, left: &Line, right: &Line) {
        let width = self.width();
        let border = self.theme.role(Role::Border);
        self.put(0, y, width, &"─".repeat(usize::from(width)), border);
        let mut end = 1;
        if !left.is_empty() {
            end = self.text(2, y, 1, " ", Role::Text);
            let kept = if right.is_empty() {
                0
            } else {
                u16::try_from(text::line_width(right) + 5).unwrap_or(width)
            };
            // Where both do not fit, the left one gives way as long as something of it stays.
            let room = width.saturating_sub(end + 2);
            let room = if room >= kept + LEAST_TITLE {
                room - kept
            } else {
                room
            };
            end = self.line(end, y, room, left);
            end = self.text(end, y, 1, " ", Role::Text);
        }
        let room = usize::from(width.saturating_sub(end + 1));
        let wide = text::line_width(right);
        if !right.is_empty() && wide + 4 <= room {
            let wide = u16::try_from(wide).unwrap_or(0);
            let x = width - wide - 3;
            self.text(x - 1, y, 1, " ", Role::Text);
            let end = self.line(x, y, wide, right);
            self.text(end, y, 1, " ", Role::Text);
        }
    }

    /// Lays a look over an area.
    pub fn lay(&mut self, area: Rect, style: Style) {
        self.buffer.set_style(area.intersection(self.buffer.area), style);
    }

    /// Empties an area for what is drawn over it.
    pub fn clear(&mut self, area: Rect) {
        for position in area.intersection(self.buffer.area).positions() {
            self.buffer[position].reset();
        }
    }
}
