//! What a controller wants to be written.

use crate::lab::client::{LabClient, Merge, ObjectPath};
use crate::lab::error::LabError;
use serde_json::{Value, json};

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Create an object.
    Create(Value),
    /// Delete a pod.
    DeletePod {
        namespace: String,
        name: String,
        uid: String,
    },
    /// Bind a pod to a node.
    Bind {
        namespace: String,
        name: String,
        node: String,
    },
    /// Change the status of an object.
    Status(ObjectPath, Merge, Value),
    /// Change an object.
    Patch(ObjectPath, Merge, Value),
}

impl Action {
    /// Writes it.
    pub async fn perform(self, client: &LabClient) -> Result<(), LabError> {
        match self {
            Self::Create(object) => client.create(&object).await,
            Self::DeletePod { namespace, name, uid } => {
                client
                    .delete(&ObjectPath::pod(&namespace, &name), None, &uid)
                    .await
            }
            Self::Bind {
                namespace,
                name,
                node,
            } => {
                let binding = json!({
                    "apiVersion": "v1", "kind": "Binding",
                    "metadata": {"namespace": namespace, "name": name},
                    "target": {"apiVersion": "v1", "kind": "Node", "name": node},
                });
                client
                    .post_to(&ObjectPath::pod(&namespace, &name), "binding", &binding)
                    .await
            }
            Self::Status(path, merge, status) => client.patch_status(&path, merge, &status).await,
            Self::Patch(path, merge, change) => client.patch(&path, merge, &change).await,
        }
        .map(drop)
    }
}
