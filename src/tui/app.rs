//! What a key, a paste or a new size does to the screens. Pure: no I/O, no clock; what must happen outside is
//! answered as effects.

use super::actions::{self, ActionId};
use super::keys::Key;
use super::maintain::{self, Order};
use super::palette::{Choice, NOT_A_NAMESPACE, Palette};
use super::prompt::{Asks, Prompt, is_namespace, join_selector};
use super::rounds;
use super::sort_menu::{SortMenu, inverse};
use super::ui::{Cursor, Message, Modal, Open, Opened, Scope, Ui};
use crate::domain::Name;
use crate::sources::event::Request;
use crate::store::filter::split_selector;
use crate::store::view::{OsScope, Role, TableKind};
use ratatui::crossterm::event::{Event, KeyEvent};
use ratatui::layout::Size;
use tui_input::backend::crossterm::EventHandler;
use tui_input::{InputRequest, StateChanged};

/// What the operator's terminal says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(KeyEvent),
    /// Text from the clipboard.
    Paste(String),
    /// A new size in cells.
    Resize(Size),
}

/// What must happen outside.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Ask the sources.
    Request(Request),
    /// Begin, go on with or decide something of a maintenance.
    Maintain(Order),
    /// Copy the commands of the page of a maintenance to the clipboard.
    CopyCommands,
    /// Give the terminal to the shell until the operator comes back.
    Suspend,
    /// Leave the program.
    Quit,
}

/// Cells that a text scrolls sideways with one key.
const SIDEWAYS_STEP: usize = 8;

/// Folds one input.
pub fn update(ui: &mut Ui, input: Input) -> Vec<Effect> {
    let demand = ui.demand();
    let mut effects = match input {
        Input::Resize(size) => {
            ui.size = size;
            Vec::new()
        }
        Input::Paste(text) => {
            paste(ui, &text);
            Vec::new()
        }
        Input::Key(event) => key(ui, event),
    };
    if ui.demand() != demand {
        effects.push(Effect::Request(Request::Demand(ui.demand())));
    }
    effects
}

fn key(ui: &mut Ui, event: KeyEvent) -> Vec<Effect> {
    let bound = Key::of(&event).and_then(|key| actions::bound(ui.place(), key));
    let Some(action) = bound else {
        typed(ui, event);
        return Vec::new();
    };
    ui.message = None;
    if action.id != ActionId::Quit {
        ui.leaving = false;
    }
    match action.enabled(ui) {
        Ok(()) => perform(ui, action.id),
        Err(reason) => {
            say(ui, Role::Warn, format!("{}: {reason}", action.title));
            Vec::new()
        }
    }
}

fn say(ui: &mut Ui, role: Role, text: impl Into<String>) {
    ui.message = Some(Message {
        text: text.into(),
        role,
    });
}

/// A key that no action is bound to belongs to the line of input, if there is one.
fn typed(ui: &mut Ui, event: KeyEvent) {
    let event = Event::Key(event);
    let changed = match &mut ui.modal {
        Some(Modal::Prompt(prompt)) => prompt.input.handle_event(&event),
        Some(Modal::Palette(palette)) => palette.input.handle_event(&event),
        Some(Modal::Sort(_)) | None => None,
    };
    if matches!(changed, Some(StateChanged { value: true, .. })) {
        input_changed(ui);
    }
}

fn paste(ui: &mut Ui, text: &str) {
    let input = match &mut ui.modal {
        Some(Modal::Prompt(prompt)) => &mut prompt.input,
        Some(Modal::Palette(palette)) => &mut palette.input,
        Some(Modal::Sort(_)) | None => return,
    };
    for c in text.chars().filter(|c| !c.is_control()) {
        input.handle(InputRequest::InsertChar(c));
    }
    input_changed(ui);
}

fn input_changed(ui: &mut Ui) {
    let filter = match &mut ui.modal {
        Some(Modal::Palette(palette)) => {
            palette.chosen = 0;
            return;
        }
        Some(Modal::Prompt(Prompt {
            asks: Asks::Filter { .. },
            input,
        })) => split_selector(input.value()).1,
        _ => return,
    };
    let table = ui.table_mut();
    table.query.filter = filter;
    // A selection that no longer matches gives way to the first row that does.
    table.cursor.index = 0;
}

