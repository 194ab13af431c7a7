//! What the keys do to a maintenance, and what of it the screens remember. Pure: what must happen outside is an
//! [`Order`].

use super::actions::ActionId;
use super::app::Effect;
use super::prompt::{Asks, Prompt};
use super::rounds;
use super::ui::{Message, Modal, Open, Opened, Ui};
use crate::domain::text::sanitise;
use crate::domain::{Name, Timestamp};
use crate::maintenance::input::Command;
use crate::maintenance::options::{Options, Purpose};
use crate::maintenance::pods::PodRef;
use crate::maintenance::record::Record;
use crate::maintenance::round::plan::Terms;
use crate::maintenance::state::{Question, State, Step};
use crate::store::Standing;
use crate::store::view::{Role, TableKind};

/// The maintenance that was begun, or gone on with, from these screens.
#[derive(Clone, Debug)]
pub struct Underway {
    /// Where it is, or how it ended.
    pub state: State,
    /// What happened in it, oldest first; the lines of the reboot command too.
    pub log: Vec<(Timestamp, String)>,
}

impl Underway {
    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        self.state.step == Step::Over
    }
}

/// Something to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Begin with the preflight.
    Start {
        /// The node.
        node: Name,
        /// What was asked for.
        options: Box<Options>,
        /// Lease and record of somebody else are taken over.
        take_over: bool,
    },
    /// Go on with the maintenance of this record.
    Resume {
        /// The node.
        node: Name,
        /// As it stands on the node.
        record: Box<Record>,
    },
    /// Begin a round over these nodes.
    Round {
        /// The nodes, in order.
        nodes: Vec<Name>,
        /// What was asked for each.
        options: Box<Options>,
        /// What stands between two of them.
        terms: Box<Terms>,
    },
    /// Go on with the round after its pause.
    GoOn,
    /// Begin no further node of the round.
    StopRound,
    /// Tell the maintenance that is under way what was decided.
    Decide(Command),
    /// Cordon the node or uncordon it, and nothing else.
    Cordon {
        /// The node.
        node: Name,
        /// Its UID.
        uid: Name,
        /// Whether new pods are to be kept away.
        cordoned: bool,
    },
}

/// A question that only a certain word answers with yes.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirm {
    /// What will be done, as in `type k8s-lab-win-1 to begin`.
    pub to: String,
    /// The word.
    pub word: String,
    /// What is done then.
    pub order: Order,
}

type Condition = Result<(), &'static str>;

impl Ui {
    /// The maintenance that is under way.
    pub fn busy(&self) -> Option<&State> {
        self.underway
            .as_deref()
            .filter(|underway| !underway.is_over())
            .map(|underway| &underway.state)
    }

    /// The node whose maintenance would have to be gone on with later if the program ended now.
    pub fn left_behind(&self) -> Option<&Name> {
        self.busy()
            .filter(|state| state.record.is_some())
            .map(|state| &state.node)
    }
}

/// Whether the selected node can be maintained.
pub fn can_maintain(ui: &Ui) -> Condition {
    if ui.round_under_way().is_some() && ui.busy().is_none() {
        return Err("a round is under way: X stops it");
    }
    let Some(subject) = &ui.subject else {
        return Err("no node is selected");
    };
    match ui.busy() {
        Some(state) if state.node == subject.node => return Ok(()),
        Some(_) => return Err("another node is being worked on: one at a time"),
        None => {}
    }
    if ui.scope.namespace.is_some() {
        return Err("what happens to a node is seen in all namespaces only: 0 watches them");
    }
    if ui.scope.selects_pods() {
        return Err("a label selector hides pods of the node: esc on the pods removes it");
    }
    match subject.record {
        Some(Err(_)) => Err("the record on the node was written by another version of this program"),
        Some(Ok(_)) | None => Ok(()),
    }
}

/// Whether the selected node can be cordoned or uncordoned by itself.
pub fn can_cordon(ui: &Ui) -> Condition {
    match &ui.subject {
        None => Err("no node is selected"),
        Some(subject) if subject.record.is_some() => {
            Err("a maintenance is under way on the node, and the cordon belongs to it: m shows it")
        }
        Some(_) => Ok(()),
    }
}

fn at_step(ui: &Ui, step: Step, otherwise: &'static str) -> Condition {
    match ui.busy() {
        Some(state) if state.step == step => Ok(()),
        _ => Err(otherwise),
    }
}

