//! From kubeconfig or the pod's own service account to a client.

use super::failure::Failure;
use crate::domain::text::sanitise;
use crate::sources::event::{Problem, ShortText};
use kube::config::{
    Config, ExecInteractiveMode, KubeConfigOptions, Kubeconfig, KubeconfigError, LoadDataError,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the context inside a pod.
pub const IN_CLUSTER: &str = "in-cluster";

/// A connection to one API server: what a context of the kubeconfig said at the moment of opening. Later changes
/// of the file do not touch it.
#[derive(Clone)]
pub struct Session {
    /// The client, without hidden retries.
    pub client: kube::Client,
    /// Name of the context.
    pub context: ShortText,
    /// URL of the API server, without user information.
    pub server: ShortText,
    /// All contexts of the kubeconfig, in its order.
    pub contexts: Vec<String>,
}

/// Which cluster to open.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// `--kubeconfig`; otherwise the `KUBECONFIG` list, then `~/.kube/config`, then the pod's service account.
    pub kubeconfig: Option<PathBuf>,
    /// Context; otherwise the current one.
    pub context: Option<String>,
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Whether a credential plugin may talk to the operator: only before the screens are up.
    pub interactive: bool,
}

/// Reads the kubeconfig and builds the client. No request is sent yet, but credential plugins run.
///
/// # Errors
/// No kubeconfig, no such context, unusable certificate or credentials: each with what to do.
pub async fn open(choice: Choice) -> Result<Session, Problem> {
    let (mut config, context, contexts) = load(&choice).await?;
    config.default_retry = false;
    config.connect_timeout = Some(choice.connect_timeout);
    config.headers.push((
        http::header::USER_AGENT,
        http::HeaderValue::from_static(concat!("drainboard/", env!("CARGO_PKG_VERSION"))),
    ));
    let server = without_user_information(&config.cluster_url);
    // Compressing costs the server more than the answer itself; here there is no network to be spared.
    config.disable_compression |= config.proxy_url.is_none() && is_on_this_machine(&config.cluster_url);
    // Plugins are processes that are waited for.
    let built = tokio::task::spawn_blocking(move || build(config, choice.interactive)).await;
    match built {
        Ok(Ok(client)) => Ok(Session {
            client,
            context: context.into(),
            server: server.into(),
            contexts,
        }),
        Ok(Err(error)) => Err(client_problem(&Failure::of_client(&error), &context)),
        Err(error) => Err(Problem {
            what: format!(
                "cannot build a client for context `{}`: {error}",
                sanitise(&context)
            ),
            next_step: "see the log".to_owned(),
        }),
    }
}

/// A plugin that wants to ask something does so in a first run, which also fills its cache; the client that stays
/// must never let a plugin near the terminal, not even hours later when its token is renewed.
fn build(mut config: Config, interactive: bool) -> Result<kube::Client, kube::Error> {
    let may_ask = config
        .auth_info
        .exec
        .as_ref()
        .is_some_and(|exec| exec.interactive_mode != Some(ExecInteractiveMode::Never));
    if interactive && may_ask {
        kube::Client::try_from(config.clone())?;
    }
    if let Some(exec) = &mut config.auth_info.exec {
        exec.interactive_mode = Some(ExecInteractiveMode::Never);
    }
    kube::Client::try_from(config)
}

async fn load(choice: &Choice) -> Result<(Config, String, Vec<String>), Problem> {
    let Some(kubeconfig) = read(choice.kubeconfig.as_deref())? else {
        let config = Config::incluster().map_err(|_| no_kubeconfig())?;
        return Ok((config, IN_CLUSTER.to_owned(), vec![IN_CLUSTER.to_owned()]));
    };
    let contexts: Vec<String> = kubeconfig
        .contexts
        .iter()
        .map(|context| context.name.clone())
        .collect();
    let context = match choice
        .context
        .clone()
        .or_else(|| kubeconfig.current_context.clone())
    {
        Some(context) if !context.is_empty() => context,
        _ => return Err(no_current_context(&contexts)),
    };
    if !contexts.contains(&context) {
        return Err(no_such_context(&context, &contexts));
    }
    let options = KubeConfigOptions {
        context: Some(context.clone()),
        ..KubeConfigOptions::default()
    };
    let config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .map_err(|error| config_problem(&error, &context))?;
    Ok((config, context, contexts))
}

/// The kubeconfig; `None` if there is none and none was asked for.
fn read(path: Option<&Path>) -> Result<Option<Kubeconfig>, Problem> {
    if let Some(path) = path {
        return Kubeconfig::read_from(path)
            .map(Some)
            .map_err(|error| unreadable(&error, Some(path)));
    }
    let listed: Vec<PathBuf> = std::env::var_os("KUBECONFIG")
        .map(|list| {
            std::env::split_paths(&list)
                .filter(|path| !path.as_os_str().is_empty())
                .collect()
        })
        .unwrap_or_default();
    if !listed.is_empty() {
        return merged(&listed);
    }
    match Kubeconfig::read() {
        Ok(kubeconfig) => Ok(Some(kubeconfig)),
        Err(KubeconfigError::FindPath) => Ok(None),
        Err(KubeconfigError::ReadConfig(error, _)) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(None)
        }
        Err(error) => Err(unreadable(&error, None)),
    }
}

