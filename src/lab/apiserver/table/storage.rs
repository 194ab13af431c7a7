//! `kubectl get` of volumes, claims, storage classes and CSI drivers.

use super::super::json::text;
use super::{
    AGE, Column, NAME, Printer, age, flag_column, name, number_column, or, text_column, wide_column,
};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

static VOLUME_COLUMNS: [Column; 11] = [
    NAME,
    text_column("Capacity"),
    text_column("Access Modes"),
    text_column("Reclaim Policy"),
    text_column("Status"),
    text_column("Claim"),
    text_column("StorageClass"),
    text_column("VolumeAttributesClass"),
    text_column("Reason"),
    AGE,
    wide_column("VolumeMode"),
];
static CLAIM_COLUMNS: [Column; 9] = [
    NAME,
    text_column("Status"),
    text_column("Volume"),
    text_column("Capacity"),
    text_column("Access Modes"),
    text_column("StorageClass"),
    text_column("VolumeAttributesClass"),
    AGE,
    wide_column("VolumeMode"),
];
static CLASS_COLUMNS: [Column; 6] = [
    NAME,
    text_column("Provisioner"),
    text_column("ReclaimPolicy"),
    text_column("VolumeBindingMode"),
    text_column("AllowVolumeExpansion"),
    AGE,
];
static CSI_NODE_COLUMNS: [Column; 3] = [NAME, number_column("Drivers"), AGE];
static CSI_DRIVER_COLUMNS: [Column; 8] = [
    NAME,
    flag_column("AttachRequired"),
    flag_column("PodInfoOnMount"),
    flag_column("StorageCapacity"),
    text_column("TokenRequests"),
    flag_column("RequiresRepublish"),
    text_column("Modes"),
    AGE,
];

pub(super) const PERSISTENT_VOLUME: Printer = Printer {
    columns: &VOLUME_COLUMNS,
    cells: volume,
};
pub(super) const PERSISTENT_VOLUME_CLAIM: Printer = Printer {
    columns: &CLAIM_COLUMNS,
    cells: claim,
};
pub(super) const STORAGE_CLASS: Printer = Printer {
    columns: &CLASS_COLUMNS,
    cells: class,
};
pub(super) const CSI_NODE: Printer = Printer {
    columns: &CSI_NODE_COLUMNS,
    cells: csi_node,
};
pub(super) const CSI_DRIVER: Printer = Printer {
    columns: &CSI_DRIVER_COLUMNS,
    cells: csi_driver,
};

fn access_modes(modes: &Value) -> String {
    let has = |wanted: &str| {
        modes
            .as_array()
            .is_some_and(|modes| modes.iter().any(|mode| mode == wanted))
    };
    let short = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    short
        .iter()
        .filter(|(mode, _)| has(mode))
        .map(|(_, short)| *short)
        .collect::<Vec<_>>()
        .join(",")
}

fn phase(object: &Value) -> &str {
    if object.pointer("/metadata/deletionTimestamp").is_some() {
        "Terminating"
    } else {
        text(object, "/status/phase")
    }
}

fn volume(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    let claim = object
        .pointer("/spec/claimRef")
        .map(|claim| format!("{}/{}", text(claim, "/namespace"), text(claim, "/name")));
    vec![
        name(object),
        json!(or(text(object, "/spec/capacity/storage"), "0")),
        json!(access_modes(&object["spec"]["accessModes"])),
        json!(text(object, "/spec/persistentVolumeReclaimPolicy")),
        json!(phase(object)),
        json!(claim.unwrap_or_default()),
        json!(text(object, "/spec/storageClassName")),
        json!(or(text(object, "/spec/volumeAttributesClassName"), "<unset>")),
        json!(text(object, "/status/reason")),
        age(object, now),
        json!(or(text(object, "/spec/volumeMode"), "<unset>")),
    ]
}

fn claim(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    let volume = text(object, "/spec/volumeName");
    let (capacity, modes) = if volume.is_empty() {
        (String::new(), String::new())
    } else {
        (
            or(text(object, "/status/capacity/storage"), "0").to_owned(),
            access_modes(&object["status"]["accessModes"]),
        )
    };
    vec![
        name(object),
        json!(phase(object)),
        json!(volume),
        json!(capacity),
        json!(modes),
        json!(text(object, "/spec/storageClassName")),
        json!(or(text(object, "/spec/volumeAttributesClassName"), "<unset>")),
        age(object, now),
        json!(or(text(object, "/spec/volumeMode"), "<unset>")),
    ]
}

fn class(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    let default = object["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "true";
    let own = text(object, "/metadata/name");
    vec![
        json!(if default {
            format!("{own} (default)")
        } else {
            own.to_owned()
        }),
        json!(text(object, "/provisioner")),
        json!(or(text(object, "/reclaimPolicy"), "Delete")),
        json!(or(text(object, "/volumeBindingMode"), "Immediate")),
        json!(object["allowVolumeExpansion"] == true),
        age(object, now),
    ]
}

fn csi_node(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    let drivers = object
        .pointer("/spec/drivers")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    vec![name(object), json!(drivers), age(object, now)]
}

fn csi_driver(object: &Value, now: DateTime<Utc>) -> Vec<Value> {
    let flag = |field: &str, default: bool| json!(object["spec"][field].as_bool().unwrap_or(default));
    let texts = |list: &Value, pick: fn(&Value) -> &str| {
        let items = list.as_array().into_iter().flatten();
        items.map(pick).collect::<Vec<_>>().join(",")
    };
    let requests = &object["spec"]["tokenRequests"];
    let modes = texts(&object["spec"]["volumeLifecycleModes"], |mode| {
        mode.as_str().unwrap_or_default()
    });
    vec![
        name(object),
        flag("attachRequired", true),
        flag("podInfoOnMount", false),
        flag("storageCapacity", false),
        json!(if requests.is_array() {
            texts(requests, |one| text(one, "/audience"))
        } else {
            "<unset>".to_owned()
        }),
        flag("requiresRepublish", false),
        json!(or(&modes, "<none>")),
        age(object, now),
    ]
}
