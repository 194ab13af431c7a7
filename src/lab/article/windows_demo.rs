//! The applications: `win-demo` on the Windows node and `demo` on the Linux workers.

use super::{NODE_1, NODE_2, WINDOWS_NODE};
use crate::lab::manifest::{Container, Probe, Volume, Workload};

/// The claim that `reports-writer` writes to.
pub const REPORTS_CLAIM: &str = "reports";

pub(super) fn workloads() -> Vec<Workload> {
    vec![
        Workload::deployment("win-demo", "aspnetapp", "769559d8ff")
            .windows_class()
            .container(
                Container::new(
                    "aspnetapp",
                    "mcr.microsoft.com/dotnet/samples:aspnetapp-nanoserver-ltsc2025",
                )
                .port("http", 8080)
                .readiness(Probe::http("/", 10)),
            )
            .pod("hd4t6", WINDOWS_NODE, [172, 21, 41, 21], 44, 0)
            .pod("xk5d5", WINDOWS_NODE, [172, 21, 41, 22], 44, 0),
        Workload::deployment("win-demo", "hello-win", "759c899954")
            .windows_class()
            .container(
                Container::new("hello", "ghcr.io/example/hello:1.3")
                    .port("http", 8080)
                    .env("OTEL_TRACES_SAMPLER", "always_off")
                    .requests("250m", "256Mi")
                    .limits("500m", "256Mi")
                    .startup(Probe::http("/healthz", 2).failures(30))
                    .readiness(Probe::http("/readyz", 5))
                    .liveness(Probe::http("/healthz", 10).timeout(3))
                    .pre_stop_sleep(5),
            )
            .pod("tkfg6", WINDOWS_NODE, [172, 21, 41, 16], 42, 0)
            .pod("tq5nc", WINDOWS_NODE, [172, 21, 41, 18], 42, 0),
        Workload::deployment("win-demo", "reports-writer", "67b96b59b")
            .windows_class()
            .container(
                Container::new("writer", "mcr.microsoft.com/windows/nanoserver:ltsc2025")
                    .command(&[
                        "cmd",
                        "/v:on",
                        "/c",
                        "for /l %i in (0,0,1) do (echo !date! !time! >> C:\\data\\visits.log & ping -n 11 127.0.0.1 >nul)",
                    ])
                    .mount("reports", "C:\\data")
                    .requests("50m", "64Mi")
                    .limits("200m", "128Mi"),
            )
            .volume("reports", Volume::Claim(REPORTS_CLAIM))
            .pod("rfb6z", WINDOWS_NODE, [172, 21, 41, 19], 44, 0),
        Workload::deployment("win-demo", "reports", "6c8d7b5f94")
            .windows_class()
            .container(
                Container::new("reports", "ghcr.io/example/reports:2.1")
                    .port("http", 8080)
                    .requests("250m", "512Mi")
                    .limits("1", "512Mi"),
            )
            .pod("m4k2v", WINDOWS_NODE, [172, 21, 41, 23], 44, 0)
            .pod("w9xqz", WINDOWS_NODE, [172, 21, 41, 24], 44, 0),
        Workload::deployment("demo", "hello", "55fb8f8684")
            .restricted()
            .container(
                Container::new("hello", "ghcr.io/example/hello:1.3")
                    .port("http", 8080)
                    .requests("50m", "32Mi")
                    .limits("200m", "64Mi")
                    .readiness(Probe::http("/readyz", 5))
                    .liveness(Probe::http("/healthz", 10))
                    .pre_stop_sleep(5),
            )
            .pod("69mvv", NODE_1, [172, 21, 211, 12], 812, 0)
            .pod("nztv2", NODE_2, [172, 21, 172, 9], 812, 0),
    ]
}
