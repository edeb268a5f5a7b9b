//! Converts between dates of the Gregorian calendar and numbers of days.

/// The number of microseconds in a day.
pub(crate) const DAY: i64 = 86_400_000_000;

/// The number of days from 1970-01-01 to a date, or `None` if the date does not exist.
pub(crate) fn days(year: i64, month: u32, day: u32) -> Option<i64> {
    if !(1..=12).contains(&month) || day == 0 || day > month_length(year, month) {
        return None;
    }
    // In this calculation, years begin in March, so that a leap day is the last day of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year =
        (153 * (i64::from(month) + if month > 2 { -3 } else { 9 }) + 2) / 5 + i64::from(day) - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// The year, month and day of a date, given as a number of days since 1970-01-01.
pub(crate) fn date(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month as u32, day as u32)
}

fn month_length(year: i64, month: u32) -> u32 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_are_inverse() {
        assert_eq!(
            (days(1970, 1, 1), days(2000, 3, 1), days(1969, 12, 31)),
            (Some(0), Some(11_017), Some(-1))
        );
        for day in (-800_000..800_000).step_by(13) {
            let (y, m, d) = date(day);
            assert_eq!(days(y, m, d), Some(day), "{y}-{m}-{d}");
        }
        for (y, m, d) in
            [(2023, 2, 29), (1900, 2, 29), (2024, 4, 31), (2024, 13, 1), (2024, 0, 1), (2024, 1, 0)]
        {
            assert_eq!(days(y, m, d), None);
        }
        assert!(days(2000, 2, 29).is_some() && days(2024, 2, 29).is_some());
    }
}
