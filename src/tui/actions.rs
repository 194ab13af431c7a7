//! The one table of actions. It feeds the keys, the footer, the help and the palette, so none of them can
//! promise what another does not know.

use super::keys::Key;
use super::maintain;
use super::rounds;
use super::ui::{Opened, Ui};
use crate::store::view::RowKey;
use std::borrow::Cow;

/// Where the operator is; keys mean what this place says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A table.
    Table,
    /// The page of a node, pod or mapping.
    Page,
    /// The YAML of an object.
    Yaml,
    /// The help.
    Help,
    /// How the sources are.
    Sources,
    /// The page of a maintenance.
    Workflow,
    /// A line of input: filter, namespace.
    Prompt,
    /// The palette.
    Palette,
    /// The choice of the sort column.
    SortMenu,
}

impl Place {
    /// All places, in the order of the help.
    pub const ALL: [Self; 9] = [
        Self::Table,
        Self::Page,
        Self::Workflow,
        Self::Yaml,
        Self::Help,
        Self::Sources,
        Self::Prompt,
        Self::Palette,
        Self::SortMenu,
    ];

    /// Heading in the help.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Table => "tables",
            Self::Page => "page of a node, pod or mapping",
            Self::Yaml => "YAML",
            Self::Help => "help",
            Self::Sources => "sources",
            Self::Workflow => "page of a maintenance",
            Self::Prompt => "line of input",
            Self::Palette => "palette",
            Self::SortMenu => "sort menu",
        }
    }
}

/// Every place that shows something to read, rather than asks for input.
const READING: &[Place] = &[
    Place::Table,
    Place::Page,
    Place::Workflow,
    Place::Yaml,
    Place::Help,
    Place::Sources,
];
/// Places that ask for input.
const INPUTS: &[Place] = &[Place::Prompt, Place::Palette, Place::SortMenu];
/// Lists to choose from.
const LISTS: &[Place] = &[Place::Palette, Place::SortMenu];
const TABLE: &[Place] = &[Place::Table];
const OBJECTS: &[Place] = &[Place::Table, Place::Page];
const WORKFLOW: &[Place] = &[Place::Workflow];
const EVERYWHERE: &[Place] = &Place::ALL;

/// What can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is described by its `doc` in the table below")]
pub enum ActionId {
    Open,
    Filter,
    Sort,
    Invert,
    OsScope,
    Wide,
    Namespace,
    AllNamespaces,
    Yaml,
    Palette,
    Help,
    Sources,
    Back,
    Quit,
    Abort,
    Suspend,
    Refresh,
    Down,
    Up,
    PageDown,
    PageUp,
    HalfDown,
    HalfUp,
    Top,
    Bottom,
    Left,
    Right,
    NextTab,
    PreviousTab,
    Nodes,
    Pods,
    Updates,
    Smb,
    Maintain,
    Mark,
    GoOn,
    StopRound,
    Cordon,
    Begin,
    RunReboot,
    AcceptSameRevision,
    FinishWithoutRestart,
    Recreate,
    StopWaiting,
    Abandon,
    CopyCommands,
    Accept,
    Cancel,
    ListDown,
    ListUp,
}

/// Whether something can be done now, or why not.
pub type Condition = fn(&Ui) -> Result<(), &'static str>;

/// One action.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    /// Which one.
    pub id: ActionId,
    /// Its keys; the first is the one that the footer shows.
    pub keys: &'static [Key],
    /// Where it exists.
    pub places: &'static [Place],
    /// Word in the footer and the palette.
    pub title: &'static str,
    /// Sentence in the help.
    pub doc: &'static str,
    /// Place in the footer, smallest first; `None` keeps it out.
    pub footer: Option<u8>,
    /// Whether it changes anything on the cluster. `--read-only` refuses all of these.
    pub writes: bool,
    /// Whether it can be done now, or why not; `None` if it always can.
    pub possible: Option<Condition>,
}

impl Action {
    /// Whether it can be done here and now, or why not. Read-only wins over everything.
    pub fn enabled(&self, ui: &Ui) -> Result<(), Cow<'static, str>> {
        if self.writes && ui.options.read_only {
            return Err(Cow::Borrowed(
                "started with --read-only: nothing is changed on the cluster",
            ));
        }
        match self.possible {
            Some(possible) => possible(ui).map_err(Cow::Borrowed),
            None => Ok(()),
        }
    }
}

/// The action that the key means at this place.
pub fn bound(place: Place, key: Key) -> Option<&'static Action> {
    at(place).find(|action| action.keys.contains(&key))
}

