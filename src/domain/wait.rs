//! Waits as operators type them.

use std::time::Duration;

/// A wait: `3s`, `3` (seconds), `500ms`, `2m`. Zero is refused, because then nothing could ever answer.
pub fn wait(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let millis_per_unit = match unit {
        "" | "s" => 1_000,
        "ms" => 1,
        "m" => 60_000,
        _ => 0,
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(millis_per_unit))
        .filter(|&millis| millis > 0)
        .map(Duration::from_millis)
        .ok_or_else(|| "expected seconds, for example 10, or 3s, 500ms, 2m; more than zero".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_in_seconds_unless_it_says_otherwise() {
        let waits = [("3", 3_000), ("3s", 3_000), ("500ms", 500), ("2m", 120_000)];
        for (text, millis) in waits {
            assert_eq!(wait(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in [
            "",
            "0",
            "0s",
            "s",
            "-1",
            "1.5",
            "3 s",
            "3h",
            "99999999999999999999",
        ] {
            assert!(wait(text).is_err(), "{text}");
        }
    }
}
