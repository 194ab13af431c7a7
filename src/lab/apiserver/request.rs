//! What a request asks for: the verb, the resource and the name that authorization, audit and dispatch go by.

use super::failure::{Failure, Outcome};
use http::{HeaderMap, Method, header};
use std::borrow::Cow;

/// The query of a URL, decoded.
#[derive(Debug, Clone, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes `a=b&c=d`.
    pub fn parse(query: &str) -> Self {
        Self(
            query
                .split('&')
                .filter(|pair| !pair.is_empty())
                .map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decode(name, true), decode(value, true))
                })
                .collect(),
        )
    }

    /// The first value of a parameter; an empty one counts as not given.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(own, value)| own == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    /// Whether a boolean parameter is true (`watch`, `watch=1`, `watch=true`).
    pub fn flag(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|(own, value)| own == name && !matches!(value.as_str(), "false" | "0"))
    }

    /// A number.
    ///
    /// # Errors
    /// 400 when the value is no number.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Outcome<Option<T>> {
        self.get(name).map(str::parse).transpose().map_err(|_| {
            Failure::bad_request(format!(
                "invalid value for {name}: {:?}",
                self.get(name).unwrap_or_default()
            ))
        })
    }

    /// Whether `dryRun=All` is asked for.
    pub fn dry_run(&self) -> bool {
        self.get("dryRun") == Some("All")
    }
}

/// Decodes `%xx`, and `+` in a query.
fn decode(text: &str, plus_is_space: bool) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = (byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        if let Some(value) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            decoded.push(value);
            at += 3;
        } else {
            decoded.push(if byte == b'+' && plus_is_space { b' ' } else { byte });
            at += 1;
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// What a resource path names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    /// API group; empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Namespace, empty when the path names none.
    pub namespace: String,
    /// Plural name of the resource.
    pub resource: String,
    /// Object name, empty for the collection.
    pub name: String,
    /// Subresource, empty for the main resource.
    pub subresource: String,
    /// What follows a `proxy` subresource, with its leading slash, still encoded.
    pub rest: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: &'static str,
}

impl Target {
    /// Reads a path below `/api/v1/` or `/apis/GROUP/VERSION/`. `None` when it names no resource.
    pub fn parse(method: &Method, path: &str, query: &Query) -> Option<Self> {
        let mut segments = path.split('/').skip(1);
        let (group, version) = match segments.next()? {
            "api" => ("", segments.next()?),
            "apis" => (segments.next()?, segments.next()?),
            _ => return None,
        };
        let parts: Vec<&str> = segments.collect();
        let named = |at: usize| parts.get(at).map(|part| decode(part, false)).unwrap_or_default();
        // `/namespaces/x` is the namespace itself, and so are its own subresources; anything longer is inside it.
        let inside = parts.first() == Some(&"namespaces")
            && parts.len() > 2
            && !matches!(parts.get(2), Some(&("status" | "finalize")));
        let offset = if inside { 2 } else { 0 };
        let resource = named(offset);
        if resource.is_empty() {
            return None;
        }
        let name = named(offset + 1);
        let namespace = match (inside, resource.as_str()) {
            (true, _) => named(1),
            (false, "namespaces") => name.clone(),
            (false, _) => String::new(),
        };
        let rest = parts
            .get(offset + 3..)
            .map(|rest| format!("/{}", rest.join("/")))
            .unwrap_or_default();
        let verb = match *method {
            Method::GET | Method::HEAD if query.flag("watch") => "watch",
            Method::GET | Method::HEAD if name.is_empty() => "list",
            Method::GET | Method::HEAD => "get",
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE if name.is_empty() => "deletecollection",
            Method::DELETE => "delete",
            _ => return None,
        };
        let subresource = named(offset + 2);
        Some(Self {
            group: group.into(),
            version: version.into(),
            namespace,
            resource,
            name,
            subresource,
            rest,
            verb,
        })
    }

    /// `pods` or `pods/eviction`.
    pub fn resource_path(&self) -> Cow<'_, str> {
        if self.subresource.is_empty() {
            Cow::Borrowed(&self.resource)
        } else {
            Cow::Owned(format!("{}/{}", self.resource, self.subresource))
        }
    }
}

/// The form in which the client wants objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Whole objects.
    Object,
    /// Columns, printed by the server.
    Table,
    /// Metadata only.
    Metadata,
}

impl Form {
    /// Takes the first form of the `Accept` header that this server speaks (it has JSON only).
    pub fn accepted(headers: &HeaderMap) -> Self {
        let accept = headers
            .get(header::ACCEPT)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        for entry in accept.split(',') {
            let mut parts = entry.split(';').map(str::trim);
            if !matches!(parts.next(), Some("application/json" | "*/*")) {
                continue;
            }
            match parts.find_map(|part| part.strip_prefix("as=")) {
                Some("Table") => return Self::Table,
                Some("PartialObjectMetadata" | "PartialObjectMetadataList") => return Self::Metadata,
                Some(_) => {}
                None => return Self::Object,
            }
        }
        Self::Object
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Verb, group, namespace, resource with subresource, name and rest of a GET, in one line.
    fn told(path: &str, query: &str) -> String {
        match Target::parse(&Method::GET, path, &Query::parse(query)) {
            Some(target) => format!(
                "{} {:?} {:?} {} {:?} {}",
                target.verb,
                target.group,
                target.namespace,
                target.resource_path(),
                target.name,
                target.rest
            ),
            None => "no resource".to_owned(),
        }
    }

    #[test]
    fn paths_name_verb_group_namespace_resource_and_name() {
        assert_eq!(
            told("/api/v1/nodes", "limit=500").trim_end(),
            r#"list "" "" nodes """#
        );
        assert_eq!(
            told("/api/v1/nodes", "watch=true").trim_end(),
            r#"watch "" "" nodes """#
        );
        assert_eq!(
            told("/api/v1/namespaces/kube-system", "").trim_end(),
            r#"get "" "kube-system" namespaces "kube-system""#
        );
        let daemon_sets = told("/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy", "");
        assert_eq!(
            daemon_sets.trim_end(),
            r#"get "apps" "kube-system" daemonsets "kube-proxy""#
        );
        let proxy = told(
            "/api/v1/namespaces/monitoring/services/http:prometheus:9090/proxy/api/v1/query",
            "query=up",
        );
        assert_eq!(
            proxy,
            r#"get "" "monitoring" services/proxy "http:prometheus:9090" /api/v1/query"#
        );
        assert_eq!(told("/apis/apps/v1", ""), "no resource");
        assert_eq!(told("/version", ""), "no resource");
    }

    #[test]
    fn the_first_form_that_is_spoken_here_is_taken() {
        let form = |accept: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            Form::accepted(&headers)
        };
        assert_eq!(
            form("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
            Form::Table
        );
        assert_eq!(
            form("application/vnd.kubernetes.protobuf,application/json"),
            Form::Object
        );
        assert_eq!(
            form("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
            Form::Metadata
        );
    }

    proptest! {
        #[test]
        fn a_query_gives_back_what_was_encoded_into_it(value in "\\PC{1,20}") {
            let encoded = value.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
            let query = Query::parse(&format!("a=1&b={encoded}"));
            prop_assert_eq!(query.get("b"), Some(value.as_str()));
        }

        #[test]
        fn any_path_is_read_or_is_no_resource(path in "(/[a-z0-9%]{0,6}){0,8}", query in "\\PC{0,20}") {
            let query = Query::parse(&query);
            if let Some(target) = Target::parse(&Method::GET, &path, &query) {
                prop_assert!(!target.resource.is_empty());
            }
        }
    }
}
