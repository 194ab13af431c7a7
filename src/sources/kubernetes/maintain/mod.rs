//! The executor of a maintenance's effects: evictions, the changes of the node, the Lease of its pool, fresh lists and
//! the restart by command or pod. Each effect is answered by a message; nothing is tried again behind the back of the state
//! machine, save a change of the node that met a change of somebody else, which is decided anew on a fresh look.

pub(super) mod ask;
pub(super) mod evict;
pub(super) mod list;
mod lock;
mod node;
pub mod pool;
mod reboot_command;
mod reboot_pod;
mod seen;
#[cfg(test)]
pub(super) mod tests;
mod writer;

use super::http::ApiServer;
use crate::domain::Name;
use crate::maintenance::effect::{Answer, Effect, WriteError};
use crate::maintenance::options::{Options, Purpose, Reboot};
use crate::sources::event::Scope;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use writer::{Write, Writer};

/// Evictions that are under way at the same time; the others wait for their turn.
const EVICTIONS: usize = 16;

/// Whose maintenance it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Names the maintenance.
    pub id: String,
    /// User and host.
    pub by: String,
    /// This run of the program: `host:process id`. Two runs must not work on one maintenance at once.
    pub run: String,
}

/// What every part of it needs to know.
#[derive(Clone)]
struct Desk {
    api: ApiServer,
    node: Name,
    identity: Identity,
    take_over: bool,
    pool_label: Option<String>,
}

/// Performs the effects of one maintenance. Dropping it ends all of its work, the restart by command or pod too.
pub struct Executor {
    desk: Arc<Desk>,
    reboot: Option<Arc<Reboot>>,
    purpose: Purpose,
    answers: mpsc::UnboundedSender<Answer>,
    output: mpsc::UnboundedSender<String>,
    places: Arc<Semaphore>,
    writes: mpsc::UnboundedSender<Write>,
    writer: AbortOnDropHandle<()>,
    tasks: JoinSet<()>,
    /// One restart at a time, that of an earlier run too.
    reboot_turn: Arc<Mutex<()>>,
    /// What removes the pod of a restart that was broken off.
    cleaners: TaskTracker,
}

impl Executor {
    /// An executor for the maintenance of this node. What it hears goes to `answers`, the lines of the restart by
    /// command or pod to `output`. With `take_over` the Lease and the record of somebody else are written over. Must be called inside
    /// of a runtime.
    #[expect(clippy::too_many_arguments, reason = "each is another thing, given once")]
    pub fn new(
        client: kube::Client,
        request_timeout: Duration,
        node: Name,
        identity: Identity,
        options: Options,
        take_over: bool,
        pool_label: Option<String>,
        answers: mpsc::UnboundedSender<Answer>,
        output: mpsc::UnboundedSender<String>,
    ) -> Self {
        let desk = Arc::new(Desk {
            api: ApiServer::new(client, request_timeout, Arc::new(Scope::default())),
            node,
            identity,
            take_over,
            pool_label,
        });
        let (writes, queue) = mpsc::unbounded_channel();
        let work = Writer::new(desk.clone(), answers.clone(), lock::RENEWAL).run(queue);
        Self {
            desk,
            reboot: options.reboot.map(Arc::new),
            purpose: options.purpose,
            answers,
            output,
            places: Arc::new(Semaphore::new(EVICTIONS)),
            writes,
            writer: AbortOnDropHandle::new(tokio::spawn(work)),
            tasks: JoinSet::new(),
            reboot_turn: Arc::default(),
            cleaners: TaskTracker::new(),
        }
    }

    /// Begins to perform, and never waits. [`Effect::Tell`] and [`Effect::Survey`] are for others.
    pub fn perform(&mut self, effect: Effect) {
        self.reap();
        match effect {
            Effect::Survey | Effect::Tell(_) => {}
            Effect::Lock => self.write(Write::Lock),
            Effect::Cordon(record) => self.write(Write::Cordon(record)),
            Effect::Save(record) => self.write(Write::Save(record)),
            Effect::Uncordon { record, boot_id } => self.write(Write::Uncordon { record, boot_id }),
            Effect::Clear { proven_boot } => self.write(Write::Clear { proven_boot }),
            Effect::Unlock => self.write(Write::Unlock),
            Effect::ListPods => {
                let (desk, answers) = (self.desk.clone(), self.answers.clone());
                self.tasks.spawn(async move {
                    tell(&answers, Answer::Listed(list::fresh(&desk).await));
                });
            }
            Effect::Evict { pod, grace_seconds } => {
                let (desk, answers, places) = (self.desk.clone(), self.answers.clone(), self.places.clone());
                self.tasks.spawn(async move {
                    // The semaphore is never closed.
                    let _place = places.acquire().await;
                    let eviction = evict::evict(&desk.api, &pod, grace_seconds).await;
                    tell(&answers, Answer::Evicted(pod, eviction));
                });
            }
            Effect::RunRebootCommand => self.restart(),
        }
    }

