//! A list over the main area.

use super::canvas::Canvas;
use super::text;
use crate::store::view::{Line, Role};
use ratatui::layout::Rect;

/// Draws a list with a title into the lower part of `main`, as high as it needs to be, with the chosen entry in
/// sight.
pub fn render(canvas: &mut Canvas, main: Rect, title: &str, entries: &[Line], chosen: usize) {
    let most = usize::from(main.height.saturating_sub(1));
    let shown = entries.len().min(most);
    let height = u16::try_from(shown + 1).unwrap_or(main.height);
    let area = Rect::new(0, main.bottom() - height, main.width, height);
    canvas.clear(area);
    canvas.rule(area.y, &text::plain(title, Role::Title), &Line::new());
    let first = (chosen + 1).saturating_sub(shown);
    for (y, (at, entry)) in (area.y + 1..).zip(entries.iter().enumerate().skip(first).take(shown)) {
        if at == chosen {
            canvas.text(0, y, 2, "▸ ", Role::Key);
        }
        canvas.line(2, y, area.width - 3, entry);
        if at == chosen {
            let style = canvas.theme.selection();
            canvas.lay(Rect::new(0, y, area.width, 1), style);
        }
    }
}