/// The files of a `KUBECONFIG` list as one: the first that says something wins, missing files are skipped, as
/// kubectl does it.
fn merged(files: &[PathBuf]) -> Result<Option<Kubeconfig>, Problem> {
    let mut whole: Option<Kubeconfig> = None;
    for file in files {
        let next = match Kubeconfig::read_from(file) {
            Ok(next) => next,
            Err(KubeconfigError::ReadConfig(error, _)) if error.kind() == std::io::ErrorKind::NotFound => {
                continue;
            }
            Err(error) => return Err(unreadable(&error, Some(file))),
        };
        whole = Some(match whole {
            None => next,
            Some(before) => before
                .merge(next)
                .map_err(|error| unreadable(&error, Some(file)))?,
        });
    }
    Ok(whole)
}

fn no_kubeconfig() -> Problem {
    Problem {
        what:
            "there is no kubeconfig: neither KUBECONFIG nor ~/.kube/config leads to one, and this is no pod"
                .to_owned(),
        next_step: "name one with `--kubeconfig FILE`, or see the program at work with `drainboard demo`"
            .to_owned(),
    }
}

fn no_current_context(contexts: &[String]) -> Problem {
    Problem {
        what: "the kubeconfig has no current context".to_owned(),
        next_step: format!("choose one with `--context NAME`: {}", listed(contexts)),
    }
}

fn no_such_context(context: &str, contexts: &[String]) -> Problem {
    Problem {
        what: format!("the kubeconfig has no context `{}`", sanitise(context)),
        next_step: format!("choose one of these: {}", listed(contexts)),
    }
}

fn listed(contexts: &[String]) -> String {
    if contexts.is_empty() {
        return "but there is none in it".to_owned();
    }
    let names: Vec<_> = contexts.iter().map(|name| sanitise(name)).collect();
    names.join(", ")
}

fn unreadable(error: &KubeconfigError, path: Option<&Path>) -> Problem {
    let file = match (error, path) {
        (KubeconfigError::ReadConfig(_, path), _) => path.display().to_string(),
        (_, Some(path)) => path.display().to_string(),
        (_, None) => "that KUBECONFIG or ~/.kube/config names".to_owned(),
    };
    let cause = match error {
        KubeconfigError::ReadConfig(cause, _) => cause.to_string(),
        // The parser's message may quote the file, and with it a token.
        KubeconfigError::Parse(_) => "it is no valid kubeconfig YAML".to_owned(),
        other => other.to_string(),
    };
    Problem {
        what: format!(
            "the kubeconfig {} cannot be read: {}",
            sanitise(&file),
            sanitise(&cause)
        ),
        next_step: "check the file with `kubectl config view`, or name another one with `--kubeconfig FILE`"
            .to_owned(),
    }
}

fn config_problem(error: &KubeconfigError, context: &str) -> Problem {
    let context = sanitise(context);
    let (what, next_step) = match error {
        KubeconfigError::LoadClusterOfContext(cluster) => (
            format!(
                "context `{context}` names the cluster `{}`, which is not there",
                sanitise(cluster)
            ),
            "add the cluster, or choose another context",
        ),
        KubeconfigError::MissingClusterUrl | KubeconfigError::ParseClusterUrl(_) => (
            format!("the cluster of context `{context}` has no usable server URL"),
            "correct `server:` of the cluster in the kubeconfig",
        ),
        KubeconfigError::ParseProxyUrl(_) => (
            format!("the proxy URL of context `{context}` is not usable"),
            "correct `proxy-url:` of the cluster, or HTTPS_PROXY",
        ),
        KubeconfigError::LoadCertificateAuthority(cause) => (
            format!(
                "the certificate authority of context `{context}` cannot be loaded: {}",
                of_data(cause)
            ),
            "correct certificate-authority of the cluster in the kubeconfig",
        ),
        KubeconfigError::LoadClientCertificate(cause) | KubeconfigError::LoadClientKey(cause) => (
            format!(
                "the client certificate of context `{context}` cannot be loaded: {}",
                of_data(cause)
            ),
            "correct client-certificate and client-key of the user in the kubeconfig",
        ),
        KubeconfigError::ParseCertificates(_) => (
            format!("the certificate authority of context `{context}` is no PEM file"),
            "correct certificate-authority of the cluster in the kubeconfig",
        ),
        other => (
            format!(
                "context `{context}` cannot be used: {}",
                sanitise(&other.to_string())
            ),
            "check it with `kubectl config view`",
        ),
    };
    Problem {
        what,
        next_step: next_step.to_owned(),
    }
}

