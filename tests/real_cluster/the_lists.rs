//! A list of pods means the same in protobuf, in which drainboard asks for it, and in JSON, in which its watches come.

use drainboard::sources::kubernetes::intern::Interner;
use drainboard::sources::kubernetes::{protobuf, wire};
use http_body_util::BodyExt;
use serde::Deserialize;

use crate::lab::Lab;
use crate::parts::{User, client};

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    items: Vec<wire::pod::Pod<'a>>,
}

/// The pods of the article: they stand still once they are ready.
async fn pods(accept: &str) -> Vec<u8> {
    let request = http::Request::get("/api/v1/namespaces/win-demo/pods")
        .header("Accept", accept)
        .body(kube::client::Body::empty())
        .expect("a request");
    let answer = client(User::Reader).await.send(request).await.expect("the list");
    assert!(answer.status().is_success());
    answer
        .into_body()
        .collect()
        .await
        .expect("its body")
        .to_bytes()
        .to_vec()
}

#[tokio::test]
async fn a_list_of_pods_in_protobuf_has_the_rows_of_the_list_in_json() {
    let _lab = Lab::attach();
    let json = pods("application/json").await;
    let list: List<'_> = serde_json::from_slice(&json).expect("a list");
    let mut names = Interner::default();
    let wanted: Vec<_> = list.items.iter().map(|pod| pod.to_row(&mut names)).collect();
    assert_eq!(wanted.len(), 7);

    let bytes = pods(protobuf::ACCEPT).await;
    let mut splitter = protobuf::list::Splitter::default();
    let mut rows = Vec::new();
    splitter
        .push(&bytes, |item| {
            rows.push(protobuf::pod::row(item, &mut names)?);
            Ok(())
        })
        .expect("a list in protobuf");
    assert!(splitter.is_complete());
    assert_eq!(rows, wanted);
}