fn perform(ui: &mut Ui, id: ActionId) -> Vec<Effect> {
    match id {
        ActionId::Quit if ui.opened.is_empty() => return quit(ui),
        ActionId::Quit => close(ui),
        ActionId::Back => return back(ui),
        ActionId::Abort => return vec![Effect::Quit],
        ActionId::Suspend => return vec![Effect::Suspend],
        ActionId::Refresh => return refresh(ui),
        ActionId::Open => return open_selected(ui),
        ActionId::Yaml => return open_yaml(ui),
        ActionId::Help => toggle(ui, Opened::Help(ui.reading_place())),
        ActionId::Sources => toggle(ui, Opened::Sources),
        ActionId::Filter => ask_filter(ui),
        ActionId::Namespace => ask_namespace(ui),
        ActionId::AllNamespaces => return rescope(ui, None, ui.scope.pod_selector.clone()),
        ActionId::Palette => ui.modal = Some(Modal::Palette(Palette::open(ui))),
        ActionId::Sort => ui.modal = Some(Modal::Sort(SortMenu::open(ui.table().columns.clone()))),
        ActionId::Invert => invert(ui),
        ActionId::OsScope => next_os(ui),
        ActionId::Wide => {
            let query = &mut ui.table_mut().query;
            query.wide = !query.wide;
        }
        ActionId::Down => step(ui, 1),
        ActionId::Up => step(ui, -1),
        ActionId::PageDown => step(ui, screen(ui)),
        ActionId::PageUp => step(ui, -screen(ui)),
        ActionId::HalfDown => step(ui, (screen(ui) / 2).max(1)),
        ActionId::HalfUp => step(ui, -(screen(ui) / 2).max(1)),
        ActionId::Top => top(ui),
        ActionId::Bottom => step(ui, isize::MAX),
        ActionId::Left => sideways(ui, -1),
        ActionId::Right => sideways(ui, 1),
        ActionId::Nodes => go(ui, TableKind::Nodes),
        ActionId::Pods => go(ui, TableKind::Pods),
        ActionId::Updates => go(ui, TableKind::Updates),
        ActionId::Smb => go(ui, TableKind::Smb),
        ActionId::NextTab => go(ui, tab_after(ui.tab, 1)),
        ActionId::PreviousTab => go(ui, tab_after(ui.tab, TableKind::ALL.len() - 1)),
        ActionId::Accept => return accept(ui),
        ActionId::Cancel => cancel(ui),
        ActionId::ListDown => choose(ui, 1),
        ActionId::ListUp => choose(ui, -1),
        ActionId::Maintain
        | ActionId::Cordon
        | ActionId::Begin
        | ActionId::RunReboot
        | ActionId::AcceptSameRevision
        | ActionId::FinishWithoutRestart
        | ActionId::Recreate
        | ActionId::StopWaiting
        | ActionId::Abandon
        | ActionId::CopyCommands => return maintain::perform(ui, id),
        ActionId::Mark => rounds::mark(ui),
        ActionId::GoOn => rounds::ask_to_go_on(ui),
        ActionId::StopRound => return vec![Effect::Maintain(Order::StopRound)],
    }
    Vec::new()
}

/// Leaving leaves a maintenance where it is: that is said first.
fn quit(ui: &mut Ui) -> Vec<Effect> {
    let text = match (ui.round_under_way(), ui.left_behind()) {
        _ if ui.leaving => None,
        (Some(_), _) => {
            Some("q again leaves the round as it is; `maintain --resume` goes on with it".to_owned())
        }
        (None, node) => node.map(|node| {
            format!("q again leaves {node} as it is; here `m` goes on with it, or `maintain {node} --resume`")
        }),
    };
    let Some(text) = text else {
        return vec![Effect::Quit];
    };
    ui.leaving = true;
    say(ui, Role::Warn, text);
    Vec::new()
}

/// The tab so many places further, around the end.
fn tab_after(tab: TableKind, places: usize) -> TableKind {
    let at = TableKind::ALL.iter().position(|other| *other == tab).unwrap_or(0);
    TableKind::ALL[(at + places) % TableKind::ALL.len()]
}

fn go(ui: &mut Ui, tab: TableKind) {
    ui.opened.clear();
    ui.tab = tab;
}

fn close(ui: &mut Ui) {
    ui.opened.pop();
}

