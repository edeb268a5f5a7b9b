//! Notes on tables that differ from the training rows, so that predictions for them are unreliable.

use super::encode::Found;
use super::{ColumnRecipe, Kind, Recipe};
use halfspaces_frame::{Block, DataError, Frame, Values, first_of};
use halfspaces_linalg::PointSet;
use std::collections::HashSet;

const MICROS_OF_A_DAY: i64 = 86_400_000_000;

/// The largest absolute value of a number. The sum of the squares of 10^8 such numbers does not overflow.
const MAX_NUMBER: f64 = 1e150;

impl Recipe {
    /// Checks that the squares of the numbers that a model learns from do not overflow.
    ///
    /// # Errors
    /// Returns an error that names the first number that is too large.
    pub(crate) fn check_sizes(&self, frame: &Frame) -> Result<(), DataError> {
        let columns: HashSet<&str> = self.columns.iter().map(|of| of.name.as_str()).collect();
        let is_huge = |value: &f64| value.abs() > MAX_NUMBER;
        let fault = |row: usize, name: &str, value: f64| {
            columns.contains(name).then(|| {
                DataError::user(format!(
                    "{}, column `{name}`: {value:e} is so large that its square overflows; divide the column by a power of ten, \
                     or correct the number",
                    frame.place(row)
                ))
            })
        };
        let in_columns = frame.columns.iter().find_map(|column| {
            let Values::Numbers(values) = &column.values else { return None };
            let row = values.values().iter().position(is_huge)?;
            fault(row, &column.name, values.values()[row])
        });
        let in_block = match &frame.block {
            Some(block @ Block::Dense { values, .. }) => {
                let mut huge = values.iter().enumerate().filter(|(_, value)| is_huge(value));
                huge.find_map(|(place, value)| {
                    fault(place / block.dim(), &block.name(place % block.dim()), *value)
                })
            }
            _ => None,
        };
        in_columns.or(in_block).map_or(Ok(()), Err)
    }

    /// Notes on rows that have no value in any column of the recipe, and on columns with numbers outside the range of
    /// the training rows. There are also notes on columns that have missing values for the first time, or that have no
    /// value in any row of a table with at least ten rows. Predictions for such rows and tables are unreliable.
    pub(crate) fn gaps(&self, frame: &Frame, label: &str) -> Vec<String> {
        const MIN_ROWS: usize = 10;
        const MOST_SHOWN: usize = 5;
        let (mut open, mut empty) = ((0..frame.rows).collect::<Vec<usize>>(), Vec::new());
        // The columns in which values are missing for the first time, each with its number of missing values.
        let mut newly_missing = Vec::new();
        match &frame.block {
            // A row without entries in a sparse block is a row of zeros. Zeros are values.
            Some(Block::Sparse(_)) => open.clear(),
            _ if !self.entries.is_empty() => open.clear(),
            Some(Block::Dense { values, numbers, .. }) => {
                let width = numbers.len();
                open.retain(|row| values[row * width..][..width].iter().all(|v| v.is_nan()));
            }
            _ => {}
        }
        let columns = Found::new(frame);
        let found = self.columns.iter().filter_map(|column| {
            // Columns of a block were checked above. An absent column causes an error later, or is handled by --unseen.
            Some((column, *columns.by_name.get(column.name.as_str())?))
        });
        let found: Vec<(&ColumnRecipe, &Values)> = found.collect();
        if found.is_empty() && frame.block.is_none() {
            return self.absent(frame).into_iter().collect();
        }
        for (column, values) in found {
            open.retain(|row| values.is_missing(*row));
            let missing = values.missing();
            if frame.rows >= MIN_ROWS && missing == frame.rows {
                empty.push(format!("`{}`", column.name));
            } else if missing > 0 && column.kind.had_no_gaps() {
                newly_missing.push((&column.name, missing));
            }
        }
        let mut notes = Vec::new();
        if let Some(first) = open.first() {
            let rows =
                if open.len() == 1 { "1 row has" } else { &format!("{} rows have", open.len()) };
            notes.push(format!(
                "{rows} no value in any column of the model (for example {}); all values are replaced by defaults from the fit",
                frame.place(*first)
            ));
        }
        // Rows without any value have a note of their own.
        newly_missing.retain(|(_, missing)| *missing > open.len());
        if !newly_missing.is_empty() {
            let counted = newly_missing.iter().map(|(name, count)| format!("`{name}` ({count})"));
            notes.push(format!(
                "{}: values are missing in columns for which the model has not learned from missing values; medians from the \
                 fit replace them: {}",
                frame.source,
                first_of(counted, MOST_SHOWN)
            ));
        }
        notes.extend(self.absent(frame));
        notes.extend(self.unknown_words(frame));
        notes.extend(self.shifted(frame));
        notes.extend(self.wider(frame, label));
        notes.extend(self.narrower(frame));
        notes.extend(self.without_times(frame));
        notes.extend(self.outside(frame));
        notes.extend(self.far_outside(frame));
        if !empty.is_empty() && open.len() < frame.rows {
            let (columns, verb) =
                if empty.len() == 1 { ("column", "has") } else { ("columns", "have") };
            notes.push(format!(
                "{}: {columns} {} {verb} no value in any row, but had values when the model was fitted; all are \
                replaced by defaults from the fit",
                frame.source,
                empty.join(", ")
            ));
        }
        notes
    }

