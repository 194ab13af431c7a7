//! The lab's client: whatever acts in the simulated cluster is an ordinary client of its API server, so that
//! the same code runs against the embedded and against a real one.

use super::error::LabError;
use http::Request;
use kube::Client;
use serde_json::{Value, json};

/// Creates, patches and deletes plain JSON objects.
#[derive(Clone)]
pub struct LabClient {
    client: Client,
}

/// Where an object lives in the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPath {
    collection: String,
    name: String,
}

impl ObjectPath {
    /// A pod.
    pub fn pod(namespace: &str, name: &str) -> Self {
        Self::namespaced("/api/v1", "pods", namespace, name)
    }

    /// A node.
    pub fn node(name: &str) -> Self {
        Self {
            collection: "/api/v1/nodes".to_owned(),
            name: name.to_owned(),
        }
    }

    /// A namespace.
    pub fn namespace(name: &str) -> Self {
        Self {
            collection: "/api/v1/namespaces".to_owned(),
            name: name.to_owned(),
        }
    }

    /// A namespaced object: `/api/v1` or `/apis/GROUP/VERSION`, plural, namespace, name.
    pub fn namespaced(group_version: &str, plural: &str, namespace: &str, name: &str) -> Self {
        Self {
            collection: format!("{group_version}/namespaces/{namespace}/{plural}"),
            name: name.to_owned(),
        }
    }

    /// Where an object with this content lives.
    pub fn of(object: &Value) -> Result<Self, LabError> {
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let (api_version, kind) = (text("/apiVersion"), text("/kind"));
        let (plural, namespaced) = plural_of(kind).ok_or_else(|| LabError::UnknownKind {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        })?;
        let base = if api_version.contains('/') {
            format!("/apis/{api_version}")
        } else {
            format!("/api/{api_version}")
        };
        let name = text("/metadata/name");
        Ok(if namespaced {
            Self::namespaced(&base, plural, text("/metadata/namespace"), name)
        } else {
            Self {
                collection: format!("{base}/{plural}"),
                name: name.to_owned(),
            }
        })
    }
}

impl std::fmt::Display for ObjectPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.collection, self.name)
    }
}

fn plural_of(kind: &str) -> Option<(&'static str, bool)> {
    Some(match kind {
        "Namespace" => ("namespaces", false),
        "Node" => ("nodes", false),
        "PersistentVolume" => ("persistentvolumes", false),
        "StorageClass" => ("storageclasses", false),
        "CSIDriver" => ("csidrivers", false),
        "CSINode" => ("csinodes", false),
        "RuntimeClass" => ("runtimeclasses", false),
        "PriorityClass" => ("priorityclasses", false),
        "APIService" => ("apiservices", false),
        "Pod" => ("pods", true),
        "Service" => ("services", true),
        "EndpointSlice" => ("endpointslices", true),
        "ServiceAccount" => ("serviceaccounts", true),
        "PersistentVolumeClaim" => ("persistentvolumeclaims", true),
        "Event" => ("events", true),
        "Deployment" => ("deployments", true),
        "ReplicaSet" => ("replicasets", true),
        "StatefulSet" => ("statefulsets", true),
        "DaemonSet" => ("daemonsets", true),
        "Lease" => ("leases", true),
        "PodDisruptionBudget" => ("poddisruptionbudgets", true),
        _ => return None,
    })
}

/// How a patch is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// RFC 7386: lists are replaced whole.
    Plain,
    /// Lists with a merge key (conditions, taints) are merged by it.
    Strategic,
    /// RFC 6902: a list of operations.
    Json,
}

impl LabClient {
    /// Acts through `client`.
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// The client itself, for watches and typed lists.
    pub fn kube(&self) -> &Client {
        &self.client
    }

    /// Creates an object (its `status` is not stored by this) and gives it back as stored.
    pub async fn create(&self, object: &Value) -> Result<Value, LabError> {
        let path = ObjectPath::of(object)?;
        self.send("create", "POST", &path.collection, "application/json", object)
            .await
    }