fn back(ui: &mut Ui) -> Vec<Effect> {
    if !ui.opened.is_empty() {
        close(ui);
    } else if !ui.table().query.filter.is_empty() {
        ui.table_mut().query.filter.clear();
    } else if ui.scope.selects_pods() {
        return rescope(ui, ui.scope.namespace.clone(), String::new());
    }
    Vec::new()
}

/// The same key opens and closes help and sources.
fn toggle(ui: &mut Ui, what: Opened) {
    let same = |open: &Open| std::mem::discriminant(&open.what) == std::mem::discriminant(&what);
    if ui.opened.last().is_some_and(same) {
        close(ui);
    } else {
        ui.opened.push(Open::new(what));
    }
}

fn open(ui: &mut Ui, what: Opened) -> Vec<Effect> {
    let detail = what.detail();
    ui.opened.push(Open::new(what));
    detail
        .map(|key| Effect::Request(Request::Detail(key)))
        .into_iter()
        .collect()
}

fn open_selected(ui: &mut Ui) -> Vec<Effect> {
    match ui.selected().map(Opened::page_of) {
        Some(page) => open(ui, page),
        None => Vec::new(),
    }
}

fn open_yaml(ui: &mut Ui) -> Vec<Effect> {
    let row = match ui.opened.last() {
        Some(page) => page.what.row(),
        None => ui.selected().cloned(),
    };
    match row.as_ref().and_then(Opened::yaml_of) {
        Some(yaml) => open(ui, yaml),
        None => Vec::new(),
    }
}

fn refresh(ui: &mut Ui) -> Vec<Effect> {
    say(ui, Role::Muted, "asking every source again");
    let detail = ui.opened.last().and_then(|open| open.what.detail());
    std::iter::once(Request::Refresh)
        .chain(detail.map(Request::Detail))
        .map(Effect::Request)
        .collect()
}

fn ask_filter(ui: &mut Ui) {
    let selector = match ui.tab {
        TableKind::Pods => ui.scope.pod_selector.as_str(),
        TableKind::Nodes | TableKind::Updates | TableKind::Smb => "",
    };
    let table = ui.table();
    let asks = Asks::Filter {
        filter: table.query.filter.clone(),
        cursor: table.cursor.clone(),
    };
    let text = join_selector(&table.query.filter, selector);
    ui.modal = Some(Modal::Prompt(Prompt::new(asks, text)));
}

fn ask_namespace(ui: &mut Ui) {
    let text = ui.scope.namespace.as_deref().unwrap_or_default().to_owned();
    ui.modal = Some(Modal::Prompt(Prompt::new(Asks::Namespace, text)));
}

/// Asks the sources for another scope. The header changes when the data does, not before.
fn rescope(ui: &mut Ui, namespace: Option<Name>, pod_selector: String) -> Vec<Effect> {
    let wanted = Scope {
        namespace,
        pod_selector,
    };
    if wanted == ui.scope {
        return Vec::new();
    }
    if let Some(node) = ui.at_work()
        && wanted != Scope::default()
    {
        let text = format!("{node} is being worked on, and that needs to see all namespaces and pods");
        say(ui, Role::Warn, text);
        return Vec::new();
    }
    let Scope {
        namespace,
        pod_selector,
    } = wanted;
    vec![Effect::Request(Request::Rescope {
        namespace,
        pod_selector,
    })]
}

fn invert(ui: &mut Ui) {
    let table = ui.table_mut();
    let sorted = table
        .columns
        .iter()
        .find_map(|column| Some((column.id, column.sorted?)));
    if let Some((id, direction)) = sorted {
        table.query.sort = Some((id.to_owned(), inverse(direction)));
    }
}

fn next_os(ui: &mut Ui) {
    let query = &mut ui.table_mut().query;
    query.os = match query.os {
        OsScope::All => OsScope::Windows,
        OsScope::Windows => OsScope::Linux,
        OsScope::Linux => OsScope::All,
    };
}

fn screen(ui: &Ui) -> isize {
    isize::try_from(ui.settled.height).unwrap_or(1).max(1)
}

/// Moves the selection, or scrolls. The next frame clamps at the end.
fn step(ui: &mut Ui, by: isize) {
    if let Some(open) = ui.opened.last_mut() {
        open.top = open.top.saturating_add_signed(by);
        return;
    }
    let cursor = &mut ui.table_mut().cursor;
    *cursor = Cursor {
        key: None,
        index: cursor.index.saturating_add_signed(by),
        chosen: true,
    };
}

