//! The texts of a column that are not missing, and how many of them can be read as a type such as numbers or dates.

use super::markers::{self, Markers};
use super::raw::RawTexts;

/// A column with few distinct texts, most of which are numbers, contains categories only if at least this share of its
/// rows are not numeric.
const CATEGORY_SHARE: f64 = 0.1;
/// The maximum number of distinct texts in such a column.
const FEW: usize = 20;

/// The texts of a column that are not missing.
pub(super) struct Present<'t> {
    /// The indices of these texts among all texts of the column.
    pub(super) places: Vec<usize>,
    pub(super) texts: Vec<&'t str>,
    pub(super) rows: Vec<usize>,
    /// The total number of rows that contain these texts.
    pub(super) total: usize,
}

impl<'t> Present<'t> {
    pub(super) fn of(raw: &'t RawTexts, rows: &[usize], markers: &Markers) -> Present<'t> {
        let is_present =
            |at: &usize| rows[*at] > 0 && !markers.has(raw.levels[*at].trim().as_bytes());
        let places: Vec<usize> = (0..raw.levels.len()).filter(is_present).collect();
        Present {
            texts: places.iter().map(|at| raw.levels[*at].trim()).collect(),
            rows: places.iter().map(|at| rows[*at]).collect(),
            total: places.iter().map(|at| rows[*at]).sum(),
            places,
        }
    }

    /// The texts, each with its number of rows.
    pub(super) fn counted(&self) -> impl Iterator<Item = (&'t str, usize)> + '_ {
        self.texts.iter().copied().zip(self.rows.iter().copied())
    }

    /// Expands the values of the present texts to values of all texts. Missing texts get `None`.
    pub(super) fn spread<T: Copy>(&self, values: &[Option<T>], levels: usize) -> Vec<Option<T>> {
        let mut of_level = vec![None; levels];
        for (place, value) in self.places.iter().zip(values) {
            of_level[*place] = *value;
        }
        of_level
    }
}

/// How well a type, such as numbers or dates, fits the present texts of a column.
pub(super) struct Fit {
    /// The number of rows that can be read as this type.
    pub(super) read: usize,
    /// The texts that are probably markers of missing values, as indices among the present texts.
    pub(super) likely: Vec<usize>,
    /// The other texts that cannot be read as this type, as indices among the present texts.
    pub(super) odd: Vec<usize>,
    pub(super) odd_rows: usize,
}

impl Fit {
    pub(super) fn of(present: &Present<'_>, is_read: impl Fn(usize) -> bool, dates: bool) -> Fit {
        let mut fit = Fit { read: 0, likely: Vec::new(), odd: Vec::new(), odd_rows: 0 };
        for (at, text) in present.texts.iter().enumerate() {
            if is_read(at) {
                fit.read += present.rows[at];
            } else if markers::is_likely(text, dates) {
                fit.likely.push(at);
            } else {
                fit.odd.push(at);
                fit.odd_rows += present.rows[at];
            }
        }
        fit
    }

    pub(super) fn is_most(&self) -> bool {
        self.read > self.odd_rows
    }
}

/// Whether a column with some numbers nevertheless contains categories, such as `2`, `3`, `4` and `5more`. This
/// requires that the column has few distinct texts, that many rows are not numeric, and that each text that is not
/// numeric occurs in more than one row.
pub(super) fn is_category(present: &Present<'_>, fit: &Fit) -> bool {
    present.texts.len() <= FEW
        && !fit.odd.is_empty()
        && fit.odd_rows as f64 >= CATEGORY_SHARE * present.total as f64
        && fit.odd.iter().all(|at| present.rows[*at] > 1)
}
