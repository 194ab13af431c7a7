//! Stories of one pod. The test is the kubelet of a node that nobody else plays.

use super::*;
use crate::domain::host_process::HostPod;
use crate::lab::apiserver::Fault;
use crate::lab::article::WINDOWS_NODE;
use crate::lab::embedded::{Lab, LabOptions};
use crate::sources::kubernetes::maintain::ask::MERGE_PATCH;
use crate::sources::kubernetes::maintain::tests::client;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const LONG: Duration = Duration::from_mins(1);
const PATIENT: Patience = Patience {
    start: LONG,
    end: LONG,
    look: Duration::from_millis(20),
};
const IMPATIENT: Patience = Patience {
    start: Duration::from_millis(200),
    end: Duration::from_millis(400),
    look: Duration::from_millis(20),
};
const POD: &str = "/api/v1/namespaces/kube-system/pods/drainboard-reboot-m-1";

struct Scene {
    lab: Lab,
    api: ApiServer,
    cleaners: TaskTracker,
    said: Mutex<Vec<String>>,
}

fn errand() -> Errand {
    Errand {
        name: "drainboard-reboot-m-1".to_owned(),
        purpose: "drainboard-reboot",
        script: REBOOT,
        environment: vec![("DRAINBOARD_DELAY_SECONDS", "30".to_owned())],
        maintenance: Some("m-1".to_owned()),
    }
}

impl Scene {
    async fn start() -> Self {
        let options = LabOptions {
            speed: 20.0,
            ..LabOptions::default()
        };
        let lab = Lab::start(options).await.unwrap();
        let client = client(lab.kubeconfig(), LONG).await;
        Self {
            api: ApiServer::new(client, LONG, Arc::default()),
            lab,
            cleaners: TaskTracker::new(),
            said: Mutex::default(),
        }
    }

    async fn runs(&self, node: &str, patience: Patience, place: &HostPod) -> Result<Ended, String> {
        let host = HostProcess {
            api: &self.api,
            node: &node.into(),
            cleaners: &self.cleaners,
            patience,
            say: &|line| self.said.lock().unwrap().push(line),
        };
        host.run(&errand(), place).await
    }

    /// On a node of which no kubelet is heard, unless the test plays it.
    async fn on_a_silent_node(&self, patience: Patience) -> Result<Ended, String> {
        self.runs("k8s-lab-silent", patience, &HostPod::default()).await
    }

    async fn get(&self) -> Option<Value> {
        let reply = self.api.exchange(Method::GET, POD, None).await.unwrap();
        reply.json().ok()
    }

    /// Reports this status of the pod as soon as it is there.
    async fn reports(&self, status: &Value) {
        while self.get().await.is_none() {
            tokio::time::sleep(PATIENT.look).await;
        }
        let change = json!({ "status": status });
        let body = Some(body(MERGE_PATCH, &change));
        let reply = self
            .api
            .exchange(Method::PATCH, &format!("{POD}/status"), body)
            .await;
        reply.unwrap().json::<Value>().unwrap();
    }

    /// Nothing is left of it but what its kubelet has to take away.
    async fn is_removed(&self) {
        let left = self.get().await;
        let marked = |pod: &Value| pod["metadata"]["deletionTimestamp"].is_string();
        assert!(left.as_ref().is_none_or(marked), "{left:?}");
    }
}

