//! What all fake kubelets of a lab work with.

use crate::lab::client::LabClient;
use crate::lab::error::LabError;
use crate::lab::timings::Timings;
use crate::lab::world::World;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Writes of all kubelets together that are under way at the same time.
pub const WRITES: usize = 16;

/// Delay before a write that failed is tried again.
const RETRY: Duration = Duration::from_millis(500);

/// Cheap to clone; all clones write through one gate.
#[derive(Clone)]
pub struct Means {
    pub client: LabClient,
    pub world: World,
    pub timings: Timings,
    writes: Arc<Semaphore>,
}

impl Means {
    pub fn new(client: LabClient, world: World, timings: Timings) -> Self {
        Self {
            client,
            world,
            timings,
            writes: Arc::new(Semaphore::new(WRITES)),
        }
    }

    /// Writes once.
    pub async fn once<T>(&self, write: impl Future<Output = Result<T, LabError>>) -> Result<T, LabError> {
        let _permit = self.writes.acquire().await;
        write.await
    }

    /// Repeats a write on `object` until it succeeds or makes no sense any more, as a kubelet syncs again.
    pub async fn until_done<T, F>(&self, object: &str, mut write: impl FnMut() -> F)
    where
        F: Future<Output = Result<T, LabError>>,
    {
        loop {
            match self.once(write()).await {
                Ok(_) => return,
                // gone, or another object has the name now
                Err(error) if error.has_status(404) || error.has_status(409) => return,
                Err(error) => {
                    tracing::debug!(object, %error, "a fake kubelet tries again");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }
}
