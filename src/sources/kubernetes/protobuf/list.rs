//! Cuts a list in protobuf into its items while it is still arriving.

use super::super::failure::Failure;
use super::MAGIC;
use prost::Message;
use prost::encoding::{WireType, decode_key, decode_varint};

/// Field of `runtime.Unknown` that holds the list.
const RAW: u32 = 2;
/// Fields of every list.
const METADATA: u32 = 1;
const ITEMS: u32 = 2;
/// A tag and a length are varints of at most ten bytes each.
const LONGEST_HEAD: usize = 20;
/// etcd keeps no object longer than 1.5 MiB; what claims to be longer than this is no object.
const LONGEST_FIELD: usize = 16 << 20;

/// `meta/v1` `ListMeta`.
#[derive(Clone, PartialEq, Message)]
pub struct ListMeta {
    /// From here a watch goes on.
    #[prost(string, tag = "2")]
    pub resource_version: String,
    /// Token of the next page, empty on the last one.
    #[prost(string, tag = "3")]
    pub next_page: String,
}

/// Reads a list piece by piece.
#[derive(Debug, Default)]
pub struct Splitter {
    /// Bytes not yet dealt with.
    pending: Vec<u8>,
    place: Place,
    metadata: Option<ListMeta>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the mark.
    #[default]
    Start,
    /// In what is wrapped around the list.
    Wrapper,
    /// In the list, with as many bytes of it to come (or pending).
    List(usize),
}

/// A field that is a text or a message: number, where its value begins behind the tag, length of the value.
struct Head {
    field: u32,
    start: usize,
    length: usize,
}

impl Splitter {
    /// Takes the next piece of the answer and hands each complete item to `item`, in order.
    pub fn push(
        &mut self,
        piece: &[u8],
        mut item: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.pending.extend_from_slice(piece);
        let mut consumed = 0;
        while let Some(length) = self.step(consumed, &mut item)? {
            consumed += length;
        }
        self.pending.drain(..consumed);
        Ok(())
    }

    /// What the list says about itself, once that has arrived: it comes before the items.
    pub fn metadata(&self) -> Option<&ListMeta> {
        self.metadata.as_ref()
    }

    /// Whether the whole list has arrived: an answer that ends before that was cut off.
    pub fn is_complete(&self) -> bool {
        self.place == Place::List(0)
    }

    /// Deals with the next field from `at` on and tells its length; `None` where it is not complete yet.
    fn step(
        &mut self,
        at: usize,
        item: &mut impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<Option<usize>, Failure> {
        let bytes = &self.pending[at..];
        match self.place {
            Place::Start => {
                if bytes.len() < MAGIC.len() {
                    return Ok(None);
                }
                if !bytes.starts_with(MAGIC) {
                    return Err(Failure::Malformed("it says protobuf and is none".to_owned()));
                }
                self.place = Place::Wrapper;
                Ok(Some(MAGIC.len()))
            }
            Place::Wrapper => {
                let Some(head) = head(bytes)? else { return Ok(None) };
                if head.field == RAW {
                    self.place = Place::List(head.length);
                    return Ok(Some(head.start));
                }
                Ok(head.value(bytes)?.map(|_| head.end()))
            }
            Place::List(0) => Ok(None),
            Place::List(left) => {
                let Some(head) = head(bytes)? else { return Ok(None) };
                let Some(value) = head.value(bytes)? else {
                    return Ok(None);
                };
                let Some(left) = left.checked_sub(head.end()) else {
                    return Err(Failure::Malformed("an item is longer than its list".to_owned()));
                };
                match head.field {
                    METADATA => {
                        self.metadata = Some(ListMeta::decode(value).map_err(|error| malformed(&error))?);
                    }
                    ITEMS => item(value)?,
                    _ => {}
                }
                self.place = Place::List(left);
                Ok(Some(head.end()))
            }
        }
    }
}

impl Head {
    fn end(&self) -> usize {
        self.start + self.length
    }

    /// The value, if it has arrived.
    fn value<'b>(&self, bytes: &'b [u8]) -> Result<Option<&'b [u8]>, Failure> {
        if self.length > LONGEST_FIELD {
            return Err(Failure::Malformed(format!(
                "a field claims to be {} bytes long",
                self.length
            )));
        }
        Ok(bytes.get(self.start..self.end()))
    }
}

/// Tag and length at the beginning of these bytes; `None` where they are not complete yet.
fn head(bytes: &[u8]) -> Result<Option<Head>, Failure> {
    let mut rest = bytes;
    let decoded = decode_key(&mut rest).and_then(|key| Ok((key, decode_varint(&mut rest)?)));
    match decoded {
        Ok(((field, WireType::LengthDelimited), length)) => Ok(Some(Head {
            field,
            start: bytes.len() - rest.len(),
            length: usize::try_from(length).unwrap_or(usize::MAX >> 1),
        })),
        Ok(_) => Err(Failure::Malformed("it is no list in protobuf".to_owned())),
        Err(_) if bytes.len() < LONGEST_HEAD => Ok(None),
        Err(error) => Err(malformed(&error)),
    }
}

/// From an error of prost.
pub(super) fn malformed(error: &prost::DecodeError) -> Failure {
    Failure::Malformed(format!("protobuf: {error}"))
}
