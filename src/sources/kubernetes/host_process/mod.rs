//! A short-lived HostProcess pod on one Windows node: made, waited for, its log read, and removed.
//!
//! Such a pod reaches neither the cluster's DNS nor its service addresses, so that it answers through its log alone.

mod answer;
pub(super) mod manifest;
mod remains;
mod standing;
#[cfg(test)]
mod tests;
mod truth;

pub use answer::answer;
pub use manifest::Errand;
pub use truth::probe;

use super::failure::{Failure, clean};
use super::http::ApiServer;
use super::maintain::ask::{JSON, asked, body, is_missing, may_pass, words};
use super::maintain::list::decode;
use crate::domain::Name;
use crate::domain::host_process::{ENFORCE_LABEL, HostPod, PodSecurity, admission_remedy};
use crate::sources::kubernetes::detail::segment;
use http::Method;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::api::ListParams;
use manifest::{CONTAINER, DEADLINE_SECONDS, MAINTENANCE, MANAGED_BY};
use remains::{Guard, Remains};
use standing::{Standing, standing};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

/// Most bytes of a log that are read.
const LONGEST_LOG: u32 = 1024 * 1024;
/// How often a request that may pass later is sent.
const TRIES: u32 = 3;

/// The script that restarts a node. In its environment: `DRAINBOARD_ONLY_IF_REQUIRED`, `DRAINBOARD_DELAY_SECONDS`.
pub const REBOOT: &str = include_str!("reboot.ps1");
/// The script that tells the truth of a node, and changes nothing.
const PROBE: &str = include_str!("probe.ps1");

/// How long is waited.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Until it has started: its image may have to be pulled first.
    pub start: Duration,
    /// Until it has ended, from its creation on.
    pub end: Duration,
    /// Between two looks.
    pub look: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        let start = Duration::from_mins(5);
        Self {
            start,
            end: start + Duration::from_secs(DEADLINE_SECONDS.into()),
            look: Duration::from_millis(500),
        }
    }
}

/// Sends such pods to one node.
pub struct HostProcess<'a> {
    /// The API server.
    pub api: &'a ApiServer,
    /// The node.
    pub node: &'a Name,
    /// Tasks that remove what is left of a run that was dropped before its end.
    pub cleaners: &'a TaskTracker,
    /// How long is waited.
    pub patience: Patience,
    /// Hears what happens, line by line.
    pub say: &'a (dyn Fn(String) + Sync),
}

/// A script that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Exit code.
    pub exit_code: i32,
    /// Its log, or why it cannot be read.
    pub log: Result<String, String>,
}

