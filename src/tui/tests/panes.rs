//! Each pane at the four sizes.

use super::Operator;
use super::fixture::Cluster;
use crate::tui::glyphs::Charset;
use crate::tui::theme::Theme;

const SIZES: [(u16, u16); 4] = [(60, 15), (80, 24), (120, 40), (200, 60)];

/// A snapshot for each size, after these keys.
fn at_every_size(pane: &str, cluster: &Cluster, keys: &str) {
    for (width, height) in SIZES {
        let mut operator = Operator::at(width, height, cluster.clone());
        operator.press(keys);
        insta::assert_snapshot!(format!("{pane}_{width}x{height}"), operator.screen());
    }
}

#[test]
fn nodes() {
    at_every_size("nodes", &Cluster::article(), "");
}

#[test]
fn pods() {
    at_every_size("pods", &Cluster::article(), "2");
}

#[test]
fn updates() {
    at_every_size("updates", &Cluster::article(), "3");
}

#[test]
fn smb() {
    at_every_size("smb", &Cluster::article(), "4");
}

#[test]
fn a_page() {
    at_every_size("page", &Cluster::article(), "2 enter");
}

#[test]
fn yaml() {
    let mut cluster = Cluster::article();
    let labels: Vec<String> = (0..30).map(|at| format!("    label-{at}: value")).collect();
    let labels = labels.join("\n");
    cluster.yaml = Some(Ok(format!(
        "apiVersion: v1\nkind: Node\nmetadata:\n  labels:\n{labels}"
    )));
    at_every_size("yaml", &cluster, "y");
}

#[test]
fn help() {
    at_every_size("help", &Cluster::article(), "?");
}

#[test]
fn palette() {
    at_every_size("palette", &Cluster::article(), ":");
}

#[test]
fn the_sort_menu() {
    at_every_size("sort", &Cluster::article(), "s");
}

#[test]
fn the_sources_when_one_fails() {
    at_every_size("sources", &Cluster::article().without_prometheus(), "i");
}

#[test]
fn a_failing_source_is_told_above_the_table() {
    at_every_size("failing", &Cluster::article().without_prometheus(), "");
}

#[test]
fn the_styles_of_the_pods() {
    let mut operator = Operator::at(80, 24, Cluster::article());
    operator.press("2 j j");
    insta::assert_snapshot!("pods_styled_80x24", format!("{:?}", operator.frame.buffer));
}

#[test]
fn in_monochrome_and_ascii_the_screen_says_the_same() {
    let mut operator = Operator::at(80, 24, Cluster::article().without_prometheus());
    operator.ui.options.demo = true;
    operator.ui.options.read_only = true;
    operator.look.charset = Charset::Ascii;
    operator.look.theme = Theme::named("monochrome").unwrap();
    operator.press("2 j j");
    assert!(operator.screen().is_ascii());
    insta::assert_snapshot!("pods_ascii_80x24", format!("{:?}", operator.frame.buffer));
}

#[test]
fn a_terminal_that_is_too_small_says_so() {
    for (width, height) in [(59, 15), (60, 14), (10, 3), (1, 1)] {
        let operator = Operator::at(width, height, Cluster::article());
        let start: String = "drainboard needs a larger terminal"
            .chars()
            .take(usize::from(width))
            .collect();
        operator.sees(start.trim());
    }
}

#[test]
fn the_clock_is_utc_and_says_so() {
    Operator::at(200, 60, Cluster::article()).sees("14:02:05 UTC");
}
