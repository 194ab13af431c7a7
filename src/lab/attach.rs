//! `lab attach`: the same fake kubelets against a real API server with real controllers. They also serve the
//! exporter and the kubelet API on the nodes' addresses, and `metrics.k8s.io` as an aggregated API.

use super::apiserver::tls::{Endpoint, Identity};
use super::article;
use super::article::policy;
use super::client::{LabClient, Merge, ObjectPath};
use super::error::LabError;
use super::exporter::{self, EXPORTER_PORT};
use super::kubelet::node_object::KUBELET_PORT;
use super::kubelet::{Fleet, server};
use super::marked::refuse_unmarked;
use super::metrics_api;
use super::seed::{Ownership, Seed, all, pasts};
use super::synthetic::Size;
use super::timings::Timings;
use super::world::World;
use crate::domain::object::Os;
use axum::Router;
use chrono::Utc;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// What is played on a real API server.
#[derive(Clone, Debug, PartialEq)]
pub struct AttachOptions {
    /// kubeconfig of the test cluster.
    pub kubeconfig: PathBuf,
    /// Its context; the current one by default.
    pub context: Option<String>,
    /// `None`: the article's cluster.
    pub size: Option<Size>,
    /// Windows nodes of the article's cluster: its one, and more like it.
    pub windows_nodes: u8,
    /// Most pods of each of these.
    pub windows_max_pods: u32,
    /// The article's durations are divided by this.
    pub speed: f64,
    /// Pod updates a second that are made for measuring, besides those that the story needs.
    pub churn: f64,
}

/// Address of the lab's metrics-server: that of the article's pod.
const METRICS_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(172, 21, 172, 6)), 10250);

/// Plays until `cancel` fires; `ready` is called when all objects are there. The objects stay when it ends.
///
/// # Errors
/// When the server is not marked as a lab (nothing was written then), refuses an object, or an address cannot be
/// bound.
pub async fn attach(
    options: AttachOptions,
    cancel: CancellationToken,
    ready: impl FnOnce() + Send,
) -> Result<(), LabError> {
    let (client, server) = client_of(&options.kubeconfig, options.context.clone()).await?;
    refuse_unmarked(&client, &server).await?;
    let timings = Timings::new(options.speed);
    let now = Utc::now();
    let (machines, pasts) = match options.size {
        None => {
            let mut machines = article::machines_with(options.windows_nodes, now);
            for machine in machines.iter_mut().filter(|machine| machine.os == Os::Windows) {
                machine.max_pods = options.windows_max_pods;
            }
            (machines, pasts())
        }
        Some(size) => (size.machines(now), size.pasts()),
    };
    let world = World::new(machines);
    let fleet = Fleet::new(client.clone(), world.clone(), timings, pasts);

    let mut tasks = JoinSet::new();
    let mut endpoints = Vec::new();
    if options.size.is_none() {
        serve_nodes(&world, &mut endpoints, &mut tasks).await?;
    }
    match serve_metrics(&client, &world).await {
        Ok(endpoint) => endpoints.push(endpoint),
        // a measurement without pod network is a measurement all the same
        Err(error @ LabError::Listen { .. }) if options.size.is_some() => {
            tracing::warn!(%error, "metrics.k8s.io is not served");
        }
        Err(error) => return Err(error),
    }

    let played = async {
        match options.size {
            None => {
                let seed = Seed {
                    ownership: Ownership::Adopted,
                    real_monitoring: true,
                };
                seed.plant(&client, &fleet).await?;
                tasks.spawn(fleet.run(cancel.clone()));
            }
            Some(size) => {
                fleet.register().await?;
                tasks.spawn(fleet.run(cancel.clone()));
                plant_synthetic(&client, size).await?;
            }
        }
        wait_until_running(&world, options.size).await;
        if options.size.is_none() {
            wait_until_adopted(&client, &world).await;
        }
        ready();
        churn(&client, &world, options.churn).await;
        Ok(())
    };
    let result = tokio::select! {
        () = cancel.cancelled() => Ok(()),
        result = played => result,
    };
    cancel.cancel();
    tasks.abort_all();
    for endpoint in endpoints {
        endpoint.close().await;
    }
    result
}

async fn client_of(path: &Path, context: Option<String>) -> Result<(LabClient, String), LabError> {
    let refused = |reason: String| LabError::Kubeconfig {
        path: path.to_owned(),
        reason,
    };
    let kubeconfig = Kubeconfig::read_from(path).map_err(|error| refused(error.to_string()))?;
    let options = KubeConfigOptions {
        context,
        ..KubeConfigOptions::default()
    };
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .map_err(|error| refused(error.to_string()))?;
    config.default_retry = false;
    let server = config.cluster_url.to_string();
    let client = Client::try_from(config).map_err(|error| refused(error.to_string()))?;
    Ok((LabClient::new(client), server))
}

/// The kubelet API of every node, and the exporter of every Windows node, each on its address.
async fn serve_nodes(
    world: &World,
    endpoints: &mut Vec<Endpoint>,
    tasks: &mut JoinSet<()>,
) -> Result<(), LabError> {
    let identity = Identity::generate(&["kubelet"]).map_err(|error| certificate(&error))?;
    for machine in world.machines() {
        let address = SocketAddr::new(IpAddr::V4(machine.address), KUBELET_PORT);
        let endpoint = Endpoint::open(address, &identity, server::router(world.clone(), &machine.name))
            .await
            .map_err(listen(address, "kubelet"))?;
        endpoints.push(endpoint);
        if machine.os == Os::Windows {
            let address = SocketAddr::new(IpAddr::V4(machine.address), EXPORTER_PORT);
            let listener = TcpListener::bind(address)
                .await
                .map_err(listen(address, "windows_exporter"))?;
            tasks.spawn(serve_plain(
                listener,
                exporter::router(world.clone(), &machine.name),
            ));
        }
    }
    Ok(())
}