/// The actions of a place, in the order of the table.
pub fn at(place: Place) -> impl Iterator<Item = &'static Action> {
    ACTIONS
        .iter()
        .filter(move |action| action.places.contains(&place))
}

/// The actions that the footer shows now: possible here, in footer order.
pub fn footer(ui: &Ui) -> Vec<&'static Action> {
    let mut actions: Vec<_> = at(ui.place())
        .filter(|action| action.footer.is_some() && action.enabled(ui).is_ok())
        .collect();
    actions.sort_by_key(|action| action.footer);
    actions
}

fn has_row(ui: &Ui) -> Result<(), &'static str> {
    match ui.selected() {
        Some(_) => Ok(()),
        None => Err("no row is selected"),
    }
}

fn can_go_back(ui: &Ui) -> Result<(), &'static str> {
    if !ui.opened.is_empty() || !ui.table().query.filter.is_empty() || ui.scope.selects_pods() {
        Ok(())
    } else {
        Err("there is nothing to go back from; q leaves")
    }
}

fn scoped(ui: &Ui) -> Result<(), &'static str> {
    if ui.scope.namespace.is_some() {
        Ok(())
    } else {
        Err("all namespaces are shown already")
    }
}

fn more_left(ui: &Ui) -> Result<(), &'static str> {
    if ui.sideways() > 0 {
        Ok(())
    } else {
        Err("this is the left end")
    }
}

fn more_right(ui: &Ui) -> Result<(), &'static str> {
    if ui.settled.hidden_right > 0 {
        Ok(())
    } else {
        Err("everything to the right is on screen")
    }
}

fn yaml_of_object(ui: &Ui) -> Result<(), &'static str> {
    match ui.opened.last().map(|open| &open.what) {
        None => match ui.selected() {
            Some(RowKey::Smb { .. }) => Err("a mapping is no object of the API server"),
            Some(_) => Ok(()),
            None => Err("no row is selected"),
        },
        Some(Opened::Node(_) | Opened::Pod { .. }) => Ok(()),
        Some(_) => Err("there is no object here"),
    }
}

/// An action with the usual values; the table below only names what differs.
const fn action(
    id: ActionId,
    keys: &'static [Key],
    places: &'static [Place],
    title: &'static str,
    doc: &'static str,
) -> Action {
    Action {
        id,
        keys,
        places,
        title,
        doc,
        footer: None,
        writes: false,
        possible: None,
    }
}

impl Action {
    const fn footer(mut self, rank: u8) -> Self {
        self.footer = Some(rank);
        self
    }

    const fn writing(mut self) -> Self {
        self.writes = true;
        self
    }

    const fn when(mut self, possible: Condition) -> Self {
        self.possible = Some(possible);
        self
    }
}

