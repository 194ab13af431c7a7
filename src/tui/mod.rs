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
pub mod maintain;
mod pages;
pub mod palette;
pub mod prompt;
pub mod render;
mod rounds;
pub mod scene;
pub mod sessions;
pub mod sort_menu;
mod sources_page;
pub mod terminal;
pub mod theme;
pub mod ui;
pub mod views;
mod watchman;

use crate::domain::{Name, Timestamp};
use crate::sources::Running;
use crate::store::Store;
use crate::store::view::TableKind;
use event_loop::Lines;
use glyphs::Charset;
use ratatui::buffer::Cell;
use ratatui::layout::Size;
use render::Look;
use sessions::{Sessions, Terms};
use std::io;
use std::str::FromStr;
use terminal::RealConsole;
use theme::{Theme, ThemeError};
use ui::{Open, Opened, Options, Ui};

/// How the screens were asked to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TuiOptions {
    /// `--read-only`: nothing may be changed on the cluster, and the screens say so.
    pub read_only: bool,
    /// The data is the simulated cluster's, and the screens say so.
    pub demo: bool,
    /// Show ASCII only, whatever the locale says.
    pub ascii: bool,
    /// How maintenances are done that are begun on the screens.
    pub maintenance: Terms,
    /// Name of the theme; `None` for the terminal's colours, or for none where the environment refuses them.
    pub theme: Option<String>,
}

/// Why the screens could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// The theme.
    #[error(transparent)]
    Theme(#[from] ThemeError),
    /// The terminal.
    #[error(
        "the terminal cannot be used: {0}; the screens need one as standard input and output, `nodes` and `pods` print without"
    )]
    Terminal(#[from] io::Error),
}

impl TuiOptions {
    fn look(&self) -> Result<Look, ThemeError> {
        let variable = |name: &str| std::env::var(name).ok();
        let theme = match &self.theme {
            Some(name) => name,
            None if glyphs::without_colour(variable) => "monochrome",
            None => "terminal",
        };
        Ok(Look {
            theme: Theme::named(theme)?,
            charset: if self.ascii {
                Charset::Ascii
            } else {
                Charset::detect(variable)
            },
        })
    }

    fn ui(&self, contexts: Vec<String>) -> Ui {
        Ui::new(Options {
            maintenance: self.maintenance.options.clone(),
            read_only: self.read_only,
            demo: self.demo,
            contexts,
        })
    }
}

/// Shows the screens on the terminal until the operator leaves, then ends the sources. Answers the node whose
/// maintenance was left where it is.
///
/// # Errors
/// There is no such theme, or standard input and output are no terminal.
pub async fn run(mut running: Running, options: &TuiOptions) -> Result<Option<Name>, TuiError> {
    let look = options.look()?;
    let mut ui = options.ui(running.contexts.clone());
    let mut lines = Lines {
        requests: running.requests.clone(),
        events: &mut running.events,
    };
    let mut sessions = Sessions::new(running.client.clone(), options.maintenance.clone());
    let end = {
        let mut console = RealConsole::take()?;
        let mut store = Store::new();
        event_loop::run(
            &mut console,
            &mut store,
            &mut lines,
            &mut sessions,
            &mut ui,
            &look,
            chrono::Utc::now,
        )
        .await
    };
    sessions.finish().await;
    running.shutdown().await;
    end?;
    Ok(ui.left_behind().cloned())
}

/// What a snapshot shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pane {
    /// The table of nodes.
    Nodes,
    /// The table of pods.
    Pods,
    /// The table of updates.
    Updates,
    /// The table of SMB mappings.
    Smb,
    /// The page of a node.
    Node(Name),
    /// The page of a pod: namespace, name.
    Pod(Name, Name),
}

/// A pane that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("there is no pane '{0}'; there are: nodes, pods, updates, smb, node/NAME, pod/NAMESPACE/NAME")]
pub struct UnknownPane(String);

impl FromStr for Pane {
    type Err = UnknownPane;

    fn from_str(text: &str) -> Result<Self, UnknownPane> {
        match text.split('/').collect::<Vec<_>>().as_slice() {
            ["nodes"] => Ok(Self::Nodes),
            ["pods"] => Ok(Self::Pods),
            ["updates"] => Ok(Self::Updates),
            ["smb"] => Ok(Self::Smb),
            ["node", name] => Ok(Self::Node(Name::from(*name))),
            ["pod", namespace, name] => Ok(Self::Pod(Name::from(*namespace), Name::from(*name))),
            _ => Err(UnknownPane(text.to_owned())),
        }
    }
}

/// One frame as text: exactly `size.height` lines without escapes, trailing spaces cut.
///
/// # Errors
/// There is no such theme.
pub fn snapshot(
    store: &mut Store,
    pane: &Pane,
    size: Size,
    options: &TuiOptions,
    now: Timestamp,
) -> Result<Vec<String>, TuiError> {
    let look = options.look()?;
    let mut ui = options.ui(Vec::new());
    ui.size = size;
    ui.tab = match pane {
        Pane::Nodes | Pane::Node(_) => TableKind::Nodes,
        Pane::Pods | Pane::Pod(..) => TableKind::Pods,
        Pane::Updates => TableKind::Updates,
        Pane::Smb => TableKind::Smb,
    };
    ui.opened.extend(match pane {
        Pane::Nodes | Pane::Pods | Pane::Updates | Pane::Smb => None,
        Pane::Node(name) => Some(Open::new(Opened::Node(name.clone()))),
        Pane::Pod(namespace, name) => Some(Open::new(Opened::Pod {
            namespace: namespace.clone(),
            name: name.clone(),
            uid: Name::from(""),
        })),
    });
    let scene = scene::build(&mut ui, store, now);
    let frame = render::frame(&scene, &ui, &look);
    Ok(lines(&frame.buffer))
}

/// The symbols of a buffer, row by row.
fn lines(buffer: &ratatui::buffer::Buffer) -> Vec<String> {
    let width = usize::from(buffer.area.width).max(1);
    let symbols: Vec<&str> = buffer.content.iter().map(Cell::symbol).collect();
    symbols
        .chunks(width)
        .map(|row| row.concat().trim_end().to_owned())
        .collect()
}

#[cfg(test)]
mod tests;
