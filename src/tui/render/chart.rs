//! A series over time in block characters.

use crate::domain::Timestamp;
use crate::store::view::{Line, Role, Series, Span};

/// Eighths of a cell.
const BLOCKS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// The rows of the chart, the time axis last. The newest point is at the right border. Where there is no
/// sample there is nothing; a sample is never less than the lowest block.
pub fn lines(series: &Series, cells: usize, rows: usize) -> Vec<Line> {
    let (Some((begin, _)), Some((end, _))) = (series.points.first(), series.points.last()) else {
        return Vec::new();
    };
    let columns = columns(series, cells);
    let mut lines: Vec<Line> = (0..rows)
        .rev()
        .map(|row| {
            let blocks: String = columns
                .iter()
                .map(|value| block(*value, series.bounds, row, rows))
                .collect();
            vec![Span::new(blocks, series.role)]
        })
        .collect();
    let minutes = (*end - *begin).num_minutes();
    let left = format!("{minutes} m ago");
    let right = "newest";
    let space = cells.saturating_sub(left.len() + right.len());
    lines.push(vec![Span::new(
        format!("{left}{}{right}", " ".repeat(space)),
        Role::Muted,
    )]);
    lines
}

/// The highest sample in each column's share of the time.
fn columns(series: &Series, cells: usize) -> Vec<Option<f64>> {
    let mut columns = vec![None; cells];
    let (Some((begin, _)), Some((end, _))) = (series.points.first(), series.points.last()) else {
        return columns;
    };
    let span = (*end - *begin).num_seconds().max(1);
    let last = i64::try_from(cells).unwrap_or(i64::MAX) - 1;
    let cell = |time: Timestamp| (time - *begin).num_seconds() * last / span;
    // Fewer samples than cells: a sample covers the cells since the one before, at the series' own rhythm, so
    // that a gap in the samples stays a gap on the screen.
    let rhythm = (series.points.windows(2))
        .map(|pair| (pair[1].0 - pair[0].0).num_seconds())
        .filter(|seconds| *seconds > 0)
        .min()
        .unwrap_or(1);
    let reach = (rhythm * last + span - 1) / span;
    for (time, value) in &series.points {
        let at = cell(*time);
        for covered in (at - reach + 1).max(0)..=at {
            let Some(column) = usize::try_from(covered).ok().and_then(|at| columns.get_mut(at)) else {
                continue;
            };
            *column = match *column {
                Some(highest) if covered == at => Some(value.max(highest)),
                Some(highest) => Some(highest),
                None => Some(*value),
            };
        }
    }
    columns
}

fn block(value: Option<f64>, (low, high): (f64, f64), row: usize, rows: usize) -> &'static str {
    let Some(value) = value.filter(|value| value.is_finite()) else {
        return BLOCKS[0];
    };
    let share = if high > low {
        ((value - low) / (high - low)).clamp(0.0, 1.0)
    } else {
        0.0
    };
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of at most a few dozen eighths"
    )]
    let eighths = ((share * (rows * 8) as f64).round() as usize).max(1);
    BLOCKS[eighths.saturating_sub(row * 8).min(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[(i64, f64)]) -> Series {
        Series {
            label: "commit, of limit".to_owned(),
            role: Role::Series1,
            points: values
                .iter()
                .map(|(minute, value)| (Timestamp::from_timestamp(minute * 60, 0).unwrap(), *value))
                .collect(),
            bounds: (0.0, 1.0),
            now: Line::new(),
        }
    }

    fn drawn(series: &Series, cells: usize, rows: usize) -> Vec<String> {
        lines(series, cells, rows)
            .iter()
            .map(super::super::text::flat)
            .collect()
    }

    #[test]
    fn one_hour_is_drawn_from_left_to_right() {
        let hour = series(&[(0, 0.0), (20, 0.25), (40, 0.5), (60, 1.0)]);
        assert_eq!(drawn(&hour, 16, 1), ["▁▂▂▂▂▂▄▄▄▄▄█████", "60 m ago  newest"]);
    }

    #[test]
    fn a_tall_chart_stacks_its_blocks() {
        let hour = series(&[(0, 0.5), (1, 1.0)]);
        assert_eq!(drawn(&hour, 2, 2)[..2], [" █", "██"]);
    }

    #[test]
    fn a_gap_in_the_samples_stays_a_gap() {
        let hour = series(&[(0, 0.5), (10, 0.5), (20, 0.5), (50, 0.5), (60, 0.5)]);
        assert_eq!(drawn(&hour, 13, 1)[0], "▄▄▄▄▄    ▄▄▄▄");
    }

    #[test]
    fn without_samples_there_is_no_chart() {
        assert!(drawn(&series(&[]), 20, 4).is_empty());
    }
}
