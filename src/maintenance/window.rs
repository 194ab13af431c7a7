//! Maintenance windows: on which days, between which hours, in which time zone.
//!
//! `Sat,Sun 22:00-04:00 Europe/Berlin`. A window belongs to the day on which it opens, in its own time zone; hours that
//! end before they begin reach into the next day. With days after Patch Tuesday it opens on those days only. Hours that
//! the change to summer time leaves out begin when the clock goes on; of hours that the change back repeats the first
//! count.

use crate::domain::{Timestamp, patch_tuesday};
use chrono::{
    DateTime, Datelike, Days, FixedOffset, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, Offset,
    TimeDelta, TimeZone, Weekday,
};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use thiserror::Error;

/// How far ahead the next opening is looked for: from one Patch Tuesday to the one after the next, and a window on a
/// single day that the change to summer time swallows.
const HORIZON_DAYS: u64 = 110;

/// Longest jump of a clock, in minutes: a zone may skip a whole day.
const LONGEST_JUMP: i64 = 26 * 60;

/// Between two Patch Tuesdays there are at least 28 days.
const MOST_DAYS_AFTER: u8 = 27;

/// A time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zone {
    Named(Tz),
    Fixed(FixedOffset),
}

/// Days after Patch Tuesday, both included: `4` or `4-6`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaysAfter(RangeInclusive<u8>);

/// A maintenance window that opens again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Window {
    /// Monday first.
    days: [bool; 7],
    from: NaiveTime,
    /// `None`: midnight at the end of the day.
    to: Option<NaiveTime>,
    zone: Zone,
    after: Option<DaysAfter>,
}

/// One opening. Windows that follow each other without a gap are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// First moment.
    pub from: Timestamp,
    /// The first moment after it.
    pub to: Timestamp,
}

/// Why a text is no window.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WindowError {
    /// Not in this form.
    #[error("expected [DAYS] HH:MM-HH:MM ZONE, for example 'Sat,Sun 22:00-04:00 Europe/Berlin'")]
    Form,
    /// Not a weekday.
    #[error("'{0}' is no weekday: Mon, Tue, Wed, Thu, Fri, Sat, Sun, or a range such as Mon-Fri")]
    Day(String),
    /// Not a time of day.
    #[error("'{0}' is no time of day: expected HH:MM, from 00:00 to 24:00")]
    Hour(String),
    /// From and to are the same.
    #[error("it ends when it begins; a whole day is 00:00-24:00")]
    Empty,
    /// Not a time zone.
    #[error(
        "'{0}' is no time zone: expected a name such as Europe/Berlin or UTC, or an offset such as +02:00"
    )]
    Zone(String),
    /// Not days after Patch Tuesday.
    #[error("expected days after Patch Tuesday from 0 to {MOST_DAYS_AFTER}, for example 4 or 4-6")]
    DaysAfter,
    /// It would never open.
    #[error("it never opens: {0} days after a Patch Tuesday is none of its weekdays")]
    Never(String),
}

impl Window {
    /// The same, but only on these days after Patch Tuesday.
    ///
    /// # Errors
    /// None of these is one of its weekdays.
    pub fn on_days_after(self, after: DaysAfter) -> Result<Self, WindowError> {
        let weekday = |days: u8| (Weekday::Tue.num_days_from_monday() as usize + usize::from(days)) % 7;
        if !after.0.clone().any(|days| self.days[weekday(days)]) {
            return Err(WindowError::Never(after.to_string()));
        }
        Ok(Self {
            after: Some(after),
            ..self
        })
    }

    /// The opening that is under way at `now`, else the next one; `None` if there is none for months.
    pub fn opening(&self, now: Timestamp) -> Option<Opening> {
        // Yesterday's may be open still, and a jump of the clock may have joined it to the one before.
        let before = self.zone.local(now).date().checked_sub_days(Days::new(2))?;
        let days = before.iter_days().take(usize::try_from(HORIZON_DAYS).ok()?);
        let mut found: Option<Opening> = None;
        for next in days.filter_map(|day| self.on(day)) {
            match &mut found {
                Some(open) if next.from <= open.to => open.to = open.to.max(next.to),
                Some(open) if open.to > now => break,
                _ => found = Some(next),
            }
        }
        found.filter(|open| open.to > now)
    }

