//! Stories: given this Loki, the operator sees that.

mod recorded;

use super::labels::{LabelChoice, Labels};

/// The labels of the article's Alloy.
fn article_labels() -> Labels {
    let known = [
        "app",
        "container",
        "filename",
        "job",
        "namespace",
        "node",
        "pod",
        "stream",
    ];
    Labels::detect(
        &known.map(str::to_owned),
        &["windows-events".to_owned()],
        &LabelChoice::default(),
    )
}
