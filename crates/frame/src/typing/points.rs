//! Decides from the spelling of the numbers of a column whether their points may separate thousands.

/// The number of digits after the point in each number of a column, as a set. A number in a typed file has no spelling
/// and is not in the set.
///
/// The set is a word in which bit `n` stands for `n` digits. The set is updated for every cell, so it is stored in a
/// way that makes an update a single instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Points(u32);

/// Numbers without digits after a point.
const NO_DIGITS: u32 = 1;
const THREE_DIGITS: u32 = 1 << 3;
/// Numbers in a notation in which the point cannot separate thousands, such as `1.500e3` and `01.500`.
const OTHER: u32 = 1 << 31;

impl Points {
    /// The set of a number with `digits` digits after its point, which must be fewer than 31.
    #[inline(always)]
    pub(crate) fn with(digits: usize) -> Points {
        Points(1u32.wrapping_shl(digits as u32))
    }

    /// The set of a number with a decimal point. The number may have a minus sign or a parenthesis at its end.
    pub(crate) fn of(cell: &[u8]) -> Points {
        let Some(at) = cell.iter().position(|byte| *byte == b'.') else { return Points(NO_DIGITS) };
        let (before, after) = (&cell[..at], &cell[at + 1..]);
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_exponent = after.get(digits).is_some_and(u8::is_ascii_alphabetic);
        let first = before.iter().position(u8::is_ascii_digit).unwrap_or(at);
        let has_leading_zero = before.len() > first + 1 && before[first] == b'0';
        Points(if is_exponent || has_leading_zero { OTHER } else { 1 << digits.min(30) })
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, other: Points) {
        self.0 |= other.0;
    }

    /// Whether at least one number has digits after a point.
    pub(crate) fn any(self) -> bool {
        self.0 & !NO_DIGITS != 0
    }

    /// Whether every number is compatible with points that separate thousands.
    #[inline]
    pub(crate) fn are_open(self) -> bool {
        self.0 & !(NO_DIGITS | THREE_DIGITS) == 0
    }

    /// Whether the points may separate thousands. This requires that at least one number has a point, and that every
    /// point has three digits after it and one to three digits before it, the first of which is not 0. `values` are the
    /// numbers that result if points are read as decimal points.
    pub(crate) fn may_separate_thousands(self, values: &[f64]) -> bool {
        // If there are integers, a number without a fraction may be one of them.
        let has_integers = self.0 & NO_DIGITS != 0;
        let may_be = |value: &f64| {
            value.is_nan()
                || (1.0..1000.0).contains(&value.abs())
                || has_integers && value.fract().abs() <= 0.0
        };
        self.any() && self.are_open() && values.iter().all(may_be)
    }

    /// Whether it may be wrong to read the points as decimal points. Semicolons are common in tables with decimal
    /// commas, so the spelling of the numbers is sufficient evidence in such a table.
    pub(super) fn are_doubtful(self, values: &[f64], delimiter: Option<u8>) -> bool {
        match delimiter {
            Some(b';') => self.may_separate_thousands(values),
            Some(_) => self.are_among_integers(values),
            None => false,
        }
    }

    /// Whether the points probably separate thousands, because the column has integers of three digits, but none of
    /// four. Programs that write integers without a fraction rarely write other numbers with exactly three digits after
    /// the decimal point.
    fn are_among_integers(self, values: &[f64]) -> bool {
        let is_hundred =
            |value: &f64| value.fract().abs() <= 0.0 && (100.0..1000.0).contains(&value.abs());
        self.0 == NO_DIGITS | THREE_DIGITS
            && values.iter().all(|value| value.is_nan() || value.abs() < 1000.0)
            && values.iter().any(is_hundred)
            && self.may_separate_thousands(values)
    }
}

/// Describes numbers whose points may separate thousands, as they are read with decimal points.
pub(super) fn example(values: &[f64]) -> String {
    match values.iter().find(|value| value.fract().abs() > 0.0) {
        Some(value) => format!("numbers such as {value:.3}"),
        None => "numbers that end in .000".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(cells: &[&str]) -> Points {
        let mut points = Points::default();
        cells.iter().for_each(|cell| points.add(Points::of(cell.as_bytes())));
        points
    }

    #[test]
    fn the_spelling_decides_whether_points_may_separate_thousands() {
        for (cells, may_be, among) in [
            (&["330", "2.000", "12.000"][..], true, true),
            (&["137", "1.096"], true, true),
            (&["1.000", "60.000"], true, false),
            (&["-12.500", "1.965-", "+999.999"], true, false),
            (&["0", "7", "1.096"], true, false),
            (&["330", "1200", "2.000"], true, false),
            (&["330", "2.5", "2.000"], false, false),
            (&["330", "2.0"], false, false),
            (&["330", "12"], false, false),
            (&["330", "0.125", "1.500"], false, false),
            (&["0.000", "1.000"], false, false),
            (&["1234.000", "1.000"], false, false),
            (&["330", "01.000"], false, false),
            (&["330", "1.500e3", "1.000"], false, false),
            (&["330", "1.5000"], false, false),
            (&[], false, false),
        ] {
            let number = |cell: &&str| cell.trim_end_matches('-').parse().unwrap();
            let values: Vec<f64> = cells.iter().map(number).collect();
            let found = points(cells);
            assert_eq!(found.may_separate_thousands(&values), may_be, "{cells:?}");
            assert_eq!(found.are_among_integers(&values), among, "{cells:?}");
        }
        assert!(!Points::default().any() && points(&["5."]) == points(&["5"]));
        assert!((0..20).all(|n| Points::with(n) == points(&[&format!("1.{}", "7".repeat(n))])));
    }
}
