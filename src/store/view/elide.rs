//! Shortens names in the middle: their ends tell Pods of one Deployment and volumes of one claim apart.

use crate::domain::text::width;
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;

/// The text in at most `cells` cells; what is cut out of its middle shows as `…`.
pub fn elide(text: &str, cells: usize) -> Cow<'_, str> {
    if width(text) <= cells {
        return Cow::Borrowed(text);
    }
    let Some(room) = cells.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    // The tail gets the odd cell: hashes are at the end.
    let tail = fitting(text.graphemes(true).rev(), room - room / 2);
    let head = fitting(text.graphemes(true), room / 2);
    let tail: String = tail.graphemes(true).rev().collect();
    Cow::Owned(format!("{head}…{tail}"))
}

fn fitting<'a>(graphemes: impl Iterator<Item = &'a str>, cells: usize) -> String {
    let mut used = 0;
    graphemes
        .take_while(|grapheme| {
            used += width(grapheme);
            used <= cells
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_hash_of_a_pod_stays_visible() {
        assert_eq!(
            elide("reports-writer-67b96b59b-rfbzx", 20),
            "reports-w…b59b-rfbzx"
        );
        assert_eq!(elide("web-0", 20), "web-0");
        assert_eq!(elide("web-0", 1), "…");
        assert_eq!(elide("web-0", 0), "");
    }

    proptest! {
        #[test]
        fn it_never_exceeds_its_cells(text in "\\PC{0,30}", cells in 0usize..30) {
            prop_assert!(width(&elide(&text, cells)) <= cells);
        }
    }
}