impl HostProcess<'_> {
    /// Runs the errand to its end, and removes its pod. A pod of the same errand that is on its way already, from a run
    /// of the program that was killed, is taken over.
    ///
    /// # Errors
    /// In words: the namespace does not admit it, it could not be made, did not start or did not end.
    pub async fn run(&self, errand: &Errand, place: &HostPod) -> Result<Ended, String> {
        self.ask_namespace(&place.namespace).await?;
        let mut guard = Guard::new(
            Remains::named(self.api.clone(), &place.namespace, &errand.name),
            self.cleaners.clone(),
        );
        let pod = self.begin(errand, place).await?;
        self.see_through(&pod, &mut guard).await
    }

    /// Sees the pod through that an earlier run of the program left behind in this maintenance, in whatever namespace;
    /// `None` if there is none.
    ///
    /// # Errors
    /// In words: the pods could not be listed; what [`Self::run`] says of the end of its pod.
    pub async fn see_leftover_through(&self, maintenance: &str) -> Result<Option<Ended>, String> {
        let (label, us) = MANAGED_BY;
        let params = ListParams::default()
            .labels(&format!("{label}={us},{MAINTENANCE}={maintenance}"))
            .fields(&format!("spec.nodeName={}", self.node));
        let request = kube::core::Request::new("/api/v1/pods").list(&params);
        let request = request.map_err(|error| format!("pods of maintenance {maintenance}: {error}"))?;
        let reply = self
            .api
            .exchange(Method::GET, &request.uri().to_string(), None)
            .await;
        let found = reply.and_then(|reply| {
            let page = decode::<Pod>(&reply, "PodList")?;
            let stays = |pod: &&Pod| pod.metadata.deletion_timestamp.is_none();
            Ok(page.items.iter().find(stays).cloned())
        });
        let question = asked("list", format!("pods of node {}", self.node));
        let Some(pod) = found.map_err(|failure| words(&failure, &question))? else {
            return Ok(None);
        };
        let mut guard = Guard::new(Remains::of(self.api.clone(), &pod), self.cleaners.clone());
        (self.say)(format!("{} was left by an earlier run", title(&pod)));
        self.see_through(&pod, &mut guard).await.map(Some)
    }

    /// Whether the namespace admits such pods. Who may not read it learns it from the creation.
    async fn ask_namespace(&self, namespace: &str) -> Result<(), String> {
        match pod_security(self.api, namespace).await {
            Ok(level) => match level.objection(namespace) {
                None => Ok(()),
                Some((what, remedy)) => Err(format!("{what}: {remedy}")),
            },
            Err(failure) if failure.is_forbidden() => Ok(()),
            Err(failure) => Err(words(&failure, &asked("get", format!("namespace {namespace}")))),
        }
    }

    /// The pod of this errand, on its way: a new one, or the one that is there.
    async fn begin(&self, errand: &Errand, place: &HostPod) -> Result<Pod, String> {
        let remains = Remains::named(self.api.clone(), &place.namespace, &errand.name);
        let question = asked("create", format!("pod {}/{}", place.namespace, errand.name));
        if let Some(pod) = remains
            .look()
            .await
            .map_err(|failure| words(&failure, &question))?
        {
            if self.is_under_way(&pod, errand) {
                (self.say)(format!("{} is there already", title(&pod)));
                return Ok(pod);
            }
            remains.remove_and_wait(self.patience).await?;
        }
        let path = format!("/api/v1/namespaces/{}/pods", segment(&place.namespace));
        let object = manifest::pod(errand, self.node, place);
        let mut tries = TRIES;
        loop {
            tries -= 1;
            let reply = self
                .api
                .exchange(Method::POST, &path, Some(body(JSON, &object)))
                .await;
            let failure = match reply {
                Ok(reply) => match reply.json::<Pod>() {
                    Ok(pod) => {
                        (self.say)(format!("{} is made on node {}", title(&pod), self.node));
                        return Ok(pod);
                    }
                    Err(failure) => failure,
                },
                Err(failure) => failure,
            };
            // Our own creation, whose answer was lost.
            if let Failure::Status { code: 409, .. } = failure
                && let Ok(Some(pod)) = remains.look().await
                && self.is_under_way(&pod, errand)
            {
                return Ok(pod);
            }
            if tries == 0 || !may_pass(&failure) {
                return Err(refusal(&failure, &words(&failure, &question), &place.namespace));
            }
            tokio::time::sleep(self.patience.look).await;
        }
    }

    /// Whether this is our pod, here, and not at its end.
    fn is_under_way(&self, pod: &Pod, errand: &Errand) -> bool {
        let labels = pod.metadata.labels.as_ref();
        let label = |name: &str| labels.and_then(|labels| labels.get(name)).map(String::as_str);
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
        label(MANAGED_BY.0) == Some(MANAGED_BY.1)
            && label(MAINTENANCE) == errand.maintenance.as_deref()
            && node == Some(&**self.node)
            && pod.metadata.deletion_timestamp.is_none()
            && matches!(standing(pod), Standing::Waiting(_) | Standing::Running)
    }

    /// Waits for its end, reads its log, removes it.
    async fn see_through(&self, pod: &Pod, guard: &mut Guard) -> Result<Ended, String> {
        let remains = Remains::of(self.api.clone(), pod);
        guard.knows(remains.clone());
        let ended = self.wait_for_end(&remains).await;
        let ended = match ended {
            Ok(exit_code) => Ok(Ended {
                exit_code,
                log: self.log(&remains).await,
            }),
            Err(problem) => Err(format!("{}: {problem}", title(pod))),
        };
        guard.disarm();
        match remains.remove().await {
            Ok(()) => (self.say)(format!("{} is removed", title(pod))),
            Err(problem) => (self.say)(problem),
        }
        ended
    }

    async fn wait_for_end(&self, remains: &Remains) -> Result<i32, String> {
        let began = Instant::now();
        let mut started = false;
        loop {
            let last = match remains.look().await {
                Ok(None) => return Err("somebody removed it before it had ended".to_owned()),
                Ok(Some(pod)) => match standing(&pod) {
                    Standing::Ended(exit_code) => return Ok(exit_code),
                    Standing::Failed(why) => return Err(format!("it failed: {why}")),
                    Standing::Running => {
                        started = true;
                        "it runs".to_owned()
                    }
                    Standing::Waiting(why) if why.is_empty() => {
                        "the kubelet has not said anything of it".to_owned()
                    }
                    Standing::Waiting(why) => why,
                },
                Err(failure) if may_pass(&failure) => failure.to_string(),
                Err(failure) => return Err(words(&failure, &asked("get", "it"))),
            };
            let waited = began.elapsed();
            if !started && waited >= self.patience.start {
                return Err(format!(
                    "it did not start within {} s ({last}): look at the kubelet of node {}",
                    waited.as_secs(),
                    self.node
                ));
            }
            if waited >= self.patience.end {
                return Err(format!("it did not end within {} s ({last})", waited.as_secs()));
            }
            tokio::time::sleep(self.patience.look).await;
        }
    }

    /// Its log. The kubelet may be away for a moment, and with a restart for longer than anybody waits.
    async fn log(&self, remains: &Remains) -> Result<String, String> {
        let path = format!(
            "{}/log?container={CONTAINER}&limitBytes={LONGEST_LOG}",
            remains.path()
        );
        let mut tries = TRIES;
        loop {
            tries -= 1;
            let read = self.api.exchange(Method::GET, &path, None).await;
            match read.and_then(|reply| reply.text()) {
                Ok(text) => return Ok(text),
                Err(failure) if tries == 0 || !may_pass(&failure) => {
                    return Err(words(
                        &failure,
                        &asked("get", format!("the log of {}", remains.title())),
                    ));
                }
                Err(_) => tokio::time::sleep(self.patience.look).await,
            }
        }
    }
}

/// What the namespace says of Pod Security.
///
/// # Errors
/// It could not be asked.
pub async fn pod_security(api: &ApiServer, namespace: &str) -> Result<PodSecurity, Failure> {
    let path = format!("/api/v1/namespaces/{}", segment(namespace));
    let reply = api.exchange(Method::GET, &path, None).await?;
    if is_missing(&reply, namespace) {
        return Ok(PodSecurity::NoNamespace);
    }
    let object: Namespace = reply.json()?;
    let labels = object.metadata.labels.unwrap_or_default();
    Ok(PodSecurity::Enforced(
        labels.get(ENFORCE_LABEL).map(|level| clean(level)),
    ))
}

/// Pod Security may refuse without the label too: the API server has a default of its own.
fn refusal(failure: &Failure, words: &str, namespace: &str) -> String {
    match failure {
        Failure::Status {
            code: 403, message, ..
        } if message.contains("PodSecurity") => {
            format!("{failure}; {}", admission_remedy(namespace))
        }
        _ => words.to_owned(),
    }
}

fn title(pod: &Pod) -> String {
    let of = |text: &Option<String>| text.clone().unwrap_or_default();
    format!("pod {}/{}", of(&pod.metadata.namespace), of(&pod.metadata.name))
}
