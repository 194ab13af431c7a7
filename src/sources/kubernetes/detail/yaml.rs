//! A whole object as YAML, without managed fields.

use super::Object;
use crate::domain::object::ObjectKey;
use crate::sources::event::Kind;
use crate::sources::kubernetes::http::ApiServer;
use serde_json::Value;

/// Fetches the object with this key. An object of the same name with another UID is another object.
pub async fn fetch(api: &ApiServer, kind: Kind, key: &ObjectKey) -> Result<String, String> {
    let object = Object::of(kind, key);
    let mut value: Value = object.get(api).await?;
    let uid = value
        .pointer("/metadata/uid")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !key.uid.is_empty() && uid != &*key.uid {
        return Err(format!(
            "the {} that was chosen is gone; another one has its name now: choose it anew",
            object.title
        ));
    }
    if let Some(metadata) = value.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    serde_yaml_ng::to_string(&value)
        .map_err(|error| format!("cannot write {} as YAML: {error}; see the log", object.title))
}
