//! Amounts, ages and percents in the words of the screens and of kubectl.

/// Bytes in at most five cells, for tables: `0`, `512`, `3.4Mi`, `98Mi`, `2.4Gi`.
pub fn bytes_short(bytes: u64) -> String {
    let (number, unit) = binary(bytes);
    format!("{number}{unit}")
}

/// Bytes for sentences: `98 MiB`, `2.4 GiB`, `512 B`.
pub fn bytes_long(bytes: u64) -> String {
    let (number, unit) = binary(bytes);
    format!("{number} {unit}B")
}

/// Digits in groups of three: `268 435 456`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A ratio (1.0 is all) as percent: one decimal below ten, none from there: `5.4 %`, `31 %`, `103 %`.
pub fn percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    if percent.abs() < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// A duration with two to three significant figures, as kubectl prints AGE: `42s`, `5m3s`, `14h`, `3d4h`,
/// `2y10d` (`HumanDuration` of `k8s.io/apimachinery/pkg/util/duration`).
pub fn kubectl_duration(seconds: i64) -> String {
    if let Some(text) = around_now(seconds) {
        return text.to_owned();
    }
    let minutes = seconds / 60;
    let hours = minutes / 60;
    let days = hours / 24;
    let years = days / 365;
    if seconds < 2 * 60 {
        format!("{seconds}s")
    } else if minutes < 10 {
        two_units(minutes, "m", seconds % 60, "s")
    } else if minutes < 3 * 60 {
        format!("{minutes}m")
    } else if hours < 8 {
        two_units(hours, "h", minutes % 60, "m")
    } else if hours < 48 {
        format!("{hours}h")
    } else if days < 8 {
        two_units(days, "d", hours % 24, "h")
    } else if years < 2 {
        format!("{days}d")
    } else if years < 8 {
        two_units(years, "y", days % 365, "d")
    } else {
        format!("{years}y")
    }
}

/// A duration with one unit, as kubectl's `ShortHumanDuration`: `42s`, `5m`, `14h`, `3d`, `2y`.
pub fn short_duration(seconds: i64) -> String {
    if let Some(text) = around_now(seconds) {
        return text.to_owned();
    }
    let (number, unit) = largest_unit(seconds);
    format!("{number}{unit}")
}

/// An age for sentences: `now` below two seconds (and for a clock that is ahead), else `12 s`, `3 m`, `14 h`, `3 d`.
pub fn spoken_age(seconds: i64) -> String {
    if seconds < 2 {
        return "now".to_owned();
    }
    let (number, unit) = largest_unit(seconds);
    format!("{number} {unit}")
}

/// `now`, or `3 m ago`.
pub fn ago(seconds: i64) -> String {
    let age = spoken_age(seconds);
    if age == "now" { age } else { format!("{age} ago") }
}

/// A time that runs, as a stopwatch shows it: `00:58`, `1:02:03`. Nothing below zero.
pub fn stopwatch(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (minutes, second) = (seconds / 60, seconds % 60);
    match minutes / 60 {
        0 => format!("{minutes:02}:{second:02}"),
        hours => format!("{hours}:{:02}:{second:02}", minutes % 60),
    }
}

/// kubectl tolerates a clock that is off by less than two seconds.
fn around_now(seconds: i64) -> Option<&'static str> {
    match seconds {
        ..-1 => Some("<invalid>"),
        -1 => Some("0s"),
        _ => None,
    }
}

fn two_units(large: i64, large_unit: &str, small: i64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large}{large_unit}")
    } else {
        format!("{large}{large_unit}{small}{small_unit}")
    }
}

fn largest_unit(seconds: i64) -> (i64, &'static str) {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    match seconds {
        ..MINUTE => (seconds, "s"),
        MINUTE..HOUR => (seconds / MINUTE, "m"),
        HOUR..DAY => (seconds / HOUR, "h"),
        DAY..YEAR => (seconds / DAY, "d"),
        YEAR.. => (seconds / YEAR, "y"),
    }
}

