//! A text that scrolls: pages, YAML, help, sources.

use super::canvas::Canvas;
use super::text;
use crate::store::view::{Line, Role};
use crate::tui::layout::Areas;
use crate::tui::scene::TextScene;

/// Draws the text.
pub fn render(canvas: &mut Canvas, areas: &Areas, scene: &TextScene) {
    let place = if scene.shown.len() < scene.total {
        let words = format!("{}–{} of {}", scene.shown.start + 1, scene.shown.end, scene.total);
        text::plain(words, Role::Muted)
    } else {
        Line::new()
    };
    canvas.rule(areas.title, &scene.title, &place);
    for (y, line) in (areas.main.y..areas.main.bottom()).zip(&scene.lines) {
        canvas.line(1, y, areas.main.width - 2, line);
    }
}
