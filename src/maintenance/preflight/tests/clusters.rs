//! A whole cluster: the worst first, and one screen of it as it reads.

use super::*;

#[test]
fn the_heaviest_note_comes_first() {
    let mut survey = one_windows_node();
    survey.nodes[0].node.boot_id = "".into();
    survey.budgets = Ok(vec![budget("hello", "hello", (0, 2, 2, 2))]);
    let weights: Vec<Weight> = preflight(&survey).notes.iter().map(|note| note.weight).collect();
    assert_eq!(weights[..3], [Weight::Refuses, Weight::Blocks, Weight::Warning]);
    assert!(weights.is_sorted_by(|one, next| one >= next), "{weights:?}");
}

#[test]
fn the_whole_preflight_of_a_single_windows_node_reads_like_this() {
    let mut survey = one_windows_node();
    survey.budgets = Ok(vec![budget("hello", "hello", (1, 2, 1, 2))]);
    insta::assert_snapshot!(lines(&preflight(&survey)));
}
