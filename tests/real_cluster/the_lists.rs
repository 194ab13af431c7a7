//! A list of pods means the same in protobuf, in which drainboard asks for it, and in JSON, in which its watches come.

use drainboard::domain::pod::Pod;
use drainboard::sources::kubernetes::intern::Interner;
use drainboard::sources::kubernetes::{protobuf, wire};
use http_body_util::BodyExt;
use serde::Deserialize;
use std::time::Instant;

use crate::lab::Lab;
use crate::parts::{PATIENCE, User, client};

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    items: Vec<wire::pod::Pod<'a>>,
}

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

fn of_json(answer: &[u8], names: &mut Interner) -> Vec<Pod> {
    let list: List<'_> = serde_json::from_slice(answer).expect("a list");
    list.items.iter().map(|pod| pod.to_row(names)).collect()
}

fn of_protobuf(answer: &[u8], names: &mut Interner) -> Vec<Pod> {
    let mut splitter = protobuf::list::Splitter::default();
    let mut rows = Vec::new();
    splitter
        .push(answer, |item| {
            rows.push(protobuf::pod::row(item, names)?);
            Ok(())
        })
        .expect("a list in protobuf");
    assert!(splitter.is_complete());
    rows
}

#[tokio::test]
async fn a_list_of_pods_in_protobuf_has_the_rows_of_the_list_in_json() {
    let _lab = Lab::attach();
    let mut names = Interner::default();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let before = of_json(&pods("application/json").await, &mut names);
        let rows = of_protobuf(&pods(protobuf::ACCEPT).await, &mut names);
        let after = of_json(&pods("application/json").await, &mut names);
        // Only pods that stood still meanwhile say anything.
        if before == after {
            assert_eq!(rows.len(), 7);
            assert_eq!(rows, after);
            return;
        }
        assert!(Instant::now() < deadline, "the pods never stand still");
    }
}