fn top(ui: &mut Ui) {
    match ui.opened.last_mut() {
        Some(open) => open.top = 0,
        None => ui.table_mut().cursor = Cursor::default(),
    }
}

fn sideways(ui: &mut Ui, by: isize) {
    if let Some(open) = ui.opened.last_mut() {
        let cells = by.saturating_mul(isize::try_from(SIDEWAYS_STEP).unwrap_or(1));
        open.left = open.left.saturating_add_signed(cells);
    } else {
        let table = ui.table_mut();
        table.skipped = table.skipped.saturating_add_signed(by);
    }
}

fn choose(ui: &mut Ui, by: isize) {
    match &mut ui.modal {
        Some(Modal::Palette(palette)) => palette.step(by),
        Some(Modal::Sort(menu)) => menu.step(by),
        Some(Modal::Prompt(_)) | None => {}
    }
}

fn cancel(ui: &mut Ui) {
    let was = ui.modal.take();
    if let Some(Modal::Prompt(Prompt {
        asks: Asks::Filter { filter, cursor },
        ..
    })) = was
    {
        let table = ui.table_mut();
        table.query.filter = filter;
        table.cursor = cursor;
    }
}

fn accept(ui: &mut Ui) -> Vec<Effect> {
    match ui.modal.take() {
        Some(Modal::Sort(menu)) => {
            ui.table_mut().query.sort = menu.sort();
            Vec::new()
        }
        Some(Modal::Prompt(prompt)) => match prompt.asks {
            Asks::Filter { .. } => accept_filter(ui, prompt.input.value()),
            Asks::Namespace => accept_namespace(ui, prompt.input.value().trim()),
            Asks::Maintain(node) => maintain::accept_purpose(ui, node, prompt.input.value()),
            Asks::Round(nodes) => rounds::accept(ui, nodes, prompt.input.value()),
            Asks::Confirm(confirm) => maintain::accept_confirmation(ui, *confirm, prompt.input.value()),
            Asks::Recreate => maintain::accept_recreation(ui, prompt.input.value()),
        },
        Some(Modal::Palette(palette)) => {
            let Some(entry) = palette.matching().into_iter().nth(palette.chosen) else {
                let text = format!("nothing is called '{}'", palette.input.value());
                say(ui, Role::Warn, text);
                return Vec::new();
            };
            if let Some(reason) = entry.refused {
                say(ui, Role::Warn, format!("{}: {reason}", entry.name));
                return Vec::new();
            }
            match entry.choice {
                Choice::Action(id) => perform(ui, id),
                Choice::Namespace(name) => accept_namespace(ui, &name),
                Choice::Context(name) => switch_context(ui, name),
            }
        }
        None => Vec::new(),
    }
}

fn accept_filter(ui: &mut Ui, typed: &str) -> Vec<Effect> {
    let selector = split_selector(typed).0.unwrap_or_default();
    match ui.tab {
        TableKind::Pods => rescope(ui, ui.scope.namespace.clone(), selector),
        _ if selector.is_empty() => Vec::new(),
        TableKind::Nodes | TableKind::Updates | TableKind::Smb => {
            say(
                ui,
                Role::Warn,
                "-l selects pods by their labels on the server: press 2, then / again",
            );
            Vec::new()
        }
    }
}

fn accept_namespace(ui: &mut Ui, name: &str) -> Vec<Effect> {
    if !name.is_empty() && !is_namespace(name) {
        say(ui, Role::Warn, format!("'{name}': {NOT_A_NAMESPACE}"));
        return Vec::new();
    }
    let namespace = (!name.is_empty()).then(|| Name::from(name));
    rescope(ui, namespace, ui.scope.pod_selector.clone())
}

/// What is open is about objects of the old cluster, and so is the selection.
fn switch_context(ui: &mut Ui, name: String) -> Vec<Effect> {
    if let Some(node) = ui.at_work() {
        let text = format!("{node} is being worked on: end or abandon that before you go to another cluster");
        say(ui, Role::Warn, text);
        return Vec::new();
    }
    say(ui, Role::Muted, format!("going to context {name}"));
    ui.opened.clear();
    for tab in TableKind::ALL {
        let table = ui.table_of(tab);
        table.cursor = Cursor::default();
        table.query.filter.clear();
    }
    vec![Effect::Request(Request::SwitchContext(name))]
}
