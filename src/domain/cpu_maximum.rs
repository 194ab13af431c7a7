//! What a CPU limit becomes on Windows: a hard ceiling of the job object, in ten-thousandths of the whole node.

use std::fmt;

/// `CpuMaximum` of a Windows container's job object: ten-thousandths of all CPUs of the node, 1 to 10000.
///
/// The kubelet computes it from the limit alone (`calculateCPUMaximum` in
/// `pkg/kubelet/kuberuntime/kuberuntime_container_windows.go`, Kubernetes 1.37). Requests reach nothing in the
/// Windows kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuMaximum(u16);

/// The smallest value that the kubelet sets.
const LEAST: u64 = 1;
/// The whole node.
const WHOLE_NODE: u64 = 10_000;

impl CpuMaximum {
    /// The ceiling for a limit of `limit_millicores` on a node of `cpus` CPUs.
    ///
    /// `None` where the kubelet sets none: no limit (a limit of 0 is none), or a node that reports no whole CPU.
    pub fn of(limit_millicores: Option<u64>, cpus: u64) -> Option<Self> {
        let limit = limit_millicores.filter(|&limit| limit > 0)?;
        let ceiling = limit.saturating_mul(10).checked_div(cpus)?;
        u16::try_from(ceiling.clamp(LEAST, WHOLE_NODE)).ok().map(Self)
    }

    /// Ten-thousandths of the node, 1 to 10000.
    pub const fn ten_thousandths(self) -> u16 {
        self.0
    }

    /// Percent of the node, 0.01 to 100.
    pub fn percent(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    /// Percent in words, without digits that say nothing: `12.5 %`, `5 %` as `5.0 %`, `0.01 %`.
    pub fn percent_text(self) -> String {
        if self.0.is_multiple_of(10) {
            format!("{}.{} %", self.0 / 100, self.0 / 10 % 10)
        } else {
            format!("{}.{:02} %", self.0 / 100, self.0 % 100)
        }
    }

    /// How the value comes about, for the pod page:
    /// `cpu 500m on 4 CPUs → 10 × 500 ÷ 4 = 1250 → 12.5 %`.
    pub fn arithmetic(limit_millicores: u64, cpus: u64) -> Option<String> {
        let maximum = Self::of(Some(limit_millicores), cpus)?;
        let ceiling = limit_millicores.saturating_mul(10).checked_div(cpus)?;
        let clamped = if ceiling == u64::from(maximum.0) {
            String::new()
        } else {
            format!(", kept within {LEAST} to {WHOLE_NODE}: {}", maximum.0)
        };
        let unit = if cpus == 1 { "CPU" } else { "CPUs" };
        Some(format!(
            "cpu {} on {cpus} {unit} → 10 × {limit_millicores} ÷ {cpus} = {ceiling}{clamped} → {}",
            cpu_text(limit_millicores),
            maximum.percent_text(),
        ))
    }
}

impl fmt::Display for CpuMaximum {
    /// `1250 = 12.5 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.0, self.percent_text())
    }
}

/// Whole CPUs of a node from the `cpu` of its `status.capacity`: the number of processors that the kubelet
/// divides by. Windows kubelets report whole CPUs.
pub const fn whole_cpus(capacity_millicores: u64) -> u64 {
    capacity_millicores / 1000
}

/// A CPU amount as kubectl prints it: `500m`, `2`.
pub fn cpu_text(millicores: u64) -> String {
    if millicores.is_multiple_of(1000) {
        (millicores / 1000).to_string()
    } else {
        format!("{millicores}m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hello_win_may_use_an_eighth_of_its_node() {
        let maximum = CpuMaximum::of(Some(500), 4).unwrap();
        assert_eq!(maximum.to_string(), "1250 = 12.5 %");
        assert_eq!(
            CpuMaximum::arithmetic(500, 4).as_deref(),
            Some("cpu 500m on 4 CPUs → 10 × 500 ÷ 4 = 1250 → 12.5 %")
        );
    }

    #[test]
    fn a_limit_beyond_the_node_is_the_whole_node() {
        assert_eq!(
            CpuMaximum::of(Some(8_000), 4).unwrap().to_string(),
            "10000 = 100.0 %"
        );
        assert_eq!(
            CpuMaximum::arithmetic(8_000, 4).as_deref(),
            Some("cpu 8 on 4 CPUs → 10 × 8000 ÷ 4 = 20000, kept within 1 to 10000: 10000 → 100.0 %")
        );
    }

    #[test]
    fn the_smallest_limit_on_the_largest_node_is_one_ten_thousandth() {
        assert_eq!(CpuMaximum::of(Some(1), 64).unwrap().to_string(), "1 = 0.01 %");
    }

    #[test]
    fn without_a_limit_there_is_no_ceiling() {
        assert_eq!(CpuMaximum::of(None, 4), None);
        assert_eq!(
            CpuMaximum::of(Some(0), 4),
            None,
            "the kubelet takes a limit of 0 for none"
        );
        assert_eq!(CpuMaximum::of(Some(500), 0), None, "CPUs of the node unknown");
        assert_eq!(CpuMaximum::arithmetic(0, 4), None);
    }

    #[test]
    fn the_node_counts_in_whole_cpus() {
        assert_eq!([3_999, 4_000, 4_001].map(whole_cpus), [3, 4, 4]);
    }

    proptest! {
        #[test]
        fn it_is_the_truncated_quotient_kept_in_range(limit in 1_u64..200_000, cpus in 1_u64..256) {
            let found = u64::from(CpuMaximum::of(Some(limit), cpus).unwrap().ten_thousandths());
            // found ≤ 10 × limit ÷ cpus < found + 1, said without a division.
            let fits = found * cpus <= 10 * limit && 10 * limit < (found + 1) * cpus;
            let too_small = found == 1 && 10 * limit < cpus;
            let too_large = found == 10_000 && 10 * limit >= 10_000 * cpus;
            prop_assert!(fits || too_small || too_large, "{found}");
        }

        #[test]
        fn the_percent_in_words_is_the_number(limit in 1_u64..70_000, cpus in 1_u64..65) {
            let maximum = CpuMaximum::of(Some(limit), cpus).unwrap();
            let number: f64 = maximum.percent_text().trim_end_matches(" %").parse().unwrap();
            prop_assert!((number - maximum.percent()).abs() < 1e-9);
        }
    }
}
