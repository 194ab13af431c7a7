//! What is wrong with mappings, nodes and pods, or worth knowing.

use super::logs::Logs;
use super::rows::MOUNT_REASONS;
use super::{MappingState, SmbMapping, ToldBy};
use crate::domain::Name;
use crate::domain::node::Node;
use crate::domain::object::{DaemonSet, Os};
use crate::domain::pod::{Pod, Termination};
use crate::domain::smb::failure::Cause;
use crate::domain::smb::options::{ignored_on_windows, locks_stay_local};
use crate::domain::smb::warning::{SmbWarning, Subject, Warned, WhyMissing};
use crate::domain::smb::{DEFAULT_DOMAIN, DRIVER, is_plugin_image};
use crate::domain::storage::{PersistentVolume, VolumeSource};
use crate::sources::event::Watched;
use crate::store::cluster::{Cluster, ended};
use crate::store::storage::running_since;
use std::cmp::{Ordering, Reverse};

/// Azure's own file servers take the domain that the plugin fills in.
const AZURE_FILES: &str = ".file.core.windows.net";
/// Sidecar of the plugin that registers the driver.
const REGISTRAR: &str = "node-driver-registrar";

/// By severity, then by what they are about.
pub fn worst_first(a: &Warned, b: &Warned) -> Ordering {
    let key = |warned: &Warned| (Reverse(warned.warning.severity()), warned.about.clone());
    key(a).cmp(&key(b))
}

/// About a mapping; the worst first.
pub fn of_mapping(cluster: &Cluster, logs: &Logs, mapping: &SmbMapping) -> Vec<Warned> {
    let about = Subject::Mapping {
        node: mapping.node.clone(),
        remote: mapping.remote.clone(),
    };
    let volumes: Vec<&PersistentVolume> = mapping
        .volumes
        .iter()
        .flatten()
        .filter_map(|volume| cluster.storage.volumes.find(&(None, volume.name.clone())))
        .collect();
    let mut found = Vec::new();
    let mut warn = |warning, evidence| {
        found.push(Warned {
            about: about.clone(),
            warning,
            evidence,
        });
    };
    let log = logs.of(&mapping.node);
    let source = match (mapping.told_by, log) {
        (ToldBy::Log, Some(log)) => format!("log of {}", log.pod),
        (ToldBy::Event, _) => "event FailedMount".to_owned(),
        _ => "pods".to_owned(),
    };
    let at = mapping
        .state_at
        .map(|at| at.format(" at %Y-%m-%d %H:%M:%S UTC").to_string())
        .unwrap_or_default();
    let told = format!("{source}{at}");
    let mut cause = None;
    if let MappingState::Failed(failure, times) = &mapping.state {
        cause = Some(failure.cause);
        let times = if *times > 1 {
            format!(", {times} times in a row")
        } else {
            String::new()
        };
        let mut evidence = vec![format!("{told}{times}: {}", failure.text)];
        if failure.cause == Cause::Win32(87) {
            evidence.extend(trailing_slashes(cluster, &volumes));
        }
        warn(SmbWarning::NotMapped(failure.cause), evidence);
    }
    if mapping.state == MappingState::LeftBehind {
        let evidence = vec![told.clone(), format!("no pod on {} uses it", mapping.node)];
        warn(SmbWarning::LeftBehind, evidence);
    }
    if mapping.invalid_at.is_some() && mapping.state != MappingState::Mapped {
        let evidence = mapping.invalid_at.map(|at| {
            format!(
                "log of the node plugin at {}: RemotePath is not valid",
                at.format("%Y-%m-%d %H:%M:%S UTC")
            )
        });
        warn(SmbWarning::Disconnected, evidence.into_iter().collect());
    }
    if let Some(account) = mapping.account.value()
        && let Some((DEFAULT_DOMAIN, _)) = account.split_once('\\')
        && !mapping
            .remote
            .server()
            .to_ascii_lowercase()
            .ends_with(AZURE_FILES)
    {
        let refused = matches!(cause, Some(Cause::Win32(86 | 1311 | 1326 | 1355)));
        let evidence = vec![format!(
            "the node plugin on {} maps with the account {account}",
            mapping.node
        )];
        warn(
            SmbWarning::DomainFilledIn {
                account: account.clone(),
                refused,
                secret: secret_of(&volumes),
            },
            evidence,
        );
    }
    of_volumes(cluster, &volumes, &mut warn);
    if matches!(mapping.state, MappingState::Mapped | MappingState::LeftBehind) {
        let evidence = vec![format!("{} is {}", mapping.remote, mapping.state.name())];
        warn(SmbWarning::VisibleOnNode, evidence);
    }
    found.sort_by(worst_first);
    found
}

/// The Secret with which the volumes are staged: namespace/name.
fn secret_of(volumes: &[&PersistentVolume]) -> Option<Name> {
    volumes.iter().find_map(|volume| match &volume.source {
        VolumeSource::Csi(csi) => {
            let (namespace, name) = csi.stage_secret.as_ref()?;
            Some(format!("{namespace}/{name}").into())
        }
        VolumeSource::Nfs | VolumeSource::Other => None,
    })
}

