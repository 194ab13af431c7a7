//! Who may do what: bearer tokens, the users behind them and their rights, with the refusals of the real server.

use super::failure::Failure;
use super::random;
use super::request::Target;
use http::{HeaderMap, header};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The users that the lab knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum User {
    /// May do everything.
    Admin,
    /// May read everything but secrets, logs and proxies included.
    ReadOnly,
    /// May list and watch nodes and pods, and nothing else until granted more.
    FewRights,
    /// Carries a token that is no longer valid.
    Expired,
}

impl User {
    /// Every user, in the order of their rights.
    pub const ALL: [Self; 4] = [Self::Admin, Self::ReadOnly, Self::FewRights, Self::Expired];

    /// The user name in refusals and in the audit list.
    pub fn name(self) -> &'static str {
        match self {
            Self::Admin => "lab-admin",
            Self::ReadOnly => "lab-viewer",
            Self::FewRights => "lab-few-rights",
            Self::Expired => "lab-expired",
        }
    }

    fn first_rights(self) -> Vec<Right> {
        match self {
            Self::Admin => vec![Right::new(&["*"], &["*"], &["*"])],
            Self::ReadOnly => vec![Right {
                except: vec!["secrets".to_owned()],
                ..Right::new(&["get", "list", "watch"], &["*"], &["*"])
            }],
            Self::FewRights => vec![Right::new(&["get", "list", "watch"], &[""], &["nodes", "pods"])],
            Self::Expired => Vec::new(),
        }
    }
}

/// One rule: these verbs on these resources of these groups, everywhere or in one namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Right {
    /// Verbs; `*` is all.
    pub verbs: Vec<String>,
    /// API groups; `*` is all, the empty one is the core group.
    pub groups: Vec<String>,
    /// Resources with their subresource (`pods/log`); `*` is all.
    pub resources: Vec<String>,
    /// Resources that a `*` does not cover.
    pub except: Vec<String>,
    /// Only in this namespace.
    pub namespace: Option<String>,
}

impl Right {
    /// A right in the whole cluster.
    pub fn new(verbs: &[&str], groups: &[&str], resources: &[&str]) -> Self {
        let owned = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect();
        Self {
            verbs: owned(verbs),
            groups: owned(groups),
            resources: owned(resources),
            except: Vec::new(),
            namespace: None,
        }
    }

    fn covers(&self, access: &Access<'_>) -> bool {
        let has = |list: &[String], wanted: &str| list.iter().any(|item| item == "*" || item == wanted);
        has(&self.verbs, access.verb)
            && has(&self.groups, access.group)
            && has(&self.resources, access.resource)
            && !self.except.iter().any(|item| item == access.resource)
            && self
                .namespace
                .as_deref()
                .is_none_or(|namespace| namespace == access.namespace)
    }
}

/// What somebody wants to do.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// `get`, `list`, …
    pub verb: &'a str,
    /// API group.
    pub group: &'a str,
    /// Resource, with its subresource.
    pub resource: &'a str,
    /// Namespace; empty for the whole cluster.
    pub namespace: &'a str,
}

/// Tokens and rights. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub struct Users {
    tokens: Arc<HashMap<User, String>>,
    rights: Arc<RwLock<HashMap<User, Vec<Right>>>>,
}

impl Default for Users {
    fn default() -> Self {
        Self {
            tokens: Arc::new(User::ALL.iter().map(|&user| (user, random::token())).collect()),
            rights: Arc::new(RwLock::new(
                User::ALL
                    .iter()
                    .map(|&user| (user, user.first_rights()))
                    .collect(),
            )),
        }
    }
}

impl Users {
    /// The bearer token of a user.
    pub fn token(&self, user: User) -> &str {
        self.tokens.get(&user).map(String::as_str).unwrap_or_default()
    }

    /// Replaces what a user may do.
    pub fn grant(&self, user: User, rights: Vec<Right>) {
        self.rights
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(user, rights);
    }

    /// What a user may do.
    pub fn rights(&self, user: User) -> Vec<Right> {
        self.rights
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&user)
            .cloned()
            .unwrap_or_default()
    }

    /// Who sends this request; nobody when it carries no token.
    ///
    /// # Errors
    /// 401 for a token that is unknown or no longer valid.
    pub fn authenticate(&self, headers: &HeaderMap) -> Result<Option<User>, Failure> {
        let Some(value) = headers.get(header::AUTHORIZATION) else {
            return Ok(None);
        };
        let token = value
            .to_str()
            .ok()
            .and_then(|value| value.strip_prefix("Bearer "))
            .unwrap_or_default();
        self.tokens
            .iter()
            .find(|(user, own)| **user != User::Expired && own.as_str() == token)
            .map(|(user, _)| Some(*user))
            .ok_or_else(Failure::unauthorized)
    }

    /// Whether a user may do this.
    pub fn allows(&self, user: Option<User>, access: &Access<'_>) -> bool {
        user.is_some_and(|user| self.rights(user).iter().any(|right| right.covers(access)))
    }

    /// Lets a request pass or refuses it.
    ///
    /// # Errors
    /// 403, worded as the real server words it.
    pub fn authorize(&self, user: Option<User>, target: &Target) -> Result<(), Failure> {
        let resource = target.resource_path();
        let access = Access {
            verb: target.verb,
            group: &target.group,
            resource: &resource,
            namespace: &target.namespace,
        };
        if self.allows(user, &access) {
            return Ok(());
        }
        let place = if target.namespace.is_empty() {
            "at the cluster scope".to_owned()
        } else {
            format!("in the namespace {:?}", target.namespace)
        };
        let qualified = if target.group.is_empty() {
            target.resource.clone()
        } else {
            format!("{}.{}", target.resource, target.group)
        };
        let object = if target.name.is_empty() {
            qualified
        } else {
            format!("{qualified} {:?}", target.name)
        };
        let name = user.map_or("system:anonymous", User::name);
        let message = format!(
            "{object} is forbidden: User {name:?} cannot {} resource {resource:?} in API group {:?} {place}",
            target.verb, target.group
        );
        let mut failure = Failure::new(403, "Forbidden", message);
        failure.details = json!({ "kind": target.resource });
        for (field, value) in [("name", &target.name), ("group", &target.group)] {
            if !value.is_empty() {
                failure.details[field] = json!(value);
            }
        }
        Err(failure)
    }
}
