//! The API server of the simulated cluster, and an executor whose answers come when the test says so.

use super::world::{Pending, World};
use crate::domain::Name;
use crate::domain::pod::Pod;
use crate::maintenance::effect::{Answer, Effect, Eviction, Fresh, LockError, SurveyError, WriteError};
use crate::maintenance::input::Heard;
use crate::maintenance::pods::{PodRef, Verdict, verdict};
use crate::maintenance::preflight::{Fate, NodeBefore, Preflight};
use crate::maintenance::record::Record;

impl World {
    /// Performs what was asked, without telling the answer yet.
    pub fn perform(&mut self, index: usize) {
        let Some(effect) = self
            .pending
            .get(index)
            .filter(|one| one.answer.is_none())
            .map(|one| one.effect.clone())
        else {
            return;
        };
        let answer = self.done(effect);
        match (answer, self.pending.get_mut(index)) {
            (Some(answer), Some(pending)) => pending.answer = Some(answer),
            _ => drop(self.pending.remove(index)),
        }
        self.changed();
    }

    pub fn answer(&mut self, index: usize) {
        self.perform(index);
        if self.pending.get(index).is_some_and(|one| one.answer.is_some()) {
            let answer = self.pending.remove(index).answer.unwrap();
            self.hear(Heard::Answered(answer));
        }
    }

    /// Performs and answers all, also what that leads to.
    pub fn answer_all(&mut self) {
        while !self.pending.is_empty() {
            self.answer(0);
        }
    }

    /// All but these, and what they lead to.
    pub fn answer_all_but(&mut self, not: impl Fn(&Effect) -> bool) {
        while let Some(index) = self.index(|effect| !not(effect)) {
            self.answer(index);
        }
    }

    /// The API server does not answer; the request was `performed` or not.
    pub fn lose(&mut self, index: usize, performed: bool) {
        if performed {
            self.perform(index);
        }
        let is_lost = |one: &&Pending| !matches!(one.effect, Effect::Unlock);
        let Some(effect) = self
            .pending
            .get(index)
            .filter(is_lost)
            .map(|one| one.effect.clone())
        else {
            return;
        };
        self.pending.remove(index);
        let problem = || "the connection was lost".to_owned();
        let retry = || Err(WriteError::Retry(problem()));
        let answer = match effect {
            Effect::Lock => Answer::Locked(Err(LockError::Failed(problem()))),
            Effect::Cordon(_) => Answer::Cordoned(retry()),
            Effect::Save(_) => Answer::Saved(retry()),
            Effect::ListPods => Answer::Listed(Err(problem())),
            Effect::Evict { pod, .. } => Answer::Evicted(pod, Eviction::Retry(problem())),
            Effect::Uncordon { .. } => Answer::Uncordoned(retry()),
            Effect::Clear { .. } => Answer::Cleared(retry()),
            Effect::RunRebootCommand => Answer::RebootCommand(Ok(255)),
            Effect::Survey => Answer::Surveyed(Err(SurveyError::Failed(problem()))),
            Effect::Unlock | Effect::Tell(_) => return,
        };
        self.hear(Heard::Answered(answer));
    }

    fn done(&mut self, effect: Effect) -> Option<Answer> {
        Some(match effect {
            Effect::Survey => Answer::Surveyed(self.survey()),
            Effect::Lock => {
                let id = &self.state.id;
                match &self.lease {
                    Some(by) if by != id => Answer::Locked(Err(LockError::Held {
                        by: by.clone(),
                        age_seconds: 7,
                    })),
                    _ => {
                        self.lease = Some(id.clone());
                        Answer::Locked(Ok(()))
                    }
                }
            }
            Effect::Unlock => {
                self.lease = self.lease.take().filter(|by| *by != self.state.id);
                return None;
            }
            Effect::Cordon(record) => Answer::Cordoned(self.cordon(&record)),
            Effect::Save(record) => Answer::Saved(self.write(&record)),
            Effect::ListPods => Answer::Listed(Ok(Box::new(Fresh {
                node: self.node.clone(),
                pods: self.pods.clone(),
            }))),
            Effect::Evict { pod, .. } => {
                let answer = self.eviction(&pod);
                Answer::Evicted(pod, answer)
            }
            Effect::RunRebootCommand => {
                self.begin_restart();
                Answer::RebootCommand(Ok(0))
            }
            Effect::Uncordon { record, boot_id } => Answer::Uncordoned(self.uncordon(&record, &boot_id)),
            Effect::Clear { proven_boot } => Answer::Cleared(self.clear(proven_boot)),
            Effect::Tell(_) => return None,
        })
    }

