//! Cuts a list answer into its items while it is still arriving, so that a list of any length needs the memory
//! of one item and is decoded while the rest travels.

/// Reads `{"kind":…,"metadata":{…},"items":[{…},{…}]}` piece by piece.
#[derive(Debug, Default)]
pub struct Splitter {
    /// Bytes not yet dealt with; the first `scanned` of them have been looked at.
    pending: Vec<u8>,
    scanned: usize,
    /// What stands around the items, with an empty list in their place.
    envelope: Vec<u8>,
    head_length: usize,
    place: Place,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Where in `envelope` or `pending` the string that is being read (or was read last) began.
    string_start: usize,
    /// Whether the last string at the top level was `items`.
    at_items_key: bool,
    item_start: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the items.
    #[default]
    Before,
    /// Between or in the items.
    Items,
    /// Behind the items.
    After,
    /// The outer object is closed.
    Done,
}

impl Splitter {
    /// Takes the next piece of the answer and hands each complete item to `item`, in order.
    pub fn push<E>(&mut self, piece: &[u8], mut item: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.pending.extend_from_slice(piece);
        let mut consumed = 0;
        while self.scanned < self.pending.len() && self.place != Place::Done {
            if self.in_string {
                self.skip_string();
                continue;
            }
            let byte = self.pending[self.scanned];
            self.scanned += 1;
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.string_start = self.scanned;
                }
                b'{' => {
                    if self.place == Place::Items && self.depth == 2 {
                        self.item_start = Some(self.scanned - 1);
                    }
                    self.depth += 1;
                }
                b'[' => {
                    self.depth += 1;
                    if self.place == Place::Before && self.depth == 2 && self.at_items_key {
                        self.envelope
                            .extend_from_slice(&self.pending[consumed..self.scanned]);
                        self.head_length = self.envelope.len();
                        consumed = self.scanned;
                        self.place = Place::Items;
                    }
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    match (self.place, self.depth) {
                        (Place::Items, 2) => {
                            if let Some(start) = self.item_start.take() {
                                item(&self.pending[start..self.scanned])?;
                            }
                            consumed = self.scanned;
                        }
                        (Place::Items, 1) => {
                            consumed = self.scanned - 1;
                            self.place = Place::After;
                        }
                        (_, 0) => self.place = Place::Done,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        if self.place == Place::Done {
            self.envelope
                .extend_from_slice(&self.pending[consumed..self.scanned]);
            consumed = self.scanned;
        }
        self.forget(consumed);
        Ok(())
    }

    /// What stands around the items, complete once the answer is.
    pub fn envelope(&self) -> &[u8] {
        &self.envelope
    }

    /// What stands before the items as an object of its own, once the items have begun.
    pub fn head(&self) -> Option<Vec<u8>> {
        (self.place != Place::Before).then(|| [&self.envelope[..self.head_length], b"]}"].concat())
    }

    /// Whether the outer object was closed: an answer that ends before that was cut off.
    pub fn is_complete(&self) -> bool {
        self.place == Place::Done
    }

    /// Whether nothing but white space has arrived so far, or the first byte is one that JSON objects begin with.
    pub fn looks_like_json(&self) -> bool {
        let first = self
            .envelope
            .iter()
            .chain(&self.pending)
            .find(|byte| !byte.is_ascii_whitespace());
        first.is_none_or(|byte| *byte == b'{')
    }

    fn skip_string(&mut self) {
        if self.escaped {
            self.escaped = false;
            self.scanned += 1;
            return;
        }
        match memchr::memchr2(b'"', b'\\', &self.pending[self.scanned..]) {
            None => self.scanned = self.pending.len(),
            Some(offset) => {
                let at = self.scanned + offset;
                self.scanned = at + 1;
                if self.pending[at] == b'\\' {
                    self.escaped = true;
                } else {
                    self.in_string = false;
                    self.at_items_key = self.depth == 1 && &self.pending[self.string_start..at] == b"items";
                }
            }
        }
    }

    /// Drops the first `consumed` pending bytes; positions move with the rest.
    fn forget(&mut self, consumed: usize) {
        self.pending.drain(..consumed);
        self.scanned -= consumed;
        self.string_start = self.string_start.saturating_sub(consumed);
        self.item_start = self.item_start.map(|start| start - consumed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::convert::Infallible;

    fn split(pieces: &[&[u8]]) -> (Vec<Value>, Splitter) {
        let mut splitter = Splitter::default();
        let mut items = Vec::new();
        for piece in pieces {
            let outcome: Result<(), Infallible> = splitter.push(piece, |item| {
                items.push(serde_json::from_slice(item).unwrap());
                Ok(())
            });
            assert!(outcome.is_ok());
        }
        (items, splitter)
    }

    #[test]
    fn a_list_without_items_is_complete() {
        for items in ["[]", "[ ]", "null"] {
            let text = format!(r#"{{"metadata":{{"resourceVersion":"7"}},"items":{items}}}"#);
            let (found, splitter) = split(&[text.as_bytes()]);
            assert!(found.is_empty() && splitter.is_complete(), "{items}");
            let envelope: Value = serde_json::from_slice(splitter.envelope()).unwrap();
            assert_eq!(envelope["metadata"]["resourceVersion"], "7");
        }
    }

    #[test]
    fn what_stands_before_the_items_is_known_before_they_are_complete() {
        let (items, splitter) = split(&[br#"{"metadata":{"continue":"next"},"items":[{"a":1},{"b""#]);
        assert_eq!(items, [json!({"a": 1})]);
        assert!(!splitter.is_complete());
        let head: Value = serde_json::from_slice(&splitter.head().unwrap()).unwrap();
        assert_eq!(head, json!({"metadata": {"continue": "next"}, "items": []}));
    }

    #[test]
    fn other_lists_than_the_items_are_left_alone() {
        let (items, splitter) =
            split(&[br#"{"x":[{"a":1}],"metadata":{"items":[{"b":2}]},"items":[{"c":3}]}"#]);
        assert_eq!(items, [json!({"c": 3})]);
        let envelope: Value = serde_json::from_slice(splitter.envelope()).unwrap();
        assert_eq!(
            envelope,
            json!({"x": [{"a": 1}], "metadata": {"items": [{"b": 2}]}, "items": []})
        );
    }

    #[test]
    fn a_web_page_is_no_list() {
        let (_, splitter) = split(&[b" \n<html>"]);
        assert!(!splitter.looks_like_json());
        assert!(Splitter::default().looks_like_json());
    }

    proptest! {
        #[test]
        fn the_items_are_the_same_however_the_answer_is_cut(
            texts in prop::collection::vec(r#"[a-z\\"\[\]{},:é\n]{0,12}"#, 0..6),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let sent: Vec<Value> = texts
                .iter()
                .map(|text| json!({"name": text, "nested": [{"items": [text]}, [], {}]}))
                .collect();
            let whole = json!({"metadata": {"resourceVersion": "7"}, "items": sent}).to_string();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(whole.len())).collect();
            places.push(whole.len());
            places.sort_unstable();
            let mut start = 0;
            let mut pieces = Vec::new();
            for place in places {
                pieces.push(&whole.as_bytes()[start..place]);
                start = place;
            }
            let (items, splitter) = split(&pieces);
            prop_assert_eq!(items, sent);
            prop_assert!(splitter.is_complete());
            let envelope: Value = serde_json::from_slice(splitter.envelope()).unwrap();
            prop_assert_eq!(&envelope["metadata"]["resourceVersion"], "7");
        }
    }
}
