//! Patch Tuesday: the second Tuesday of a month, when Microsoft publishes the monthly updates. Days are UTC.

use chrono::{Datelike, Days, NaiveDate, Weekday};

/// Patch Tuesday of a month; `None` for a month that chrono's calendar does not have.
pub fn of_month(year: i32, month: u32) -> Option<NaiveDate> {
    NaiveDate::from_weekday_of_month_opt(year, month, Weekday::Tue, 2)
}

/// The next Patch Tuesday: `today` itself if it is one.
pub fn next(today: NaiveDate) -> Option<NaiveDate> {
    let this_month = of_month(today.year(), today.month())?;
    if today <= this_month {
        return Some(this_month);
    }
    let later = today.with_day(1)?.checked_add_days(Days::new(31))?;
    of_month(later.year(), later.month())
}

/// This Patch Tuesday (`today` itself if it is one) and those that follow.
pub fn from(today: NaiveDate) -> impl Iterator<Item = NaiveDate> {
    std::iter::successors(next(today), |day| next(day.checked_add_days(Days::new(1))?))
}

/// Days until the next Patch Tuesday; 0 on the day itself.
pub fn days_until(today: NaiveDate) -> Option<u32> {
    let days = (next(today)? - today).num_days();
    u32::try_from(days).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn published_dates_are_found() {
        for known in [
            "2025-01-14",
            "2025-04-08",
            "2026-09-08",
            "2026-12-08",
            "2027-02-09",
        ] {
            let known = day(known);
            assert_eq!(of_month(known.year(), known.month()), Some(known));
        }
    }

    #[test]
    fn the_day_itself_counts_and_the_day_after_waits_for_the_next_month() {
        assert_eq!(days_until(day("2026-12-01")), Some(7));
        assert_eq!(days_until(day("2026-12-08")), Some(0));
        assert_eq!(next(day("2026-12-09")), Some(day("2027-01-12")));
        assert_eq!(next(day("2026-01-31")), Some(day("2026-02-10")));
        let days: Vec<NaiveDate> = from(day("2026-12-08")).take(3).collect();
        assert_eq!(days, ["2026-12-08", "2027-01-12", "2027-02-09"].map(day));
    }

    proptest! {
        #[test]
        fn it_is_a_tuesday_from_the_8th_to_the_14th_and_at_most_five_weeks_away(offset in 0_u64..40_000) {
            let today = day("1999-12-31") + Days::new(offset);
            let found = next(today).unwrap();
            prop_assert_eq!(found.weekday(), Weekday::Tue);
            prop_assert!((8..=14).contains(&found.day()));
            prop_assert!(days_until(today).unwrap() < 35);
        }
    }
}
