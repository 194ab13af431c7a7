//! Properties of the filter: whatever is typed, it holds for what is there and never for what is not.

use super::cluster::*;
use super::tables::filtered;
use crate::domain::reading::Source;
use crate::store::filter::split_selector;
use crate::store::view::{TableKind, TableQuery};
use proptest::prelude::*;
use std::cell::RefCell;

const NUMBERS: [(&str, &str); 6] = [
    ("commit", "%"),
    ("commit", "Mi"),
    ("ws", "Mi"),
    ("cpu", "m"),
    ("cpu-max", ""),
    ("restarts", ""),
];

/// Two Windows pods with samples, one Linux pod without any.
fn told() -> Told {
    let mut told = Told::rows(nodes(), pods());
    told.measure(Source::Prometheus, article_windows(ago(12)));
    told
}

thread_local! {
    static TOLD: RefCell<Told> = RefCell::new(told());
}

fn matching(filter: &str) -> Vec<String> {
    TOLD.with_borrow_mut(|told| told.names(TableKind::Pods, &filtered(filter)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// For a pod with a value exactly one of a comparison and its negation holds; for a pod without, neither.
    #[test]
    fn a_comparison_and_its_negation_part_the_pods_that_have_the_value(
        (column, unit) in prop::sample::select(&NUMBERS[..]),
        operator in prop::sample::select(&["<", "<=", ">", ">=", "=", "!=", ":"][..]),
        amount in 0u32..2000,
    ) {
        let term = format!("{column}{operator}{amount}{unit}");
        let mut both = matching(&term);
        both.extend(matching(&format!("!{term}")));
        both.sort();
        let with_value = if column == "restarts" { 3 } else { 2 };
        prop_assert_eq!(both.len(), with_value, "{}", term);
        both.dedup();
        prop_assert_eq!(both.len(), with_value, "{} holds twice for a pod", term);
    }

    /// Whatever is typed: no crash, never more rows than there are, and a message exactly where the operator
    /// named a column or an amount that there is not.
    #[test]
    fn whatever_is_typed_is_answered(text in "[a-z0-9:<>=!%'^$ -]{0,16}") {
        let window = TOLD.with_borrow_mut(|told| told.table(TableKind::Pods, &filtered(&text)));
        prop_assert!(window.matched <= window.total);
        prop_assert_eq!(window.total, 3);
    }

    /// More terms never show more rows.
    #[test]
    fn a_second_term_only_narrows(
        first in prop::sample::select(&["hello", "!win", "ws>1Mi", "node:win", "commit<50%"][..]),
        second in "[a-z]{1,4}",
    ) {
        let both = matching(&format!("{first} {second}"));
        let one = matching(first);
        prop_assert!(both.iter().all(|name| one.contains(name)));
    }

    /// `label:` is one word among others; `-l` goes to the end, since a selector may hold spaces.
    #[test]
    fn the_selector_is_taken_out_of_the_filter(
        before in "[a-z]{1,5}",
        selector in "[a-z]{1,5}=[a-z]{1,5}",
        after in "[a-z]{1,5}",
    ) {
        let (found, rest) = split_selector(&format!("{before}  label:{selector} {after}"));
        prop_assert_eq!((found, rest), (Some(selector.clone()), format!("{before} {after}")));
        let (found, rest) = split_selector(&format!("{before} -l {selector},{after} in (a, b)"));
        prop_assert_eq!((found, rest), (Some(format!("{selector},{after} in (a, b)")), before));
    }
}

#[test]
fn an_empty_filter_shows_everything() {
    let mut told = told();
    for filter in ["", "  ", "!", "'", "node:"] {
        let query = TableQuery {
            filter: filter.into(),
            ..TableQuery::default()
        };
        assert_eq!(told.table(TableKind::Pods, &query).matched, 3, "{filter:?}");
    }
}
