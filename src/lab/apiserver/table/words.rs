//! Ages, labels and selectors in the words of `kubectl`.

use super::super::json::text;
use chrono::{DateTime, Utc};
use serde_json::Value;

/// The age of a timestamp (`5m3s`, `11m`, `14h`), or `<unknown>` without one.
pub fn since(timestamp: &str, now: DateTime<Utc>) -> String {
    match timestamp.parse::<DateTime<Utc>>() {
        Ok(time) => duration((now - time).num_seconds()),
        Err(_) => "<unknown>".to_owned(),
    }
}

/// Seconds in at most two units, fewer the longer it is.
pub fn duration(seconds: i64) -> String {
    let two = |large: i64, unit: char, small: i64, small_unit: char| {
        if small == 0 {
            format!("{large}{unit}")
        } else {
            format!("{large}{unit}{small}{small_unit}")
        }
    };
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let days = hours / 24;
    match seconds {
        // Clocks of two machines may differ by a second.
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        _ if hours < 48 => format!("{hours}h"),
        _ if days < 8 => two(days, 'd', hours % 24, 'h'),
        _ if days < 365 * 2 => format!("{days}d"),
        _ if days < 365 * 8 => two(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}

/// `a=b,c=d`, sorted, or `<none>`.
pub fn labels(labels: &Value) -> String {
    let mut terms: Vec<String> = labels
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
        .collect();
    terms.sort();
    if terms.is_empty() {
        "<none>".to_owned()
    } else {
        terms.join(",")
    }
}

/// A label selector as one line, sorted by label, or `<none>`.
pub fn selector(selector: &Value) -> String {
    let mut terms: Vec<(String, String)> = selector["matchLabels"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            (
                name.clone(),
                format!("{name}={}", value.as_str().unwrap_or_default()),
            )
        })
        .collect();
    for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
        let name = text(expression, "/key");
        let mut values: Vec<&str> = expression["values"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let values = values.join(",");
        let term = match text(expression, "/operator") {
            "In" => format!("{name} in ({values})"),
            "NotIn" => format!("{name} notin ({values})"),
            "DoesNotExist" => format!("!{name}"),
            _ => name.to_owned(),
        };
        terms.push((name.to_owned(), term));
    }
    terms.sort();
    let terms: Vec<String> = terms.into_iter().map(|(_, term)| term).collect();
    if terms.is_empty() {
        "<none>".to_owned()
    } else {
        terms.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_get_coarser_as_they_grow() {
        let told: Vec<String> = [
            -5, -1, 0, 119, 120, 303, 660, 10_800, 12_060, 50_400, 180_000, 864_000, 70_000_000,
        ]
        .map(duration)
        .into();
        let expected = [
            "<invalid>",
            "0s",
            "0s",
            "119s",
            "2m",
            "5m3s",
            "11m",
            "3h",
            "3h21m",
            "14h",
            "2d2h",
            "10d",
            "2y80d",
        ];
        assert_eq!(told, expected);
    }
}
