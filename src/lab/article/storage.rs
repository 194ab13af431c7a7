//! The SMB volume: class, driver, claim and volume as csi-driver-smb made them.

use serde_json::{Value, json};

/// Name of the `PersistentVolume` behind the claim `win-demo/reports`.
pub const VOLUME: &str = "pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2";
/// Directory of the volume on the share.
pub const DIRECTORY: &str = "win-demo-reports-pvc-ea3d8e0f-a51d-4662-9e44-b9174787e9a2";
/// The driver.
pub const DRIVER: &str = crate::domain::smb::DRIVER;
/// Mount options of the class, which its provisioner copies into each volume.
const MOUNT_OPTIONS: [&str; 7] = [
    "dir_mode=0770",
    "file_mode=0660",
    "vers=3.1.1",
    "seal",
    "nobrl",
    "nolease",
    "hard",
];

/// `server/share#directory#volume#onDelete`, as the driver puts a volume handle together.
pub fn volume_handle() -> String {
    format!("files.example.com/k8s#{DIRECTORY}#{VOLUME}#archive")
}

/// The objects, with the status that the volume controller gives them.
pub fn objects() -> Vec<Value> {
    let secret = |stage: &str| {
        (
            format!("csi.storage.k8s.io/{stage}-secret-name"),
            format!("csi.storage.k8s.io/{stage}-secret-namespace"),
        )
    };
    let mut parameters = json!({
        "source": "//files.example.com/k8s",
        "subDir": "${pvc.metadata.namespace}-${pvc.metadata.name}-${pv.metadata.name}",
        "onDelete": "archive",
    });
    for stage in ["provisioner", "node-stage"] {
        let (name, namespace) = secret(stage);
        parameters[name] = "smb-files-k8s".into();
        parameters[namespace] = "storage-credentials".into();
    }
    vec![
        json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
            "metadata": {"name": DRIVER},
            "spec": {"attachRequired": false, "podInfoOnMount": true, "volumeLifecycleModes": ["Persistent", "Ephemeral"]},
        }),
        json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": "smb"},
            "provisioner": DRIVER,
            "parameters": parameters,
            "reclaimPolicy": "Delete",
            "volumeBindingMode": "Immediate",
            "allowVolumeExpansion": true,
            "mountOptions": MOUNT_OPTIONS,
        }),
        // before its claim: a claim whose volume is missing counts as lost at once
        json!({
            "apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {
                "name": VOLUME,
                "annotations": {"pv.kubernetes.io/provisioned-by": DRIVER},
            },
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteMany"],
                "persistentVolumeReclaimPolicy": "Delete",
                "storageClassName": "smb",
                "volumeMode": "Filesystem",
                "mountOptions": MOUNT_OPTIONS,
                "claimRef": {
                    "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                    "namespace": "win-demo", "name": "reports",
                },
                "csi": {
                    "driver": DRIVER,
                    "volumeHandle": volume_handle(),
                    "volumeAttributes": {"source": "//files.example.com/k8s", "subdir": DIRECTORY},
                    "nodeStageSecretRef": {"namespace": "storage-credentials", "name": "smb-files-k8s"},
                },
            },
            "status": {"phase": "Bound"},
        }),
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {
                "namespace": "win-demo", "name": "reports",
                "annotations": {"volume.kubernetes.io/storage-provisioner": DRIVER},
            },
            "spec": {
                "accessModes": ["ReadWriteMany"],
                "storageClassName": "smb",
                "volumeMode": "Filesystem",
                "volumeName": VOLUME,
                "resources": {"requests": {"storage": "1Gi"}},
            },
            "status": {"phase": "Bound", "accessModes": ["ReadWriteMany"], "capacity": {"storage": "1Gi"}},
        }),
    ]
}

/// The drivers registered on a node.
pub fn csi_node(node: &str, uid: &str) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
        "metadata": {
            "name": node,
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid}],
        },
        "spec": {"drivers": [{"name": DRIVER, "nodeID": node, "topologyKeys": null}]},
    })
}