    /// Creates an object; one that is there already is given back as it is.
    pub async fn ensure(&self, object: &Value) -> Result<Value, LabError> {
        match self.create(object).await {
            Err(error) if error.has_status(409) => self.get(&ObjectPath::of(object)?).await,
            // The port of a Service that is there already is taken: by itself.
            Err(error) if error.has_status(422) => {
                self.get(&ObjectPath::of(object)?).await.map_err(|_| error)
            }
            other => other,
        }
    }

    /// Reads an object.
    pub async fn get(&self, path: &ObjectPath) -> Result<Value, LabError> {
        self.send("get", "GET", &path.to_string(), "application/json", &Value::Null)
            .await
    }

    /// Patches an object.
    pub async fn patch(&self, path: &ObjectPath, merge: Merge, change: &Value) -> Result<Value, LabError> {
        self.send("patch", "PATCH", &path.to_string(), merge.content_type(), change)
            .await
    }

    /// Patches the `status` of an object; `status` is the content below that key, or the operations.
    pub async fn patch_status(
        &self,
        path: &ObjectPath,
        merge: Merge,
        status: &Value,
    ) -> Result<Value, LabError> {
        let url = format!("{path}/status");
        let change = match merge {
            Merge::Plain | Merge::Strategic => json!({ "status": status }),
            Merge::Json => status.clone(),
        };
        self.send("patch status of", "PATCH", &url, merge.content_type(), &change)
            .await
    }

    /// Posts to a subresource (`binding`).
    pub async fn post_to(
        &self,
        path: &ObjectPath,
        subresource: &str,
        body: &Value,
    ) -> Result<Value, LabError> {
        let url = format!("{path}/{subresource}");
        self.send("post to", "POST", &url, "application/json", body).await
    }

    /// Deletes; `grace_seconds` as for `kubectl delete --grace-period`, and only the object with this UID.
    pub async fn delete(
        &self,
        path: &ObjectPath,
        grace_seconds: Option<u32>,
        uid: &str,
    ) -> Result<Value, LabError> {
        let mut options = json!({
            "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": { "uid": uid },
        });
        if let Some(seconds) = grace_seconds {
            options["gracePeriodSeconds"] = seconds.into();
        }
        self.send(
            "delete",
            "DELETE",
            &path.to_string(),
            "application/json",
            &options,
        )
        .await
    }

    async fn send(
        &self,
        verb: &'static str,
        method: &'static str,
        url: &str,
        content_type: &'static str,
        body: &Value,
    ) -> Result<Value, LabError> {
        let bytes = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let request = Request::builder()
            .method(method)
            .uri(url)
            .header(http::header::CONTENT_TYPE, content_type)
            .header(http::header::ACCEPT, "application/json")
            .body(bytes)
            .map_err(kube::Error::HttpError)
            .map_err(LabError::api(verb, url))?;
        self.client
            .request::<Value>(request)
            .await
            .map_err(LabError::api(verb, url))
    }
}

impl Merge {
    const fn content_type(self) -> &'static str {
        match self {
            Self::Plain => "application/merge-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Json => "application/json-patch+json",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_find_their_place_in_the_api() {
        let place = |object: Value| ObjectPath::of(&object).unwrap().to_string();
        assert_eq!(
            place(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "demo", "name": "a"}})),
            "/api/v1/namespaces/demo/pods/a"
        );
        assert_eq!(
            place(json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "w"}})),
            "/apis/node.k8s.io/v1/runtimeclasses/w"
        );
    }

    #[test]
    fn an_unknown_kind_is_named_in_the_error() {
        let error = ObjectPath::of(&json!({"apiVersion": "x/v1", "kind": "Gadget"})).unwrap_err();
        assert!(error.to_string().contains("Gadget"), "{error}");
    }
}
