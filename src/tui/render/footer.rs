//! The last row: what can be done here and now; or what the program says about the last key; or what the
//! operator types.

use super::canvas::Canvas;
use super::text;
use crate::store::view::{Line, Role, Span};
use crate::tui::actions::{self, Action, ActionId};
use crate::tui::prompt::{Asks, Prompt};
use crate::tui::ui::{Modal, Ui};
use ratatui::layout::Position;

/// Cells between two entries.
const GAP: usize = 2;

/// Draws the row; answers where the operator types.
pub fn render(canvas: &mut Canvas, y: u16, ui: &Ui) -> Option<Position> {
    let width = canvas.width();
    match (&ui.modal, &ui.message) {
        (Some(Modal::Prompt(prompt)), _) => return Some(input(canvas, y, prompt)),
        (Some(Modal::Palette(palette)), _) => {
            let x = canvas.text(1, y, width - 1, ":", Role::Key);
            return Some(typed(canvas, x, y, width - x, &palette.input));
        }
        (_, Some(message)) => {
            let line = text::plain(message.text.clone(), message.role);
            canvas.line(1, y, width - 2, &line);
        }
        (_, None) => {
            canvas.line(1, y, width - 2, &keys(ui, usize::from(width) - 2));
        }
    }
    None
}

/// As many entries as fit. Help is the last to go: it lists the others.
fn keys(ui: &Ui, cells: usize) -> Line {
    let mut actions = actions::footer(ui);
    let needed = |actions: &[&Action]| -> usize {
        let entries = actions
            .iter()
            .map(|action| text::line_width(&entry(action)) + GAP);
        entries.sum::<usize>().saturating_sub(GAP)
    };
    while needed(&actions) > cells {
        let Some(leaves) = actions.iter().rposition(|action| action.id != ActionId::Help) else {
            break;
        };
        actions.remove(leaves);
    }
    let mut line = Line::new();
    for action in actions {
        if !line.is_empty() {
            line.push(Span::new(" ".repeat(GAP), Role::Text));
        }
        line.extend(entry(action));
    }
    line
}

fn entry(action: &Action) -> Line {
    let Some(key) = action.keys.first() else {
        return Line::new();
    };
    vec![
        Span::new(format!("[{key}]"), Role::Key),
        Span::new(format!(" {}", action.title), Role::Text),
    ]
}

fn input(canvas: &mut Canvas, y: u16, prompt: &Prompt) -> Position {
    let width = canvas.width();
    let x = canvas.text(1, y, width - 1, &prompt.label(), Role::Key);
    let value = prompt.input.value();
    // What a maintenance is for stands there already, and may be changed: into what?
    if value.is_empty() || matches!(prompt.asks, Asks::Maintain(_)) {
        let behind = x.saturating_add(u16::try_from(text::width(value)).unwrap_or(width) + 2);
        canvas.text(
            behind,
            y,
            width.saturating_sub(behind),
            prompt.hint(),
            Role::Muted,
        );
    }
    typed(canvas, x, y, width.saturating_sub(x + 1), &prompt.input)
}

fn typed(canvas: &mut Canvas, x: u16, y: u16, cells: u16, input: &tui_input::Input) -> Position {
    let scroll = input.visual_scroll(usize::from(cells.saturating_sub(1)));
    let shown = text::skip(&text::plain(input.value(), Role::Highlight), scroll);
    canvas.line(x, y, cells, &shown);
    let at = input.visual_cursor().saturating_sub(scroll);
    let at = u16::try_from(at).unwrap_or(0).min(cells.saturating_sub(1));
    Position::new(x + at, y)
}