    /// A note for each column of text in which some rows contain no word that the model knows. Rows without words do
    /// not count.
    fn unknown_words(&self, frame: &Frame) -> Vec<String> {
        let mut notes = Vec::new();
        for column in &self.columns {
            let Kind::Text { ngrams } = &column.kind else { continue };
            let Some(values) = frame.column(&column.name) else { continue };
            let Values::Texts(texts) = values.as_ref() else { continue };
            // Each distinct text is looked up once.
            let mut of_level: Vec<Option<bool>> = vec![None; texts.level_count()];
            let is_unknown = |row: &usize| {
                let look = || texts.get(*row).and_then(|text| ngrams.knows_a_word(text));
                match of_level.get_mut(texts.codes()[*row] as usize) {
                    Some(found) => *found.get_or_insert_with(|| look() == Some(false)),
                    None => look() == Some(false),
                }
            };
            let unknown: Vec<usize> = (0..frame.rows).filter(is_unknown).collect();
            let Some(first) = unknown.first() else { continue };
            notes.push(format!(
                "{}: no known word in {} of {} rows of column `{}` (for example {}); the model has not learned from such texts",
                frame.source,
                unknown.len(),
                frame.rows,
                column.name,
                frame.place(*first)
            ));
        }
        notes
    }

    /// A note on a LIBSVM file if its indices probably start at 1 and those of the training file at 0, or the other way
    /// round.
    fn shifted(&self, frame: &Frame) -> Option<String> {
        let Some(Block::Sparse(block)) = &frame.block else { return None };
        let of_columns = self.columns.iter().filter_map(|column| column.name.parse().ok());
        let of_entries = self.entries.iter().filter(|_| self.prefix.is_empty()).copied();
        let known = || of_columns.clone().chain(of_entries.clone());
        let (least, greatest): (u32, u32) = (known().min()?, known().max()?);
        let next = greatest.checked_add(1)?.to_string();
        match (least, block.first()) {
            (0, 1) if frame.has(&next) => Some(format!(
                "{}: no row has an index 0, but the model has a column 0, and index {next} is larger than all columns of the model; \
                 if these indices count from 1 and those of the model from 0, each number is read as that of the next column",
                frame.source
            )),
            (1, 0) if frame.has("0") && !frame.has(&greatest.to_string()) => Some(format!(
                "{}: index 0 occurs, but the model has no column 0, and index {greatest}, the largest of the model, does not occur; if \
                 these indices count from 0 and those of the model from 1, each number is read as that of the previous column",
                frame.source
            )),
            _ => None,
        }
    }

    /// A note on a sparse table of at least ten rows whose last column comes before most columns of the model.
    fn narrower(&self, frame: &Frame) -> Option<String> {
        const MIN_ROWS: usize = 10;
        let Some(Block::Sparse(block)) = &frame.block else { return None };
        let end = block.first() as usize + block.points().dim();
        let of_columns = self.columns.iter().filter_map(|column| block.number(&column.name));
        let of_entries = self.entries.iter().filter(|_| self.prefix == block.prefix()).copied();
        let numbers: Vec<u32> = of_columns.chain(of_entries).collect();
        let absent = numbers.iter().filter(|number| **number as usize >= end).count();
        (frame.rows >= MIN_ROWS && 2 * absent > numbers.len()).then(|| {
            format!(
                "{}: its last column is `{}{}`, so {absent} of {} columns of the model have no number in any row and count as 0; \
                 check that this is the right table",
                frame.source,
                block.prefix(),
                end.saturating_sub(1),
                numbers.len()
            )
        })
    }

    /// A note on an array with more columns than the array to which the model was fitted.
    fn wider(&self, frame: &Frame, label: &str) -> Option<String> {
        let Some(Block::Dense { numbers, .. }) = &frame.block else { return None };
        let number = |name: &str| name.strip_prefix('x')?.parse::<u32>().ok();
        let names = self.columns.iter().map(|column| &column.name);
        let names = names.chain(&self.constant).chain(&self.names_only);
        let last = names.filter_map(|name| number(name)).max()?;
        let more = numbers.iter().filter(|n| **n > last && number(label) != Some(**n)).count();
        (more > 0 && frame.has(&format!("x{last}"))).then(|| {
            format!(
                "{}: it has {} columns, but the last column that the model knows is x{last}; the columns after it are not used; check that \
                 this is the right array and that it is not transposed",
                frame.source,
                numbers.len()
            )
        })
    }

