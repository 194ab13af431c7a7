//! What keeps the cluster going: control plane, Calico, kube-proxy, DNS, csi-driver-smb, metrics-server.

use super::{MASTER, NODE_1, NODE_2, VERSION, WINDOWS_NODE};
use crate::lab::manifest::{Container, Probe, Volume, Workload};

pub(super) fn workloads() -> Vec<Workload> {
    let mut all = control_plane();
    all.extend(calico());
    all.extend(kube_proxy_and_dns());
    all.extend(csi_smb());
    all
}

fn control_plane() -> Vec<Workload> {
    let component = |name: &'static str, port: u16, image: String, cpu: &'static str| {
        Workload::static_pod("kube-system", name)
            .label("component", name)
            .label("tier", "control-plane")
            .critical()
            .container(
                Container::with_image(name, image)
                    .port("probe-port", port)
                    .requests(cpu, "")
                    .liveness(Probe::http("/livez", 10).failures(8))
                    .readiness(Probe::http("/readyz", 1)),
            )
            .pod_named(format!("{name}-{MASTER}"), MASTER, [192, 168, 10, 23], 900, 0)
    };
    let kubernetes = |name: &str| format!("registry.k8s.io/{name}:{VERSION}");
    vec![
        component("etcd", 2381, "registry.k8s.io/etcd:3.7.1-0".to_owned(), "100m"),
        component("kube-apiserver", 6443, kubernetes("kube-apiserver"), "250m"),
        component(
            "kube-controller-manager",
            10257,
            kubernetes("kube-controller-manager"),
            "200m",
        ),
        component("kube-scheduler", 10259, kubernetes("kube-scheduler"), "100m"),
    ]
}

const CALICO: &str = "calico-system";

fn calico() -> Vec<Workload> {
    vec![
        Workload::daemon_set(CALICO, "calico-node")
            .label("k8s-app", "calico-node")
            .host_network()
            .critical()
            .container(
                Container::new("calico-node", "quay.io/calico/node:v3.32.1")
                    .requests("250m", "")
                    .liveness(Probe::http("/liveness", 10).port(9099))
                    .readiness(Probe::exec("/bin/calico-node -felix-ready", 10)),
            )
            .pod("8wkzt", MASTER, [192, 168, 10, 23], 880, 0)
            .pod("c2fnm", NODE_1, [192, 168, 10, 24], 860, 0)
            .pod("zr7gd", NODE_2, [192, 168, 10, 26], 860, 0),
        Workload::daemon_set(CALICO, "calico-node-windows")
            .label("k8s-app", "calico-node-windows")
            .host_process("NT AUTHORITY\\SYSTEM")
            .critical()
            .container(Container::new("node", "quay.io/calico/node-windows:v3.32.1"))
            .container(
                Container::new("felix", "quay.io/calico/node-windows:v3.32.1")
                    .liveness(Probe::exec("calico-node.exe -felix-live", 10).timeout(10))
                    .readiness(Probe::exec("calico-node.exe -felix-ready", 10).timeout(10)),
            )
            .pod("q54h2", WINDOWS_NODE, [192, 168, 10, 25], 836, 6),
        Workload::daemon_set(CALICO, "csi-node-driver")
            .label("k8s-app", "csi-node-driver")
            .container(Container::new("calico-csi", "quay.io/calico/csi:v3.32.1"))
            .container(Container::new(
                "csi-node-driver-registrar",
                "quay.io/calico/node-driver-registrar:v3.32.1",
            ))
            .pod("4dmxp", MASTER, [172, 21, 45, 3], 880, 0)
            .pod("h6vtq", NODE_1, [172, 21, 211, 3], 860, 0)
            .pod("nb9kc", NODE_2, [172, 21, 172, 3], 860, 0),
        Workload::deployment(CALICO, "calico-typha", "6d9f77c8b5")
            .label("k8s-app", "calico-typha")
            .host_network()
            .critical()
            .container(
                Container::new("calico-typha", "quay.io/calico/typha:v3.32.1")
                    .port("calico-typha", 5473)
                    .readiness(Probe::http("/readiness", 10).port(9098)),
            )
            .pod("fg8pm", NODE_1, [192, 168, 10, 24], 860, 0)
            .pod("t5w2s", NODE_2, [192, 168, 10, 26], 860, 0),
        Workload::deployment(CALICO, "calico-kube-controllers", "7b84d5c69f")
            .label("k8s-app", "calico-kube-controllers")
            .container(
                Container::new(
                    "calico-kube-controllers",
                    "quay.io/calico/kube-controllers:v3.32.1",
                )
                .readiness(Probe::exec("/usr/bin/check-status -r", 10)),
            )
            .pod("lj4rz", NODE_1, [172, 21, 211, 4], 860, 0),
        Workload::deployment(CALICO, "calico-apiserver", "5db7c4f6d8")
            .label("k8s-app", "calico-apiserver")
            .container(
                Container::new("calico-apiserver", "quay.io/calico/apiserver:v3.32.1")
                    .port("apiserver", 5443)
                    .readiness(Probe::http("/readyz", 10)),
            )
            .pod("2vnqh", NODE_1, [172, 21, 211, 5], 858, 0)
            .pod("xz6cd", NODE_2, [172, 21, 172, 4], 858, 0),
        Workload::deployment("tigera-operator", "tigera-operator", "589c6d4b77")
            .label("k8s-app", "tigera-operator")
            .host_network()
            .container(Container::new(
                "tigera-operator",
                "quay.io/tigera/operator:v1.40.4",
            ))
            .pod("k7bwt", NODE_2, [192, 168, 10, 26], 885, 0),
    ]
}

