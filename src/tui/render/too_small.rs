//! What a terminal below the smallest size shows.

use super::canvas::Canvas;
use crate::store::view::Role;
use crate::tui::layout::SMALLEST;

/// Says which size is needed, and which there is.
pub fn render(canvas: &mut Canvas) {
    let area = canvas.buffer.area;
    let lines = [
        "drainboard needs a larger terminal".to_owned(),
        format!(
            "at least {}x{}, this is {}x{}",
            SMALLEST.width, SMALLEST.height, area.width, area.height
        ),
        "q leaves".to_owned(),
    ];
    for (y, line) in (0..area.height).zip(&lines) {
        canvas.text(0, y, area.width, line, Role::Warn);
    }
}
