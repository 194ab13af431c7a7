//! Clusters that may be played with: only those that carry the lab's mark.

use super::LAB_ANNOTATION;
use super::client::{LabClient, ObjectPath};
use super::error::LabError;

/// Refuses a server that does not carry the lab's mark. Reads only.
///
/// # Errors
/// The mark is not there, or cannot be read.
pub async fn refuse_unmarked(client: &LabClient, server: &str) -> Result<(), LabError> {
    let namespace = client.get(&ObjectPath::namespace("kube-system")).await?;
    if namespace["metadata"]["annotations"][LAB_ANNOTATION].is_null() {
        return Err(LabError::NotALab {
            server: server.to_owned(),
        });
    }
    Ok(())
}
