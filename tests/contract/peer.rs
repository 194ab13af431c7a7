//! Who is asked, and how.

use http::{Method, Request};
use http_body_util::BodyExt;
use kube::client::Body;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use std::future::Future;
use std::time::{Duration, Instant};

/// How long an answer may take to become the right one: a busy machine is slow, not broken.
const PATIENCE: Duration = Duration::from_mins(3);

/// A cluster to ask.
pub struct Peer {
    /// May do everything.
    pub admin: Client,
    /// May read the pods of `win-demo`, and nothing else.
    pub limited: Client,
    /// His name in refusals.
    pub limited_name: &'static str,
    /// Carries a token that nobody gave him.
    pub stranger: Client,
    /// Makes the server forget the changes of nodes so far.
    forget: Box<dyn Fn() + Send + Sync>,
}

impl Peer {
    /// The cluster behind two kubeconfigs. `forget` makes it forget the changes of nodes so far.
    pub async fn new(
        admin: Kubeconfig,
        (limited, limited_name): (Kubeconfig, &'static str),
        forget: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        // Another test of this process may have installed it first.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let mut stranger = admin.clone();
        for user in &mut stranger.auth_infos {
            user.auth_info = Some(AuthInfo {
                token: Some("nobody gave it to me".to_owned().into()),
                ..AuthInfo::default()
            });
        }
        Self {
            admin: client(admin).await,
            limited: client(limited).await,
            limited_name,
            stranger: client(stranger).await,
            forget: Box::new(forget),
        }
    }

    /// Makes the server forget the changes of nodes so far.
    pub fn forget_the_changes_of_nodes(&self) {
        (self.forget)();
    }

    /// `GET` as the admin.
    pub async fn get(&self, path: &str) -> Answer {
        ask(&self.admin, Method::GET, path, &[], Vec::new()).await
    }

    /// `GET` as the admin, who wants the answer in this form.
    pub async fn get_as(&self, form: &str, path: &str) -> Answer {
        ask(&self.admin, Method::GET, path, &[("Accept", form)], Vec::new()).await
    }

    /// `POST` of JSON as the admin.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        let json = [("Content-Type", "application/json")];
        ask(
            &self.admin,
            Method::POST,
            path,
            &json,
            body.to_string().into_bytes(),
        )
        .await
    }

    /// A strategic merge patch as the admin.
    pub async fn patch(&self, path: &str, change: &Value) -> Answer {
        let kind = [("Content-Type", "application/strategic-merge-patch+json")];
        ask(
            &self.admin,
            Method::PATCH,
            path,
            &kind,
            change.to_string().into_bytes(),
        )
        .await
    }

    /// `DELETE` as the admin.
    pub async fn delete(&self, path: &str) -> Answer {
        ask(&self.admin, Method::DELETE, path, &[], Vec::new()).await
    }
}

async fn client(kubeconfig: Kubeconfig) -> Client {
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .unwrap();
    // Refusals are answers here.
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

/// `GET` as this user.
pub async fn get(client: &Client, path: &str) -> Answer {
    ask(client, Method::GET, path, &[], Vec::new()).await
}

/// Any request as this user.
pub async fn ask(
    client: &Client,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Vec<u8>,
) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = client
        .send(request.body(Body::from(body)).unwrap())
        .await
        .unwrap();
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    Answer {
        code,
        text: String::from_utf8(bytes.to_vec()).unwrap(),
    }
}

/// Status code and body.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status code.
    pub code: u16,
    /// The body.
    pub text: String,
}

impl Answer {
    /// The body of a success.
    pub fn json(&self) -> Value {
        assert!((200..300).contains(&self.code), "{}: {}", self.code, self.text);
        serde_json::from_str(&self.text).unwrap()
    }

    /// Code, reason and message of a refusal; the message alone where it is no `Status`.
    pub fn refusal(&self) -> (u16, String, String) {
        assert!(self.code >= 400, "{}: {}", self.code, self.text);
        let Ok(status) = serde_json::from_str::<Value>(&self.text) else {
            return (self.code, String::new(), self.text.clone());
        };
        assert_eq!(status["kind"], "Status", "{status}");
        assert_eq!(status["code"], json!(self.code), "{status}");
        let text = |field: &str| status[field].as_str().unwrap_or_default().to_owned();
        (self.code, text("reason"), text("message"))
    }

    /// The `details` of a refusal.
    pub fn details(&self) -> Value {
        serde_json::from_str::<Value>(&self.text).unwrap()["details"].clone()
    }
}

/// The items of a list.
pub fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map_or(&[], Vec::as_slice)
}

/// The names of the items of a list.
pub fn names(list: &Value) -> Vec<&str> {
    items(list)
        .iter()
        .filter_map(|item| item["metadata"]["name"].as_str())
        .collect()
}

/// `(code, reason, message)` as [`Answer::refusal`] gives it.
pub fn refusal(code: u16, reason: &str, message: &str) -> (u16, String, String) {
    (code, reason.to_owned(), message.to_owned())
}

/// Asks until there is nothing to object; the last objection is the failure.
pub async fn eventually<T, F: Future<Output = Result<T, String>>>(mut question: impl FnMut() -> F) -> T {
    let begun = Instant::now();
    loop {
        match question().await {
            Ok(answer) => return answer,
            Err(objection) => assert!(begun.elapsed() < PATIENCE, "{objection}"),
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
