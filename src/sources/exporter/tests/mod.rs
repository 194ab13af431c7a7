//! Stories: given these exporters, the operator sees that.

mod scrapes;
mod versions;
