//! Reads new rows by the rules that were found when the model was fitted.

use super::civil::DAY;
use super::context::Context;
use super::infer::truth;
use super::markers::Markers;
use super::moment::{self, DateOrder, MomentFormat, Moved, digits_date, has_point};
use super::notes::points_advice;
use super::number::{Decimal, Group, NumberFormat};
use super::points::{self, Points};
use super::raw::{Cells, RawTexts, numbers_of, texts_without};
use super::record::ColumnRecord;
use super::rule::{ColumnRule, Reading};
use crate::error::DataError;
use crate::names::short;
use crate::options::ReadOptions;
use crate::values::Values;

/// Converts the cells of a column by the rule of the column. `points` is the set of the numbers of digits after the
/// point in numeric cells.
///
/// # Errors
/// Returns an error if a cell does not match the rule.
pub(crate) fn apply(
    name: &str,
    rule: &ColumnRule,
    cells: Cells,
    points: Points,
    context: &Context<'_>,
) -> Result<(Values, ColumnRecord), DataError> {
    let mut missing = rule.missing.clone();
    missing.extend(
        context.options.missing.iter().filter(|marker| !rule.missing.contains(marker)).cloned(),
    );
    let mut not_missing = rule.not_missing.clone();
    if rule.reading == Reading::Text {
        not_missing.extend(context.options.not_missing.iter().cloned());
    }
    let markers = Markers::new(&missing, &not_missing);
    let reading = with_overrides(&rule.reading, context.options);
    let rule = &ColumnRule { reading, missing, not_missing, ..*rule };
    let record = ColumnRecord::new(name, rule.clone());
    let mut rows = Rows { name, context, markers, record };
    let values = match &rule.reading {
        Reading::Number(format) => rows.numbers(format, cells, points)?,
        Reading::Date(format) => rows.moments(*format, cells)?,
        Reading::Boolean => rows.booleans(cells)?,
        Reading::Text => texts_without(&cells.into_texts(), &rows.markers),
    };
    Ok((values, rows.record))
}

/// The reading that was found when the model was fitted, overridden by the current options.
fn with_overrides(reading: &Reading, options: &ReadOptions) -> Reading {
    match reading {
        Reading::Number(format) => match options.decimal {
            Some(decimal) if decimal != format.decimal => {
                Reading::Number(NumberFormat { decimal, group: None, affix: format.affix.clone() })
            }
            _ => reading.clone(),
        },
        Reading::Date(format)
            if options.day_first == Some(true) && format.order != DateOrder::Digits =>
        {
            Reading::Date(MomentFormat { order: DateOrder::DayFirst, ..*format })
        }
        other => other.clone(),
    }
}

fn are_whole(values: &[Option<f64>]) -> bool {
    values.iter().flatten().all(|value| value.fract().abs() <= 0.0)
}

struct Rows<'a> {
    name: &'a str,
    context: &'a Context<'a>,
    markers: Markers,
    record: ColumnRecord,
}

