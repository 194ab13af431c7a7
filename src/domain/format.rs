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
