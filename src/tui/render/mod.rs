//! Drawing a scene into cells: one file per pane. No clock, no I/O, no store.

mod canvas;
pub mod chart;
mod footer;
mod header;
mod palette;
mod popup;
mod sort_menu;
mod table;
mod tabs;
pub mod text;
mod text_pane;
mod too_small;

use super::glyphs::{self, Charset};
use super::scene::{Main, Scene};
use super::theme::Theme;
use super::ui::{Modal, Ui};
use canvas::Canvas;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// How everything looks on this terminal.
#[derive(Clone, Debug)]
pub struct Look {
    /// Looks of the roles.
    pub theme: Theme,
    /// Characters that the terminal can show.
    pub charset: Charset,
}

/// A drawn frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Cells.
    pub buffer: Buffer,
    /// Where the operator types.
    pub cursor: Option<Position>,
}

impl Frame {
    /// Copies the cells into a frame of ratatui, which writes those that differ to the terminal.
    pub fn show(&self, target: &mut ratatui::Frame<'_>) {
        // The terminal may have changed its size since the frame was built; the next frame is right.
        let area = target.area().intersection(self.buffer.area);
        for position in area.positions() {
            target.buffer_mut()[position] = self.buffer[position].clone();
        }
        if let Some(cursor) = self.cursor {
            target.set_cursor_position(cursor);
        }
    }
}

/// Draws the scene.
pub fn frame(scene: &Scene, ui: &Ui, look: &Look) -> Frame {
    let mut buffer = Buffer::empty(Rect::from((Position::ORIGIN, ui.size)));
    let mut canvas = Canvas {
        buffer: &mut buffer,
        theme: &look.theme,
    };
    let cursor = match scene {
        Scene::TooSmall => {
            too_small::render(&mut canvas);
            None
        }
        Scene::Screen(screen) => {
            header::render(&mut canvas, screen.areas.header, &screen.header, screen.now);
            tabs::render(&mut canvas, screen.areas.tabs, &screen.header, ui);
            let area = screen.areas.problem;
            for (y, line) in (area.y..area.bottom()).zip(&screen.problem) {
                canvas.line(area.x, y, area.width, line);
            }
            match &screen.main {
                Main::Table(table) => table::render(&mut canvas, &screen.areas, table, ui),
                Main::Text(text) => text_pane::render(&mut canvas, &screen.areas, text),
            }
            match &ui.modal {
                Some(Modal::Palette(open)) => palette::render(&mut canvas, &screen.areas, open),
                Some(Modal::Sort(menu)) => sort_menu::render(&mut canvas, &screen.areas, menu),
                Some(Modal::Prompt(_)) | None => {}
            }
            footer::render(&mut canvas, screen.areas.footer, ui)
        }
    };
    glyphs::finish(&mut buffer, look.charset);
    Frame { buffer, cursor }
}
