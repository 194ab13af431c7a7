//! Values of flags that are more than a word.

use crate::tui::theme::Theme;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

pub use crate::domain::wait::wait;

/// `120x40`: columns and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSize {
    /// Columns.
    pub width: u16,
    /// Lines.
    pub height: u16,
}

/// The largest frame that is drawn, in columns or lines.
const LARGEST: u16 = 1000;

impl FromStr for FrameSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = || format!("expected COLUMNSxLINES, for example 120x40, each from 1 to {LARGEST}");
        let (width, height) = text.split_once(['x', 'X']).ok_or_else(expected)?;
        let side = |text: &str| {
            text.parse()
                .ok()
                .filter(|side| (1..=LARGEST).contains(side))
                .ok_or_else(expected)
        };
        Ok(Self {
            width: side(width)?,
            height: side(height)?,
        })
    }
}

impl fmt::Display for FrameSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// A period of the past: as [`wait`], and hours (`12h`) and days (`7d`).
pub fn period(text: &str) -> Result<Duration, String> {
    let long = text
        .strip_suffix('h')
        .map(|hours| (hours, 3_600))
        .or_else(|| text.strip_suffix('d').map(|days| (days, 86_400)));
    let seconds = match long {
        Some((number, unit)) => number
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(unit)),
        None => wait(text).ok().map(|wait| wait.as_secs()),
    };
    seconds
        .filter(|&seconds| seconds > 0)
        .map(Duration::from_secs)
        .ok_or_else(|| "expected seconds, for example 90, or 90s, 30m, 12h, 7d; more than zero".to_owned())
}

/// A number of lines: they are held in memory, so a million is the most.
pub fn lines(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|lines| (1..=1_000_000).contains(lines))
        .ok_or_else(|| "expected a number from 1 to 1000000".to_owned())
}

/// A time limit: as [`wait`], and 0 for none.
pub fn limit(text: &str) -> Result<Duration, String> {
    match text {
        "0" | "0s" => Ok(Duration::ZERO),
        _ => wait(text),
    }
}

/// A factor of time: more than zero, at most 1000.
pub fn speed(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|&speed| speed > 0.0 && speed <= 1_000.0)
        .ok_or_else(|| "expected a number above 0, at most 1000, for example 10".to_owned())
}

/// The name of a theme.
pub fn theme(text: &str) -> Result<String, String> {
    Theme::named(text)
        .map(|theme| theme.name)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_period_may_be_hours_and_days() {
        for (text, seconds) in [("90", 90), ("30m", 1_800), ("12h", 43_200), ("7d", 604_800)] {
            assert_eq!(period(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "h", "0d", "1w", "99999999999999999999d", "-1h"] {
            assert!(period(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_frame_has_columns_and_lines() {
        assert_eq!(
            "120x40".parse(),
            Ok(FrameSize {
                width: 120,
                height: 40
            })
        );
        for text in ["", "120", "x", "120x", "0x40", "120x1001", "120x40x2", "-1x40"] {
            assert!(text.parse::<FrameSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn time_does_not_stand_still_nor_run_backwards() {
        assert_eq!(speed("10"), Ok(10.0));
        for text in ["0", "-1", "NaN", "inf", "1001", "fast"] {
            assert!(speed(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_frame_size_survives_its_text(width in 1..=LARGEST, height in 1..=LARGEST) {
            let size = FrameSize { width, height };
            prop_assert_eq!(size.to_string().parse(), Ok(size));
        }
    }
}
