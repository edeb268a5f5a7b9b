//! New rows, read by the rule that was found at `fit`.

use super::context::Context;
use super::infer::truth;
use super::markers::Markers;
use super::moment::{self, DateOrder, MomentFormat, digits_date};
use super::number::{Decimal, Group, NumberFormat};
use super::raw::{Cells, RawTexts, numbers_of, spelled, texts_without};
use super::record::ColumnRecord;
use super::rule::{ColumnRule, Reading};
use crate::error::DataError;
use crate::names::short;
use crate::options::ReadOptions;
use crate::values::Values;

/// The values of a column by its rule.
///
/// # Errors
/// If a cell does not follow the rule.
pub(crate) fn apply(
    name: &str,
    rule: &ColumnRule,
    cells: Cells,
    context: &Context<'_>,
) -> Result<(Values, ColumnRecord), DataError> {
    let mut missing = rule.missing.clone();
    missing.extend(
        context.options.missing.iter().filter(|marker| !rule.missing.contains(marker)).cloned(),
    );
    let mut not_missing = rule.not_missing.clone();
    not_missing.extend(context.options.not_missing.iter().cloned());
    let markers = Markers::new(&missing, &not_missing);
    let reading = told(&rule.reading, context.options);
    let rule = &ColumnRule { kind: rule.kind, reading, missing, not_missing };
    let record = ColumnRecord::new(name, rule.clone());
    let mut rows = Rows { name, context, markers, record };
    let values = match &rule.reading {
        Reading::Number(format) => rows.numbers(format, cells)?,
        Reading::Date(format) => rows.moments(*format, cells)?,
        Reading::Boolean => rows.booleans(cells)?,
        Reading::Text => rows.texts(cells),
    };
    Ok((values, rows.record))
}

/// A reading with what is told now in place of what was found before.
fn told(reading: &Reading, options: &ReadOptions) -> Reading {
    match reading {
        Reading::Number(format) => match options.decimal {
            Some(decimal) if decimal != format.decimal => {
                Reading::Number(NumberFormat { decimal, group: None, affix: format.affix.clone() })
            }
            _ => reading.clone(),
        },
        Reading::Date(format)
            if options.day_first == Some(true) && format.order == DateOrder::MonthFirst =>
        {
            Reading::Date(MomentFormat { order: DateOrder::DayFirst, ..*format })
        }
        other => other.clone(),
    }
}

struct Rows<'a> {
    name: &'a str,
    context: &'a Context<'a>,
    markers: Markers,
    record: ColumnRecord,
}