fn asked(ui: &Ui, question: Question, otherwise: &'static str) -> Condition {
    match ui.busy() {
        Some(state) if state.question == Some(question) => Ok(()),
        _ => Err(otherwise),
    }
}

/// Whether it asks to begin.
pub fn can_begin(ui: &Ui) -> Condition {
    asked(ui, Question::Begin, "there is nothing to begin")
}

/// Whether it asks about the revision.
pub fn can_accept(ui: &Ui) -> Condition {
    asked(ui, Question::SameRevision, "the revision is not in question")
}

/// Whether the reboot command can be run.
pub fn can_reboot(ui: &Ui) -> Condition {
    at_step(ui, Step::Restart, "the restart is not due")?;
    match ui.busy().and_then(|state| state.options.reboot.as_ref()) {
        Some(_) => Ok(()),
        None => Err("neither --reboot-command nor --reboot-pod was given: restart the node by hand"),
    }
}

/// Whether the node waits for its restart.
pub fn can_finish(ui: &Ui) -> Condition {
    at_step(ui, Step::Restart, "the restart is not due")
}

/// Whether a pod without network is known.
pub fn can_recreate(ui: &Ui) -> Condition {
    match first_without_network(ui) {
        Some(_) => Ok(()),
        None => Err("no pod without network is known"),
    }
}

/// Whether pods are waited for.
pub fn can_stop_waiting(ui: &Ui) -> Condition {
    at_step(ui, Step::PodsBack, "no pods are waited for")
}

/// Whether there is something to give up.
pub fn can_abandon(ui: &Ui) -> Condition {
    match ui.busy() {
        Some(_) => Ok(()),
        None => Err("no maintenance is under way"),
    }
}

fn first_without_network(ui: &Ui) -> Option<&PodRef> {
    let state = ui.busy().filter(|state| state.step == Step::PodsBack)?;
    state.without_network.values().map(|(pod, _)| pod).next()
}

/// Does what a key means for a maintenance.
pub fn perform(ui: &mut Ui, id: ActionId) -> Vec<Effect> {
    let node = ui.busy().map(|state| state.node.clone());
    match (id, node) {
        (ActionId::Maintain, _) => maintain(ui),
        (ActionId::Cordon, _) => cordon(ui),
        (ActionId::CopyCommands, _) => return vec![Effect::CopyCommands],
        (ActionId::AcceptSameRevision, Some(node)) => confirm(
            ui,
            "accept that it is not updated",
            &node,
            Command::AcceptSameRevision,
        ),
        (ActionId::Begin, Some(node)) => confirm(ui, "begin", &node, Command::Begin),
        (ActionId::RunReboot, Some(node)) => {
            let started = ui
                .busy()
                .and_then(|state| state.record.as_ref())
                .is_some_and(|record| record.reboot_started);
            let to = if started {
                "restart it from here AGAIN"
            } else {
                "restart it from here"
            };
            confirm(ui, to, &node, Command::RunRebootCommand);
        }
        (ActionId::FinishWithoutRestart, Some(node)) => confirm(
            ui,
            "uncordon it without a restart",
            &node,
            Command::FinishWithoutRestart,
        ),
        (ActionId::StopWaiting, Some(node)) => confirm(ui, "wait no longer", &node, Command::StopWaiting),
        (ActionId::Abandon, Some(node)) => confirm(ui, "abandon it, as it is now", &node, Command::Abandon),
        (ActionId::Recreate, Some(_)) => {
            if let Some(pod) = first_without_network(ui) {
                let text = pod.to_string();
                ask(ui, Asks::Recreate, text);
            }
        }
        _ => {}
    }
    Vec::new()
}

pub(super) fn ask(ui: &mut Ui, asks: Asks, text: String) {
    ui.modal = Some(Modal::Prompt(Prompt::new(asks, text)));
}

fn confirm(ui: &mut Ui, to: &str, node: &Name, command: Command) {
    let confirm = Confirm {
        to: to.to_owned(),
        word: node.to_string(),
        order: Order::Decide(command),
    };
    ask(ui, Asks::Confirm(Box::new(confirm)), String::new());
}

