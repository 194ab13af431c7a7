//! When a round will end, from how long its nodes took so far.

use super::{Round, Stage, Standing};
use crate::domain::Timestamp;
use crate::maintenance::window::Window;
use chrono::TimeDelta;

/// Windows that are looked through for one that is long enough: they differ by a change of the clock only, and nobody
/// waits half a year for the night that is an hour longer.
const WINDOWS: usize = 3;

/// The middle of these seconds, the upper one of two; `None` without any.
pub fn middle(mut seconds: Vec<f64>) -> Option<f64> {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied()
}

/// When a node that takes this long can be begun at the earliest: now, or when a window opens that it fits into.
/// `None`: no window is long enough.
pub fn beginning(window: Option<&Window>, took: TimeDelta, now: Timestamp) -> Option<Timestamp> {
    let Some(window) = window else {
        return Some(now);
    };
    let mut from = now;
    for _ in 0..WINDOWS {
        let opening = window.opening(from)?;
        let begin = opening.from.max(now);
        if begin + took <= opening.to {
            return Some(begin);
        }
        from = opening.to;
    }
    None
}

impl Round {
    /// How long one node is reckoned to take: from those of this round, else from earlier maintenances.
    pub fn expected(&self) -> Option<TimeDelta> {
        let seen = self.nodes.iter().filter_map(|node| match node.standing {
            Standing::Done { seconds } => seconds,
            Standing::Ahead | Standing::Begun => None,
        });
        let seconds = middle(seen.collect()).or(self.earlier)?;
        std::time::Duration::try_from_secs_f64(seconds)
            .ok()
            .and_then(|took| TimeDelta::from_std(took).ok())
    }

    /// When it will end, if the operator and the alerts hold nothing up; `None`: not known yet.
    pub fn forecast(&self, now: Timestamp) -> Option<Timestamp> {
        let took = self.expected()?;
        let soak = self.soak();
        let mut at = now;
        let mut ahead = self.left().len();
        match &self.stage {
            Stage::Over(_) => return None,
            Stage::Working { since, .. } => {
                at = (*since + took).max(now) + soak;
                ahead = ahead.saturating_sub(1);
            }
            Stage::Soaking { until, .. } => at = (*until).max(now),
            Stage::Gates | Stage::Paused => {}
        }
        for _ in 0..ahead {
            at = beginning(self.plan.terms.window.as_ref(), took, at)? + took + soak;
        }
        Some(at)
    }
}