impl Rows<'_> {
    fn numbers(&mut self, format: &NumberFormat, cells: Cells) -> Result<Values, DataError> {
        match cells {
            Cells::Numbers(values) | Cells::Booleans(values) => {
                Ok(Values::numbers(self.without_markers(values)))
            }
            Cells::Moments(moments) => self.refuse_moments(&moments, "a number"),
            Cells::Texts(raw) => {
                let by_rule = self.by_level(&raw, |text| format.parse(text));
                let of_level = match by_rule {
                    Ok(of_level) => of_level,
                    // The same numbers from a program that spells them plainly: the whole column, or none of it. A number
                    // without the sign may be a share.
                    Err(level) if format.affix.as_deref() == Some("%") => {
                        return Err(self.misfit_of(&raw, level, &self.expected_number(format)));
                    }
                    Err(level) => match self
                        .by_level(&raw, |text| NumberFormat::default().parse(text))
                    {
                        Ok(_) if self.may_be_grouped(format, &raw) => {
                            return Err(self.misfit_of(
                                &raw,
                                level,
                                "a number whose point is clear: pass --decimal , if points stand between thousands, --decimal . if not",
                            ));
                        }
                        Ok(of_level) => {
                            self.record.notes.push(format!(
                                "{}, column `{}`: numbers are spelled plainly here, and with {} when the model was learned",
                                self.context.source,
                                short(self.name),
                                format.describe()
                            ));
                            of_level
                        }
                        Err(_) => {
                            return Err(self.misfit_of(&raw, level, &self.expected_number(format)));
                        }
                    },
                };
                Ok(Values::numbers(self.without_markers(numbers_of(&raw, &of_level))))
            }
        }
    }

    /// Whether points that are no part of a spelling with a decimal comma may stand between thousands.
    fn may_be_grouped(&self, format: &NumberFormat, raw: &RawTexts) -> bool {
        let grouped = NumberFormat { group: Some(Group::Point), ..format.clone() };
        format.decimal == Decimal::Comma
            && format.group.is_none()
            && self.context.options.decimal.is_none()
            && self.by_level(raw, |text| grouped.parse(text)).is_ok()
    }

    fn moments(&mut self, format: MomentFormat, cells: Cells) -> Result<Values, DataError> {
        match cells {
            Cells::Moments(moments) => Ok(Values::moments(moments)),
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
                // Dates with the year first have one reading, whatever the order at `fit`.
                let iso = MomentFormat { order: DateOrder::YearFirst, ..format };
                let read = |text: &str| format.parse(text).or_else(|| iso.parse(text));
                match self.by_level(&raw, read) {
                    Ok(of_level) => Ok(Values::moments(raw.spread(&of_level, None))),
                    Err(level) => Err(self.misfit_of(
                        &raw,
                        level,
                        &format!("one of the {}", format.describe()),
                    )),
                }
            }
        }
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
            Cells::Moments(moments) => self.refuse_moments(&moments, "true or false"),
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

    /// Numbers that are all missing, or the error for the first moment.
    fn refuse_moments(&self, moments: &[Option<i64>], expected: &str) -> Result<Values, DataError> {
        let first = moments.iter().enumerate().find_map(|(row, moment)| Some((row, (*moment)?)));
        match first {
            Some((row, moment)) => Err(self.misfit(row, &moment::text(moment), expected)),
            None => Ok(Values::numbers(vec![f64::NAN; moments.len()])),
        }
    }

    fn texts(&mut self, cells: Cells) -> Values {
        let raw = match cells {
            Cells::Texts(raw) => raw,
            Cells::Numbers(values) => {
                spelled(values.iter().map(|v| (!v.is_nan()).then_some(*v)), |v| v.to_string())
            }
            Cells::Booleans(values) => {
                spelled(values.iter().map(|v| (!v.is_nan()).then_some(*v > 0.5)), |v| v.to_string())
            }
            Cells::Moments(moments) => spelled(moments.into_iter(), moment::text),
        };
        let missing: Vec<bool> =
            raw.levels.iter().map(|level| self.markers.has(level.trim().as_bytes())).collect();
        texts_without(&raw, &missing)
    }

    fn without_markers(&self, mut values: Vec<f64>) -> Vec<f64> {
        for value in values.iter_mut().filter(|value| self.markers.has_number(**value)) {
            *value = f64::NAN;
        }
        values
    }

    /// One value for each distinct text, `None` for missing ones; the first text that is neither is the error.
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

    fn expected_number(&self, format: &NumberFormat) -> String {
        match format.describe().as_str() {
            "" => "a number".to_owned(),
            spelling => format!("a number with {spelling}"),
        }
    }

    fn misfit_of(&self, raw: &RawTexts, level: usize, expected: &str) -> DataError {
        self.misfit(raw.first_row(level), raw.levels[level].trim(), expected)
    }

    fn misfit(&self, row: usize, cell: &str, expected: &str) -> DataError {
        let (place, name, cell) = ((self.context.place)(row), self.name, short(cell));
        DataError::user(format!(
            "{place}, column `{name}`: `{cell}` is not {expected}, as the cells were when the column was first read; fix it, or pass \
             --missing '{cell}' if it means that the value is missing"
        ))
    }
}
