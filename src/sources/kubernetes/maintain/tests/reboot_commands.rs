//! The reboot command.

use super::{Scene, Seat, until};
use crate::lab::apiserver::Fault;
use crate::lab::article::WINDOWS_NODE;
use crate::maintenance::effect::{Answer, Effect};
use crate::maintenance::options::Reboot;
use std::time::Duration;

fn running(words: &[&'static str]) -> Seat {
    Seat {
        reboot: Some(Reboot::Command(
            words.iter().map(|word| (*word).to_owned()).collect(),
        )),
        ..Seat::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_gets_node_and_address_as_words_and_its_output_is_made_harmless() {
    let scene = Scene::start().await;
    let script =
        "printf '%s\\n' \"$@\"; printf '\\033[2Jred'; head -c 100000 /dev/zero | tr '\\0' x >&2; exit 7";
    let words = [
        "sh",
        "-c",
        script,
        "sh",
        "{node}",
        "; echo $HOME",
        "Admin@{address}",
    ];
    let mut operator = scene.operator(running(&words)).await;
    let answer = operator.does(Effect::RunRebootCommand).await;
    assert_eq!(answer, Answer::RebootCommand(Ok(7)));
    let mut lines = Vec::new();
    while let Ok(line) = operator.output.try_recv() {
        lines.push(line);
    }
    let (long, short): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.starts_with("xxx"));
    assert_eq!(
        short,
        ["k8s-lab-win-1", "; echo $HOME", "Admin@192.168.10.25", "red"]
    );
    assert_eq!(long.len(), 1);
    assert!(long[0].len() < 500, "{}", long[0].len());
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_run_says_why() {
    let scene = Scene::start().await;
    for (seat, expected) in [
        (
            Seat::default(),
            "neither --reboot-command nor --reboot-pod was given",
        ),
        (
            running(&["/nowhere/ssh", "{node}"]),
            "`/nowhere/ssh` cannot be started",
        ),
        (running(&["sh", "-c", "kill -9 $$"]), "was ended by a signal"),
        (
            Seat {
                node: "k8s-lab-nowhere",
                ..running(&["ssh", "{address}"])
            },
            "there is no node k8s-lab-nowhere",
        ),
    ] {
        let answer = scene.operator(seat).await.does(Effect::RunRebootCommand).await;
        let Answer::RebootCommand(Err(why)) = answer else {
            panic!("{answer:?}")
        };
        assert!(why.contains(expected), "{why}");
    }
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_starts_when_its_start_is_on_record() {
    let scene = Scene::start().await;
    let mut operator = scene.operator(running(&["true"])).await;
    let record = scene.record(WINDOWS_NODE, "m-1").await;
    operator.does(Effect::Cordon(record.clone())).await;
    let slow = Fault::Delay(Duration::from_millis(300));
    scene.lab.api().faults().set("/api/v1/nodes/k8s-lab-win-1", slow);
    operator.perform(Effect::Save(record));
    operator.perform(Effect::RunRebootCommand);
    assert_eq!(operator.hears().await, Answer::Saved(Ok(())));
    assert_eq!(operator.hears().await, Answer::RebootCommand(Ok(0)));
    scene.lab.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_ends_with_the_executor() {
    let scene = Scene::start().await;
    let mut operator = scene
        .operator(running(&["sh", "-c", "echo $$; exec sleep 600"]))
        .await;
    operator.perform(Effect::RunRebootCommand);
    let pid = operator.output.recv().await.unwrap();
    let alive = || {
        let asked = std::process::Command::new("kill").args(["-0", &pid]).output();
        asked.unwrap().status.success()
    };
    assert!(alive());
    drop(operator);
    until("the end of the command", || {
        let alive = alive();
        async move { !alive }
    })
    .await;
    scene.lab.stop().await;
}