/// Number and binary prefix: three digits at most, a decimal below ten.
#[expect(clippy::cast_precision_loss, reason = "rounded to three digits")]
fn binary(bytes: u64) -> (String, &'static str) {
    const UNITS: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    if bytes < 1000 {
        return (bytes.to_string(), UNITS[0]);
    }
    let mut value = bytes as f64;
    let mut unit = 0;
    // From 999.5 on the rounded number would have four digits.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let number = if value < 9.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    };
    (number, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    const DAY: i64 = 24 * 60 * 60;

    #[test]
    fn amounts_read_as_on_the_sketches() {
        assert_eq!(bytes_short(98 * MIB), "98Mi");
        assert_eq!(bytes_short(2_577_000_000), "2.4Gi");
        assert_eq!(bytes_short(3_565_158), "3.4Mi");
        assert_eq!(bytes_short(0), "0");
        assert_eq!(bytes_long(98 * MIB), "98 MiB");
        assert_eq!(bytes_long(5 * GIB), "5.0 GiB");
        assert_eq!(bytes_long(16 * GIB), "16 GiB");
        assert_eq!(bytes_long(512), "512 B");
        assert_eq!(grouped(268_435_456), "268 435 456");
        assert_eq!([7, 100, 1_000].map(grouped), ["7", "100", "1 000"]);
    }

    #[test]
    fn an_amount_just_below_the_next_unit_does_not_grow_wider() {
        assert_eq!(bytes_short(1023 * MIB), "1.0Gi");
        assert_eq!(bytes_short(999 * MIB), "999Mi");
        assert_eq!(bytes_short(u64::MAX), "16Ei");
    }

    #[test]
    fn percents_keep_a_decimal_only_below_ten() {
        let texts = [0.0, 0.054, 0.0995, 0.125, 0.3126, 1.03].map(percent);
        assert_eq!(texts, ["0.0 %", "5.4 %", "10 %", "12 %", "31 %", "103 %"]);
    }

    #[test]
    fn ages_read_as_kubectl_prints_them() {
        let ages = [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (303, "5m3s"),
            (600, "10m"),
            (3 * 3_600 - 1, "179m"),
            (3 * 3_600, "3h"),
            (3 * 3_600 + 300, "3h5m"),
            (8 * 3_600 + 300, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (3 * DAY + 4 * 3_600, "3d4h"),
            (8 * DAY + 4 * 3_600, "8d"),
            (730 * DAY - 1, "729d"),
            (740 * DAY, "2y10d"),
            (9 * 365 * DAY, "9y"),
        ];
        for (seconds, expected) in ages {
            assert_eq!(kubectl_duration(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn short_and_spoken_ages_have_one_unit() {
        let ages = [
            (12, "12s", "12 s"),
            (185, "3m", "3 m"),
            (14 * 3_600, "14h", "14 h"),
            (3 * DAY, "3d", "3 d"),
            (800 * DAY, "2y", "2 y"),
        ];
        for (seconds, short, spoken) in ages {
            assert_eq!(short_duration(seconds), short);
            assert_eq!(spoken_age(seconds), spoken);
            assert_eq!(ago(seconds), format!("{spoken} ago"));
        }
        assert_eq!(
            [-30, 0, 1].map(ago),
            ["now"; 3],
            "a clock that is ahead is no age"
        );
    }

    #[test]
    fn a_stopwatch_has_hours_only_when_it_needs_them() {
        let shown = [-3, 58, 221, 3_600, 90_061].map(stopwatch);
        assert_eq!(shown, ["00:00", "00:58", "03:41", "1:00:00", "25:01:01"]);
    }

    proptest! {
        #[test]
        fn an_amount_fits_its_column_and_is_near_the_number(bytes: u64) {
            let text = bytes_short(bytes);
            prop_assert!(text.len() <= 5, "{text}");
            let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
            let power = " KMGTPE".find(text[split..].chars().next().unwrap_or(' ')).unwrap();
            let shown = text[..split].parse::<f64>().unwrap() * 1024_f64.powi(i32::try_from(power).unwrap());
            #[expect(clippy::cast_precision_loss, reason = "compared to 5 %")]
            let actual = bytes as f64;
            prop_assert!((shown - actual).abs() <= actual * 0.051, "{text} for {bytes}");
        }

        #[test]
        fn groups_only_add_spaces(number: u64) {
            let text = grouped(number);
            prop_assert_eq!(text.replace(' ', ""), number.to_string());
            prop_assert!(text.rsplit(' ').rev().skip(1).all(|group| group.len() == 3));
        }
    }
}
