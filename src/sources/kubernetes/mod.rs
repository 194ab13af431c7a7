//! The Kubernetes API: lists and watches of nodes, pods, leases, daemonsets, events, disruption budgets and storage, a
//! probe of the server's health, details of single objects, and the logs of SMB node plugins.

pub mod config;
mod detail;
mod failure;
mod follow;
pub mod host_process;
mod http;
pub mod intern;
mod list;
pub mod logs;
pub mod maintain;
mod plugin_log;
mod probe;
pub mod protobuf;
mod resource;
pub mod split;
pub mod survey;
mod watch;
pub mod wire;

use crate::domain::Name;
use crate::sources::context::SourceContext;
use crate::sources::event::{DetailKey, Scope};
use http::ApiServer;
use resource::{
    Budgets, CsiDrivers, CsiNodes, DaemonSets, Events, Leases, Nodes, PersistentVolumes, Pods, Resource,
    StorageClasses, Target, VolumeClaims,
};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use watch::Watcher;

/// Where kubelets renew their leases.
const LEASE_NAMESPACE: &str = "kube-node-lease";

/// Runs until `context.cancel` fires. A panic of one of its tasks is its own panic.
pub async fn run(context: SourceContext, scope: Scope, details: UnboundedReceiver<DetailKey>) {
    let namespace = scope.namespace.clone();
    let selector = (!scope.pod_selector.is_empty()).then(|| scope.pod_selector.to_string());
    let api = ApiServer::new(context.client.clone(), context.request_timeout, Arc::new(scope));
    let (nudge, nudged) = tokio::sync::watch::channel(0);
    let scoped = |selector| Target {
        namespace: namespace.clone(),
        selector,
    };

    let mut tasks = JoinSet::new();
    let mut watch = Watches {
        set: &mut tasks,
        api: &api,
        context: &context,
        nudged,
    };
    watch.spawn::<Nodes>(Target::default());
    watch.spawn::<Pods>(scoped(selector));
    watch.spawn::<Leases>(Target {
        namespace: Some(Name::from(LEASE_NAMESPACE)),
        selector: None,
    });
    watch.spawn::<DaemonSets>(scoped(None));
    watch.spawn::<Events>(scoped(None));
    watch.spawn::<Budgets>(scoped(None));
    watch.spawn::<PersistentVolumes>(Target::default());
    watch.spawn::<VolumeClaims>(scoped(None));
    watch.spawn::<StorageClasses>(Target::default());
    watch.spawn::<CsiNodes>(Target::default());
    watch.spawn::<CsiDrivers>(Target::default());
    tasks.spawn(probe::run(
        api.clone(),
        context.sink.clone(),
        context.refresh.clone(),
        nudge,
    ));
    tasks.spawn(plugin_log::run(api.clone(), context.clone()));
    tasks.spawn(detail::run(api, context.sink.clone(), details));

    while let Some(Some(ended)) = context.cancel.run_until_cancelled(tasks.join_next()).await {
        if let Err(error) = ended
            && let Ok(panic) = error.try_into_panic()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

struct Watches<'a> {
    set: &'a mut JoinSet<()>,
    api: &'a ApiServer,
    context: &'a SourceContext,
    nudged: tokio::sync::watch::Receiver<u64>,
}

impl Watches<'_> {
    fn spawn<R: Resource>(&mut self, target: Target) {
        let watcher = Watcher::<R>::new(
            self.api.clone(),
            target,
            self.context.sink.clone(),
            self.nudged.clone(),
        );
        self.set.spawn(watcher.run());
    }
}
