//! Waiting for a moment that may never come.

use crate::domain::Timestamp;
use chrono::Utc;
use std::time::Duration;

/// Waits until then; for ever without a moment.
pub async fn until(moment: Option<Timestamp>) {
    match moment {
        Some(at) => tokio::time::sleep((at - Utc::now()).to_std().unwrap_or(Duration::ZERO)).await,
        None => std::future::pending().await,
    }
}
