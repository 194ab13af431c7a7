//! The Lease of a pool: two operators must not take two nodes of one pool out at once.

use super::ask::{JSON, asked, body, is_missing, lock_error, write_error};
use super::list::{decode, pages};
use super::seen::{Owner, SeenNode};
use super::{Desk, Identity};
use crate::domain::Timestamp;
use crate::domain::text::sanitise;
use crate::maintenance::effect::{LockError, WriteError};
use crate::sources::kubernetes::failure::Failure;
use crate::sources::kubernetes::http::Reply;
use crate::sources::kubernetes::wire::value::Text;
use crate::sources::kubernetes::wire::{Bare, time};
use chrono::{SecondsFormat, Utc};
use http::Method;
use kube::api::ListParams;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// How often a Lease that is held is renewed.
pub const RENEWAL: Duration = Duration::from_secs(20);
/// A Lease that was not renewed for this long is stale.
const DURATION_SECONDS: u32 = 60;
/// Where the Leases are.
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
/// What the name of each begins with; the pool follows.
pub const PREFIX: &str = "drainboard-";
/// How often it is looked at anew when somebody else wrote it in between.
const LOOKS: usize = 3;

const BUILD_LABEL: &str = "node.kubernetes.io/windows-build";
const OS_LABEL: &str = "kubernetes.io/os";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Lease<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    metadata: LeaseMeta<'a>,
    spec: LeaseSpec<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LeaseMeta<'a> {
    #[serde(borrow)]
    resource_version: Text<'a>,
    creation_timestamp: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LeaseSpec<'a> {
    #[serde(borrow)]
    holder_identity: Text<'a>,
    acquire_time: Text<'a>,
    renew_time: Text<'a>,
    lease_transitions: Option<i64>,
}

/// The name of the Lease of this node's pool: nodes of one Windows build, or Linux nodes, that share the value of the
/// pool label.
pub fn lease_of(node: &SeenNode<'_>, pool_label: Option<&str>) -> String {
    let label = |key: &str| node.metadata.labels.find(key).filter(|value| !value.is_empty());
    let os = label(OS_LABEL).or_else(|| node.status.node_info.operating_system.present());
    let build = label(BUILD_LABEL).unwrap_or(if os == Some("windows") { "windows" } else { "linux" });
    let mut pool = format!("{PREFIX}{build}");
    if let Some(value) = pool_label.and_then(label) {
        pool.push('-');
        pool.push_str(value);
    }
    dns_safe(&pool)
}

/// A text as the name of an object: lower case, dots only between letters and digits.
fn dns_safe(text: &str) -> String {
    let letters: Vec<char> = text.chars().map(|letter| letter.to_ascii_lowercase()).collect();
    let plain = |at: Option<&char>| at.is_some_and(char::is_ascii_alphanumeric);
    let safe: String = letters
        .iter()
        .enumerate()
        .map(|(at, letter)| {
            let between = at > 0 && plain(letters.get(at - 1)) && plain(letters.get(at + 1));
            match letter {
                '.' if between => '.',
                letter if letter.is_ascii_alphanumeric() => *letter,
                _ => '-',
            }
        })
        .take(253)
        .collect();
    safe.trim_matches(['-', '.']).to_owned()
}

/// The name of the Lease of the node's pool, unless a record on another of its nodes says that that one is being worked
/// on.
///
/// # Errors
/// It is, the node is not there, or the nodes could not be listed.
pub async fn free_pool(desk: &Desk) -> Result<String, LockError> {
    let asked = asked("list", "nodes");
    let failed = |failure: Failure| lock_error(&failure, &asked);
    let mut pool = None;
    let mut at_work: Vec<(String, LockError)> = Vec::new();
    pages(&desk.api, "/api/v1/nodes", &ListParams::default(), |reply| {
        let page = decode::<SeenNode<'_>>(reply, "NodeList")?;
        for node in &*page.items {
            let lease = lease_of(node, desk.pool_label.as_deref());
            if *node.metadata.name == *desk.node {
                pool = Some(lease);
            } else if let Owner::Other(by) = node.owner(&desk.identity.id) {
                let by = format!("{by} on node {}", sanitise(&node.metadata.name));
                at_work.push((lease, held(by, node.record_written())));
            }
        }
        Ok(page.token())
    })
    .await
    .map_err(failed)?;
    let Some(pool) = pool else {
        return Err(LockError::Refused(format!("there is no node {}", desk.node)));
    };
    match at_work.into_iter().find(|(lease, _)| *lease == pool) {
        Some((_, held)) if !desk.take_over => Err(held),
        _ => Ok(pool),
    }
}

