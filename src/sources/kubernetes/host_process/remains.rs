//! The pod that must not stay behind: found again, and removed by its UID, so that it is never another one.

use super::Patience;
use super::manifest::MANAGED_BY;
use crate::sources::kubernetes::detail::segment;
use crate::sources::kubernetes::failure::Failure;
use crate::sources::kubernetes::http::ApiServer;
use crate::sources::kubernetes::maintain::ask::{JSON, asked, body, is_missing, may_pass, words};
use http::Method;
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

/// Pause before a removal that failed is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// How often it is tried.
const TRIES: u32 = 5;

/// A pod that we made, or were about to make.
#[derive(Clone)]
pub struct Remains {
    api: ApiServer,
    namespace: String,
    name: String,
    /// `None` while its creation was not answered.
    uid: Option<String>,
}

impl Remains {
    /// A pod of which the name is known.
    pub fn named(api: ApiServer, namespace: &str, name: &str) -> Self {
        Self {
            api,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: None,
        }
    }

    /// This pod.
    pub fn of(api: ApiServer, pod: &Pod) -> Self {
        let metadata = &pod.metadata;
        Self {
            api,
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
            uid: metadata.uid.clone(),
        }
    }

    /// Where it is.
    pub fn path(&self) -> String {
        format!(
            "/api/v1/namespaces/{}/pods/{}",
            segment(&self.namespace),
            segment(&self.name)
        )
    }

    /// `pod kube-system/drainboard-reboot-1a2b`.
    pub fn title(&self) -> String {
        format!("pod {}/{}", self.namespace, self.name)
    }

    /// It as it is now; `None` when it, or this incarnation of it, is gone.
    pub async fn look(&self) -> Result<Option<Pod>, Failure> {
        let reply = self.api.exchange(Method::GET, &self.path(), None).await?;
        if is_missing(&reply, &self.name) {
            return Ok(None);
        }
        let pod: Pod = reply.json()?;
        let same = self.uid.is_none() || self.uid == pod.metadata.uid;
        Ok(same.then_some(pod))
    }

    /// Removes it. That it is gone already is fine.
    pub async fn remove(&self) -> Result<(), String> {
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match self.try_to_remove().await {
                Ok(()) => return Ok(()),
                Err(failure) if tries > 0 && may_pass(&failure) => tokio::time::sleep(PAUSE).await,
                Err(failure) => {
                    return Err(format!(
                        "{}; remove it with `kubectl -n {} delete pod {}`",
                        words(&failure, &asked("delete", self.title())),
                        self.namespace,
                        self.name
                    ));
                }
            }
        }
    }

    async fn try_to_remove(&self) -> Result<(), Failure> {
        let Some(pod) = self.look().await? else {
            return Ok(());
        };
        let labels = pod.metadata.labels.unwrap_or_default();
        if labels.get(MANAGED_BY.0).map(String::as_str) != Some(MANAGED_BY.1) {
            // Somebody else's, under the name that ours was to have.
            return Ok(());
        }
        let options = json!({
            "apiVersion": "v1", "kind": "DeleteOptions",
            "preconditions": {"uid": pod.metadata.uid},
        });
        let reply = self
            .api
            .exchange(Method::DELETE, &self.path(), Some(body(JSON, &options)))
            .await?;
        match reply.code {
            // Gone, or another one by now: the next look says so.
            200..=299 | 404 | 409 => Ok(()),
            _ => Err(reply.failure()),
        }
    }

    /// Removes it and waits until its name is free.
    pub async fn remove_and_wait(&self, patience: Patience) -> Result<(), String> {
        self.remove().await?;
        let gone = async {
            while !matches!(self.look().await, Ok(None)) {
                tokio::time::sleep(patience.look).await;
            }
        };
        tokio::time::timeout(patience.start, gone)
            .await
            .map_err(|_| format!("{} from before is not gone yet: try again later", self.title()))
    }
}

/// Removes the pod when its run is dropped before its end, as far as the program lives on.
pub struct Guard {
    remains: Option<Remains>,
    cleaners: TaskTracker,
}

impl Guard {
    /// Watches over this.
    pub fn new(remains: Remains, cleaners: TaskTracker) -> Self {
        Self {
            remains: Some(remains),
            cleaners,
        }
    }

    /// Watches over this, now that more is known of it.
    pub fn knows(&mut self, remains: Remains) {
        self.remains = Some(remains);
    }

    /// It is removed in the ordinary way.
    pub fn disarm(&mut self) {
        self.remains = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(remains) = self.remains.take() else {
            return;
        };
        // Without a runtime nothing can be sent any more; the kubelet ends the pod at its deadline.
        let Ok(handle) = Handle::try_current() else { return };
        self.cleaners.spawn_on(
            async move {
                if let Err(problem) = remains.remove().await {
                    tracing::warn!(problem, "a HostProcess pod stays behind");
                }
            },
            &handle,
        );
    }
}
