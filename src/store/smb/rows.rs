//! Joins the rows: what pods want by their volumes, and what the logs of the nodes tell.

use super::logs::Logs;
use super::{MappedPod, MappedVolume, MappingState, SmbMapping, ToldBy, distinct};
use crate::domain::object::Os;
use crate::domain::pod::Pod;
use crate::domain::smb::ledger::{LastHappened, Told};
use crate::domain::smb::log::{What, failure_in};
use crate::domain::smb::remote::RemotePath;
use crate::domain::{Name, Timestamp};
use crate::sources::event::Watched;
use crate::store::cluster::{Cluster, ended};
use crate::store::storage::running_since;
use chrono::TimeDelta;
use std::collections::{BTreeMap, BTreeSet};

/// A removed mapping is shown so long.
const REMOVED_SHOWN: TimeDelta = TimeDelta::hours(1);
/// Reasons of the kubelet's events about volumes that it cannot mount.
pub const MOUNT_REASONS: [&str; 2] = ["FailedMount", "FailedAttachVolume"];

#[derive(Default)]
struct Draft {
    volumes: Vec<MappedVolume>,
    pods: BTreeSet<u32>,
    told: Option<Told>,
}

/// The rows by node and path.
pub fn join(cluster: &Cluster, logs: &Logs, all_pods: bool, now: Timestamp) -> Vec<SmbMapping> {
    let mut drafts: BTreeMap<(Name, RemotePath), Draft> = BTreeMap::new();
    let windows = |node: &Name| {
        cluster
            .node(node)
            .is_some_and(|node| node.os == Some(Os::Windows))
    };
    let mut by_remote: BTreeMap<&RemotePath, Vec<MappedVolume>> = BTreeMap::new();
    for (volume, share) in cluster.storage.smb_volumes() {
        let Some(remote) = &share.remote else { continue };
        let mapped = MappedVolume {
            name: volume.key.name.clone(),
            claim: volume.claim.clone(),
            claim_phase: cluster.storage.claim_of(volume).map(|claim| claim.phase.clone()),
            phase: volume.phase.clone(),
            class: volume.class.clone(),
            hash: share.hash.clone(),
        };
        by_remote.entry(remote).or_default().push(mapped);
        let slots = volume
            .claim
            .as_ref()
            .map_or(&[][..], |claim| cluster.storage.pods_of_claim(claim));
        for slot in slots {
            let pod = cluster.pods.get(*slot).filter(|pod| !ended(pod));
            let node = pod.and_then(|pod| pod.node.clone());
            if let Some(node) = node.filter(|node| windows(node)) {
                let draft = drafts.entry((node, remote.clone())).or_default();
                draft.pods.insert(*slot);
            }
        }
    }
    for node in cluster.nodes.iter().filter(|node| node.os == Some(Os::Windows)) {
        let Some(log) = logs.of(&node.name) else { continue };
        let known = |about: &crate::domain::smb::log::About| {
            let share = cluster.storage.share_of_hash(about.hash.as_ref()?)?;
            share.remote.clone()
        };
        for (remote, told) in log.ledger.mappings(known) {
            drafts.entry((node.name.clone(), remote)).or_default().told = Some(told);
        }
    }
    drafts
        .into_iter()
        .map(|((node, remote), mut draft)| {
            draft.volumes = by_remote.get(&remote).cloned().unwrap_or_default();
            Row {
                cluster,
                logs,
                all_pods,
                node,
                remote,
                draft,
            }
        })
        .filter_map(|row| row.finish(now))
        .collect()
}

struct Row<'a> {
    cluster: &'a Cluster,
    logs: &'a Logs,
    all_pods: bool,
    node: Name,
    remote: RemotePath,
    draft: Draft,
}