    /// The window that opens on this day.
    fn on(&self, day: NaiveDate) -> Option<Opening> {
        let weekday = day.weekday().num_days_from_monday() as usize;
        if !self.days[weekday] || self.after.as_ref().is_some_and(|after| !after.contains(day)) {
            return None;
        }
        let end = match self.to {
            Some(to) if to > self.from => day.and_time(to),
            Some(to) => day.succ_opt()?.and_time(to),
            None => day.succ_opt()?.and_time(NaiveTime::MIN),
        };
        let opening = Opening {
            from: self.zone.instant(day.and_time(self.from))?,
            to: self.zone.instant(end)?,
        };
        (opening.from < opening.to).then_some(opening)
    }

    /// A moment as the clock of its zone shows it: `Sat 2026-12-12 22:00 CET`.
    pub fn clock(&self, at: Timestamp) -> String {
        match self.zone {
            Zone::Named(zone) => at.with_timezone(&zone).format("%a %Y-%m-%d %H:%M %Z").to_string(),
            Zone::Fixed(zone) => at
                .with_timezone(&zone)
                .format("%a %Y-%m-%d %H:%M %:z")
                .to_string(),
        }
    }
}

impl DaysAfter {
    fn contains(&self, day: NaiveDate) -> bool {
        let this = patch_tuesday::of_month(day.year(), day.month()).filter(|tuesday| *tuesday <= day);
        let tuesday = this.or_else(|| {
            let before = day.with_day(1)?.pred_opt()?;
            patch_tuesday::of_month(before.year(), before.month())
        });
        tuesday
            .and_then(|tuesday| u8::try_from((day - tuesday).num_days()).ok())
            .is_some_and(|days| self.0.contains(&days))
    }
}

impl Zone {
    fn local(self, at: Timestamp) -> NaiveDateTime {
        match self {
            Self::Named(zone) => at.with_timezone(&zone).naive_local(),
            Self::Fixed(zone) => at.with_timezone(&zone).naive_local(),
        }
    }

    /// When its clock first shows this; where it never does, the first moment after the jump.
    fn instant(self, local: NaiveDateTime) -> Option<Timestamp> {
        match self {
            Self::Named(zone) => instant(&zone, local),
            Self::Fixed(zone) => instant(&zone, local),
        }
    }
}

fn instant<Z: TimeZone>(zone: &Z, local: NaiveDateTime) -> Option<Timestamp> {
    let minutes = (0..=LONGEST_JUMP).map(TimeDelta::minutes);
    let mut shown =
        minutes.filter_map(
            |later| match zone.from_local_datetime(&local.checked_add_signed(later)?) {
                MappedLocalTime::Single(at) | MappedLocalTime::Ambiguous(at, _) => Some(at.to_utc()),
                MappedLocalTime::None => None,
            },
        );
    shown.next()
}

/// As it is typed, and kept in the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    window: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    days_after_patch_tuesday: Option<String>,
}

impl From<Window> for Written {
    fn from(window: Window) -> Self {
        Self {
            window: window.hours(),
            days_after_patch_tuesday: window.after.map(|after| after.to_string()),
        }
    }
}

impl TryFrom<Written> for Window {
    type Error = WindowError;

    fn try_from(written: Written) -> Result<Self, WindowError> {
        let window: Self = written.window.parse()?;
        match written.days_after_patch_tuesday {
            Some(after) => window.on_days_after(after.parse()?),
            None => Ok(window),
        }
    }
}

/// Days, hours and zone.
impl FromStr for Window {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Self, WindowError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (days, hours, zone) = match words[..] {
            [hours, zone] => ([true; 7], hours, zone),
            [names, hours, zone] => (weekdays(names)?, hours, zone),
            _ => return Err(WindowError::Form),
        };
        let (from, to) = hours.split_once('-').ok_or(WindowError::Form)?;
        let from = hour(from)?.ok_or_else(|| WindowError::Hour(from.to_owned()))?;
        let to = hour(to)?;
        if to == Some(from) {
            return Err(WindowError::Empty);
        }
        Ok(Self {
            days,
            from,
            to,
            zone: zone.parse()?,
            after: None,
        })
    }
}