    /// A note on columns that contain only dates here, although the model learned from their times of day.
    fn without_times(&self, frame: &Frame) -> Option<String> {
        const LISTED: usize = 5;
        let is_date = |column: &&ColumnRecipe| {
            let Kind::Moment { parts, .. } = &column.kind else { return false };
            let values = frame.columns.iter().find(|found| found.name == column.name);
            let Some(Values::Moments(moments)) = values.map(|found| &found.values) else {
                return false;
            };
            let mut present = moments.iter().flatten();
            // Times without a date belong to the day 1970-01-01, so midnight is a time there.
            parts.time
                && moments.iter().flatten().any(|moment| moment != 0)
                && present.all(|moment| moment.rem_euclid(MICROS_OF_A_DAY) == 0)
        };
        let dates: Vec<&ColumnRecipe> = self.columns.iter().filter(is_date).collect();
        let names = dates.iter().map(|column| format!("`{}`", column.name));
        (!dates.is_empty()).then(|| {
            format!(
                "{}: no date has a time of day in {}, but the model learned from times of day; all are read as midnight; write the \
                 times as in the training rows",
                frame.source,
                first_of(names, LISTED)
            )
        })
    }

    /// A note on columns of the model that the table does not have.
    fn absent(&self, frame: &Frame) -> Option<String> {
        const LISTED: usize = 5;
        if frame.is_sparse() {
            return None;
        }
        let found = Found::new(frame);
        let has = |name: &str| {
            found.by_name.contains_key(name) || frame.block.is_some() && frame.has(name)
        };
        let absent = self.columns.iter().filter(|column| !has(&column.name));
        let names: Vec<String> = absent.map(|column| format!("`{}`", column.name)).collect();
        (!names.is_empty()).then(|| {
            format!(
                "{}: the table does not have these columns of the model: {}; with --unseen zero, defaults from the fit replace their \
                 values",
                frame.source,
                first_of(names.into_iter(), LISTED)
            )
        })
    }

    /// Notes on numbers that occur several times and whose distance from the range of the training rows is larger than
    /// the width of this range. Such a number often marks missing values.
    pub(super) fn far_outside(&self, frame: &Frame) -> Vec<String> {
        const LISTED: usize = 5;
        let found = Found::new(frame);
        let note = |column: &ColumnRecipe| {
            let Kind::Number { range: Some((low, high)), .. } = column.kind else { return None };
            let values = found.values(&column.name)?;
            let Values::Numbers(values) = values.as_ref() else { return None };
            let width = high - low;
            let is_far = |value: &f64| *value < low - width || *value > high + width;
            let mut far: Vec<f64> = values.values().iter().copied().filter(is_far).collect();
            far.sort_unstable_by(f64::total_cmp);
            let equal = far.chunk_by(|a, b| a.to_bits() == b.to_bits());
            let (number, count) = equal.map(|run| (run[0], run.len())).max_by_key(|run| run.1)?;
            (width > 0.0 && count > 1).then(|| {
                format!(
                    "{}, column `{}`: {number} occurs {count} times, far outside the range of the training rows ({low} to {high}); if it \
                     marks missing values, pass --missing {number}",
                    frame.source, column.name
                )
            })
        };
        self.columns.iter().filter_map(note).take(LISTED).collect()
    }

    /// A note on columns with at least ten numbers or dates if at least a tenth of them are outside the range of the
    /// training rows.
    pub(super) fn outside(&self, frame: &Frame) -> Option<String> {
        const MIN_VALUES: usize = 10;
        const LISTED: usize = 5;
        let columns = Found::new(frame);
        let column = |column: &ColumnRecipe| {
            let values = columns.values(&column.name)?;
            let (count, outside, range) = match (&column.kind, values.as_ref()) {
                (Kind::Number { range: Some((low, high)), .. }, Values::Numbers(values)) => {
                    let present = values.values().iter().filter(|value| !value.is_nan());
                    let outside = present.clone().filter(|value| *value < low || *value > high);
                    (present.count(), outside.count(), format!("{low} to {high}"))
                }
                (Kind::Moment { range: Some((low, high)), parts, .. }, Values::Moments(values))
                    if parts.days =>
                {
                    let outside =
                        values.iter().flatten().filter(|value| value < low || value > high);
                    let ends = Values::moments(vec![Some(*low), Some(*high)]);
                    let range = format!("{} to {}", ends.text(0), ends.text(1));
                    (values.iter().flatten().count(), outside.count(), range)
                }
                _ => return None,
            };
            let share = outside as f64 / count as f64;
            (count >= MIN_VALUES && share >= 0.1)
                .then(|| format!("`{}` {:.0} % ({range})", column.name, 100.0 * share))
        };
        let found: Vec<String> = self.columns.iter().filter_map(column).collect();
        let more = match found.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more columns"),
        };
        let shown = found.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
        (!found.is_empty()).then(|| {
            format!(
                "{}: many values are outside the range of the training rows, so the error may be larger than the \
                 model reports: {shown}{more}",
                frame.source
            )
        })
    }
}
