//! Pieces that cells are made of: bars, sparklines, readings, glyphs of severity.

use crate::domain::measurement::Sample;
use crate::domain::object::Os;
use crate::domain::reading::Reading;
use crate::domain::severity::Severity;
use crate::domain::{Timestamp, format};
use crate::store::view::{Line, Role, Span};
use chrono::TimeDelta;
use std::net::IpAddr;

/// What stands for a value that is not there.
pub const ABSENT: &str = "–";
/// A value that is old.
pub const STALE: &str = "◌";
const WARNING: &str = "▲";
const CRITICAL: &str = "✖";
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Colour of a severity; `fine` is the role of what is as it should be.
pub const fn role_of(severity: Severity, fine: Role) -> Role {
    match severity {
        Severity::Fine => fine,
        Severity::Warning => Role::Warn,
        Severity::Critical => Role::Error,
    }
}

/// Glyph of a severity; none for what is as it should be.
pub const fn glyph_of(severity: Severity) -> Option<&'static str> {
    match severity {
        Severity::Fine => None,
        Severity::Warning => Some(WARNING),
        Severity::Critical => Some(CRITICAL),
    }
}

/// One span.
pub fn plain(text: impl Into<compact_str::CompactString>, role: Role) -> Line {
    vec![Span::new(text, role)]
}

/// The dash of an absent value.
pub fn absent() -> Line {
    plain(ABSENT, Role::Absent)
}

/// Colour of a reading: old ones look old.
pub fn role_at<T>(reading: &Reading<T>, now: Timestamp, fresh: Role) -> Role {
    if reading.is_stale(now) { Role::Stale } else { fresh }
}

/// Text of a reading, with the mark of an old one; a dash if it is absent.
pub fn reading<T>(reading: &Reading<T>, now: Timestamp, role: Role, text: impl FnOnce(&T) -> String) -> Line {
    let Some(value) = reading.value() else {
        return absent();
    };
    let text = text(value);
    if reading.is_stale(now) {
        plain(format!("{STALE} {text}"), Role::Stale)
    } else {
        plain(text, role)
    }
}

/// Bytes of a reading.
pub fn bytes(value: &Reading<f64>, now: Timestamp, role: Role) -> Line {
    reading(value, now, role, |bytes| format::bytes_short(whole(*bytes)))
}

/// A float that counts something as a whole number, 0 if it is negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of floats saturates; amounts of bytes fit"
)]
pub fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// `███▁▁▁▁▁▁▁`: a ratio as a bar of `cells` cells. What is more than nothing shows as at least one cell.
pub fn bar(ratio: f64, cells: u16, filled: Role) -> Line {
    let scaled = whole(ratio.clamp(0.0, 1.0) * f64::from(cells));
    let full = usize::try_from(scaled).unwrap_or(0).max(usize::from(ratio > 0.0));
    vec![
        Span::new("█".repeat(full), filled),
        Span::new("▁".repeat(usize::from(cells).saturating_sub(full)), Role::Muted),
    ]
}

/// `████▁▁▁▁▁▁ 38 %`, with the glyph of its severity (commit ÷ limit); `width` is that of the bar.
pub fn gauge(ratio: &Reading<f64>, now: Timestamp, severity: impl Fn(f64) -> Severity, width: u16) -> Line {
    let Some(&value) = ratio.value() else {
        return absent();
    };
    let severity = severity(value);
    let role = role_at(ratio, now, role_of(severity, Role::Series1));
    let text = role_at(ratio, now, role_of(severity, Role::Text));
    let mut line = bar(value, width, role);
    line.push(Span::new(format!(" {:>5}", format::percent(value)), text));
    if ratio.is_stale(now) {
        line.push(Span::new(format!(" {STALE}"), Role::Stale));
    }
    if let Some(glyph) = glyph_of(severity) {
        line.push(Span::new(format!(" {glyph}"), text));
    }
    line
}

/// `▁▂▁▁`: the last hour in `cells` cells, each the highest point of its part; a part without points is blank.
/// `scale` is the value of a full cell.
pub fn sparkline(points: &[Sample], now: Timestamp, cells: u16, scale: f64) -> String {
    let step = TimeDelta::hours(1) / i32::from(cells.max(1));
    let start = now - TimeDelta::hours(1);
    (0..i32::from(cells))
        .map(|cell| {
            let (from, until) = (start + step * cell, start + step * (cell + 1));
            points
                .iter()
                .filter(|point| point.at > from && point.at <= until)
                .map(|point| point.value)
                .reduce(f64::max)
                .map_or(' ', |highest| level(highest / scale))
        })
        .collect()
}

fn level(ratio: f64) -> char {
    let eighths = usize::try_from(whole(ratio.clamp(0.0, 1.0) * 8.0)).unwrap_or(0);
    LEVELS[eighths.clamp(1, LEVELS.len()) - 1]
}

/// `win`, `lin`.
pub fn os(os: Option<Os>) -> Line {
    match os {
        Some(Os::Windows) => plain("win", Role::Windows),
        Some(Os::Linux) => plain("lin", Role::Linux),
        None => absent(),
    }
}

/// kubectl's AGE of something that was created then.
pub fn age(created_at: Option<Timestamp>, now: Timestamp) -> Line {
    match created_at {
        Some(created) => plain(
            format::kubectl_duration((now - created).num_seconds()),
            Role::Text,
        ),
        None => absent(),
    }
}

/// An address.
pub fn address(ip: Option<IpAddr>) -> Line {
    match ip {
        Some(ip) => plain(ip.to_string(), Role::Text),
        None => absent(),
    }
}

/// Text that may be empty or missing.
pub fn text_or_dash(text: Option<&str>) -> Line {
    match text {
        Some(text) if !text.is_empty() => plain(crate::domain::text::sanitise(text), Role::Text),
        _ => absent(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::reading::{Absence, Source};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_timestamp(second, 0).unwrap()
    }

    fn text(line: &Line) -> String {
        line.iter().map(|span| span.text.as_str()).collect()
    }

    #[test]
    fn a_bar_shows_more_than_nothing_as_one_cell_and_never_runs_over() {
        assert_eq!(text(&bar(0.0, 10, Role::Ok)), "▁▁▁▁▁▁▁▁▁▁");
        assert_eq!(text(&bar(0.01, 10, Role::Ok)), "█▁▁▁▁▁▁▁▁▁");
        assert_eq!(text(&bar(0.38, 10, Role::Ok)), "████▁▁▁▁▁▁");
        assert_eq!(text(&bar(1.7, 10, Role::Ok)), "██████████");
    }

    #[test]
    fn a_sparkline_leaves_the_time_before_the_first_point_blank() {
        let now = at(10_000);
        let points = [
            Sample {
                value: 0.5,
                at: at(10_000 - 1000),
            },
            Sample {
                value: 1.0,
                at: at(10_000),
            },
        ];
        assert_eq!(sparkline(&points, now, 4, 1.0), "  ▄█");
    }

    #[test]
    fn an_old_reading_looks_old_and_an_absent_one_is_a_dash() {
        let old = Reading::Present {
            value: 0.95,
            source: Source::Prometheus,
            sampled_at: at(0),
        };
        let line = gauge(&old, at(1000), crate::domain::memory::commit_severity, 10);
        assert_eq!(text(&line), "██████████  95 % ◌ ✖");
        assert!(line.iter().any(|span| span.role == Role::Stale));
        assert_eq!(
            bytes(&Reading::Absent(Absence::NotYet), at(0), Role::Text),
            absent()
        );
    }
}