    fn survey(&self) -> Result<Box<Preflight>, SurveyError> {
        let fate = |pod: &Pod| match verdict(pod, &self.options, self.at) {
            Verdict::Leaves(loss) => Fate::Leaves(loss),
            Verdict::Stays(why) => Fate::Stays(why),
            Verdict::Refused(why) => Fate::Refused(why),
        };
        let missing = || SurveyError::Refused("there is no such node".to_owned());
        let node = self.node.clone().ok_or_else(missing)?;
        Ok(Box::new(Preflight {
            node: NodeBefore {
                uid: node.uid,
                boot_id: node.boot_id,
                kernel_version: node.kernel_version,
                kubelet_version: node.kubelet_version,
                cordoned: node.unschedulable,
            },
            pods: self.pods.iter().map(|pod| (PodRef::of(pod), fate(pod))).collect(),
            ready: self.wanted.clone().into_iter().collect(),
            notes: Vec::new(),
        }))
    }

    fn cordon(&mut self, record: &Record) -> Result<(), WriteError> {
        let node = self.node.as_mut().filter(|node| node.uid == record.node_uid);
        let Some(node) = node else {
            return refused("another node");
        };
        let there = node
            .maintenance
            .as_deref()
            .and_then(|text| Record::parse(text).ok());
        if there.is_some_and(|there| there.id != record.id) {
            return refused("another maintenance");
        }
        if !node.unschedulable {
            self.cordoned_by = "drainboard";
        }
        node.unschedulable = true;
        node.maintenance = Some(json(record));
        Ok(())
    }

    fn write(&mut self, record: &Record) -> Result<(), WriteError> {
        match self.node.as_mut().filter(|node| node.uid == record.node_uid) {
            Some(node) => {
                node.maintenance = Some(json(record));
                Ok(())
            }
            None => refused("another node"),
        }
    }

    fn uncordon(&mut self, record: &Record, boot_id: &Name) -> Result<(), WriteError> {
        let node = self.node.as_mut().filter(|node| node.uid == record.node_uid);
        let Some(node) = node else {
            return refused("another node");
        };
        let there = node
            .maintenance
            .as_deref()
            .and_then(|text| Record::parse(text).ok());
        if there.is_none_or(|there| there.id != record.id) {
            return refused("not ours");
        }
        if node.boot_id != *boot_id {
            return Err(WriteError::Moved("another boot".to_owned()));
        }
        if node.unschedulable && self.cordoned_by != "drainboard" {
            return refused("somebody else cordoned it");
        }
        node.unschedulable = false;
        node.maintenance = Some(json(record));
        Ok(())
    }

    fn clear(&mut self, proven_boot: Option<Name>) -> Result<(), WriteError> {
        let Some(node) = &mut self.node else { return Ok(()) };
        let there = node
            .maintenance
            .as_deref()
            .and_then(|text| Record::parse(text).ok());
        if there.is_some_and(|there| there.id != self.state.id) {
            return refused("not ours");
        }
        node.maintenance = None;
        node.proven_boot = proven_boot.or_else(|| node.proven_boot.take());
        self.lease = None;
        Ok(())
    }

    fn eviction(&mut self, pod: &PodRef) -> Eviction {
        if let Some(eviction) = self.evictions.pop_front() {
            return eviction;
        }
        let at = self.at;
        let named = |one: &&mut Pod| one.namespace == pod.namespace && one.name == pod.name;
        let Some(found) = self.pods.iter_mut().find(named) else {
            return Eviction::Gone;
        };
        if found.uid != pod.uid {
            return Eviction::Replaced;
        }
        let blocking = self.budgets.iter_mut().find(|budget| budget.protects(found));
        if let Some(budget) = blocking.filter(|_| found.deleted_at.is_none()) {
            if budget.allowed == 0 {
                return blocked(None);
            }
            budget.allowed -= 1;
        }
        found.deleted_at.get_or_insert(at);
        Eviction::Accepted
    }
}

pub fn blocked(retry_after: Option<u64>) -> Eviction {
    Eviction::Blocked {
        message: "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget hello-win needs \
                  1 healthy pods and has 1 currently"
            .to_owned(),
        retry_after: retry_after.map(std::time::Duration::from_secs),
    }
}

pub fn json(record: &Record) -> Name {
    serde_json::to_string(record).unwrap().into()
}

fn refused(why: &str) -> Result<(), WriteError> {
    Err(WriteError::Refused(why.to_owned()))
}
