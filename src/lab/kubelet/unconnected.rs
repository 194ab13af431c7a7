//! A pod whose sandbox was created before the node's network was back: it runs, and nothing reaches it. Its probes fail
//! by timeouts for the rest of its life, and where a startup or liveness probe counts them, its container is restarted
//! again and again.

use super::facts::{ContainerFacts, PodFacts, ProbeFacts};
use super::life::{Interruption, Life};
use super::plan::stopping;
use super::progress::{Containers, LastRun};
use super::recorder::Severity;
use chrono::Utc;
use std::net::Ipv4Addr;
use std::time::Duration;

/// What fails without a network in one container.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sick {
    container: ContainerFacts,
    /// The probe that fails, and the words that an event has for it.
    word: &'static str,
    probe: ProbeFacts,
    /// The failures after which the container is restarted, and what that is called; a readiness probe alone
    /// restarts nothing.
    kills: Option<(u32, &'static str)>,
}

impl PodFacts {
    /// What fails in this pod when it has no network; `None` when nobody would notice.
    pub(super) fn needs_network(&self) -> Option<Sick> {
        self.containers.iter().find_map(Sick::of)
    }
}

impl Sick {
    fn of(container: &ContainerFacts) -> Option<Self> {
        let over_network = |probe: &Option<ProbeFacts>| probe.clone().filter(|probe| probe.http.is_some());
        // no other probe is made before the startup probe has succeeded
        if let Some(probe) = over_network(&container.startup) {
            return Some(Self {
                container: container.clone(),
                word: "Startup",
                kills: Some((probe.failures, "startup")),
                probe,
            });
        }
        let liveness = over_network(&container.liveness);
        let kills = |liveness: &ProbeFacts| (liveness.failures, "liveness");
        match (over_network(&container.readiness), liveness) {
            (Some(probe), liveness) => Some(Self {
                container: container.clone(),
                word: "Readiness",
                kills: liveness.as_ref().map(kills),
                probe,
            }),
            (None, Some(probe)) => Some(Self {
                container: container.clone(),
                word: "Liveness",
                kills: Some(kills(&probe)),
                probe,
            }),
            (None, None) => None,
        }
    }

    /// What the kubelet says of a failed probe.
    fn failure(&self, address: Ipv4Addr) -> String {
        let (port, path) = self
            .probe
            .http
            .as_ref()
            .map_or((0, "/"), |(port, path)| (*port, &**path));
        format!(
            "{} probe failed: Get \"http://{address}:{port}{path}\": context deadline exceeded (Client.Timeout exceeded \
             while awaiting headers)",
            self.word
        )
    }
}

/// The pause before the restart of a container that was killed `kills` times, in seconds: none, then 10 s, doubled up
/// to five minutes.
fn back_off_seconds(kills: u32) -> u64 {
    match kills {
        0 | 1 => 0,
        more => 10_u64.saturating_mul(1 << (more - 2).min(5)).min(300),
    }
}

/// At a high speed probes fail faster than it makes sense to count in the API.
const SHORTEST_PERIOD: Duration = Duration::from_millis(200);

impl Life {
    /// Runs without network until something comes between.
    pub(super) async fn run_unconnected(&mut self, sick: Sick) -> Interruption {
        let timings = self.means.timings;
        let probe_period = timings.scaled(Duration::from_secs(u64::from(sick.probe.period_seconds)));
        let mut kills = 0;
        loop {
            self.progress.containers = Containers::running(Utc::now());
            self.report().await;
            let patience = sick
                .kills
                .map(|(failures, _)| tokio::time::Instant::now() + probe_period * failures);
            loop {
                if let Some(interruption) = self.interrupted_within(probe_period.max(SHORTEST_PERIOD)).await {
                    return interruption;
                }
                if let Some(address) = self.address {
                    self.events
                        .tell(Severity::Warning, "Unhealthy", &sick.failure(address))
                        .await;
                }
                if patience.is_some_and(|end| tokio::time::Instant::now() >= end) {
                    break;
                }
            }
            kills += 1;
            if let Some(interruption) = self.restart_container(&sick, kills).await {
                return interruption;
            }
        }
    }

    /// Kills the container, waits as long as the kubelet waits, and counts the restart.
    async fn restart_container(&mut self, sick: &Sick, kills: u32) -> Option<Interruption> {
        let facts = self.facts();
        let name = &sick.container.name;
        let probe = sick.kills.map_or("liveness", |(_, word)| word);
        let told = format!("Container {name} failed {probe} probe, will be restarted");
        self.events.tell(Severity::Normal, "Killing", &told).await;
        let stop = stopping(&facts, self.machine().os, self.means.timings);
        if let Some(interruption) = self.interrupted_within(stop).await {
            return Some(interruption);
        }
        let since = self.progress.containers.since();
        let started_at = since.unwrap_or(self.progress.accepted_at);
        self.progress.last_run = Some(LastRun::killed(started_at, Utc::now()));
        let seconds = back_off_seconds(kills);
        if seconds > 0 {
            self.progress.containers = Containers::BackOff { seconds };
            self.report().await;
            let told = format!(
                "Back-off restarting failed container {name} in pod {}_{}({})",
                facts.name, facts.namespace, facts.uid
            );
            self.events.tell(Severity::Warning, "BackOff", &told).await;
            let pause = self.means.timings.scaled(Duration::from_secs(seconds));
            if let Some(interruption) = self.interrupted_within(pause).await {
                return Some(interruption);
            }
        }
        self.progress.restarts += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::tests::article_pod;
    use super::*;

    fn sick(workload: &str) -> Option<Sick> {
        PodFacts::of(&article_pod(workload)).unwrap().needs_network()
    }

    #[test]
    fn the_probes_of_the_articles_pods_fail_in_its_words() {
        let aspnetapp = sick("aspnetapp").unwrap();
        assert_eq!(
            aspnetapp.failure([172, 21, 41, 62].into()),
            "Readiness probe failed: Get \"http://172.21.41.62:8080/\": context deadline exceeded (Client.Timeout \
             exceeded while awaiting headers)"
        );
        assert_eq!(aspnetapp.kills, None);
        let hello = sick("hello-win").unwrap();
        assert!(
            hello
                .failure([172, 21, 41, 4].into())
                .starts_with("Startup probe failed: Get \"http://172.21.41.4:8080/healthz\":")
        );
        assert_eq!(hello.kills, Some((30, "startup")));
    }

    #[test]
    fn nobody_notices_that_the_reports_have_no_network() {
        assert_eq!(sick("reports"), None);
        assert_eq!(sick("reports-writer"), None);
    }

    #[test]
    fn the_pause_between_restarts_doubles_up_to_five_minutes() {
        let pauses: Vec<_> = (1..=9).map(back_off_seconds).collect();
        assert_eq!(pauses, [0, 10, 20, 40, 80, 160, 300, 300, 300]);
    }
}
