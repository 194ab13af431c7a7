//! The API's protobuf, in which lists of pods are asked for: a third of the bytes of JSON, and an API server writes
//! it in a fraction of the time. A server that does not speak it (a proxy, the lab) answers in JSON. Field numbers
//! are those of the `generated.proto` files of `k8s.io/api` and `k8s.io/apimachinery`; fields that are not named
//! here are skipped without being stored.

pub mod list;
pub mod pod;

#[cfg(test)]
mod tests;

use prost::Message;

/// What is asked for.
pub const ACCEPT: &str = "application/vnd.kubernetes.protobuf,application/json";
/// The content type of an answer in protobuf.
pub const CONTENT_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// With these bytes every object in protobuf begins.
const MAGIC: &[u8] = b"k8s\0";

/// `runtime.Unknown`: what is wrapped around every object.
#[derive(Clone, PartialEq, Message)]
struct Wrapper {
    #[prost(bytes = "vec", tag = "2")]
    raw: Vec<u8>,
}

/// `meta/v1` Status.
#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(string, tag = "3")]
    message: String,
}

/// The text of a `Status` with which a request was refused; `None` where the body is no protobuf.
pub fn refusal(body: &[u8]) -> Option<String> {
    let wrapper = Wrapper::decode(body.strip_prefix(MAGIC)?).ok()?;
    Some(Status::decode(&*wrapper.raw).ok()?.message)
}
