//! CPU use of a Windows node from the counters of `windows_exporter`.

/// Seconds that all logical processors of a node spent in each mode since boot
/// (`windows_cpu_time_total`, summed over `core`).
///
/// `interrupt` and `dpc` are inside `privileged` and must not be added again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuSeconds {
    /// Mode `idle`.
    pub idle: f64,
    /// Mode `user`.
    pub user: f64,
    /// Mode `privileged`.
    pub privileged: f64,
}

/// CPU in use between two scrapes, 0 to 1 of the whole node: 1 − idle ÷ (idle + user + privileged).
///
/// Dividing by what the counters themselves counted, and not by the time between the scrapes, makes the value
/// right from the second scrape on. `None` when a counter went backwards (the node restarted between the
/// scrapes) or none moved (both scrapes saw the same sample).
pub fn busy_ratio(earlier: &CpuSeconds, later: &CpuSeconds) -> Option<f64> {
    let idle = later.idle - earlier.idle;
    let user = later.user - earlier.user;
    let privileged = later.privileged - earlier.privileged;
    let counted = idle + user + privileged;
    let moved_forward = [idle, user, privileged].into_iter().all(|seconds| seconds >= 0.0);
    (moved_forward && counted > 0.0 && counted.is_finite()).then(|| 1.0 - idle / counted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(seconds: f64, busy: f64, since: &CpuSeconds) -> CpuSeconds {
        CpuSeconds {
            idle: since.idle + seconds * (1.0 - busy),
            user: since.user + seconds * busy * 0.7,
            privileged: since.privileged + seconds * busy * 0.3,
        }
    }

    const BOOT: CpuSeconds = CpuSeconds {
        idle: 0.0,
        user: 0.0,
        privileged: 0.0,
    };

    #[test]
    fn four_cpus_that_are_a_fifth_busy_show_20_percent_right_after_boot() {
        // Two scrapes 15 s apart, far less than the minutes over which a rate is usually taken.
        let first = after(4.0 * 10.0, 0.2, &BOOT);
        let second = after(4.0 * 15.0, 0.2, &first);
        let busy = busy_ratio(&first, &second).unwrap();
        assert!((busy - 0.2).abs() < 1e-12, "{busy}");
    }

    #[test]
    fn a_restart_between_the_scrapes_gives_no_value() {
        let before = after(4.0 * 50_000.0, 0.1, &BOOT);
        let rebooted = after(4.0 * 20.0, 0.9, &BOOT);
        assert_eq!(busy_ratio(&before, &rebooted), None);
    }

    #[test]
    fn the_same_sample_twice_gives_no_value() {
        let sample = after(100.0, 0.5, &BOOT);
        assert_eq!(busy_ratio(&sample, &sample), None);
    }

    #[test]
    fn a_broken_sample_gives_no_value() {
        for broken in [f64::NAN, f64::INFINITY] {
            let sample = CpuSeconds { user: broken, ..BOOT };
            assert_eq!(busy_ratio(&BOOT, &sample), None);
        }
    }

    proptest! {
        #[test]
        fn the_busy_part_comes_back(
            uptime in 0.0..1e7_f64, before in 0.0..=1.0_f64, window in 1.0..1e4_f64, busy in 0.0..=1.0_f64,
        ) {
            let first = after(uptime, before, &BOOT);
            let second = after(window, busy, &first);
            let found = busy_ratio(&first, &second);
            prop_assert!(found.is_some_and(|found| (found - busy).abs() < 1e-6 && (0.0..=1.0).contains(&found)));
        }
    }
}