fn container(state: &Value) -> Value {
    json!([{"name": "script", "image": "i", "imageID": "", "ready": false, "restartCount": 0, "state": state}])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_runs_on_a_cordoned_node_answers_and_is_removed() {
    let scene = Scene::start().await;
    let cordon = json!({"spec": {"unschedulable": true}});
    let path = format!("/api/v1/nodes/{WINDOWS_NODE}");
    let reply = scene
        .api
        .exchange(Method::PATCH, &path, Some(body(MERGE_PATCH, &cordon)))
        .await;
    reply.unwrap().json::<Value>().unwrap();
    let ended = scene
        .runs(WINDOWS_NODE, PATIENT, &HostPod::default())
        .await
        .unwrap();
    assert_eq!(ended.exit_code, 0);
    let answered: Value = answer(&ended.log.unwrap(), "reboot").unwrap();
    assert_eq!(answered["restartsInSeconds"], 30);
    scene.is_removed().await;
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namespace_that_does_not_admit_it_is_not_tried() {
    let scene = Scene::start().await;
    let place = |namespace: &str| HostPod {
        namespace: namespace.into(),
        ..HostPod::default()
    };
    let why = scene
        .runs(WINDOWS_NODE, PATIENT, &place("win-demo"))
        .await
        .unwrap_err();
    assert_eq!(
        why,
        "namespace win-demo does not admit HostProcess pods (pod-security.kubernetes.io/enforce=restricted): name another \
         namespace with --host-process-namespace, or `kubectl label namespace win-demo \
         pod-security.kubernetes.io/enforce=privileged --overwrite`"
    );
    let why = scene
        .runs(WINDOWS_NODE, PATIENT, &place("nowhere"))
        .await
        .unwrap_err();
    assert!(why.starts_with("there is no namespace nowhere"), "{why}");
    assert!(scene.said.lock().unwrap().is_empty());
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_never_starts_is_given_up_and_removed() {
    let scene = Scene::start().await;
    let why = scene.on_a_silent_node(IMPATIENT).await.unwrap_err();
    assert!(
        why.starts_with("pod kube-system/drainboard-reboot-m-1: it did not start within"),
        "{why}"
    );
    assert!(why.contains("the kubelet has not said anything of it"), "{why}");
    assert!(
        why.contains("look at the kubelet of node k8s-lab-silent"),
        "{why}"
    );
    scene.is_removed().await;
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_that_is_not_there_is_named() {
    let scene = Scene::start().await;
    let state = json!({"waiting": {
        "reason": "ImagePullBackOff", "message": "Back-off pulling image \"ghcr.io/example/nothing\"",
    }});
    let status = json!({"phase": "Pending", "containerStatuses": container(&state)});
    let (ended, ()) = tokio::join!(scene.on_a_silent_node(PATIENT), scene.reports(&status));
    let why = ended.unwrap_err();
    assert!(
        why.contains("it failed: ImagePullBackOff: Back-off pulling image"),
        "{why}"
    );
    scene.is_removed().await;
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_whose_log_cannot_be_read_has_an_exit_code_all_the_same() {
    let scene = Scene::start().await;
    scene
        .lab
        .api()
        .faults()
        .set(&format!("{POD}/log"), Fault::Status(500));
    let status =
        json!({"phase": "Failed", "containerStatuses": container(&json!({"terminated": {"exitCode": 5}}))});
    let (ended, ()) = tokio::join!(scene.on_a_silent_node(PATIENT), scene.reports(&status));
    let ended = ended.unwrap();
    assert_eq!(ended.exit_code, 5);
    let why = ended.log.unwrap_err();
    assert!(
        why.contains("cannot get the log of pod kube-system/drainboard-reboot-m-1"),
        "{why}"
    );
    scene.is_removed().await;
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_was_on_its_way_already_is_taken_over() {
    let scene = Scene::start().await;
    let object = manifest::pod(&errand(), WINDOWS_NODE, &HostPod::default());
    let pods = "/api/v1/namespaces/kube-system/pods";
    let reply = scene
        .api
        .exchange(Method::POST, pods, Some(body(JSON, &object)))
        .await;
    reply.unwrap().json::<Value>().unwrap();
    let ended = scene
        .runs(WINDOWS_NODE, PATIENT, &HostPod::default())
        .await
        .unwrap();
    assert_eq!(ended.exit_code, 0);
    let said = scene.said.lock().unwrap().join("\n");
    assert!(said.contains("is there already"), "{said}");
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_dropped_has_its_pod_removed() {
    let scene = Scene::start().await;
    let appears = async {
        while scene.get().await.is_none() {
            tokio::time::sleep(PATIENT.look).await;
        }
    };
    tokio::select! {
        ended = scene.on_a_silent_node(PATIENT) => panic!("{ended:?}"),
        () = appears => {}
    }
    scene.cleaners.close();
    tokio::time::timeout(LONG, scene.cleaners.wait()).await.unwrap();
    scene.is_removed().await;
    scene.lab.stop().await;
}

#[test]
fn a_refusal_by_pod_security_says_what_to_do() {
    let body = br#"{"kind":"Status","code":403,"message":"pods \"x\" is forbidden: violates PodSecurity \"baseline:latest\": hostProcess"}"#;
    let failure = Failure::of_status(403, body, None);
    let text = refusal(&failure, "plain", "ops");
    assert!(text.contains("violates PodSecurity"), "{text}");
    assert!(text.contains("--host-process-namespace"), "{text}");
    let other = Failure::of_status(403, b"no", None);
    assert_eq!(refusal(&other, "plain", "ops"), "plain");
}