async fn serve_plain(listener: TcpListener, router: Router) {
    if let Err(error) = axum::serve(listener, router).await {
        tracing::warn!(%error, "a simulated service ended");
    }
}

fn certificate(error: &std::io::Error) -> LabError {
    LabError::Certificate(error.to_string())
}

fn listen(address: SocketAddr, role: &'static str) -> impl FnOnce(std::io::Error) -> LabError {
    move |source| LabError::Listen {
        address,
        role,
        source,
    }
}

/// Serves `metrics.k8s.io`, and makes the API server forward to it: Service, its endpoint, `APIService`.
async fn serve_metrics(client: &LabClient, world: &World) -> Result<Endpoint, LabError> {
    const NAME: &str = "metrics-server";
    const NAMESPACE: &str = "kube-system";
    let host = format!("{NAME}.{NAMESPACE}.svc");
    let identity = Identity::generate(&[&host]).map_err(|error| certificate(&error))?;
    let endpoint = Endpoint::open(METRICS_ADDRESS, &identity, metrics_api::router(world.clone()))
        .await
        .map_err(listen(METRICS_ADDRESS, NAME))?;
    let port = METRICS_ADDRESS.port();
    client
        .ensure(&json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"namespace": NAMESPACE, "name": NAME, "labels": {"k8s-app": NAME}},
            "spec": {"ports": [{"name": "https", "port": 443, "targetPort": port, "protocol": "TCP"}]},
        }))
        .await?;
    client
        .ensure(&json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": {
                "namespace": NAMESPACE, "name": "metrics-server-lab",
                "labels": {"kubernetes.io/service-name": NAME},
            },
            "addressType": "IPv4",
            "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
            "endpoints": [{"addresses": [METRICS_ADDRESS.ip().to_string()], "conditions": {"ready": true}}],
        }))
        .await?;
    let group = metrics_api::GROUP;
    let version = metrics_api::VERSION;
    let service = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": format!("{version}.{group}"), "labels": {"k8s-app": NAME}},
        "spec": {
            "group": group, "version": version,
            "groupPriorityMinimum": 100, "versionPriority": 100,
            "service": {"namespace": NAMESPACE, "name": NAME, "port": 443},
            "caBundle": ByteString(identity.authority_pem.clone().into_bytes()),
        },
    });
    client.ensure(&service).await?;
    // one of an earlier run trusts that run's certificate
    let trust = json!({"spec": {"caBundle": service["spec"]["caBundle"]}});
    client
        .patch(&ObjectPath::of(&service)?, Merge::Plain, &trust)
        .await?;
    Ok(endpoint)
}

async fn plant_synthetic(client: &LabClient, size: Size) -> Result<(), LabError> {
    all(size.namespaces().into_iter(), |name| async move {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        client.ensure(&namespace).await?;
        client.ensure(&policy::default_service_account(&name)).await?;
        Ok(())
    })
    .await?;
    all(
        size.pods(),
        |pod| async move { client.ensure(&pod).await.map(drop) },
    )
    .await
}

async fn wait_until_running(world: &World, size: Option<Size>) {
    let wanted = match size {
        Some(size) => usize::try_from(size.pods).unwrap_or(usize::MAX),
        None => article::workloads()
            .iter()
            .filter(|workload| !matches!(workload.app(), "prometheus" | "kube-state-metrics"))
            .map(|workload| workload.pods.len())
            .sum(),
    };
    while world.pods().len() < wanted {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until the server's own controllers have taken every pod: until then a pod looks as if nobody would bring it
/// back.
async fn wait_until_adopted(client: &LabClient, world: &World) {
    let pods: Api<Pod> = Api::all(client.kube().clone());
    loop {
        let ours: BTreeSet<_> = world.pods().into_iter().map(|pod| pod.uid.to_string()).collect();
        let listed = pods.list(&ListParams::default()).await;
        // A list that failed proves nothing; the next one may.
        let adopted = listed.is_ok_and(|list| {
            list.items
                .iter()
                .map(|pod| &pod.metadata)
                .filter(|metadata| metadata.uid.as_ref().is_some_and(|uid| ours.contains(uid)))
                .all(|metadata| {
                    metadata
                        .owner_references
                        .as_ref()
                        .is_some_and(|owners| !owners.is_empty())
                })
        });
        if adopted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Changes the restart count of one pod after the other, `rate` times a second, without end.
async fn churn(client: &LabClient, world: &World, rate: f64) {
    let pods = world.pods();
    if rate <= 0.0 || pods.is_empty() {
        return std::future::pending().await;
    }
    let mut ticks = tokio::time::interval(Duration::from_secs_f64(1.0 / rate));
    for (round, pod) in pods.iter().cycle().enumerate() {
        ticks.tick().await;
        let operation = json!([{
            "op": "replace",
            "path": "/status/containerStatuses/0/restartCount",
            "value": round / pods.len() + 1,
        }]);
        let path = ObjectPath::pod(&pod.namespace, &pod.name);
        if let Err(error) = client.patch_status(&path, Merge::Json, &operation).await {
            tracing::debug!(%error, pod = %pod.name, "a pod that should change did not");
        }
    }
}