impl Row<'_> {
    /// `None` for what was removed long ago, and for what was only ever named in passing.
    fn finish(self, now: Timestamp) -> Option<SmbMapping> {
        let (state, state_at, told_by) = self.state();
        let old = state_at.is_none_or(|at| now - at > REMOVED_SHOWN);
        let nothing = state == MappingState::Wanted && self.draft.pods.is_empty();
        if nothing || (state == MappingState::Removed && old) {
            return None;
        }
        let Self {
            cluster,
            logs,
            node,
            remote,
            draft,
            ..
        } = self;
        let pods = distinct(draft.pods.iter().filter_map(|slot| {
            let pod = cluster.pods.get(*slot)?;
            Some(MappedPod {
                namespace: pod.namespace.clone(),
                name: pod.name.clone(),
                runs: running_since(pod).is_some(),
            })
        }));
        // Without the volumes nothing leads from a pod to a mapping.
        let no_volumes = cluster.watch_absence(Watched::PersistentVolumes);
        let no_pods = no_volumes
            .clone()
            .or_else(|| cluster.watch_absence(Watched::Pods));
        let told = draft.told.unwrap_or_default();
        let account = told.account.map(|(account, _)| account);
        let privacy = told.privacy.map(|(privacy, _)| privacy);
        Some(SmbMapping {
            volumes: no_volumes.map_or(Ok(draft.volumes), Err),
            pods: no_pods.map_or(Ok(pods), Err),
            account: logs.reading(&node, account),
            privacy: logs.reading(&node, privacy),
            staged_at: logs.reading(&node, told.staged_at),
            state,
            state_at,
            told_by,
            invalid_at: told.invalid_at,
            warnings: Vec::new(),
            node,
            remote,
        })
    }

    /// The newest that was told of it, by whomever.
    fn state(&self) -> (MappingState, Option<Timestamp>, ToldBy) {
        let told = [self.of_log(), self.of_pods(), self.of_events()];
        let newest = told.into_iter().flatten().max_by_key(|(_, at, _)| *at);
        match newest {
            Some((state, at, by)) => (state, Some(at), by),
            None => (MappingState::Wanted, None, ToldBy::Nobody),
        }
    }

    fn of_log(&self) -> Option<(MappingState, Timestamp, ToldBy)> {
        let told = self.draft.told.as_ref()?;
        let (last, at) = told.last.as_ref()?;
        let unused = self.all_pods
            && self.draft.pods.is_empty()
            && told.pods.is_empty()
            && self.cluster.watch_absence(Watched::Pods).is_none()
            && self.cluster.watch_absence(Watched::PersistentVolumes).is_none();
        let state = match last {
            LastHappened::Begun => MappingState::Begun,
            LastHappened::Mapped if unused => MappingState::LeftBehind,
            LastHappened::Mapped => MappingState::Mapped,
            LastHappened::Failed(failure, times) => MappingState::Failed(failure.clone(), *times),
            LastHappened::Removed => MappingState::Removed,
            LastHappened::Left(_) => MappingState::LeftBehind,
        };
        // A mapped share keeps the time at which it was staged.
        let at = told
            .staged_at
            .filter(|_| *last == LastHappened::Mapped)
            .unwrap_or(*at);
        Some((state, at, ToldBy::Log))
    }

    fn of_pods(&self) -> Option<(MappingState, Timestamp, ToldBy)> {
        let since = self.pods().filter_map(running_since).min()?;
        // What the log says of a mapping that is in use is nearer to it.
        let told = self.draft.told.as_ref().and_then(|told| told.last.as_ref());
        if told.is_some_and(|(last, _)| *last == LastHappened::Mapped) {
            return None;
        }
        Some((MappingState::Mapped, since, ToldBy::Pod))
    }

    /// Events of pods that wait for their volumes.
    fn of_events(&self) -> Option<(MappingState, Timestamp, ToldBy)> {
        let waiting = self.pods().filter(|pod| running_since(pod).is_none());
        waiting
            .flat_map(|pod| self.cluster.events.about("Pod", Some(&pod.namespace), &pod.name))
            .filter(|event| MOUNT_REASONS.contains(&&*event.reason))
            .filter_map(|event| {
                let told = failure_in(&event.message)?;
                let remote = told.about.any_remote().or_else(|| {
                    let share = self.cluster.storage.share_of_hash(told.about.hash.as_ref()?)?;
                    share.remote.clone()
                })?;
                let What::Failed(failure) = told.what else {
                    return None;
                };
                let state = MappingState::Failed(failure, event.count);
                (remote == self.remote).then_some((state, event.last_seen?, ToldBy::Event))
            })
            .max_by_key(|(_, at, _)| *at)
    }

    fn pods(&self) -> impl Iterator<Item = &Pod> {
        self.draft
            .pods
            .iter()
            .filter_map(|slot| self.cluster.pods.get(*slot))
    }
}
