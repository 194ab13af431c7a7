//! What the keys do to a round of nodes: marks, the question what it is for, its pause; and the line that tells where it
//! is. Pure.

use super::app::Effect;
use super::maintain::{self, Confirm, Order};
use super::prompt::Asks;
use super::render::text;
use super::ui::Ui;
use crate::domain::Name;
use crate::domain::text::sanitise;
use crate::domain::wait::wait;
use crate::maintenance::options::{Options, Purpose};
use crate::maintenance::round::event::RoundHappening;
use crate::maintenance::round::plan::Terms;
use crate::maintenance::round::{Round, Stage};
use crate::maintenance::window::Window;
use crate::store::view::{Line, Role, RowKey, Span, TableKind};

type Condition = Result<(), &'static str>;

/// What may be typed when a round is begun.
pub const WISHES: &str = "update, restart or cleanup; --yes --pause-after-first --soak 10m --window '22:00-04:00 Europe/Berlin' \
                          --patch-tuesday-plus 4; --force --delete-emptydir-data --no-network-gate";

impl Ui {
    /// The round that is under way.
    pub fn round_under_way(&self) -> Option<&Round> {
        self.round.as_deref().filter(|round| !round.is_over())
    }

    /// The node that is worked on, or is next in the round.
    pub fn at_work(&self) -> Option<Name> {
        let busy = self.busy().map(|state| state.node.clone());
        busy.or_else(|| {
            let round = self.round_under_way()?;
            round.left().into_iter().next().or_else(|| round.done().pop())
        })
    }
}

/// Whether the selected node can be marked.
pub fn can_mark(ui: &Ui) -> Condition {
    match ui.selected() {
        _ if ui.tab != TableKind::Updates => Err("nodes are marked in the table of updates: 3"),
        _ if ui.round_under_way().is_some() => Err("a round is under way: X stops it"),
        Some(RowKey::Node(_)) => Ok(()),
        _ => Err("no node is selected"),
    }
}

/// Whether the round waits for the operator.
pub fn can_go_on(ui: &Ui) -> Condition {
    match ui.round_under_way().map(|round| &round.stage) {
        Some(Stage::Paused) => Ok(()),
        _ => Err("no round pauses"),
    }
}

/// Whether there is a round to stop.
pub fn can_stop(ui: &Ui) -> Condition {
    match ui.round_under_way() {
        Some(_) => Ok(()),
        None => Err("no round is under way"),
    }
}

/// Whether this row is marked.
pub fn is_marked(ui: &Ui, row: &RowKey) -> bool {
    ui.tab == TableKind::Updates && matches!(row, RowKey::Node(name) if ui.marked.contains(name))
}

/// Marks the selected node, or takes its mark away.
pub fn mark(ui: &mut Ui) {
    let Some(RowKey::Node(name)) = ui.selected().cloned() else {
        return;
    };
    match ui.marked.iter().position(|marked| *marked == name) {
        Some(at) => {
            ui.marked.remove(at);
        }
        None => ui.marked.push(name),
    }
}

/// Asks what the round over the marked nodes is for.
pub fn ask(ui: &mut Ui) {
    let nodes = ui.marked.clone();
    maintain::ask(ui, Asks::Round(nodes), Purpose::default().name().to_owned());
}

/// Asks for the name of the next node.
pub fn ask_to_go_on(ui: &mut Ui) {
    let Some(next) = ui.at_work() else { return };
    let confirm = Confirm {
        to: "go on with it".to_owned(),
        word: next.to_string(),
        order: Order::GoOn,
    };
    maintain::ask(ui, Asks::Confirm(Box::new(confirm)), String::new());
}

/// The operator answered what the round is to be for.
pub fn accept(ui: &mut Ui, nodes: Vec<Name>, typed: &str) -> Vec<Effect> {
    match wished(&ui.options.maintenance, typed) {
        Ok((options, terms)) => {
            ui.marked.clear();
            vec![Effect::Maintain(Order::Round {
                nodes,
                options: Box::new(options),
                terms: Box::new(terms),
            })]
        }
        Err(problem) => {
            maintain::warn(ui, problem);
            Vec::new()
        }
    }
}

/// `update --soak 10m`: the purpose, and what `drainboard maintain` has under the same names.
fn wished(base: &Options, typed: &str) -> Result<(Options, Terms), String> {
    let words = shell_words::split(typed).map_err(|error| format!("'{typed}': {error}"))?;
    let mut words = words.into_iter();
    let mut options = Options {
        attended: true,
        ..base.clone()
    };
    let mut terms = Terms::default();
    let mut after = None;
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        let wrong = |error: String| format!("{word}: {error}");
        match word.as_str() {
            "--yes" => options.yes = true,
            "--force" => options.force = true,
            "--delete-emptydir-data" => options.delete_emptydir_data = true,
            "--no-network-gate" => options.no_network_gate = true,
            "--pause-after-first" => terms.pause_after_first = true,
            "--soak" => terms.soak = Some(wait(&value()?).map_err(wrong)?),
            "--window" => {
                let window = value()?.parse::<Window>();
                terms.window = Some(window.map_err(|error| wrong(error.to_string()))?);
            }
            "--patch-tuesday-plus" => {
                let days = value()?.parse();
                after =
                    Some(days.map_err(|error: crate::maintenance::window::WindowError| {
                        wrong(error.to_string())
                    })?);
            }
            _ => match Purpose::ALL.into_iter().find(|purpose| purpose.name() == word) {
                Some(purpose) => options.purpose = purpose,
                None => return Err(format!("'{word}' is not understood: {WISHES}")),
            },
        }
    }
    if let Some(after) = after {
        let window = terms.window.take().ok_or("--patch-tuesday-plus needs --window")?;
        terms.window = Some(window.on_days_after(after).map_err(|error| error.to_string())?);
    }
    Ok((options, terms))
}

/// `round: node 2 of 5 (k8s-lab-win-2) · forecast of the end: 2026-12-12 23:40 UTC · waiting: …`, while a round is under way.
pub fn line(ui: &Ui) -> Option<Line> {
    let round = ui.round_under_way()?;
    let of = round.nodes.len();
    let done = round.done().len();
    let mut line = vec![Span::new("round: ", Role::Title)];
    line.push(match ui.at_work() {
        Some(node) if !round.left().is_empty() => Span::new(
            format!("node {} of {of} ({})", done + 1, sanitise(&node)),
            Role::Text,
        ),
        _ => Span::new(format!("{done} of {of} nodes done"), Role::Text),
    });
    let end = round.forecast_told.map_or_else(
        || "not known yet".to_owned(),
        |end| end.format("%Y-%m-%d %H:%M UTC").to_string(),
    );
    line.push(Span::new(format!(" · forecast of the end: {end}"), Role::Muted));
    if let Some(RoundHappening::Waiting { text, .. }) = &round.waiting {
        line.push(Span::new(format!(" · waiting: {}", sanitise(text)), Role::Warn));
    }
    Some(text::clip(&line, usize::from(ui.size.width.saturating_sub(2))))
}
