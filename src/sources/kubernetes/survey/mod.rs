//! What a preflight looks at, read afresh from the API server: nothing of it comes from a watch or a cache.

mod lists;
mod rights;
#[cfg(test)]
mod tests;
mod wire;

use super::failure::Failure;
use super::host_process;
use super::http::ApiServer;
use super::maintain::ask::{asked, words};
use super::maintain::evict;
use crate::domain::Name;
use crate::domain::host_process::PodSecurity;
use crate::domain::pod::Pod;
use crate::maintenance::effect::{Eviction, SurveyError};
use crate::maintenance::options::{Options, Reboot};
use crate::maintenance::pods::{PodRef, Verdict, verdict};
use crate::maintenance::preflight::survey::{Known, Survey};
use crate::maintenance::preflight::{Preflight, assess, permissions};
use crate::sources::event::Scope;
use chrono::Utc;
use futures::StreamExt;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Which server it is.
const VERSION: &str = "/version";
const VERSION_IN_WORDS: &str = "for /version";

/// Questions that are under way at the same time.
const AT_ONCE: usize = 8;

/// What a maintenance wants to know before it begins.
#[derive(Clone, Debug)]
pub struct Intent {
    /// The node.
    pub node: Name,
    /// What the operator asked for.
    pub options: Options,
    /// Id of the maintenance that asks.
    pub identity: String,
    /// `--take-over`.
    pub take_over: bool,
    /// `--pool-label`.
    pub pool_label: Option<String>,
    /// `--dry-run`: the server is asked to try the evictions without effect.
    pub dry_run: bool,
    /// What was seen of a restart outside of any maintenance, in words.
    pub restarted_without_drain: Option<String>,
}

/// Looks at the cluster and judges what it means for this maintenance.
///
/// # Errors
/// Nodes or pods could not be read, or the server went away. What else could not be read is a note of the preflight.
pub async fn survey(
    client: kube::Client,
    request_timeout: Duration,
    intent: &Intent,
) -> Result<Box<Preflight>, SurveyError> {
    let api = ApiServer::new(client, request_timeout, Arc::new(Scope::default()));
    let gathered = gather(&api, intent).await;
    // What a server that went away did not answer says nothing of the cluster: is it still there?
    if let Err(failure) = api.get(VERSION).await
        && is_away(&failure)
    {
        return Err(SurveyError::Failed(words(
            &failure,
            &asked("ask", VERSION_IN_WORDS),
        )));
    }
    let survey = gathered.map_err(SurveyError::Refused)?;
    Ok(Box::new(assess(&survey, &intent.options, Utc::now())))
}

/// Whether nothing that could have decided over the request was reached.
const fn is_away(failure: &Failure) -> bool {
    matches!(
        failure,
        Failure::Unreachable(_)
            | Failure::Truncated
            | Failure::Timeout(_)
            | Failure::Status { code: 502..=504, .. }
    )
}

async fn gather(api: &ApiServer, intent: &Intent) -> Result<Survey, String> {
    let (nodes, pods, wishes, budgets, runtime_classes, node_ports, server_version) = tokio::join!(
        lists::nodes(api),
        lists::pods(api),
        lists::wishes(api, &intent.node),
        lists::budgets(api),
        lists::runtime_classes(api),
        lists::node_ports(api),
        server_version(api),
    );
    let (nodes, pods) = (nodes?, pods?);
    let leaving: Vec<&Pod> = pods
        .iter()
        .filter(|pod| pod.node.as_ref() == Some(&intent.node))
        .filter(|pod| matches!(verdict(pod, &intent.options, Utc::now()), Verdict::Leaves(_)))
        .collect();
    let namespaces: BTreeSet<Name> = leaving.iter().map(|pod| pod.namespace.clone()).collect();
    let dry_run_evictions = if intent.dry_run {
        tried(api, leaving.iter().map(|pod| PodRef::of(pod)).collect()).await
    } else {
        Vec::new()
    };
    let reboot = intent.options.reboot.as_ref();
    let permissions = rights::ask(api, permissions::needed(&intent.node, namespaces, reboot)).await;
    let pod_security = match reboot {
        Some(Reboot::Pod(place)) => Some(pod_security(api, &place.namespace).await),
        Some(Reboot::Command(_)) | None => None,
    };
    Ok(Survey {
        node: intent.node.clone(),
        nodes,
        pods,
        wishes,
        budgets,
        runtime_classes,
        node_ports,
        server_version,
        pod_security,
        permissions,
        dry_run_evictions,
        restarted_without_drain: intent.restarted_without_drain.clone(),
        identity: intent.identity.clone(),
        take_over: intent.take_over,
        pool_label: intent.pool_label.clone(),
    })
}

/// The evictions as the server would answer them.
async fn tried(api: &ApiServer, pods: Vec<PodRef>) -> Vec<(PodRef, Eviction)> {
    let questions = pods.into_iter().map(|pod| async move {
        let eviction = evict::try_out(api, &pod).await;
        (pod, eviction)
    });
    futures::stream::iter(questions).buffered(AT_ONCE).collect().await
}

/// What the namespace says of Pod Security.
async fn pod_security(api: &ApiServer, namespace: &str) -> Known<PodSecurity> {
    host_process::pod_security(api, namespace)
        .await
        .map_err(|failure| words(&failure, &asked("get", format!("namespace {namespace}"))))
}

/// `GET /version`.
async fn server_version(api: &ApiServer) -> Known<Name> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        git_version: Name,
    }
    let read =
        |body: Vec<u8>| serde_json::from_slice::<Version>(&body).map_err(|error| Failure::of_json(&error));
    api.get(VERSION)
        .await
        .and_then(read)
        .map(|version| version.git_version)
        .map_err(|failure| words(&failure, &asked("ask", VERSION_IN_WORDS)))
}