/// All actions, in the order of the help.
pub const ACTIONS: &[Action] = &[
    action(ActionId::Open, &[Key::Enter], TABLE, "open", "Open the page of the selected row.")
        .footer(10)
        .when(has_row),
    action(
        ActionId::Filter,
        &[Key::Char('/')],
        TABLE,
        "filter",
        "Filter the rows while you type: word, !word, column:value, commit>80%. On pods, -l SELECTOR at the end \
         is a label selector that the API server evaluates.",
    )
    .footer(11),
    action(
        ActionId::Maintain,
        &[Key::Char('m')],
        OBJECTS,
        "maintain…",
        "Take the node through drain, update, restart, proof of the restart, network check and uncordon; or go on with \
         the maintenance that is under way on it. If nodes are marked: a round over these, one after another.",
    )
    .footer(11)
    .writing()
    .when(maintain::can_maintain),
    action(
        ActionId::Mark,
        &[Key::Char(' ')],
        TABLE,
        "mark",
        "In the table of updates: mark the node for a round, or take the mark away. The first that is marked comes first.",
    )
    .footer(11)
    .when(rounds::can_mark),
    action(
        ActionId::Cordon,
        &[Key::Char('C')],
        OBJECTS,
        "cordon…",
        "Keep new pods away from the node, or let them come again.",
    )
    .footer(16)
    .writing()
    .when(maintain::can_cordon),
    action(
        ActionId::Begin,
        &[Key::Enter],
        WORKFLOW,
        "begin…",
        "Begin: cordon the node and evict its pods. The node's name confirms.",
    )
    .footer(1)
    .writing()
    .when(maintain::can_begin),
    action(
        ActionId::CopyCommands,
        &[Key::Char('c')],
        WORKFLOW,
        "copy",
        "Copy the commands for the node to the clipboard, if the terminal allows that (OSC 52).",
    )
    .footer(6)
    .when(maintain::can_finish),
    action(
        ActionId::RunReboot,
        &[Key::Char('r')],
        WORKFLOW,
        "run reboot…",
        "Restart the node by --reboot-command or --reboot-pod, as was given. The node's name confirms.",
    )
    .footer(2)
    .writing()
    .when(maintain::can_reboot),
    action(
        ActionId::AcceptSameRevision,
        &[Key::Char('a')],
        WORKFLOW,
        "accept revision…",
        "The node restarted and its revision is the same: accept that, and go on. The node's name confirms.",
    )
    .footer(2)
    .writing()
    .when(maintain::can_accept),
    action(
        ActionId::FinishWithoutRestart,
        &[Key::Char('f')],
        WORKFLOW,
        "no restart…",
        "The update needs no restart: uncordon the node without one. The node's name confirms.",
    )
    .footer(7)
    .writing()
    .when(maintain::can_finish),
    action(
        ActionId::Recreate,
        &[Key::Char('e')],
        WORKFLOW,
        "recreate…",
        "Evict a pod that came up without network, so that its controller makes a new one.",
    )
    .footer(2)
    .writing()
    .when(maintain::can_recreate),
    action(
        ActionId::StopWaiting,
        &[Key::Char('s')],
        WORKFLOW,
        "stop waiting…",
        "Do not wait for the remaining pods: the maintenance is done. The node's name confirms.",
    )
    .footer(7)
    .writing()
    .when(maintain::can_stop_waiting),
    action(
        ActionId::Abandon,
        &[Key::Char('A')],
        WORKFLOW,
        "abandon…",
        "Give up, and leave the node as it is now. The node's name confirms.",
    )
    .footer(8)
    .writing()
    .when(maintain::can_abandon),
    action(
        ActionId::GoOn,
        &[Key::Char('p')],
        READING,
        "go on…",
        "The round pauses after its first node: go on with the next one. Its name confirms.",
    )
    .footer(1)
    .writing()
    .when(rounds::can_go_on),
    action(
        ActionId::StopRound,
        &[Key::Char('X')],
        READING,
        "stop round",
        "Begin no further node. The maintenance that is under way goes on; the round can be gone on with later.",
    )
    .footer(9)
    .when(rounds::can_stop),
    action(ActionId::Sort, &[Key::Char('s')], TABLE, "sort", "Choose the column to sort by.").footer(12),
    action(ActionId::Invert, &[Key::Char('I')], TABLE, "invert", "Turn the sort order around."),
    action(
        ActionId::OsScope,
        &[Key::Char('o')],
        TABLE,
        "OS",
        "Show all operating systems, then Windows only, then Linux only.",
    )
    .footer(13),
    action(ActionId::Wide, &[Key::Char('w')], TABLE, "wide", "Show more columns, or fewer again.").footer(15),
    action(
        ActionId::Namespace,
        &[Key::Char('n')],
        TABLE,
        "namespace",
        "Watch one namespace only; an empty answer watches all.",
    )
    .footer(14),
    action(
        ActionId::AllNamespaces,
        &[Key::Char('0')],
        TABLE,
        "all namespaces",
        "Watch all namespaces again.",
    )
    .when(scoped),
    action(
        ActionId::Yaml,
        &[Key::Char('y')],
        OBJECTS,
        "yaml",
        "Fetch the object and show it as YAML.",
    )
    .footer(16)
    .when(yaml_of_object),
    action(
        ActionId::Back,
        &[Key::Esc],
        READING,
        "back",
        "Go back: from a page to the table, from a filtered table to the whole one.",
    )
    .footer(5)
    .when(can_go_back),
    action(
        ActionId::Palette,
        &[Key::Char(':')],
        READING,
        "go",
        "Find an action by name; also ctx NAME, ns NAME.",
    )
    .footer(17),
    action(
        ActionId::Sources,
        &[Key::Char('i')],
        READING,
        "sources",
        "How each source is: state, last answer, last error, what to do next.",
    )
    .footer(18),
    action(ActionId::Help, &[Key::Char('?')], READING, "help", "This help.").footer(19),
    action(
        ActionId::Refresh,
        &[Key::Ctrl('r')],
        READING,
        "refresh",
        "Ask every source again now.",
    ),
    action(ActionId::Down, &[Key::Char('j'), Key::Down], READING, "down", "One row down."),
    action(ActionId::Up, &[Key::Char('k'), Key::Up], READING, "up", "One row up."),
    action(
        ActionId::PageDown,
        &[Key::PageDown, Key::Ctrl('f')],
        READING,
        "page down",
        "One screen down.",
    ),
    action(
        ActionId::PageUp,
        &[Key::PageUp, Key::Ctrl('b')],
        READING,
        "page up",
        "One screen up.",
    ),
    action(ActionId::HalfDown, &[Key::Ctrl('d')], READING, "half down", "Half a screen down."),
    action(ActionId::HalfUp, &[Key::Ctrl('u')], READING, "half up", "Half a screen up."),
    action(
        ActionId::Top,
        &[Key::Char('g'), Key::Home],
        READING,
        "top",
        "To the first row, and stay there while rows come and go.",
    ),
    action(ActionId::Bottom, &[Key::Char('G'), Key::End], READING, "bottom", "To the last row."),
    action(
        ActionId::Left,
        &[Key::Left],
        &[Place::Table, Place::Yaml],
        "left",
        "Scroll to the left.",
    )
    .when(more_left),
    action(
        ActionId::Right,
        &[Key::Right],
        &[Place::Table, Place::Yaml],
        "right",
        "Scroll to the right; the name stays.",
    )
    .when(more_right),
    action(ActionId::NextTab, &[Key::Tab], READING, "next tab", "The next tab."),
    action(
        ActionId::PreviousTab,
        &[Key::BackTab],
        READING,
        "previous tab",
        "The previous tab.",
    ),
    action(ActionId::Nodes, &[Key::Char('1')], READING, "nodes", "The table of nodes."),
    action(ActionId::Pods, &[Key::Char('2')], READING, "pods", "The table of pods."),
    action(
        ActionId::Updates,
        &[Key::Char('3')],
        READING,
        "updates",
        "The table of updates: which nodes are behind, and the maintenance that is under way.",
    ),
    action(
        ActionId::Smb,
        &[Key::Char('4')],
        READING,
        "smb",
        "The table of SMB mappings of Windows nodes.",
    ),
    action(
        ActionId::Accept,
        &[Key::Enter],
        INPUTS,
        "accept",
        "Take what is typed or chosen.",
    )
    .footer(1),
    action(ActionId::Cancel, &[Key::Esc], INPUTS, "cancel", "Leave everything as it was.").footer(2),
    action(
        ActionId::ListDown,
        &[Key::Down, Key::Tab, Key::Ctrl('n')],
        LISTS,
        "down",
        "The next entry.",
    )
    .footer(3),
    action(
        ActionId::ListUp,
        &[Key::Up, Key::BackTab, Key::Ctrl('p')],
        LISTS,
        "up",
        "The previous entry.",
    )
    .footer(4),
    action(
        ActionId::Quit,
        &[Key::Char('q')],
        READING,
        "quit",
        "Close what is open; on a table, leave the program.",
    ),
    action(ActionId::Abort, &[Key::Ctrl('c')], EVERYWHERE, "leave", "Leave the program at once."),
    action(
        ActionId::Suspend,
        &[Key::Ctrl('z')],
        EVERYWHERE,
        "suspend",
        "Go to the shell; fg comes back.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::ui::Options;
    use std::collections::HashSet;

    #[test]
    fn a_key_means_one_thing_at_each_place() {
        for place in Place::ALL {
            let mut seen = HashSet::new();
            for action in at(place) {
                for key in action.keys {
                    assert!(seen.insert(*key), "{key} is bound twice in {place:?}");
                }
            }
        }
    }

    #[test]
    fn no_action_is_listed_twice_and_each_has_a_sentence() {
        let mut seen = HashSet::new();
        for action in ACTIONS {
            assert!(seen.insert(action.id), "{:?} is listed twice", action.id);
            assert!(action.doc.ends_with('.'), "{:?}: {}", action.id, action.doc);
        }
    }

    #[test]
    fn read_only_refuses_an_action_that_writes_and_says_why() {
        let mut cordon = ACTIONS[0];
        cordon.writes = true;
        cordon.possible = None;
        let mut ui = Ui::new(Options::default());
        assert_eq!(cordon.enabled(&ui), Ok(()));
        ui.options.read_only = true;
        let reason = cordon.enabled(&ui).unwrap_err();
        assert!(reason.contains("--read-only"), "{reason}");
    }
}
