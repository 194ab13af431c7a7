//! Whatever order and duplicates an answer comes with, the join gives one result.

use crate::domain::measurement::{NodeKey, NodeQuantity};
use crate::sources::prometheus::samples;
use crate::sources::prometheus::wire::{Labels, Number, Row, Vector};
use proptest::prelude::*;
use std::collections::BTreeMap;

const EVALUATED: f64 = 1_764_560_000.0;

/// One scrape of commit: instance, pod of the exporter, value, age in seconds.
type Scrape = (u8, u8, f64, u16);

fn rows(scrapes: &[Scrape]) -> Vec<Row<'static>> {
    let row = |scrape: &Scrape, quantity: &'static str, value: f64| Row {
        metric: Labels {
            instance: format!("10.0.0.{}:9182", scrape.0).into(),
            namespace: "monitoring".into(),
            pod: format!("exporter-{}", scrape.1).into(),
            quantity: quantity.into(),
            ..Labels::default()
        },
        value: Some((EVALUATED, Number(value))),
    };
    scrapes
        .iter()
        .flat_map(|scrape| {
            let at = EVALUATED - f64::from(scrape.3);
            [row(scrape, "commit", scrape.2), row(scrape, "commit.time", at)]
        })
        .collect()
}

fn joined(rows: Vec<Row<'_>>) -> BTreeMap<String, (f64, i64)> {
    let vector = Vector {
        rows,
        warnings: Vec::new(),
    };
    let now = crate::sources::unix_time::time(EVALUATED).unwrap();
    let samples = samples::nodes(vector, None, now);
    let mut found = BTreeMap::new();
    for one in samples.nodes {
        assert_eq!(one.quantity, NodeQuantity::Commit);
        let NodeKey::Address(address) = one.node else {
            panic!("{one:?}");
        };
        let age = (now - one.sample.at).num_seconds();
        let twice = found.insert(address.to_string(), (one.sample.value, age));
        assert_eq!(twice, None);
    }
    found
}

fn scrapes() -> impl Strategy<Value = Vec<Scrape>> {
    let value = prop_oneof![3 => 0.0..1e12, 1 => Just(f64::NAN), 1 => Just(f64::INFINITY)];
    let scrape = (1..4_u8, any::<u8>(), value, 0..300_u16);
    proptest::collection::vec(scrape, 0..12).prop_map(|mut scrapes| {
        // Within one answer a series exists once.
        scrapes.sort_by_key(|scrape| (scrape.0, scrape.1));
        scrapes.dedup_by_key(|scrape| (scrape.0, scrape.1));
        scrapes
    })
}

proptest! {
    #[test]
    fn the_newest_finite_sample_of_each_node_wins_in_any_order(
        (scrapes, shuffled) in scrapes().prop_flat_map(|scrapes| {
            (Just(scrapes.clone()), Just(scrapes).prop_shuffle())
        })
    ) {
        let mut expected: BTreeMap<String, (f64, i64)> = BTreeMap::new();
        for (instance, _, value, age) in scrapes.iter().filter(|scrape| scrape.2.is_finite()) {
            let candidate = (*value, i64::from(*age));
            let held = expected.entry(format!("10.0.0.{instance}")).or_insert(candidate);
            if candidate.1 < held.1 || (candidate.1 == held.1 && candidate.0 > held.0) {
                *held = candidate;
            }
        }
        let mut backwards = rows(&shuffled);
        backwards.reverse();
        prop_assert_eq!(&joined(rows(&scrapes)), &expected);
        prop_assert_eq!(&joined(backwards), &expected);
    }
}
