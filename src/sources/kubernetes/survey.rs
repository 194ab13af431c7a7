//! TEMPORARY, not to be committed.
use crate::domain::Name;
use crate::maintenance::options::Options;
use crate::maintenance::preflight::Preflight;
use std::time::Duration;
/// x
#[expect(clippy::too_many_arguments, reason = "x")]
pub async fn survey(
    _: kube::Client,
    _: Duration,
    _: &Name,
    _: &Options,
    _: &str,
    _: bool,
    _: Option<&str>,
    _: bool,
) -> Result<Box<Preflight>, String> {
    Err("x".into())
}