const SYSTEM: &str = "kube-system";

fn kube_proxy_and_dns() -> Vec<Workload> {
    let proxy_image = || format!("registry.k8s.io/kube-proxy:{VERSION}");
    vec![
        Workload::daemon_set(SYSTEM, "kube-proxy")
            .label("k8s-app", "kube-proxy")
            .host_network()
            .critical()
            .container(Container::with_image("kube-proxy", proxy_image()))
            .pod("9p2hx", MASTER, [192, 168, 10, 23], 900, 0)
            .pod("dv5mk", NODE_1, [192, 168, 10, 24], 870, 0)
            .pod("szt8f", NODE_2, [192, 168, 10, 26], 870, 0),
        Workload::daemon_set(SYSTEM, "kube-proxy-windows")
            .label("k8s-app", "kube-proxy-windows")
            .host_process("NT AUTHORITY\\system")
            .critical()
            .container(Container::with_image(
                "kube-proxy",
                format!("sigwindowstools/kube-proxy:{VERSION}-calico-hostprocess"),
            ))
            .pod("z9qdq", WINDOWS_NODE, [192, 168, 10, 25], 836, 3),
        Workload::deployment(SYSTEM, "coredns", "66bc5c9577")
            .label("k8s-app", "kube-dns")
            .critical()
            .container(
                Container::new("coredns", "registry.k8s.io/coredns/coredns:v1.14.1")
                    .port("metrics", 9153)
                    .requests("100m", "70Mi")
                    .limits("", "170Mi")
                    .liveness(Probe::http("/health", 10).port(8080))
                    .readiness(Probe::http("/ready", 10).port(8181)),
            )
            .pod("4kd7r", NODE_1, [172, 21, 211, 6], 898, 0)
            .pod("qm2vw", NODE_2, [172, 21, 172, 5], 898, 0),
        Workload::deployment(SYSTEM, "metrics-server", "8467fcc7b7")
            .label("k8s-app", "metrics-server")
            .critical()
            .container(
                Container::new(
                    "metrics-server",
                    "registry.k8s.io/metrics-server/metrics-server:v0.9.0",
                )
                .port("https", 10250)
                .requests("100m", "200Mi")
                .readiness(Probe::http("/readyz", 10)),
            )
            .volume("tmp-dir", Volume::EmptyDir)
            .pod("wq5tn", NODE_2, [172, 21, 172, 6], 830, 0),
    ]
}

fn csi_smb() -> Vec<Workload> {
    const IMAGE: &str = "registry.k8s.io/sig-storage/smbplugin:v1.20.4";
    const REGISTRAR: &str = "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0";
    let chart = |workload: Workload| workload.label("app.kubernetes.io/instance", "csi-driver-smb");
    vec![
        chart(Workload::daemon_set(SYSTEM, "csi-smb-node"))
            .label("app", "csi-smb-node")
            .host_network()
            .critical()
            .container(Container::new(
                "liveness-probe",
                "registry.k8s.io/sig-storage/livenessprobe:v2.19.0",
            ))
            .container(Container::new("node-driver-registrar", REGISTRAR))
            .container(Container::new("smb", IMAGE).limits("", "200Mi"))
            .pod("7hcxl", MASTER, [192, 168, 10, 23], 300, 0)
            .pod("f9wdb", NODE_1, [192, 168, 10, 24], 300, 0)
            .pod("rk2tj", NODE_2, [192, 168, 10, 26], 300, 0),
        chart(Workload::daemon_set(SYSTEM, "csi-smb-node-win"))
            .label("app", "csi-smb-node-win")
            .host_process("NT AUTHORITY\\SYSTEM")
            .critical()
            .container(Container::new("node-driver-registrar", REGISTRAR).limits("", "200Mi"))
            .container(
                Container::new("smb", "registry.k8s.io/sig-storage/smbplugin:v1.20.4-windows-hp")
                    .requests("10m", "40Mi")
                    .limits("", "200Mi"),
            )
            .pod("tmwv5", WINDOWS_NODE, [192, 168, 10, 25], 298, 2),
        chart(Workload::deployment(SYSTEM, "csi-smb-controller", "79dc6d96f8"))
            .label("app", "csi-smb-controller")
            .host_network()
            .critical()
            .container(Container::new(
                "csi-provisioner",
                "registry.k8s.io/sig-storage/csi-provisioner:v6.3.0",
            ))
            .container(Container::new(
                "csi-resizer",
                "registry.k8s.io/sig-storage/csi-resizer:v2.2.0",
            ))
            .container(Container::new("smb", IMAGE).limits("", "200Mi"))
            .volume("socket-dir", Volume::EmptyDir)
            .pod("c6mzv", NODE_1, [192, 168, 10, 24], 300, 0),
    ]
}
