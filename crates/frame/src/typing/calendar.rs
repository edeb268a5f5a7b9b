//! Converts timestamps to coordinates. These are the days since 1970 and the positions in the calendar cycles that the
//! data span.

use super::civil::{DAY, date, days};
use arrow_array::{Array, TimestampMicrosecondArray};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// The parts of timestamps that become coordinates. The position in each cycle is a point on a circle, given by its
/// sine and cosine, so that December is next to January.
///
/// ```
/// use arrow_array::TimestampMicrosecondArray;
/// use halfspaces_frame::MomentParts;
/// let hour = 3_600_000_000;
/// let moments = TimestampMicrosecondArray::from(vec![0, 6 * hour, 48 * hour]);
/// let parts = MomentParts::of(&moments);
/// assert_eq!(parts.names("seen"), ["seen", "seen: time of day (sin)", "seen: time of day (cos)"]);
/// assert_eq!(parts.coordinates(6 * hour), vec![0.25, 1.0, 0.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MomentParts {
    /// Whether the days since 1970-01-01 are used, with the time of day as a fraction. They are used if the timestamps
    /// span more than one day.
    pub days: bool,
    /// Whether the time of day is used. It is used if the times of day differ between the timestamps.
    pub time: bool,
    /// Whether the day of the week is used, together with an indicator of Saturday and Sunday. They are used if the
    /// timestamps span at least two weeks and include at least three different days of the week.
    pub week: bool,
    /// Whether the day of the year is used. It is used if the timestamps span at least two years.
    pub year: bool,
}

/// The number of days that timestamps must span for the day of the week to be used.
const TWO_WEEKS: i64 = 14;
/// The number of days that timestamps must span for the day of the year to be used.
const TWO_YEARS: i64 = 2 * 365;

impl MomentParts {
    /// Determines which parts to use for the given timestamps.
    #[must_use]
    pub fn of(moments: &TimestampMicrosecondArray) -> MomentParts {
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        let (mut first_time, mut has_times, mut weekdays) = (None, false, [false; 7]);
        for micros in moments.iter().flatten() {
            let (day, time) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
            (first, last) = (first.min(day), last.max(day));
            has_times |= *first_time.get_or_insert(time) != time;
            weekdays[weekday(day)] = true;
        }
        if moments.null_count() == moments.len() {
            return MomentParts::default();
        }
        let span = last - first;
        let different = weekdays.iter().filter(|seen| **seen).count();
        MomentParts {
            days: span > 0,
            time: has_times,
            week: span >= TWO_WEEKS && different >= 3,
            year: span >= TWO_YEARS,
        }
    }

    /// The number of coordinates.
    #[must_use]
    pub fn width(&self) -> usize {
        usize::from(self.days)
            + 2 * usize::from(self.time)
            + 3 * usize::from(self.week)
            + 2 * usize::from(self.year)
    }

    /// The names of the coordinates of a column.
    #[must_use]
    pub fn names(&self, column: &str) -> Vec<String> {
        let mut names = Vec::with_capacity(self.width());
        names.extend(self.days.then(|| column.to_owned()));
        let mut cycle = |part: &str| {
            names.push(format!("{column}: {part} (sin)"));
            names.push(format!("{column}: {part} (cos)"));
        };
        if self.time {
            cycle("time of day");
        }
        if self.week {
            cycle("day of week");
        }
        if self.year {
            cycle("day of year");
        }
        if self.week {
            names.push(format!("{column}: weekend"));
        }
        names
    }

    /// The coordinates of a timestamp, in the order of [`MomentParts::names`]. The timestamp is in microseconds since
    /// 1970-01-01.
    #[must_use]
    pub fn coordinates(&self, micros: i64) -> Vec<f64> {
        let (day, time) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
        let of_day = time as f64 / DAY as f64;
        let mut coordinates = Vec::with_capacity(self.width());
        coordinates.extend(self.days.then_some(day as f64 + of_day));
        let mut cycle = |share: f64| coordinates.extend([sine(share), sine(share + 0.25)]);
        if self.time {
            cycle(of_day);
        }
        if self.week {
            cycle(weekday(day) as f64 / 7.0);
        }
        if self.year {
            cycle(of_year(day));
        }
        if self.week {
            coordinates.push(f64::from(u8::from(weekday(day) >= 5)));
        }
        coordinates
    }
}

/// The day of the week of a day that is given as a number of days since 1970-01-01, which was a Thursday. Monday is 0.
fn weekday(day: i64) -> usize {
    (day + 3).rem_euclid(7) as usize
}

/// The fraction of the year that has elapsed before a day.
fn of_year(day: i64) -> f64 {
    let (year, _, _) = date(day);
    let start = |year| days(year, 1, 1).unwrap_or(day);
    (day - start(year)) as f64 / (start(year + 1) - start(year)).max(1) as f64
}

/// The sine of a fraction of a full turn. The result is exact at quarter turns.
fn sine(share: f64) -> f64 {
    let quarters = (4.0 * share).rem_euclid(4.0);
    if quarters.fract() > 0.0 {
        return (share * TAU).sin();
    }
    [0.0, 1.0, 0.0, -1.0][quarters as usize % 4]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(days: &[f64]) -> MomentParts {
        let micros: Vec<i64> = days.iter().map(|day| (day * DAY as f64) as i64).collect();
        MomentParts::of(&TimestampMicrosecondArray::from(micros))
    }

    #[test]
    fn only_the_spanned_parts_are_used() {
        assert_eq!(of(&[0.0, 1.0, 5.0]), MomentParts { days: true, ..MomentParts::default() });
        assert_eq!(of(&[0.25, 0.5]), MomentParts { time: true, ..MomentParts::default() });
        assert!(
            of(&[0.0, 1.0, 16.0]).week
                && !of(&[0.0, 7.0, 14.0]).week
                && !of(&[0.0, 1.0, 13.0]).week
        );
        assert!(of(&[0.0, 730.0]).year && !of(&[0.0, 729.0]).year);
        assert_eq!(of(&[]).width(), 0);
        let none = TimestampMicrosecondArray::from(vec![None, None]);
        assert_eq!(MomentParts::of(&none).width(), 0);
    }

    #[test]
    fn names_and_coordinates_agree() {
        let all = MomentParts { days: true, time: true, week: true, year: true };
        let saturday = days(2024, 6, 1).unwrap() * DAY + DAY / 2;
        let (names, values) = (all.names("t"), all.coordinates(saturday));
        assert_eq!((names.len(), values.len()), (all.width(), all.width()));
        assert_eq!((names[0].as_str(), values[0]), ("t", 19_875.5));
        assert_eq!((values[1], values[2]), (0.0, -1.0));
        assert_eq!((names[7].as_str(), values[7]), ("t: weekend", 1.0));
        assert_eq!(all.coordinates(saturday + 2 * DAY)[7], 0.0);
        let (december, january) =
            (days(2023, 12, 31).unwrap() * DAY, days(2024, 1, 1).unwrap() * DAY);
        for at in [5, 6] {
            assert!((all.coordinates(december)[at] - all.coordinates(january)[at]).abs() < 0.02);
        }
    }
}
