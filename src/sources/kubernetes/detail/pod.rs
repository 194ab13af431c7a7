//! What only the page of a pod shows: probes, mounts, volumes.

use super::Object;
use crate::domain::Name;
use crate::domain::pod::{ContainerDetail, PodDetail};
use crate::sources::kubernetes::http::ApiServer;
use k8s_openapi::api::core::v1::{Container, Pod, Probe, Volume};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// Fetches the pod.
pub async fn fetch(api: &ApiServer, namespace: &str, name: &str) -> Result<PodDetail, String> {
    let pod: Pod = Object::pod(namespace, name).get(api).await?;
    Ok(pod.spec.map_or_else(PodDetail::default, |spec| PodDetail {
        grace_period_seconds: spec
            .termination_grace_period_seconds
            .and_then(|seconds| u64::try_from(seconds).ok()),
        containers: spec
            .init_containers
            .iter()
            .flatten()
            .chain(&spec.containers)
            .map(container)
            .collect(),
        volumes: spec.volumes.iter().flatten().map(volume).collect(),
    }))
}

fn container(container: &Container) -> ContainerDetail {
    let probes = [
        ("startup", &container.startup_probe),
        ("liveness", &container.liveness_probe),
        ("readiness", &container.readiness_probe),
    ];
    ContainerDetail {
        name: container.name.as_str().into(),
        probes: probes
            .iter()
            .filter_map(|(kind, sent)| sent.as_ref().map(|sent| probe(kind, sent).into()))
            .collect(),
        mounts: container
            .volume_mounts
            .iter()
            .flatten()
            .map(|mount| (mount.mount_path.as_str().into(), mount.name.as_str().into()))
            .collect(),
    }
}

/// A probe in words; the numbers are the API's defaults where the pod does not say them.
fn probe(kind: &str, probe: &Probe) -> String {
    let way = if let Some(http) = &probe.http_get {
        format!(
            "{} {} :{}",
            http.scheme.as_deref().unwrap_or("HTTP").to_ascii_lowercase(),
            http.path.as_deref().unwrap_or("/"),
            port(&http.port)
        )
    } else if let Some(tcp) = &probe.tcp_socket {
        format!("tcp :{}", port(&tcp.port))
    } else if let Some(grpc) = &probe.grpc {
        format!("grpc :{}", grpc.port)
    } else if let Some(exec) = &probe.exec {
        format!(
            "exec {}",
            exec.command
                .iter()
                .flatten()
                .cloned()
                .collect::<Vec<_>>()
                .join(" ")
        )
    } else {
        "of an unknown kind".to_owned()
    };
    let delay = match probe.initial_delay_seconds.unwrap_or(0) {
        0 => String::new(),
        seconds => format!(" after {seconds} s,"),
    };
    let failures = probe.failure_threshold.unwrap_or(3);
    format!(
        "{kind} {way}{delay} every {} s, timeout {} s, {failures} {}",
        probe.period_seconds.unwrap_or(10),
        probe.timeout_seconds.unwrap_or(1),
        if failures == 1 { "failure" } else { "failures" }
    )
}

fn port(port: &IntOrString) -> String {
    match port {
        IntOrString::Int(number) => number.to_string(),
        IntOrString::String(name) => name.clone(),
    }
}

/// A volume: its name, and what it is.
fn volume(volume: &Volume) -> (Name, Name) {
    let what = if let Some(claim) = &volume.persistent_volume_claim {
        format!("claim {}", claim.claim_name)
    } else if volume.ephemeral.is_some() {
        "ephemeral claim".to_owned()
    } else if let Some(csi) = &volume.csi {
        format!("csi {}", csi.driver)
    } else if let Some(directory) = &volume.empty_dir {
        match directory.medium.as_deref() {
            Some("Memory") => "emptyDir in memory".to_owned(),
            _ => "emptyDir".to_owned(),
        }
    } else if let Some(map) = &volume.config_map {
        format!("configMap {}", map.name)
    } else if let Some(secret) = &volume.secret {
        format!("secret {}", secret.secret_name.as_deref().unwrap_or_default())
    } else if let Some(host) = &volume.host_path {
        format!("hostPath {}", host.path)
    } else if volume.projected.is_some() {
        "projected".to_owned()
    } else if volume.downward_api.is_some() {
        "downwardAPI".to_owned()
    } else if let Some(nfs) = &volume.nfs {
        format!("nfs {}:{}", nfs.server, nfs.path)
    } else {
        "of another kind: see the YAML".to_owned()
    };
    (Name::from(volume.name.as_str()), Name::from(what))
}
