//! Runs a round of nodes to its end: waits for what stands between them, and conducts the maintenance of each.

use super::args::MaintainArgs;
use super::conduct::Conductor;
use super::print::Printer;
use crate::cli::exit::{CliError, Outcome};
use crate::cli::output;
use crate::domain::Name;
use crate::maintenance::event::Ending;
use crate::maintenance::options::Kept;
use crate::maintenance::round::event::{RoundEnding, RoundEvent};
use crate::maintenance::round::forecast::middle;
use crate::maintenance::round::plan::{Plan, Terms};
use crate::maintenance::round::{self, Effect, Heard, Round, Stage};
use crate::runner::boots::Memory;
use crate::runner::journal;
use crate::runner::report::{self, RoundReport};
use crate::runner::round::{News, RoundRun};
use crate::runner::session::{Session, Setup};
use crate::sources::prometheus;
use chrono::Utc;
use std::path::Path;

impl From<RoundEnding> for Outcome {
    fn from(ending: RoundEnding) -> Self {
        match ending {
            RoundEnding::Done => Self::Fine,
            RoundEnding::Blocked => Self::Blocked,
            RoundEnding::TimedOut => Self::TimedOut,
            RoundEnding::NotUpdated => Self::NotUpdated,
            RoundEnding::Unsettled => Self::Unsettled,
            RoundEnding::Paused => Self::Paused,
            RoundEnding::Refused => Self::Refused,
            RoundEnding::Aborted => Self::Aborted,
        }
    }
}

/// A round, and who conducts its nodes.
pub struct Rounds<'a, 'c> {
    /// Conducts one node.
    pub conductor: &'a mut Conductor<'c>,
    /// The round.
    pub run: RoundRun,
    /// Remembers boots.
    pub memory: &'a mut Memory,
}

impl Rounds<'_, '_> {
    /// Runs it to its end.
    ///
    /// # Errors
    /// The output is gone, or the record of a node cannot be read.
    pub async fn conduct(mut self, mut news: News, args: &MaintainArgs) -> Result<Outcome, CliError> {
        if let Some(problem) = self.run.journal_problem() {
            output::say(&format!(
                "the journal of the round is not saved, so that --resume cannot go on with it: {problem}"
            ));
        }
        loop {
            self.conductor.printer.round(&news.events)?;
            if let Some(path) = &args.report
                && (news.begin.is_some() || self.run.round().is_over())
            {
                self.report(path);
            }
            if let Stage::Over(ending) = self.run.round().stage {
                return Ok(ending.into());
            }
            news = match news.begin {
                Some((node, again)) => self.one(node, again).await?,
                None => self.wait().await,
            };
        }
    }

    /// The maintenance of one node, from its begin to its end.
    async fn one(&mut self, node: Name, again: bool) -> Result<News, CliError> {
        let conductor = &mut *self.conductor;
        let boot_id = conductor.store.node(&node).map(|node| node.boot_id.clone());
        let begun = self.run.hear(Heard::Begun {
            boot_id: boot_id.unwrap_or_default(),
        });
        conductor.printer.round(&begun.events)?;
        let mut setup = conductor.setup.clone();
        setup.restarts = conductor.store.restarted_without_drain();
        let record = if again { conductor.record_of(&node)? } else { None };
        let (mut session, events) = match record {
            Some(record) => {
                // Whoever goes on has confirmed once already.
                setup.options.yes = true;
                Session::resume(node, record, setup)
            }
            None => Session::start(node, setup),
        };
        let ending = conductor.conduct(&mut session, &events, false).await;
        let news = self
            .run
            .ended(&session, *ending.as_ref().unwrap_or(&Ending::Aborted));
        // The Lease is given back, and what was asked for last is written.
        session.finish().await;
        self.memory.share(conductor.store, Utc::now());
        ending.map(|_| news)
    }

    /// Until something happens between two nodes.
    async fn wait(&mut self) -> News {
        let conductor = &mut *self.conductor;
        let next = self.run.round().left().into_iter().next();
        if let (Stage::Paused, Some(next)) = (&self.run.round().stage, &next) {
            conductor.ask.once(&format!("type {next} to go on with it"));
        }
        tokio::select! {
            () = conductor.cancel.cancelled() => self.run.hear(Heard::Stop),
            event = conductor.running.events.recv() => match event {
                Some(event) => {
                    conductor.fold(event);
                    self.run.observe(conductor.store)
                }
                None => self.run.hear(Heard::Stop),
            },
            heard = self.run.wake() => {
                let mut news = self.run.hear(heard);
                if news.begin.is_none() {
                    news.events.extend(self.run.observe(conductor.store).events);
                }
                news
            }
            typed = conductor.ask.answer() => self.typed(&typed, next.as_ref()),
        }
    }

    fn typed(&mut self, typed: &str, next: Option<&Name>) -> News {
        if self.run.round().stage != Stage::Paused {
            return News::default();
        }
        if next.is_some_and(|next| typed.trim() == &**next) {
            return self.run.hear(Heard::GoOn);
        }
        if typed.is_empty() {
            // The end of the input: nobody is there any more.
            return self.run.hear(Heard::Stop);
        }
        output::say("not confirmed; interrupt to end the round here");
        self.conductor.ask.forget();
        News::default()
    }

    fn report(&self, path: &Path) {
        let plan = &self.run.round().plan;
        let round = RoundReport::new(plan, self.run.history(), &self.conductor.setup.server);
        if let Err(error) = report::write(path, &round, || round.markdown()) {
            output::say(&format!(
                "drainboard: the report was not written to {}: {error}",
                path.display()
            ));
        }
    }
}

/// What a round over these nodes would wait for, and its forecast. Nothing is begun and nothing noted.
///
/// # Errors
/// The output is gone.
pub async fn foresee(
    nodes: Vec<Name>,
    terms: Terms,
    setup: &Setup,
    prometheus: &prometheus::Options,
    printer: &Printer,
) -> Result<(), CliError> {
    let at = Utc::now();
    let plan = Plan {
        id: String::new(),
        by: setup.by.clone(),
        started_at: at,
        purpose: setup.options.purpose,
        kept: Kept::of(&setup.options),
        terms,
        nodes,
    };
    let earlier = middle(journal::durations(&setup.server));
    let (mut round, mut effects) = round::start(plan, earlier, true, at);
    loop {
        let mut asks = false;
        for effect in effects {
            match effect {
                Effect::Tell(what, node) => printer.round(&[RoundEvent { what, at, node }])?,
                Effect::AskAlerts => asks = true,
                Effect::Begin { .. } => return Ok(()),
            }
        }
        if !asks {
            return Ok(());
        }
        let answer = firing(&round, setup, prometheus).await;
        (round, effects) = round::step(round, Heard::Alerts(answer), at);
    }
}

async fn firing(
    round: &Round,
    setup: &Setup,
    prometheus: &prometheus::Options,
) -> Result<Vec<String>, String> {
    let matchers = round.plan.terms.alerts.clone().unwrap_or_default();
    let firing =
        prometheus::alerts::firing(&setup.client, setup.request_timeout, prometheus, &matchers).await;
    firing.map_err(|problem| problem.to_string())
}
