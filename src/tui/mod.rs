//! The screens: event loop, panes, key bindings, themes.
//!
//! A key goes through [`app::update`] (pure), a frame is built by [`scene::build`] from what the store answers,
//! and drawn by [`render::frame`] into cells. Only [`terminal`] touches the terminal.

pub mod actions;
pub mod app;
pub mod event_loop;
pub mod glyphs;
mod help;
pub mod keys;
pub mod layout;
mod pages;
pub mod palette;
pub mod prompt;
pub mod render;
pub mod scene;
pub mod sort_menu;
mod sources_page;
pub mod terminal;
pub mod theme;
pub mod ui;
pub mod views;

#[cfg(test)]
mod tests;
