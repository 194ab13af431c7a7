//! How long things take in the simulated cluster: what was measured on the article's machines, divided by
//! `--speed`.

use crate::domain::object::Os;
use std::time::Duration;

/// The table of durations at one speed.
#[derive(Clone, Copy, Debug)]
pub struct Timings {
    speed: f64,
}

impl Timings {
    /// Durations divided by `speed`; `1.0` is real time. A speed that is not a positive number counts as 1.
    pub fn new(speed: f64) -> Self {
        let usable = speed.is_finite() && speed > 0.0;
        Self {
            speed: if usable { speed } else { 1.0 },
        }
    }

    /// A duration of the real cluster, at this speed.
    pub fn scaled(self, real: Duration) -> Duration {
        real.div_f64(self.speed)
    }

    /// Between two renewals of a node's Lease (`kube-node-lease`).
    pub fn lease_renewal(self) -> Duration {
        self.scaled(Duration::from_secs(10))
    }

    /// Between two writes of an unchanged node status.
    pub fn node_status(self) -> Duration {
        self.scaled(Duration::from_mins(5))
    }

    /// A Lease older than this makes its node Unknown (`--node-monitor-grace-period`).
    pub fn node_monitor_grace(self) -> Duration {
        self.scaled(Duration::from_secs(50))
    }

    /// How often the node lifecycle controller looks (`--node-monitor-period`).
    pub fn node_monitor_period(self) -> Duration {
        self.scaled(Duration::from_secs(5))
    }

    /// From the binding of a pod to its running containers, images being on the disk already. On Windows HCS
    /// starts the container's system processes first.
    pub fn container_creation(self, os: Os) -> Duration {
        self.scaled(match os {
            Os::Windows => Duration::from_secs(6),
            Os::Linux => Duration::from_millis(1500),
        })
    }

    /// From running to ready, for a container with a startup or readiness probe. With the creation it makes
    /// the 19 s in which the article's pods were back after uncordon.
    pub fn first_probe_success(self, os: Os) -> Duration {
        self.scaled(match os {
            Os::Windows => Duration::from_secs(13),
            Os::Linux => Duration::from_secs(3),
        })
    }

    /// From the exit of the process to the pod being gone: on Windows HCS stops the container's system
    /// processes (5 s `preStop` + 1.7 s = the article's 6.7 s, on SSD).
    pub fn container_teardown(self, os: Os) -> Duration {
        self.scaled(match os {
            Os::Windows => Duration::from_millis(1700),
            Os::Linux => Duration::from_millis(400),
        })
    }

    /// From `Restart-Computer` to the boot: with the start of the kubelet it makes the 10 s after which the
    /// article's node reported again.
    pub fn shutdown(self) -> Duration {
        self.scaled(Duration::from_secs(5))
    }

    /// From a power-off to the boot. The article's node got its power back after 47 s and was never declared
    /// unreachable; here it reports again 47 s after the power-off, within the node monitor's 50 s.
    pub fn without_power(self) -> Duration {
        self.scaled(Duration::from_secs(42))
    }

    /// From the boot to the start of containerd.
    pub fn containerd_start(self) -> Duration {
        self.scaled(Duration::from_secs(3))
    }

    /// From the boot to the start of the kubelet.
    pub fn kubelet_start(self) -> Duration {
        self.scaled(Duration::from_secs(5))
    }

    /// From the boot to the start of containerd and the kubelet on the article's hard disks, where both missed the
    /// 45 s that the Service Control Manager grants.
    pub fn slow_disk_start(self) -> Duration {
        self.scaled(Duration::from_mins(15))
    }

    /// From the kubelet's return to that of the HostProcess pods, Calico's and kube-proxy's among them: 28 s after
    /// `Restart-Computer`, a minute after the boot that follows a power-off.
    pub fn host_process_restart(self, after_power_cut: bool) -> Duration {
        self.scaled(Duration::from_secs(if after_power_cut { 55 } else { 18 }))
    }

    /// From the start of `powershell.exe` to the end of a short script.
    pub fn script(self) -> Duration {
        self.scaled(Duration::from_secs(2))
    }

    /// Between two attempts of a kubelet to remove a sandbox (the article's four in 26 s).
    pub fn kill_retry(self) -> Duration {
        self.scaled(Duration::from_secs(9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_divides_every_duration() {
        let fast = Timings::new(20.0);
        assert_eq!(fast.lease_renewal(), Duration::from_millis(500));
        assert_eq!(fast.container_teardown(Os::Windows), Duration::from_millis(85));
    }

    #[test]
    fn a_speed_that_makes_no_sense_plays_in_real_time() {
        for speed in [0.0, -3.0, f64::NAN, f64::INFINITY] {
            assert_eq!(
                Timings::new(speed).lease_renewal(),
                Duration::from_secs(10),
                "{speed}"
            );
        }
    }
}
