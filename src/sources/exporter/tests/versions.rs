use crate::domain::measurement::{
    ContainerKey, ContainerQuantity, Measurements, NodeKey, NodeQuantity, Quantity, ServiceState,
};
use crate::sources::bench::reason;
use crate::sources::exporter::reading::Scrape;

const NEW: &str = include_str!("../../../../tests/data/exposition/0.31.txt");
const OLD: &str = include_str!("../../../../tests/data/exposition/0.25.txt");
const HALF: &str = include_str!("../../../../tests/data/exposition/0.31-half.txt");

fn round(text: &str, earlier: Option<&Scrape>) -> Measurements {
    let mut round = Measurements::default();
    let node = NodeKey::Name("k8s-lab-win-1".into());
    Scrape::read(text).add_to(&mut round, &node, chrono::Utc::now(), earlier);
    round
}

fn node(round: &Measurements, quantity: NodeQuantity) -> Option<f64> {
    let one = round.nodes.iter().find(|one| one.quantity == quantity)?;
    Some(one.sample.value)
}

fn container(round: &Measurements, id: &str, quantity: ContainerQuantity) -> Option<f64> {
    let key = ContainerKey::Id(format!("containerd://{}", id.repeat(32)).into());
    let found = round.containers.iter();
    let one = found
        .into_iter()
        .find(|one| one.container == key && one.quantity == quantity)?;
    Some(one.sample.value)
}

fn near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() < 1e-9)
}

#[test]
fn exporter_0_31_tells_the_articles_figures() {
    let round = round(NEW, None);
    assert_eq!(node(&round, NodeQuantity::Commit), Some(5_368_709_120.0));
    assert_eq!(node(&round, NodeQuantity::CommitLimit), Some(17_179_869_184.0));
    assert_eq!(node(&round, NodeQuantity::PhysicalMemory), Some(8_589_934_592.0));
    assert_eq!(node(&round, NodeQuantity::PhysicalFree), Some(2_147_483_648.0));
    assert_eq!(node(&round, NodeQuantity::BootTime), Some(1_764_500_123.0));
    assert_eq!(node(&round, NodeQuantity::SystemDiskFree), Some(0.25));
    assert_eq!(
        container(&round, "a1", ContainerQuantity::Commit),
        Some(102_760_448.0)
    );
    assert_eq!(
        container(&round, "a1", ContainerQuantity::CommitPeak),
        Some(125_829_120.0)
    );
    assert_eq!(
        container(&round, "a1", ContainerQuantity::WorkingSet),
        Some(44_040_192.0)
    );
    let kubelet = round
        .services
        .iter()
        .find(|one| &*one.service == "kubelet")
        .unwrap();
    assert_eq!(kubelet.state, ServiceState::Running);
    assert_eq!(kubelet.started_at.unwrap().timestamp(), 1_764_500_230);
    assert_eq!(round.services.len(), 4);
    assert_eq!(round.missing, []);
}

#[test]
fn exporter_0_25_tells_the_same_by_its_older_names() {
    let round = round(OLD, None);
    assert_eq!(node(&round, NodeQuantity::Commit), Some(4_294_967_296.0));
    assert_eq!(node(&round, NodeQuantity::CommitLimit), Some(10_737_418_240.0));
    assert_eq!(node(&round, NodeQuantity::PhysicalMemory), Some(8_589_463_552.0));
    assert_eq!(node(&round, NodeQuantity::PhysicalFree), Some(3_221_225_472.0));
    assert_eq!(node(&round, NodeQuantity::BootTime), Some(1_764_500_123.0));
    let vmcompute = round
        .services
        .iter()
        .find(|one| &*one.service == "vmcompute")
        .unwrap();
    assert_eq!(
        (vmcompute.state, vmcompute.started_at),
        (ServiceState::Stopped, None)
    );
    let why = reason(&round.missing, Quantity::Container(ContainerQuantity::Commit));
    assert!(why.starts_with("collector container is off"), "{why}");
}

#[test]
fn half_the_collectors_leave_the_other_half_and_a_reason_each() {
    let round = round(HALF, None);
    assert_eq!(round.services.len(), 2);
    assert_eq!(node(&round, NodeQuantity::Commit), None);
    let why = |quantity| reason(&round.missing, quantity);
    assert!(why(Quantity::Node(NodeQuantity::Commit)).starts_with("collector memory timed out"));
    assert!(why(Quantity::Node(NodeQuantity::BootTime)).starts_with("collector system failed"));
    assert!(why(Quantity::Node(NodeQuantity::SystemDiskFree)).starts_with("collector logical_disk is off"));
    assert!(why(Quantity::Container(ContainerQuantity::CpuCores)).starts_with("collector container is off"));
    let cpu = Quantity::Node(NodeQuantity::CpuRatio);
    assert!(
        !round.missing.iter().any(|one| one.quantity == cpu),
        "CPU only waits for a second scrape"
    );
}

#[test]
fn cpu_is_right_from_the_second_scrape_on() {
    let first = Scrape::read(NEW);
    // 15 s later on four processors: 5.4 % busy, hello-win used 0.03 s.
    let second = NEW
        .replace("mode=\"idle\"} 9460\n", "mode=\"idle\"} 9474.19\n")
        .replace("mode=\"user\"} 200\n", "mode=\"user\"} 200.5\n")
        .replace("mode=\"privileged\"} 340\n", "mode=\"privileged\"} 340.31\n")
        .replace("} 12.5\n", "} 12.53\n");
    let round = round(&second, Some(&first));
    assert!(
        near(node(&round, NodeQuantity::CpuRatio), 0.054),
        "{:?}",
        node(&round, NodeQuantity::CpuRatio)
    );
    let cores = container(&round, "a1", ContainerQuantity::CpuCores);
    assert!(near(cores, 0.002), "{cores:?}");
}

#[test]
fn a_node_that_restarted_between_two_scrapes_has_no_cpu_instead_of_nonsense() {
    let before = Scrape::read(&NEW.replace("} 9460\n", "} 99460\n").replace("} 12.5\n", "} 99\n"));
    let round = round(NEW, Some(&before));
    assert_eq!(node(&round, NodeQuantity::CpuRatio), None);
    assert_eq!(container(&round, "a1", ContainerQuantity::CpuCores), None);
}