fn held(by: String, since: Option<Timestamp>) -> LockError {
    let age = since.map_or(0, |since| (Utc::now() - since).num_seconds());
    LockError::Held {
        by,
        age_seconds: u64::try_from(age).unwrap_or(0),
    }
}

/// Takes or renews the Lease: when nobody has it, when this maintenance has it, or knowingly from somebody else.
///
/// # Errors
/// Another maintenance has it, or it could not be asked.
pub async fn take(desk: &Desk, name: &str, take_over: bool) -> Result<(), LockError> {
    let failed = |verb: &'static str| {
        let asked = asked(verb, title(name));
        move |failure: Failure| lock_error(&failure, &asked)
    };
    for _ in 0..LOOKS {
        let written = match find(desk, name).await.map_err(failed("get"))? {
            None => {
                let new = ours(desk, name, &Lease::default());
                let written = desk
                    .api
                    .exchange(Method::POST, LEASES, Some(body(JSON, &new)))
                    .await;
                written.map_err(failed("create"))?
            }
            Some(found) => {
                let lease: Lease<'_> = found.json().map_err(failed("get"))?;
                if let Some(holder) = lease.spec.holder_identity.present()
                    && !take_over
                    && !may_take(holder, &desk.identity, &lease)
                {
                    return Err(held(sanitise(holder).into_owned(), last_renewed(&lease)));
                }
                let written = put(desk, name, &ours(desk, name, &lease)).await;
                written.map_err(failed("update"))?
            }
        };
        if written.code != 409 {
            return written.json::<Bare<'_>>().map(|_| ()).map_err(failed("update"));
        }
    }
    Err(LockError::Failed(format!(
        "{} was written by others each time it was to be taken",
        title(name)
    )))
}

/// Gives the Lease back, if this maintenance has it: it stays without a holder.
///
/// # Errors
/// It may pass. What does not is logged: others can still take the Lease over.
pub async fn give_back(desk: &Desk, name: &str) -> Result<(), WriteError> {
    for _ in 0..LOOKS {
        let failed = |verb: &'static str| {
            let asked = asked(verb, title(name));
            move |failure: Failure| write_error(&failure, &asked)
        };
        let found = find(desk, name).await.map_err(failed("get"));
        let Some(found) = logged(found)?.flatten() else {
            return Ok(());
        };
        let lease: Lease<'_> = found.json().map_err(failed("get"))?;
        if id_of(&lease.spec.holder_identity) != Some(&desk.identity.id) {
            return Ok(());
        }
        let free = object(
            name,
            &lease,
            &json!({"leaseTransitions": lease.spec.lease_transitions}),
        );
        let written = put(desk, name, &free).await.map_err(failed("update"));
        let Some(written) = logged(written)? else {
            return Ok(());
        };
        if written.code != 409 {
            let written = written.json::<Bare<'_>>().map_err(failed("update"));
            return logged(written.map(|_| ())).map(|_| ());
        }
    }
    Err(WriteError::Retry(format!("{} is written by others", title(name))))
}

/// Logs what does not pass.
fn logged<T>(outcome: Result<T, WriteError>) -> Result<Option<T>, WriteError> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(WriteError::Refused(problem)) => {
            tracing::warn!(%problem, "the Lease of a pool was not given back");
            Ok(None)
        }
        Err(passes @ (WriteError::Retry(_) | WriteError::Moved(_))) => Err(passes),
    }
}

fn title(name: &str) -> String {
    format!("Lease kube-system/{name}")
}

async fn find(desk: &Desk, name: &str) -> Result<Option<Reply>, Failure> {
    let reply = desk
        .api
        .exchange(Method::GET, &format!("{LEASES}/{name}"), None)
        .await?;
    if is_missing(&reply, name) {
        return Ok(None);
    }
    if &*reply.json::<Lease<'_>>()?.kind != "Lease" {
        return Err(Failure::Malformed("it is no Lease".to_owned()));
    }
    Ok(Some(reply))
}

async fn put(desk: &Desk, name: &str, lease: &Value) -> Result<Reply, Failure> {
    let path = format!("{LEASES}/{name}");
    desk.api
        .exchange(Method::PUT, &path, Some(body(JSON, lease)))
        .await
}

