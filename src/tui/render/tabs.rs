//! The second row: the tabs by number, and the marks that must never be missed.

use super::canvas::Canvas;
use super::text;
use crate::domain::text::sanitise;
use crate::store::view::{HeaderView, Role, TableKind};
use crate::tui::ui::Ui;

/// Draws the row.
pub fn render(canvas: &mut Canvas, y: u16, header: &HeaderView, ui: &Ui) {
    let width = canvas.width();
    let tabs = [
        (TableKind::Nodes, "1", "Nodes", Some(header.counts.nodes)),
        (TableKind::Pods, "2", "Pods", Some(header.counts.pods)),
        (TableKind::Updates, "3", "Updates", None),
        (TableKind::Smb, "4", "SMB", header.counts.smb),
    ];
    let mut x = 1;
    for (kind, number, name, count) in tabs {
        x = canvas.text(x, y, width - x, &format!("{number} "), Role::Key);
        let style = if kind == ui.tab {
            canvas.theme.active_tab()
        } else {
            canvas.theme.role(Role::Text)
        };
        x = canvas.put(x, y, width - x, name, style);
        if let Some(count) = count {
            x = canvas.text(x, y, width - x, &format!(" {count}"), Role::Muted);
        }
        x += 3;
    }
    let mut right = width - 1;
    for (mark, shown) in [(" DEMO ", ui.options.demo), (" READ-ONLY ", ui.options.read_only)] {
        if shown {
            let cells = u16::try_from(mark.len()).unwrap_or(0);
            right -= cells;
            let style = canvas.theme.mark();
            canvas.put(right, y, cells, mark, style);
            right -= 1;
        }
    }
    if let Some(state) = ui.busy() {
        let mark = format!("⏸ {} {}", sanitise(&state.node), state.step.title());
        let line = text::plain(mark, Role::Warn);
        canvas.line_right(right, y, right.saturating_sub(x), &line);
    }
}
