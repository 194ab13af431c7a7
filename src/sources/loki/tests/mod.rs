//! Stories: given this Loki, the operator sees that.

mod bad_days;
mod event_log;
mod following;
mod found;
mod paging;
mod recorded;

use super::connection::Connection;
use super::labels::{LabelChoice, Labels};
use super::{Options, run};
use crate::domain::reading::Source;
use crate::lab::loki;
use crate::sources::bench::Bench;
use crate::sources::event::{LogsAnswer, LogsId, LogsQuestion, Payload};
use axum::Router;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

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

async fn bench() -> Bench {
    Bench::new(Source::Loki).await
}

fn at(url: &str) -> Options {
    Options {
        url: Some(url.to_owned()),
        ..Options::default()
    }
}

/// Serves on a port of loopback; answers its address.
async fn serve(router: Router) -> (String, DropGuard) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move {
        // Open connections are cut, too: a websocket would never end.
        stopped
            .run_until_cancelled(async { axum::serve(listener, router).await })
            .await
    });
    (url, stop.drop_guard())
}

/// Labels of a stream of the article.
fn stream(pod: &str) -> loki::Labels {
    let labels = [
        ("namespace", "win-demo"),
        ("pod", pod),
        ("container", "hello"),
        ("node", "k8s-lab-win-1"),
    ];
    labels
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

async fn connected(bench: &Bench, url: &str) -> Connection {
    Connection::open(&bench.context.client, bench.context.request_timeout, &at(url))
        .await
        .unwrap()
}

/// Starts the source; it ends with the bench. Questions go where the answer says.
fn start(bench: &Bench, options: Options) -> mpsc::UnboundedSender<(LogsId, LogsQuestion)> {
    let (ask, asked) = mpsc::unbounded_channel();
    tokio::spawn(run(bench.context.clone(), options, asked));
    ask
}

/// The next answer to this question.
async fn answer(bench: &mut Bench, id: LogsId) -> LogsAnswer {
    bench
        .until("an answer", |payload| match payload {
            Payload::Logs(to, answer) if to == id => Some(answer),
            _ => None,
        })
        .await
}