/// `22:00`; `None` is 24:00.
fn hour(text: &str) -> Result<Option<NaiveTime>, WindowError> {
    if text == "24:00" {
        return Ok(None);
    }
    NaiveTime::parse_from_str(text, "%H:%M")
        .map(Some)
        .map_err(|_| WindowError::Hour(text.to_owned()))
}

fn weekdays(text: &str) -> Result<[bool; 7], WindowError> {
    let weekday = |name: &str| {
        name.parse::<Weekday>()
            .map_err(|_| WindowError::Day(name.to_owned()))
    };
    let mut days = [false; 7];
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (weekday(first)?, weekday(last)?),
            None => (weekday(part)?, weekday(part)?),
        };
        let mut day = first;
        loop {
            days[day.num_days_from_monday() as usize] = true;
            if day == last {
                break;
            }
            day = day.succ();
        }
    }
    Ok(days)
}

impl FromStr for Zone {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Self, WindowError> {
        if let Ok(zone) = text.parse() {
            return Ok(Self::Named(zone));
        }
        // chrono reads an offset as part of a date.
        DateTime::parse_from_str(&format!("2000-01-01 00:00 {text}"), "%Y-%m-%d %H:%M %:z")
            .ok()
            .filter(|_| text.starts_with(['+', '-']))
            .map(|at| Self::Fixed(*at.offset()))
            .ok_or_else(|| WindowError::Zone(text.to_owned()))
    }
}

impl FromStr for DaysAfter {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Self, WindowError> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last && last <= MOST_DAYS_AFTER => Ok(Self(first..=last)),
            _ => Err(WindowError::DaysAfter),
        }
    }
}

impl fmt::Display for DaysAfter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.start(), self.0.end()) {
            (first, last) if first == last => write!(f, "{first}"),
            (first, last) => write!(f, "{first}-{last}"),
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(zone) => f.write_str(zone.name()),
            Self::Fixed(zone) => write!(f, "{}", zone.fix()),
        }
    }
}

impl Window {
    /// Without the days after Patch Tuesday, as it is typed.
    fn hours(&self) -> String {
        let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        let open: Vec<&str> = names
            .into_iter()
            .zip(self.days)
            .filter_map(|(name, open)| open.then_some(name))
            .collect();
        let days = if open.len() == names.len() {
            String::new()
        } else {
            format!("{} ", open.join(","))
        };
        let to = self
            .to
            .map_or_else(|| "24:00".to_owned(), |to| to.format("%H:%M").to_string());
        format!("{days}{}-{to} {}", self.from.format("%H:%M"), self.zone)
    }
}