impl Rows<'_> {
    fn numbers(
        &mut self,
        format: &NumberFormat,
        cells: Cells,
        points: Points,
    ) -> Result<Values, DataError> {
        match cells {
            Cells::Numbers(values) | Cells::Booleans(values) => {
                let values = self.without_markers(values);
                match values.iter().position(|value| !value.is_nan()) {
                    // The number 0.5 in this file may be a share. In the file to which the model was fitted, the same
                    // share would be written as `50 %`.
                    Some(row) if format.has_factor() => {
                        let expected = format!("a number with {}", format.describe());
                        Err(self.misfit(row, &values[row].to_string(), &expected))
                    }
                    _ => {
                        self.note_points(&values, points);
                        Ok(Values::numbers(values))
                    }
                }
            }
            Cells::Moments { moments, .. } => self.refuse_moments(&moments, "a number"),
            Cells::Texts(raw) => {
                let of_level = match self.by_level(&raw, |text| format.parse(text)) {
                    Ok(of_level) => of_level,
                    Err(level) => match self.grouped_numbers(format, &raw, level) {
                        Some(of_level) => of_level,
                        None => self.plain_numbers(format, &raw, level)?,
                    },
                };
                let values = self.without_markers(numbers_of(&raw, &of_level));
                let mut points = Points::default();
                let numbers = raw.levels.iter().zip(&of_level).filter(|(_, value)| value.is_some());
                numbers.for_each(|(level, _)| points.add(Points::of(level.trim().as_bytes())));
                self.note_points(&values, points);
                Ok(Values::numbers(values))
            }
        }
    }

    /// Adds a note if decimal points may be thousands separators, because the column contained only integers when the
    /// model was fitted.
    fn note_points(&mut self, values: &[f64], points: Points) {
        if !self.record.rule.whole
            || self.context.delimiter.is_none()
            || self.context.options.decimal.is_some()
            || !points.may_separate_thousands(values)
        {
            return;
        }
        self.record.notes.push(format!(
            "{}, column `{}`: the points in {} are read as decimal points, but all numbers were integers \
             when the model was fitted; pass --decimal , if the points separate thousands",
            self.context.source,
            short(self.name),
            points::example(values)
        ));
    }

    /// Reads numbers, some of which have groups of thousands, in a column that had no such groups when the model was
    /// fitted. `level` is the index of the first text that does not match `format`. Returns `None` if a text is not
    /// such a number.
    fn grouped_numbers(
        &mut self,
        format: &NumberFormat,
        raw: &RawTexts,
        level: usize,
    ) -> Option<Vec<Option<f64>>> {
        let is_told = self.context.options.decimal.is_some();
        let read = |text: &str| format.parse(text).or_else(|| format.parse_grouped(text, is_told));
        let of_level = self.by_level(raw, read).ok()?;
        self.record.notes.push(format!(
            "{}, column `{}`: numbers such as `{}` have groups of thousands, unlike those to which the model was fitted; it is read \
             as {}",
            self.context.source,
            short(self.name),
            short(raw.levels[level].trim()),
            of_level[level]?
        ));
        Some(of_level)
    }

    /// Reads plain numbers in a column whose numbers had a different `format` when the model was fitted. Another
    /// program may have written the new numbers. They are read in this way only if every cell of the column is a plain
    /// number. `level` is the index of the first text that does not match `format`.
    fn plain_numbers(
        &mut self,
        format: &NumberFormat,
        raw: &RawTexts,
        level: usize,
    ) -> Result<Vec<Option<f64>>, DataError> {
        let plain = match format.has_factor() {
            true => Err(level),
            false => self.by_level(raw, |text| NumberFormat::default().parse(text)),
        };
        let expected = match plain {
            Ok(_) if self.may_be_grouped(format, raw) => {
                "an unambiguous number (pass --decimal , if points separate thousands, or --decimal . if they do not)".to_owned()
            }
            // The format of a column of integers in a table with decimal commas is a guess, which `34.0` does not contradict.
            Ok(of_level) if *format == NumberFormat::integers_among_commas() && are_whole(&of_level) => {
                return Ok(of_level);
            }
            Ok(of_level) => {
                self.record.notes.push(format!(
                    "{}, column `{}`: numbers are written without {} here, unlike those to which the model was fitted",
                    self.context.source,
                    short(self.name),
                    format.describe()
                ));
                return Ok(of_level);
            }
            Err(_) => match format.describe().as_str() {
                "" => "a number".to_owned(),
                spelling => format!("a number with {spelling}"),
            },
        };
        Err(self.misfit_of(raw, level, &expected))
    }

    /// Whether the points in a column may separate thousands. This is possible only if the format has a decimal comma
    /// and no group separator.
    fn may_be_grouped(&self, format: &NumberFormat, raw: &RawTexts) -> bool {
        let grouped = NumberFormat { group: Some(Group::Point), ..format.clone() };
        format.decimal == Decimal::Comma
            && format.group.is_none()
            && self.context.options.decimal.is_none()
            && self.by_level(raw, |text| grouped.parse(text)).is_ok()
    }

    fn moments(&mut self, format: MomentFormat, cells: Cells) -> Result<Values, DataError> {
        match cells {
            Cells::Moments { moments, has_zone } => {
                let mut present =
                    moments.iter().enumerate().filter_map(|(row, at)| Some((row, (*at)?)));
                match present.find(|(_, at)| !(0..DAY).contains(at)) {
                    Some((row, at)) if format.order == DateOrder::TimeOnly => {
                        Err(self.misfit(row, &moment::text(at), "one of the times of day"))
                    }
                    _ if format.order != DateOrder::TimeOnly && moment::are_times(&moments) => {
                        let first = moments.iter().enumerate().find_map(|(row, at)| {
                            at.filter(|at| *at > 0).map(|at| (row, moment::text(at)))
                        });
                        let Some((row, text)) = first else {
                            unreachable!("not all times of day are midnight")
                        };
                        Err(self.misfit(row, &text, "one of the dates"))
                    }
                    _ => {
                        self.note_zone(format, &moments, has_zone);
                        Ok(Values::moments(moments))
                    }
                }
            }
            Cells::Numbers(values) | Cells::Booleans(values) => {
                let values = self.without_markers(values);
                let read = |value: f64| {
                    if format.order == DateOrder::Digits { digits_date(value) } else { None }
                };
                let moments: Vec<Option<i64>> = values.iter().map(|value| read(*value)).collect();
                let odd = values
                    .iter()
                    .zip(&moments)
                    .position(|(value, moment)| !value.is_nan() && moment.is_none());
                match odd {
                    Some(row) => {
                        Err(self.misfit(row, &values[row].to_string(), "a date or a time"))
                    }
                    None => Ok(Values::moments(moments)),
                }
            }
            Cells::Texts(raw) => {
                // Dates with the year first have only one reading, whichever order was found when the model was fitted. A
                // date is not a time of day.
                let iso = match format.order {
                    DateOrder::TimeOnly => format,
                    _ => MomentFormat { order: DateOrder::YearFirst, ..format },
                };
                let has_no_points = format.order == DateOrder::MonthFirst && !format.points;
                let is_doubtful = |text: &str| has_no_points && has_point(text);
                let read = |text: &str| {
                    let parsed = if is_doubtful(text) { None } else { format.parse(text) };
                    parsed.or_else(|| iso.parse(text))
                };
                let by_day = MomentFormat { order: DateOrder::DayFirst, ..format };
                let is_date = |text: &str| format.parse(text).or(by_day.parse(text)).is_some();
                match self.by_level(&raw, read) {
                    Ok(of_level) => {
                        self.note_offsets(format, &raw, &of_level);
                        Ok(Values::moments(raw.spread(&of_level, None)))
                    }
                    Err(level)
                        if is_doubtful(raw.levels[level].trim())
                            && is_date(raw.levels[level].trim()) =>
                    {
                        Err(self.doubtful_date(&raw, level))
                    }
                    Err(level) => {
                        let is_by_day = by_day.parse(raw.levels[level].trim()).is_some();
                        let advice =
                            if is_by_day { ", pass --day-first if the day is first" } else { "" };
                        Err(self.misfit_with(
                            raw.first_row(level),
                            raw.levels[level].trim(),
                            &format!("one of the {}", format.describe()),
                            advice,
                        ))
                    }
                }
            }
        }
    }

    /// Adds a note if the UTC offset of some times differs from that of the times from which the format was detected.
    /// `of_level` contains the time of each text.
    fn note_offsets(&mut self, format: MomentFormat, raw: &RawTexts, of_level: &[Option<i64>]) {
        let found = raw.levels.iter().zip(of_level).find_map(|(text, moment)| {
            let cell = text.trim();
            Some((cell, (*moment)?, format.moves(cell)?))
        });
        if let Some((cell, moment, moved)) = found {
            self.note_moved(cell, moment, moved);
        }
    }

    /// Adds a note if the times of this column have a time zone but the times from which the format was detected have
    /// no offset, or the other way round. Days without times have no offset.
    fn note_zone(&mut self, format: MomentFormat, moments: &[Option<i64>], has_zone: bool) {
        let moved = match (has_zone, format.is_zoned()) {
            (true, false) => Moved::Zoned,
            (false, true) => Moved::Assumed,
            _ => return,
        };
        if let Some(at) = moments.iter().flatten().find(|at| *at % DAY != 0) {
            self.note_moved(&moment::exact_text(*at, 0, has_zone), *at, moved);
        }
    }

    fn note_moved(&mut self, cell: &str, moment: i64, moved: Moved) {
        let (how, offset) = match moved {
            Moved::Converted => ("another offset from UTC than", "at their offset"),
            Moved::Assumed => ("no offset from UTC, unlike", "at their offset"),
            Moved::Zoned => ("an offset from UTC, unlike", "in UTC"),
        };
        self.record.notes.push(format!(
            "{}, column `{}`: `{}` has {how} the times from which the format was detected; it is read as {} {offset}",
            self.context.source,
            short(self.name),
            short(cell),
            moment::text(moment)
        ));
    }

    fn booleans(&mut self, cells: Cells) -> Result<Values, DataError> {
        let bit = |value: f64| [0.0f64, 1.0].into_iter().find(|bit| (value - bit).abs() <= 0.0);
        match cells {
            Cells::Booleans(values) => Ok(Values::numbers(values)),
            Cells::Numbers(values) => {
                let values = self.without_markers(values);
                match values.iter().position(|value| !value.is_nan() && bit(*value).is_none()) {
                    Some(row) => Err(self.misfit(row, &values[row].to_string(), "true or false")),
                    None => Ok(Values::numbers(values)),
                }
            }
            Cells::Moments { moments, .. } => self.refuse_moments(&moments, "true or false"),
            Cells::Texts(raw) => {
                let read =
                    |text: &str| truth(text).or_else(|| bit(NumberFormat::default().parse(text)?));
                match self.by_level(&raw, read) {
                    Ok(of_level) => Ok(Values::numbers(numbers_of(&raw, &of_level))),
                    Err(level) => Err(self.misfit_of(&raw, level, "true or false")),
                }
            }
        }
    }

    /// If there are no timestamps, returns a column of missing numbers. Otherwise, returns the error for the first
    /// timestamp.
    fn refuse_moments(&self, moments: &[Option<i64>], expected: &str) -> Result<Values, DataError> {
        let first = moments.iter().enumerate().find_map(|(row, moment)| Some((row, (*moment)?)));
        match first {
            Some((row, moment)) => Err(self.misfit(row, &moment::text(moment), expected)),
            None => Ok(Values::numbers(vec![f64::NAN; moments.len()])),
        }
    }

    fn without_markers(&self, mut values: Vec<f64>) -> Vec<f64> {
        for value in values.iter_mut().filter(|value| self.markers.has_number(**value)) {
            *value = f64::NAN;
        }
        values
    }

    /// The value of each distinct text, or `None` if the text is missing. The error is the index of the first text that
    /// is not missing and cannot be parsed.
    fn by_level<T: Copy>(
        &self,
        raw: &RawTexts,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<Option<T>>, usize> {
        let rows = raw.rows();
        let value = |(at, level): (usize, &String)| {
            let text = level.trim();
            if rows[at] == 0 || self.markers.has(text.as_bytes()) {
                return Ok(None);
            }
            read(text).map(Some).ok_or(at)
        };
        raw.levels.iter().enumerate().map(value).collect()
    }

    /// The error for a date with points in a column whose dates had the month first and no points when the model was
    /// fitted.
    fn doubtful_date(&self, raw: &RawTexts, level: usize) -> DataError {
        let place = (self.context.place)(raw.first_row(level));
        let (name, cell) = (self.name, short(raw.levels[level].trim()));
        DataError::user(format!(
            "{place}, column `{name}`: dots separate the parts of `{cell}`, as in dates with the day first, but the \
            dates from which the format was detected had the month first and no dots; pass --day-first if the day is \
            first, or write the dates as 2024-12-31"
        ))
    }

    fn misfit_of(&self, raw: &RawTexts, level: usize, expected: &str) -> DataError {
        self.misfit(raw.first_row(level), raw.levels[level].trim(), expected)
    }

    fn misfit(&self, row: usize, cell: &str, expected: &str) -> DataError {
        let is_digit_or =
            |mark: char| cell.chars().all(|c| c.is_ascii_digit() || "+-".contains(c) || c == mark);
        let decimal = match (cell.contains(','), is_digit_or(',')) {
            (true, true) => {
                ", pass --decimal , if the comma is a decimal mark, or --decimal . if it separates thousands"
            }
            _ => points_advice(cell),
        };
        self.misfit_with(row, cell, expected, decimal)
    }

    fn misfit_with(&self, row: usize, cell: &str, expected: &str, advice: &str) -> DataError {
        let (place, name, cell) = ((self.context.place)(row), self.name, short(cell));
        DataError::user(format!(
            "{place}, column `{name}`: `{cell}` is not {expected}, unlike the cells from which the type of the column \
            was detected; correct it{advice}, or pass --missing '{cell}' if it means that the value is missing"
        ))
    }
}