fn of_data(error: &LoadDataError) -> String {
    let text = match error {
        LoadDataError::ReadFile(cause, path) => format!("{}: {cause}", path.display()),
        LoadDataError::DecodeBase64(_) => "its data is not base64".to_owned(),
        LoadDataError::NoBase64DataOrFile => "there is neither data nor a file".to_owned(),
    };
    sanitise(&text).into_owned()
}

fn client_problem(failure: &Failure, context: &str) -> Problem {
    let context = sanitise(context);
    Problem {
        what: format!("no client for context `{context}`: {failure}"),
        next_step: format!(
            "check the user of context `{context}`: log in with `kubectl --context {context} get nodes` in another \
             terminal, then choose the context anew"
        ),
    }
}

/// Whether the URL's host is an address of this machine: then a packet to it would have it as its source, too.
/// None is sent, and no name is looked up.
fn is_on_this_machine(url: &http::Uri) -> bool {
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    let Ok(address) = host.parse::<IpAddr>() else {
        return host == "localhost";
    };
    if address.is_loopback() {
        return true;
    }
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let source = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    source.is_ok_and(|source| source.ip() == address)
}

fn without_user_information(url: &http::Uri) -> String {
    let text = url.to_string();
    let text = text.trim_end_matches('/');
    match (text.split_once("://"), url.authority()) {
        (Some((scheme, rest)), Some(authority)) if authority.as_str().contains('@') => {
            let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            format!("{scheme}://{host}")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn file(content: &serde_json::Value) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content.to_string()).unwrap();
        file
    }

    async fn refused(content: &serde_json::Value) -> String {
        let file = file(content);
        let choice = Choice {
            kubeconfig: Some(file.path().to_owned()),
            ..Choice::default()
        };
        let Err(problem) = open(choice).await else {
            panic!("this kubeconfig should not work")
        };
        format!("{} → {}", problem.what, problem.next_step)
    }

    #[test]
    fn in_a_list_of_files_the_first_that_says_something_wins_and_missing_ones_are_skipped() {
        let first =
            file(&json!({"current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "c"}}]}));
        let second =
            file(&json!({"current-context": "b", "contexts": [{"name": "b", "context": {"cluster": "c"}}]}));
        let list = [
            PathBuf::from("/nonexistent/kubeconfig"),
            first.path().to_owned(),
            second.path().to_owned(),
        ];
        let whole = merged(&list).unwrap().unwrap();
        assert_eq!(whole.current_context.as_deref(), Some("a"));
        let names: Vec<_> = whole
            .contexts
            .iter()
            .map(|context| context.name.as_str())
            .collect();
        assert_eq!(names, ["a", "b"]);
        assert!(merged(&list[..1]).unwrap().is_none());
    }

    #[tokio::test]
    async fn what_a_context_names_but_is_not_there_is_told() {
        let missing_cluster = json!({"current-context": "lab",
            "contexts": [{"name": "lab", "context": {"cluster": "gone", "user": "u"}}]});
        assert_eq!(
            refused(&missing_cluster).await,
            "context `lab` names the cluster `gone`, which is not there → add the cluster, or choose another context"
        );
        let missing_authority = json!({"current-context": "lab",
            "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1",
                "certificate-authority": "/nonexistent/ca.crt"}}]});
        let problem = refused(&missing_authority).await;
        assert!(
            problem.contains("certificate authority of context `lab` cannot be loaded: /nonexistent/ca.crt"),
            "{problem}"
        );
        let no_context = json!({"contexts": [{"name": "lab", "context": {"cluster": "c"}}]});
        assert_eq!(
            refused(&no_context).await,
            "the kubeconfig has no current context → choose one with `--context NAME`: lab"
        );
    }

    #[tokio::test]
    async fn a_token_file_that_is_gone_is_named() {
        let problem = refused(&json!({"current-context": "lab",
            "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
            "users": [{"name": "u", "user": {"tokenFile": "/nonexistent/token"}}]}))
        .await;
        assert!(
            problem.contains("the token file /nonexistent/token cannot be read"),
            "{problem}"
        );
    }

    #[test]
    fn a_server_on_this_machine_is_told_from_one_elsewhere() {
        let here = |url: &str| is_on_this_machine(&url.parse().unwrap());
        assert!(here("https://127.0.0.1:6443") && here("https://127.0.3.7") && here("https://localhost:1"));
        assert!(!here("https://192.0.2.1:6443") && !here("https://api.example.com"));
    }

    #[test]
    fn a_password_in_the_server_url_is_not_shown() {
        let shown = |url: &str| without_user_information(&url.parse().unwrap());
        assert_eq!(
            shown("https://admin:s3cret@192.168.10.23:6443/"),
            "https://192.168.10.23:6443"
        );
        assert_eq!(
            shown("https://rancher.example.com/k8s/clusters/c-1"),
            "https://rancher.example.com/k8s/clusters/c-1"
        );
    }
}
