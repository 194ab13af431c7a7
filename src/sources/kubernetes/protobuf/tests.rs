//! Against answers of a real API server (1.37.2): the same four pods in JSON and in protobuf, a first page, a refusal.

use super::super::failure::Failure;
use super::super::intern::Interner;
use super::super::wire;
use super::list::Splitter;
use super::{pod, refusal};
use crate::domain::pod::Pod;
use proptest::prelude::*;

const JSON: &[u8] = include_bytes!("../../../../tests/data/kubernetes/pods.json");
const PODS: &[u8] = include_bytes!("../../../../tests/data/kubernetes/pods.pb");
const PAGE: &[u8] = include_bytes!("../../../../tests/data/kubernetes/page.pb");
const REFUSAL: &[u8] = include_bytes!("../../../../tests/data/kubernetes/refusal.pb");

#[derive(serde::Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    items: Vec<wire::pod::Pod<'a>>,
}

fn from_json() -> Vec<Pod> {
    let list: List<'_> = serde_json::from_slice(JSON).unwrap();
    let mut names = Interner::default();
    list.items.iter().map(|pod| pod.to_row(&mut names)).collect()
}

fn from_protobuf(bytes: &[u8], piece: usize) -> Result<(Vec<Pod>, Splitter), Failure> {
    let mut names = Interner::default();
    let (mut rows, mut splitter) = (Vec::new(), Splitter::default());
    for piece in bytes.chunks(piece) {
        splitter.push(piece, |item| {
            rows.push(pod::row(item, &mut names)?);
            Ok(())
        })?;
    }
    Ok((rows, splitter))
}

#[test]
fn a_pod_in_protobuf_is_the_pod_in_json() {
    let (rows, splitter) = from_protobuf(PODS, PODS.len()).unwrap();
    assert!(splitter.is_complete());
    assert_eq!(rows, from_json());
    let orders = rows.iter().find(|pod| &*pod.name == "orders-0").unwrap();
    let ended = orders.containers[2].last_termination.as_ref().unwrap();
    assert_eq!((ended.exit_code, orders.empty_dir), (-1_073_741_510, true));
    assert_eq!(orders.claims.len(), 2);
}

#[test]
fn the_first_page_names_the_next_one_before_its_items() {
    let beginning = &PAGE[..PAGE.len() / 4];
    let (rows, splitter) = from_protobuf(beginning, 64).unwrap();
    assert!(rows.is_empty());
    let metadata = splitter.metadata().unwrap();
    assert!(!metadata.next_page.is_empty() && !metadata.resource_version.is_empty());
    let (rows, splitter) = from_protobuf(PAGE, 64).unwrap();
    assert!(splitter.is_complete());
    assert_eq!(rows.len(), 2);
}

#[test]
fn a_refusal_says_why() {
    assert_eq!(
        refusal(REFUSAL).as_deref(),
        Some("Timeout: Too large resource version: 999999999, current: 309")
    );
    assert_eq!(refusal(br#"{"kind":"Status"}"#), None);
}

#[test]
fn what_claims_to_be_longer_than_an_object_is_refused_before_it_is_stored() {
    let mut lie = b"k8s\0".to_vec();
    prost::encoding::encode_key(2, prost::encoding::WireType::LengthDelimited, &mut lie);
    prost::encoding::encode_varint(u64::MAX, &mut lie);
    prost::encoding::encode_key(2, prost::encoding::WireType::LengthDelimited, &mut lie);
    prost::encoding::encode_varint(1 << 40, &mut lie);
    assert!(matches!(from_protobuf(&lie, 8), Err(Failure::Malformed(_))));
    assert!(matches!(
        from_protobuf(b"<html>nothing of the kind", 8),
        Err(Failure::Malformed(_))
    ));
}

proptest! {
    #[test]
    fn in_whatever_pieces_it_comes_the_rows_are_the_same(piece in 1_usize..4000) {
        let (rows, splitter) = from_protobuf(PODS, piece).unwrap();
        prop_assert!(splitter.is_complete());
        prop_assert_eq!(rows, from_json());
    }

    #[test]
    fn an_answer_that_was_cut_off_is_never_complete(length in 0..PODS.len() - 16) {
        let (rows, splitter) = from_protobuf(&PODS[..length], 512).unwrap();
        prop_assert!(!splitter.is_complete());
        prop_assert!(rows.len() <= 4);
    }

    #[test]
    fn a_flipped_byte_breaks_nothing(at in 0..PODS.len(), to in any::<u8>()) {
        let mut bytes = PODS.to_vec();
        bytes[at] = to;
        // Rows or a failure: both are fine, as long as it ends.
        if let Ok((rows, _)) = from_protobuf(&bytes, 256) {
            prop_assert!(rows.len() <= 8);
        }
    }
}
