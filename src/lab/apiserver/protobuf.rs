//! The few bodies that `kubectl` sends as protobuf because its generated clients prefer it: delete options, the
//! self reviews behind `kubectl auth can-i`, and a namespace. Everything else it sends as JSON.

use super::failure::{Failure, Outcome};
use prost::encoding::{WireType, decode_key, decode_varint};
use serde_json::{Map, Value, json};

/// The four bytes before every protobuf body of Kubernetes.
const MAGIC: &[u8; 4] = b"k8s\0";

/// How a field looks on the wire.
#[derive(Clone, Copy)]
enum Wire {
    Text,
    TextList,
    Number,
    Message(&'static [Field]),
    /// `map<string, string>`.
    TextMap,
}

/// Field number, JSON name, form.
type Field = (u32, &'static str, Wire);

/// The envelope (`runtime.Unknown`).
static UNKNOWN: [Field; 1] = [(
    1,
    "typeMeta",
    Wire::Message(&[(1, "apiVersion", Wire::Text), (2, "kind", Wire::Text)]),
)];
const UNKNOWN_RAW: u32 = 2;

static METADATA: &[Field] = &[
    (1, "name", Wire::Text),
    (2, "generateName", Wire::Text),
    (3, "namespace", Wire::Text),
    (11, "labels", Wire::TextMap),
    (12, "annotations", Wire::TextMap),
];

static DELETE_OPTIONS: &[Field] = &[
    (1, "gracePeriodSeconds", Wire::Number),
    (
        2,
        "preconditions",
        Wire::Message(&[(1, "uid", Wire::Text), (2, "resourceVersion", Wire::Text)]),
    ),
    (4, "propagationPolicy", Wire::Text),
    (5, "dryRun", Wire::TextList),
];

static ACCESS_REVIEW: &[Field] = &[
    (1, "metadata", Wire::Message(METADATA)),
    (
        2,
        "spec",
        Wire::Message(&[
            (
                1,
                "resourceAttributes",
                Wire::Message(&[
                    (1, "namespace", Wire::Text),
                    (2, "verb", Wire::Text),
                    (3, "group", Wire::Text),
                    (4, "version", Wire::Text),
                    (5, "resource", Wire::Text),
                    (6, "subresource", Wire::Text),
                    (7, "name", Wire::Text),
                ]),
            ),
            (
                2,
                "nonResourceAttributes",
                Wire::Message(&[(1, "path", Wire::Text), (2, "verb", Wire::Text)]),
            ),
        ]),
    ),
];

static RULES_REVIEW: &[Field] = &[
    (1, "metadata", Wire::Message(METADATA)),
    (2, "spec", Wire::Message(&[(1, "namespace", Wire::Text)])),
];

static METADATA_ONLY: &[Field] = &[(1, "metadata", Wire::Message(METADATA))];

/// Decodes a body into the JSON that it stands for.
///
/// # Errors
/// 400 when it is broken, 415 for a type that is not read here.
pub fn decode(bytes: &[u8]) -> Outcome<Value> {
    let broken = || Failure::bad_request("the body of the request is not a Kubernetes protobuf message");
    let envelope = bytes.strip_prefix(MAGIC).ok_or_else(broken)?;
    let mut object = message(envelope, &UNKNOWN).ok_or_else(broken)?;
    let raw = last_bytes(envelope, UNKNOWN_RAW).ok_or_else(broken)?;
    let type_meta = object.remove("typeMeta").unwrap_or_default();
    let fields = match type_meta["kind"].as_str().unwrap_or_default() {
        "DeleteOptions" => DELETE_OPTIONS,
        "SelfSubjectAccessReview" => ACCESS_REVIEW,
        "SelfSubjectRulesReview" => RULES_REVIEW,
        "SelfSubjectReview" | "Namespace" => METADATA_ONLY,
        _ => {
            return Err(Failure::unsupported_media_type());
        }
    };
    let mut decoded = message(raw, fields).ok_or_else(broken)?;
    decoded.insert("kind".into(), type_meta["kind"].clone());
    decoded.insert("apiVersion".into(), type_meta["apiVersion"].clone());
    Ok(Value::Object(decoded))
}

/// One field as it stands on the wire.
enum Raw<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Takes the next field off `rest`.
fn next<'a>(rest: &mut &'a [u8]) -> Option<(u32, Raw<'a>)> {
    let (number, wire) = decode_key(rest).ok()?;
    let length = match wire {
        WireType::Varint => return Some((number, Raw::Number(decode_varint(rest).ok()?))),
        WireType::LengthDelimited => usize::try_from(decode_varint(rest).ok()?).ok()?,
        WireType::SixtyFourBit => 8,
        WireType::ThirtyTwoBit => 4,
        WireType::StartGroup | WireType::EndGroup => return None,
    };
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some((number, Raw::Bytes(taken)))
}

fn last_bytes(mut rest: &[u8], wanted: u32) -> Option<&[u8]> {
    let mut found = None;
    while !rest.is_empty() {
        if let (number, Raw::Bytes(bytes)) = next(&mut rest)?
            && number == wanted
        {
            found = Some(bytes);
        }
    }
    found
}

fn message(mut rest: &[u8], fields: &[Field]) -> Option<Map<String, Value>> {
    let mut object = Map::new();
    while !rest.is_empty() {
        let (number, raw) = next(&mut rest)?;
        let Some((_, name, wire)) = fields.iter().find(|field| field.0 == number) else {
            continue;
        };
        match (wire, raw) {
            (Wire::Text, Raw::Bytes(bytes)) => {
                // An empty text is a field that was not set.
                if !bytes.is_empty() {
                    object.insert((*name).into(), json!(std::str::from_utf8(bytes).ok()?));
                }
            }
            (Wire::TextList, Raw::Bytes(bytes)) => {
                let list = object.entry(*name).or_insert_with(|| json!([]));
                list.as_array_mut()?.push(json!(std::str::from_utf8(bytes).ok()?));
            }
            (Wire::Number, Raw::Number(value)) => {
                object.insert((*name).into(), json!(value.cast_signed()));
            }
            (Wire::Message(fields), Raw::Bytes(bytes)) => {
                object.insert((*name).into(), Value::Object(message(bytes, fields)?));
            }
            (Wire::TextMap, Raw::Bytes(bytes)) => {
                let entry = message(bytes, &[(1, "key", Wire::Text), (2, "value", Wire::Text)])?;
                let key = entry.get("key").and_then(Value::as_str)?;
                let value = entry.get("value").cloned().unwrap_or_else(|| json!(""));
                let map = object.entry(*name).or_insert_with(|| json!({}));
                map.as_object_mut()?.insert(key.to_owned(), value);
            }
            _ => return None,
        }
    }
    Some(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A length-delimited field.
    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![number << 3 | 2, u8::try_from(content.len()).unwrap()];
        bytes.extend_from_slice(content);
        bytes
    }

    #[test]
    fn delete_options_of_kubectl_are_understood() {
        let type_meta = [field(1, b"v1"), field(2, b"DeleteOptions")].concat();
        let mut options = vec![0x08, 0x00];
        options.extend(field(2, &field(1, b"uid-1")));
        let body = [
            MAGIC.to_vec(),
            field(1, &type_meta),
            field(2, &options),
            field(3, b""),
            field(4, b""),
        ]
        .concat();
        assert_eq!(
            decode(&body).unwrap(),
            json!({
                "kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "preconditions": { "uid": "uid-1" },
            })
        );
    }

    #[test]
    fn another_type_is_refused_as_an_unsupported_format() {
        let type_meta = [field(1, b"v1"), field(2, b"Pod")].concat();
        let body = [MAGIC.to_vec(), field(1, &type_meta), field(2, b"")].concat();
        assert_eq!(decode(&body).unwrap_err().code, 415);
    }

    proptest! {
        #[test]
        fn noise_is_an_error_and_never_a_panic(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            let body = [MAGIC.to_vec(), noise].concat();
            if let Err(failure) = decode(&body) {
                prop_assert!(failure.code == 400 || failure.code == 415);
            }
        }
    }
}
