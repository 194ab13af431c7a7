//! The palette: every action of this place, the contexts and the namespaces, found by typing parts of their
//! names. What cannot be done now is listed with the reason.

use super::actions::{self, ActionId};
use super::keys::Key;
use super::prompt::is_namespace;
use super::ui::Ui;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::borrow::Cow;
use tui_input::Input;

/// The palette while it is open.
#[derive(Clone, Debug)]
pub struct Palette {
    /// What is typed.
    pub input: Input,
    /// Which of the matching entries is chosen.
    pub chosen: usize,
    entries: Vec<Entry>,
}

/// One line of the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is called; typed letters are looked for here.
    pub name: String,
    /// What it does.
    pub doc: Cow<'static, str>,
    /// Its key, if it has one.
    pub key: Option<Key>,
    /// Why it cannot be done now.
    pub refused: Option<Cow<'static, str>>,
    /// What it does.
    pub choice: Choice,
}

/// What an entry stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// An action.
    Action(ActionId),
    /// Go to a kubeconfig context.
    Context(String),
    /// Watch one namespace.
    Namespace(String),
}

impl Palette {
    /// What the palette offers at the place where the operator is.
    pub fn open(ui: &Ui) -> Self {
        let actions = actions::at(ui.reading_place())
            .filter(|action| action.id != ActionId::Palette)
            .map(|action| Entry {
                name: action.title.to_owned(),
                doc: Cow::Borrowed(action.doc),
                key: action.keys.first().copied(),
                refused: action.enabled(ui).err(),
                choice: Choice::Action(action.id),
            });
        let contexts = ui.options.contexts.iter().map(|name| context(name));
        Self {
            input: Input::default(),
            chosen: 0,
            entries: actions.chain(contexts).collect(),
        }
    }

    /// The entries that match what is typed, best first. `ctx NAME` and `ns NAME` work for names that are not
    /// listed, too.
    pub fn matching(&self) -> Vec<Entry> {
        let typed = self.input.value().trim();
        if typed.is_empty() {
            return self.entries.clone();
        }
        if let Some(name) = typed.strip_prefix("ns ").map(str::trim) {
            return vec![namespace(name)];
        }
        let mut matcher = Matcher::new(Config::DEFAULT);
        let pattern = Pattern::parse(typed, CaseMatching::Ignore, Normalization::Smart);
        let mut buffer = Vec::new();
        let mut found: Vec<(u32, &Entry)> = self
            .entries
            .iter()
            .filter_map(|entry| {
                let score = pattern.score(Utf32Str::new(&entry.name, &mut buffer), &mut matcher)?;
                Some((score, entry))
            })
            .collect();
        found.sort_by_key(|(score, entry)| (std::cmp::Reverse(*score), entry.name.len()));
        let mut found: Vec<Entry> = found.into_iter().map(|(_, entry)| entry.clone()).collect();
        if let Some(name) = typed.strip_prefix("ctx ").map(str::trim)
            && found.is_empty()
        {
            found.push(context(name));
        }
        found
    }

    /// Moves the choice.
    pub fn step(&mut self, by: isize) {
        let last = self.matching().len().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(by).min(last);
    }
}

fn context(name: &str) -> Entry {
    Entry {
        name: format!("ctx {name}"),
        doc: Cow::Borrowed("Go to this kubeconfig context."),
        key: None,
        refused: None,
        choice: Choice::Context(name.to_owned()),
    }
}

fn namespace(name: &str) -> Entry {
    Entry {
        name: format!("ns {name}"),
        doc: Cow::Borrowed("Watch this namespace only."),
        key: None,
        refused: (!is_namespace(name)).then_some(Cow::Borrowed(NOT_A_NAMESPACE)),
        choice: Choice::Namespace(name.to_owned()),
    }
}

/// Why a text is no name of a namespace.
pub const NOT_A_NAMESPACE: &str = "a namespace has lower case letters, digits and '-' only";