/// Where a share ends with a slash, which Windows refuses as an incorrect parameter.
fn trailing_slashes(cluster: &Cluster, volumes: &[&PersistentVolume]) -> Vec<String> {
    let ends = |source: Option<&Name>| source.filter(|source| source.ends_with('/')).cloned();
    let mut found = Vec::new();
    for volume in volumes {
        if let VolumeSource::Csi(csi) = &volume.source
            && let Some(source) = ends(csi.source.as_ref())
        {
            found.push(format!(
                "`source` of PersistentVolume {} is {source}",
                volume.key.name
            ));
        }
        if let Some(class) = &volume.class
            && let Some(of_class) = cluster.storage.classes.find(&(None, class.clone()))
            && let Some(source) = ends(of_class.source.as_ref())
        {
            found.push(format!("`source` of StorageClass {class} is {source}"));
        }
    }
    found
}

/// What the volumes of a mapping say about it.
fn of_volumes(
    cluster: &Cluster,
    volumes: &[&PersistentVolume],
    warn: &mut impl FnMut(SmbWarning, Vec<String>),
) {
    let with_options = volumes
        .iter()
        .map(|volume| (volume, cluster.storage.mount_options(volume)))
        .find(|(_, options)| !ignored_on_windows(options).is_empty());
    if let Some((volume, options)) = with_options {
        warn(
            SmbWarning::IgnoredMountOptions(ignored_on_windows(options)),
            vec![format!("mountOptions of PersistentVolume {}", volume.key.name)],
        );
    }
    let nobrl = volumes
        .iter()
        .find(|volume| locks_stay_local(cluster.storage.mount_options(volume)));
    let users = |os: Os| -> Vec<String> {
        let claims = volumes.iter().filter_map(|volume| volume.claim.as_ref());
        let slots = claims.flat_map(|claim| cluster.storage.pods_of_claim(claim));
        slots
            .filter_map(|slot| cluster.pods.get(*slot))
            .filter(|pod| !ended(pod) && cluster.os_of(pod) == Some(os))
            .map(|pod| format!("{}/{} ({})", pod.namespace, pod.name, os.name()))
            .collect()
    };
    if let Some(volume) = nobrl {
        let (windows, linux) = (users(Os::Windows), users(Os::Linux));
        if !windows.is_empty() && !linux.is_empty() {
            let mut evidence = vec![format!("nobrl in mountOptions of {}", volume.key.name)];
            evidence.extend(windows.into_iter().chain(linux));
            warn(SmbWarning::LocksNotShared, evidence);
        }
    }
}

/// About Windows nodes: whether plugin and driver are there.
pub fn of_nodes(cluster: &Cluster, all_pods: bool) -> Vec<Warned> {
    if !cluster.storage.uses_smb() || !all_pods || cluster.watch_absence(Watched::Pods).is_some() {
        return Vec::new();
    }
    let plugins: Vec<&Pod> = cluster
        .storage
        .plugin_pods()
        .filter_map(|slot| cluster.pods.get(slot))
        .collect();
    let windows = cluster.nodes.iter().filter(|node| node.os == Some(Os::Windows));
    windows
        .flat_map(|node| {
            // The controller has the same image; on a Windows node there is only the node plugin.
            let on_node = |pod: &&&Pod| pod.node.as_ref() == Some(&node.name) && !ended(pod);
            match plugins.iter().find(on_node) {
                None => missing(cluster, &node).into_iter().collect(),
                Some(plugin) => of_plugin(cluster, &node, plugin),
            }
        })
        .collect()
}

fn missing(cluster: &Cluster, node: &Node) -> Option<Warned> {
    if cluster.watch_absence(Watched::DaemonSets).is_some() {
        return None;
    }
    let for_windows = |set: &DaemonSet| {
        let selects = set
            .node_selector
            .iter()
            .any(|(label, os)| &**label == "kubernetes.io/os" && &**os == "windows");
        (selects || set.host_process) && set.images.iter().any(|image| is_plugin_image(image))
    };
    let set = cluster.daemonsets.iter().find(|set| for_windows(set.row));
    let (why, mut evidence) = match set {
        None => (WhyMissing::NoDaemonSet, Vec::new()),
        Some(set) => {
            let namespace = set.key.namespace.as_deref().unwrap_or_default();
            let name = Name::from(format!("{namespace}/{}", set.key.name));
            let tolerated: Vec<&str> = set
                .tolerations
                .iter()
                .map(|toleration| toleration.key.as_deref().unwrap_or("every taint"))
                .collect();
            let evidence = vec![format!("DaemonSet {name} tolerates: {}", listed(&tolerated))];
            (WhyMissing::of(name, &set.tolerations, &node.taints), evidence)
        }
    };
    evidence.push(format!("no pod of the plugin is on {}", node.name));
    let taints: Vec<String> = node
        .taints
        .iter()
        .map(|taint| format!("{}={}:{}", taint.key, taint.value, taint.effect))
        .collect();
    evidence.push(format!(
        "taints of {}: {}",
        node.name,
        listed(&taints.iter().map(String::as_str).collect::<Vec<_>>())
    ));
    Some(Warned {
        about: Subject::Node(node.name.clone()),
        warning: SmbWarning::PluginMissing(why),
        evidence,
    })
}