/// Opens what is under way on the node; goes on with what its record tells; or asks what is to be done.
fn maintain(ui: &mut Ui) {
    let Some(subject) = ui.subject.clone() else {
        return;
    };
    if ui.busy().is_some() {
        return open(ui);
    }
    if ui.tab == TableKind::Updates && ui.opened.is_empty() && !ui.marked.is_empty() {
        return rounds::ask(ui);
    }
    let purpose = suggested(&subject).name().to_owned();
    match subject.record {
        Some(Ok(record)) => {
            let confirm = Confirm {
                to: format!(
                    "go on with the {} of {}",
                    record.purpose.name(),
                    sanitise(&record.by)
                ),
                word: subject.node.to_string(),
                order: Order::Resume {
                    node: subject.node,
                    record,
                },
            };
            ask(ui, Asks::Confirm(Box::new(confirm)), String::new());
        }
        _ => ask(ui, Asks::Maintain(subject.node), purpose),
    }
}

/// What a maintenance of the node would most likely be for.
fn suggested(subject: &Standing) -> Purpose {
    if subject.restarted_without_drain {
        Purpose::Cleanup
    } else {
        Purpose::default()
    }
}

fn open(ui: &mut Ui) {
    if !matches!(ui.opened.last(), Some(open) if open.what == Opened::Workflow) {
        ui.opened.push(Open::new(Opened::Workflow));
    }
}

fn cordon(ui: &mut Ui) {
    let Some(subject) = &ui.subject else { return };
    let cordoned = !subject.cordoned;
    let confirm = Confirm {
        to: if cordoned { "cordon it" } else { "uncordon it" }.to_owned(),
        word: subject.node.to_string(),
        order: Order::Cordon {
            node: subject.node.clone(),
            uid: subject.uid.clone(),
            cordoned,
        },
    };
    ask(ui, Asks::Confirm(Box::new(confirm)), String::new());
}

/// The operator answered what a maintenance is to be for.
pub fn accept_purpose(ui: &mut Ui, node: Name, typed: &str) -> Vec<Effect> {
    match wished(&ui.options.maintenance, typed) {
        Ok((options, take_over)) => {
            open(ui);
            vec![Effect::Maintain(Order::Start {
                node,
                options: Box::new(options),
                take_over,
            })]
        }
        Err(problem) => {
            warn(ui, problem);
            Vec::new()
        }
    }
}

/// The operator typed a word of confirmation, or another.
pub fn accept_confirmation(ui: &mut Ui, confirm: Confirm, typed: &str) -> Vec<Effect> {
    if typed.trim() != confirm.word {
        warn(
            ui,
            format!(
                "not confirmed: '{}' was to be typed; nothing is done",
                confirm.word
            ),
        );
        return Vec::new();
    }
    if matches!(confirm.order, Order::Resume { .. }) {
        open(ui);
    }
    vec![Effect::Maintain(confirm.order)]
}

/// The operator named a pod without network.
pub fn accept_recreation(ui: &mut Ui, typed: &str) -> Vec<Effect> {
    let known = ui
        .busy()
        .into_iter()
        .flat_map(|state| state.without_network.values());
    let mut named = known.filter(|(pod, _)| pod.to_string() == typed.trim());
    if let Some((pod, _)) = named.next() {
        return vec![Effect::Maintain(Order::Decide(Command::Recreate(
            pod.uid.clone(),
        )))];
    }
    warn(
        ui,
        format!("'{}' is none of the pods without network", typed.trim()),
    );
    Vec::new()
}

pub(super) fn warn(ui: &mut Ui, text: String) {
    ui.message = Some(Message {
        text,
        role: Role::Warn,
    });
}

/// `update --force`: the purpose, and the permissions that `drainboard maintain` has under the same names.
fn wished(base: &Options, typed: &str) -> Result<(Options, bool), String> {
    let mut options = Options {
        attended: true,
        ..base.clone()
    };
    let mut take_over = false;
    for word in typed.split_whitespace() {
        match word {
            "--force" => options.force = true,
            "--delete-emptydir-data" => options.delete_emptydir_data = true,
            "--no-network-gate" => options.no_network_gate = true,
            "--take-over" => take_over = true,
            _ => match Purpose::ALL.into_iter().find(|purpose| purpose.name() == word) {
                Some(purpose) => options.purpose = purpose,
                None => return Err(format!("'{word}' is not understood: {WISHES}")),
            },
        }
    }
    Ok((options, take_over))
}

/// What may be typed when a maintenance is begun.
pub const WISHES: &str =
    "update, restart or cleanup; --force --delete-emptydir-data --no-network-gate --take-over";