/// The Lease with us as its holder, over the one that was found.
fn ours(desk: &Desk, name: &str, found: &Lease<'_>) -> Value {
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
    let renewed = id_of(&found.spec.holder_identity) == Some(&desk.identity.id);
    let acquired = found
        .spec
        .acquire_time
        .present()
        .filter(|_| renewed)
        .unwrap_or(&now);
    let transitions = found.spec.lease_transitions.unwrap_or(0) + i64::from(!renewed);
    let spec = json!({
        "holderIdentity": format!("{} ({}, {}, {})", desk.identity.by, desk.identity.id, desk.node, desk.identity.run),
        "leaseDurationSeconds": DURATION_SECONDS,
        "acquireTime": acquired,
        "renewTime": now,
        "leaseTransitions": transitions,
    });
    object(name, found, &spec)
}

fn object(name: &str, found: &Lease<'_>, spec: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"namespace": "kube-system", "name": name}, "spec": spec,
    });
    if let Some(version) = found.metadata.resource_version.present() {
        object["metadata"]["resourceVersion"] = version.into();
    }
    object
}

/// Whether the Lease of this holder can be taken: it is this run's; or this maintenance's, of a run that has not renewed
/// it for long or has ended; or that of a run on this machine that has ended.
fn may_take(holder: &str, identity: &Identity, lease: &Lease<'_>) -> bool {
    let run = run_of(holder);
    if run == Some(&identity.run) || run.is_some_and(|run| has_ended(run, &identity.run)) {
        return true;
    }
    let age = last_renewed(lease).map(|renewed| Utc::now() - renewed);
    let stale = age.is_none_or(|age| age.num_seconds() > i64::from(DURATION_SECONDS));
    id_of(holder) == Some(&identity.id) && (stale || run.is_none())
}

/// Whether that run of the program was on the machine of this one and is no more. Where nobody can tell it counts as alive.
fn has_ended(run: &str, ours: &str) -> bool {
    let (Some((host, process)), Some((here, _))) = (run.rsplit_once(':'), ours.rsplit_once(':')) else {
        return false;
    };
    let processes = std::path::Path::new("/proc");
    host == here && processes.join("self").exists() && !processes.join(process).exists()
}

/// What stands inside of `by (id, node, run)`.
fn inside(holder: &str) -> Option<std::str::Split<'_, &'static str>> {
    let (_, inside) = holder.strip_suffix(')')?.rsplit_once(" (")?;
    inside.contains(", ").then(|| inside.split(", "))
}

/// The id in `by (id, node, run)`.
fn id_of(holder: &str) -> Option<&str> {
    inside(holder)?.next()
}

/// The run of the program in it.
fn run_of(holder: &str) -> Option<&str> {
    inside(holder)?.nth(2)
}

fn last_renewed(lease: &Lease<'_>) -> Option<Timestamp> {
    let (spec, created) = (&lease.spec, &lease.metadata.creation_timestamp);
    time::parse(&spec.renew_time)
        .or_else(|| time::parse(&spec.acquire_time))
        .or_else(|| time::parse(created))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(labels: &Value, pool_label: Option<&str>) -> String {
        let text = json!({"metadata": {"labels": labels}}).to_string();
        lease_of(&serde_json::from_str(&text).unwrap(), pool_label)
    }

    #[test]
    fn a_pool_is_a_windows_build_or_linux_and_the_value_of_the_label() {
        let windows = json!({"kubernetes.io/os": "windows", "node.kubernetes.io/windows-build": "10.0.26100", "rack": "B_7."});
        assert_eq!(lease(&windows, None), "drainboard-10.0.26100");
        assert_eq!(lease(&windows, Some("rack")), "drainboard-10.0.26100-b-7");
        assert_eq!(lease(&windows, Some("floor")), "drainboard-10.0.26100");
        assert_eq!(
            lease(&json!({"kubernetes.io/os": "windows"}), None),
            "drainboard-windows"
        );
        assert_eq!(lease(&json!({}), None), "drainboard-linux");
    }

    #[test]
    fn a_holder_names_its_maintenance() {
        assert_eq!(id_of("ops (Berlin)@host (m-1, k8s-lab-win-1)"), Some("m-1"));
        assert_eq!(id_of("somebody else"), None);
        assert_eq!(run_of("ops@host (m-1, win-1, host:77)"), Some("host:77"));
        assert_eq!(run_of("ops@host (m-1, win-1)"), None);
    }

    #[test]
    fn a_run_has_ended_only_where_its_machine_says_so() {
        let ours = format!("host:{}", std::process::id());
        assert!(!has_ended(&ours, &ours));
        assert!(has_ended("host:no-such-process", &ours));
        assert!(!has_ended("elsewhere:no-such-process", &ours));
        assert!(!has_ended("strange", &ours));
    }
}