fn of_plugin(cluster: &Cluster, node: &Node, plugin: &Pod) -> Vec<Warned> {
    let name = format!("{}/{}", plugin.namespace, plugin.name);
    let mut found = Vec::new();
    let registered = cluster
        .storage
        .csi_nodes
        .find(&(None, node.name.clone()))
        .map(|csi_node| &*csi_node.drivers)
        .unwrap_or_default();
    let unregistered = !registered.iter().any(|driver| &**driver == DRIVER);
    // A plugin that is just starting has not had the time.
    if cluster.watch_absence(Watched::CsiNodes).is_none() && unregistered && running_since(plugin).is_some() {
        let drivers: Vec<&str> = registered.iter().map(|driver| &**driver).collect();
        found.push(Warned {
            about: Subject::Node(node.name.clone()),
            warning: SmbWarning::NotRegistered,
            evidence: vec![
                format!("CSINode {} has drivers: {}", node.name, listed(&drivers)),
                format!("pod {name} runs"),
            ],
        });
    }
    let of = |wanted: &dyn Fn(&crate::domain::pod::Container) -> bool| {
        plugin.containers.iter().find(|one| wanted(one))
    };
    let registrar = of(&|one| &*one.name == REGISTRAR);
    let driver = of(&|one| is_plugin_image(&one.image));
    if let (Some(registrar), Some(driver)) = (registrar, driver)
        && registrar.restarts == driver.restarts + 1
        && let Some(ended) = &registrar.last_termination
        && ended.exit_code != 0
    {
        found.push(Warned {
            about: Subject::Node(node.name.clone()),
            warning: SmbWarning::RegistrarRestarted,
            evidence: vec![restarted(&name, ended)],
        });
    }
    found
}

fn restarted(pod: &str, ended: &Termination) -> String {
    let at = ended
        .finished_at
        .map(|at| at.format(" at %Y-%m-%d %H:%M:%S UTC").to_string())
        .unwrap_or_default();
    format!(
        "container {REGISTRAR} of {pod} ended with {}{at}, and runs since",
        ended.exit_code
    )
}

/// About Windows pods that want NFS volumes.
pub fn of_nfs(cluster: &Cluster) -> Vec<Warned> {
    let mut found = Vec::new();
    for volume in cluster.storage.nfs_volumes() {
        let Some(claim) = &volume.claim else { continue };
        for slot in cluster.storage.pods_of_claim(claim) {
            let Some(pod) = cluster.pods.get(*slot) else {
                continue;
            };
            if ended(pod) || cluster.os_of(pod) != Some(Os::Windows) {
                continue;
            }
            let refusal = cluster
                .events
                .about("Pod", Some(&pod.namespace), &pod.name)
                .into_iter()
                .find(|event| MOUNT_REASONS.contains(&&*event.reason) && says_no_driver(&event.message));
            let mut evidence = vec![format!(
                "claim {}/{} is bound to the NFS volume {}",
                claim.0, claim.1, volume.key.name
            )];
            evidence.extend(course(cluster, volume));
            evidence.extend(refusal.map(|event| format!("event {}: {}", event.reason, event.message)));
            found.push(Warned {
                about: Subject::Pod(pod.namespace.clone(), pod.name.clone()),
                warning: SmbWarning::NfsOnWindows {
                    volume: volume.key.name.clone(),
                    refused: refusal.is_some(),
                },
                evidence,
            });
        }
    }
    found
}

/// Which of the two errors it comes to: a driver that no Windows node has, or an attacher that nobody is.
fn course(cluster: &Cluster, volume: &PersistentVolume) -> Option<String> {
    let VolumeSource::Csi(csi) = &volume.source else {
        return None;
    };
    if cluster.watch_absence(Watched::CsiDrivers).is_some() {
        return None;
    }
    let name = &csi.driver;
    Some(match cluster.storage.csi_drivers.find(&(None, name.clone())) {
        Some(driver) if !driver.attach_required => {
            format!("CSIDriver {name} asks for no attacher: the kubelet looks for the driver and finds none")
        }
        Some(_) => format!("CSIDriver {name} asks for an attacher, which is waited for first"),
        None => format!("there is no CSIDriver {name}: an attacher is waited for that does not exist"),
    })
}

/// Both forms of the error: with a `CSIDriver` object the kubelet finds no driver, without one an attacher is waited for.
fn says_no_driver(message: &str) -> bool {
    message.contains("not found in the list of registered CSI drivers")
        || message.contains("timed out waiting for external-attacher")
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