    /// Waits until the changes that were asked for are made, for those that nobody waits an answer of
    /// ([`Effect::Unlock`]). Everything else ends at once, and the pod of a restart that was under way is removed.
    pub async fn finish(mut self) {
        let patience = self.desk.api.timeout.saturating_mul(2);
        self.tasks.shutdown().await;
        drop(self.writes);
        self.cleaners.close();
        if tokio::time::timeout(patience, self.cleaners.wait())
            .await
            .is_err()
        {
            tracing::warn!("the HostProcess pod of a restart was not removed in time");
        }
        if tokio::time::timeout(patience, self.writer).await.is_err() {
            tracing::warn!("the last changes of a maintenance were not answered in time");
        }
    }

    /// Ends everything but the changes that were asked for: it is over.
    pub fn rest(&mut self) {
        self.tasks.abort_all();
    }

    fn write(&self, write: Write) {
        // The writer ends with the executor.
        let _ = self.writes.send(write);
    }

    /// It waits for the changes before it: its start must be on record.
    fn restart(&mut self) {
        let (done, before) = oneshot::channel();
        self.write(Write::Passed(done));
        let (scene, reboot) = (self.reboot_scene(), self.reboot.clone());
        let (answers, turn) = (self.answers.clone(), self.reboot_turn.clone());
        self.tasks.spawn(async move {
            if before.await.is_ok() {
                let _turn = turn.lock().await;
                let ended = match reboot.as_deref() {
                    Some(Reboot::Command(words)) => {
                        reboot_command::run(&scene.desk, words, &scene.output).await
                    }
                    Some(Reboot::Pod(place)) => scene.run(place).await,
                    None => Err("neither --reboot-command nor --reboot-pod was given".to_owned()),
                };
                tell(&answers, Answer::RebootCommand(ended));
            }
        });
    }

    /// Sees the pod through that an earlier run of the program may have left behind when it was killed in the middle of
    /// a restart by pod, and answers as if it had been run now.
    pub fn pick_up_restart(&mut self) {
        let (scene, answers, turn) = (
            self.reboot_scene(),
            self.answers.clone(),
            self.reboot_turn.clone(),
        );
        self.tasks.spawn(async move {
            let _turn = turn.lock().await;
            if let Some(ended) = scene.pick_up().await {
                tell(&answers, Answer::RebootCommand(ended));
            }
        });
    }

    fn reboot_scene(&self) -> reboot_pod::Scene {
        reboot_pod::Scene {
            desk: self.desk.clone(),
            purpose: self.purpose,
            output: self.output.clone(),
            cleaners: self.cleaners.clone(),
        }
    }

    /// Forgets what has ended. A panic of one of its tasks is its own panic.
    fn reap(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            if let Err(error) = ended
                && let Ok(panic) = error.try_into_panic()
            {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// Cordons a node or uncordons it, and nothing else. A node that is being worked on is left alone.
///
/// # Errors
/// The node is another one by now, a maintenance is under way on it, the permission is missing, or the API server did
/// not answer: in words.
pub async fn set_cordon(
    client: kube::Client,
    request_timeout: Duration,
    node: Name,
    uid: Name,
    cordoned: bool,
) -> Result<(), String> {
    let desk = Desk {
        api: ApiServer::new(client, request_timeout, Arc::new(Scope::default())),
        node,
        identity: Identity {
            id: String::new(),
            by: String::new(),
            run: String::new(),
        },
        take_over: false,
        pool_label: None,
    };
    let set = node::set_cordon(&desk, &uid, cordoned).await;
    set.map_err(|error| match error {
        WriteError::Retry(problem) | WriteError::Moved(problem) | WriteError::Refused(problem) => problem,
    })
}

/// Sends an answer; that nobody listens any more is fine.
fn tell(answers: &mpsc::UnboundedSender<Answer>, answer: Answer) {
    let _ = answers.send(answer);
}