/// `Sat,Sun 22:00-04:00 Europe/Berlin, 4-5 days after Patch Tuesday`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hours())?;
        match &self.after {
            Some(after) => write!(f, ", {after} days after Patch Tuesday"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::Utc;
    use proptest::prelude::*;

    fn window(text: &str) -> Window {
        text.parse().unwrap()
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn opening(window: &Window, now: &str) -> (String, String) {
        let found = window.opening(at(now)).unwrap();
        let shown = |at: Timestamp| at.format("%Y-%m-%dT%H:%MZ").to_string();
        (shown(found.from), shown(found.to))
    }

    fn is(found: &(String, String), from: &str, to: &str) {
        assert_eq!((found.0.as_str(), found.1.as_str()), (from, to));
    }

    #[test]
    fn a_night_of_the_weekend_reaches_into_the_next_day() {
        let window = window("Sat,Sun 22:00-04:00 Europe/Berlin");
        // Tuesday: the next one is on Saturday; in December Berlin is an hour ahead of UTC.
        is(
            &opening(&window, "2026-12-01T12:00:00Z"),
            "2026-12-05T21:00Z",
            "2026-12-06T03:00Z",
        );
        // Monday, 02:00 in Berlin: that of Sunday is still open.
        is(
            &opening(&window, "2026-12-07T01:00:00Z"),
            "2026-12-06T21:00Z",
            "2026-12-07T03:00Z",
        );
        // The moment at which it closes is outside.
        is(
            &opening(&window, "2026-12-07T03:00:00Z"),
            "2026-12-12T21:00Z",
            "2026-12-13T03:00Z",
        );
    }

    #[test]
    fn windows_without_a_gap_are_one() {
        let whole_days = window("Sat,Sun 00:00-24:00 UTC");
        is(
            &opening(&whole_days, "2026-12-01T00:00:00Z"),
            "2026-12-05T00:00Z",
            "2026-12-07T00:00Z",
        );
        let always = window("00:00-24:00 UTC")
            .opening(at("2026-12-01T00:00:00Z"))
            .unwrap();
        assert!(always.to - always.from > TimeDelta::days(90));
    }

    #[test]
    fn an_hour_that_summer_time_leaves_out_begins_when_the_clock_goes_on() {
        // 2027-03-28: Berlin's clock goes from 02:00 to 03:00 at 01:00 UTC.
        is(
            &opening(&window("02:30-05:00 Europe/Berlin"), "2027-03-28T00:00:00Z"),
            "2027-03-28T01:00Z",
            "2027-03-28T03:00Z",
        );
        // A window that lies inside the hour that is left out opens on the day after.
        is(
            &opening(&window("02:15-02:45 Europe/Berlin"), "2027-03-28T00:00:00Z"),
            "2027-03-29T00:15Z",
            "2027-03-29T00:45Z",
        );
        // A night is an hour shorter.
        is(
            &opening(&window("22:00-04:00 Europe/Berlin"), "2027-03-27T20:00:00Z"),
            "2027-03-27T21:00Z",
            "2027-03-28T02:00Z",
        );
    }

    #[test]
    fn of_an_hour_that_comes_twice_the_first_counts() {
        // 2026-10-25: Berlin's clock goes from 03:00 back to 02:00 at 01:00 UTC.
        is(
            &opening(&window("01:00-02:30 Europe/Berlin"), "2026-10-24T23:00:00Z"),
            "2026-10-24T23:00Z",
            "2026-10-25T00:30Z",
        );
        is(
            &opening(&window("22:00-04:00 Europe/Berlin"), "2026-10-24T19:00:00Z"),
            "2026-10-24T20:00Z",
            "2026-10-25T03:00Z",
        );
    }

    #[test]
    fn days_after_patch_tuesday_pick_the_days() {
        let after = |days: &str| {
            window("22:00-04:00 Europe/Berlin")
                .on_days_after(days.parse().unwrap())
                .unwrap()
        };
        // Patch Tuesday is 2026-12-08, and was 2026-11-10.
        is(
            &opening(&after("4"), "2026-12-01T12:00:00Z"),
            "2026-12-12T21:00Z",
            "2026-12-13T03:00Z",
        );
        is(
            &opening(&after("4-5"), "2026-12-13T12:00:00Z"),
            "2026-12-13T21:00Z",
            "2026-12-14T03:00Z",
        );
        is(
            &opening(&after("0"), "2026-12-09T12:00:00Z"),
            "2027-01-12T21:00Z",
            "2027-01-13T03:00Z",
        );
        // 25 days after Patch Tuesday of November is in December.
        is(
            &opening(&after("25"), "2026-12-01T12:00:00Z"),
            "2026-12-05T21:00Z",
            "2026-12-06T03:00Z",
        );
        let never = window("Mon 22:00-23:00 UTC").on_days_after("4".parse().unwrap());
        assert_eq!(never, Err(WindowError::Never("4".to_owned())));
    }

    #[test]
    fn what_is_no_window_is_refused_with_what_is_expected() {
        for (text, words) in [
            ("", "expected [DAYS]"),
            ("22:00-04:00", "expected [DAYS]"),
            ("Sat 22:00 UTC", "expected [DAYS]"),
            ("Caturday 22:00-04:00 UTC", "weekday"),
            ("22:00-25:00 UTC", "time of day"),
            ("24:00-04:00 UTC", "time of day"),
            ("22:00-22:00 UTC", "00:00-24:00"),
            ("22:00-04:00 Europe/Berlino", "time zone"),
            ("22:00-04:00 02:00", "time zone"),
            ("22:00-04:00 2026", "time zone"),
        ] {
            let error = text.parse::<Window>().unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        for text in ["", "-1", "28", "6-4", "a", "4-"] {
            assert_eq!(text.parse::<DaysAfter>(), Err(WindowError::DaysAfter), "{text}");
        }
    }

    #[test]
    fn a_window_is_shown_by_its_own_clock_and_survives_its_text() {
        let berlin = window("fri-mon 22:00-04:00 Europe/Berlin");
        assert_eq!(berlin.to_string(), "Mon,Fri,Sat,Sun 22:00-04:00 Europe/Berlin");
        assert_eq!(
            berlin.clock(at("2026-12-05T21:00:00Z")),
            "Sat 2026-12-05 22:00 CET"
        );
        let kabul = window("08:00-24:00 +04:30");
        assert_eq!(
            kabul.clock(at("2026-12-05T21:00:00Z")),
            "Sun 2026-12-06 01:30 +04:30"
        );
        let bounded = berlin.on_days_after("4-6".parse().unwrap()).unwrap();
        for window in [bounded, kabul] {
            let text = serde_json::to_string(&window).unwrap();
            assert_eq!(serde_json::from_str::<Window>(&text).unwrap(), window, "{text}");
        }
    }

    /// Zones that change their clocks by an hour, by half of one, the other way round, and never.
    const ZONES: [&str; 6] = [
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "UTC",
        "+05:30",
    ];

    prop_compose! {
        fn any_window()(
            days in prop::array::uniform7(any::<bool>()),
            from in 0_u32..1440,
            length in 1_u32..1440,
            zone in prop::sample::select(&ZONES[..]),
        ) -> Window {
            let time = |minute: u32| NaiveTime::from_hms_opt(minute / 60, minute % 60, 0).unwrap();
            Window {
                days: if days.contains(&true) { days } else { [true; 7] },
                from: time(from),
                to: Some(time((from + length) % 1440)),
                zone: zone.parse().unwrap(),
                after: None,
            }
        }
    }

    proptest! {
        #[test]
        fn an_opening_is_ahead_or_under_way_and_stays_the_same_until_it_is_over(
            window in any_window(), minute in 0_i64..20_000_000,
        ) {
            let now = Utc.timestamp_opt(1_000_000_000 + minute * 60, 0).unwrap();
            let found = window.opening(now).unwrap();
            prop_assert!(found.from < found.to && now < found.to);
            prop_assert_eq!(window.opening(found.to - TimeDelta::seconds(1)), Some(found));
            prop_assert_eq!(window.opening(now.max(found.from)), Some(found));
        }

        /// Read off the clock on the wall, minute by minute, away from the days on which it jumps.
        #[test]
        fn it_is_open_exactly_when_the_clock_on_the_wall_says_so(
            window in any_window(), minute in 0_i64..20_000_000,
        ) {
            let now = Utc.timestamp_opt(1_000_000_000 + minute * 60, 0).unwrap();
            let local = window.zone.local(now);
            let offset = |days: i64| window.zone.local(now + TimeDelta::days(days)) - (now + TimeDelta::days(days)).naive_utc();
            prop_assume!((-2..=2).all(|days| offset(days) == offset(0)));
            let (time, day) = (local.time(), local.date());
            let opens = |day: NaiveDate| window.days[day.weekday().num_days_from_monday() as usize];
            let to = window.to.unwrap();
            let wall = if window.from < to {
                opens(day) && window.from <= time && time < to
            } else {
                opens(day) && window.from <= time || opens(day.pred_opt().unwrap()) && time < to
            };
            let found = window.opening(now).unwrap();
            prop_assert_eq!(found.from <= now, wall, "{} at {}", window, local);
        }

        #[test]
        fn noise_is_read_or_refused_and_never_a_panic(noise in "\\PC{0,40}") {
            if let Ok(read) = noise.parse::<Window>() {
                prop_assert_eq!(window(&read.to_string()), read);
            }
        }
    }
}
