//! Converts the rows of a table to points with a recipe.

use super::ngrams::Weigher;
use super::{ColumnRecipe, Kind, Recipe, Unseen};
use crate::design::Design;
use arrow_array::{Array, TimestampMicrosecondArray};
use halfspaces_frame::{
    Block, ClassKey, DataError, Frame, MISSING, Texts, Values, short, suggestion,
};
use halfspaces_linalg::{PointSet, Points, RowView, SparsePoints, zeros};
use std::borrow::Cow;
use std::collections::HashMap;

impl Recipe {
    /// Converts a table to points. The table may contain the columns of the recipe in any order, and other columns too.
    ///
    /// # Errors
    /// Returns an error if a column does not exist, a cell does not match the recipe, or a category is unseen. The
    /// message names the column and says what to do.
    pub fn apply(&self, frame: &Frame, unseen: Unseen) -> Result<Design, DataError> {
        let dim = self.dim();
        let mut encoders = Vec::with_capacity(self.columns.len());
        let found = Found::new(frame);
        let mut first = 0;
        for column in &self.columns {
            encoders.push((first, Encoder::new(column, &found, self.sparse, unseen)?));
            first += column.kind.width();
        }
        let entries = Entries::new(self, frame, first, unseen)?;
        if self.by_entries {
            let mut points = SparsePoints::empty(dim)?;
            let mut row_entries: Vec<(u32, f64)> = Vec::new();
            let (mut columns, mut values) = (Vec::new(), Vec::new());
            for row in 0..frame.rows {
                row_entries.clear();
                let mut write = |at: usize, value: f64| row_entries.push((at as u32, value));
                for (first, encoder) in &encoders {
                    encoder.write(row, &mut |at, value| write(first + at, value))?;
                }
                entries.write(row, &mut write);
                row_entries.retain(|(_, value)| *value != 0.0);
                row_entries.sort_unstable_by_key(|(at, _)| *at);
                columns.clear();
                values.clear();
                columns.extend(row_entries.iter().map(|(at, _)| *at));
                values.extend(row_entries.iter().map(|(_, value)| *value));
                points.push(&columns, &values)?;
            }
            return Ok(Design::Sparse(points));
        }
        let mut out = zeros(frame.rows, dim)?;
        for (row, cells) in out.chunks_exact_mut(dim).enumerate() {
            for (first, encoder) in &encoders {
                encoder.write(row, &mut |at, value| cells[first + at] = value)?;
            }
            entries.write(row, &mut |at, value| cells[at] = value);
        }
        Ok(Design::Dense(Points::new(out, dim)?))
    }

    /// Like [`Recipe::apply`], but consumes the table. If the recipe uses only the entries of a sparse block, they are
    /// not copied.
    pub(crate) fn apply_to(&self, frame: Frame, unseen: Unseen) -> Result<Design, DataError> {
        let is_only_block = self.columns.is_empty() && self.by_entries;
        let places = match Entries::new(self, &frame, 0, unseen)? {
            Entries::Block { places, .. } if is_only_block => places,
            _ => return self.apply(&frame, unseen),
        };
        let Some(Block::Sparse(block)) = frame.block else {
            unreachable!("the design consists of the entries of a sparse block")
        };
        Ok(Design::Sparse(block.into_points().into_columns(&places, self.dim())?))
    }
}

impl Recipe {
    /// The columns in which `frame` has categories that the recipe does not know, each with the number of rows that
    /// have such a category.
    ///
    /// # Errors
    /// Returns the same errors as [`Recipe::apply`].
    pub(crate) fn unseen_rows(&self, frame: &Frame) -> Result<Vec<(&str, u64)>, DataError> {
        let found = Found::new(frame);
        let mut counts = Vec::new();
        for column in &self.columns {
            if !matches!(column.kind, Kind::Category { .. }) {
                continue;
            }
            let encoder = Encoder::new(column, &found, self.sparse, Unseen::Zero)?;
            let rows = (0..frame.rows).filter(|row| encoder.is_unseen(*row)).count();
            if rows > 0 {
                counts.push((column.name.as_str(), rows as u64));
            }
        }
        Ok(counts)
    }
}

/// The columns of a table, which are looked up by name.
pub(super) struct Found<'f> {
    frame: &'f Frame,
    pub(super) by_name: HashMap<&'f str, &'f Values>,
}

impl<'f> Found<'f> {
    pub(super) fn new(frame: &'f Frame) -> Found<'f> {
        let by_name = frame.columns.iter().map(|c| (c.name.as_str(), &c.values)).collect();
        Found { frame, by_name }
    }

    /// The values of a column, as [`Frame::column`] returns them, without a search through all columns.
    pub(super) fn values(&self, name: &str) -> Option<Cow<'f, Values>> {
        match self.by_name.get(name) {
            Some(values) => Some(Cow::Borrowed(*values)),
            None => self.frame.block.as_ref().and_then(|_| self.frame.column(name)),
        }
    }

    fn column(&self, name: &str) -> Option<Source<'f>> {
        if let Some(values) = self.by_name.get(name) {
            return Some(match values {
                Values::Numbers(values) => Source::Numbers(Cow::Borrowed(values.values())),
                Values::Texts(texts) => Source::Texts(texts),
                Values::Moments(moments) => Source::Moments(moments),
            });
        }
        let block = self.frame.block.as_ref()?;
        let place = block.place(name)?;
        Some(match block {
            Block::Dense { values, numbers, .. } => {
                Source::Strided { values, first: place, step: numbers.len() }
            }
            Block::Sparse(_) => Source::Numbers(Cow::Owned(block.column(place))),
        })
    }
}

/// The values of a column, in the form in which the table stores them.
enum Source<'f> {
    Numbers(Cow<'f, [f64]>),
    /// A column of a dense block.
    Strided {
        values: &'f [f64],
        first: usize,
        step: usize,
    },
    Texts(&'f Texts),
    Moments(&'f TimestampMicrosecondArray),
}

impl Source<'_> {
    /// A number as text, or `None` if it is missing.
    fn text(&self, row: usize) -> Option<String> {
        let number = match self {
            Source::Numbers(values) => values[row],
            Source::Strided { values, first, step } => values[first + row * step],
            Source::Texts(_) | Source::Moments(_) => {
                unreachable!("only numbers are looked up by text")
            }
        };
        (!number.is_nan()).then(|| number.to_string())
    }
}

/// The encoder of one column.
pub(super) struct Encoder<'f> {
    column: &'f ColumnRecipe,
    frame: &'f Frame,
    unseen: Unseen,
    work: Work<'f>,
    /// The median and the deviation with which the first coordinate is standardised.
    standard: Option<(f64, f64)>,
}

enum Work<'f> {
    /// The column does not exist, and its values count as 0.
    Zeros,
    /// The column does not exist, and its values count as missing.
    Missing,
    Numbers(Cow<'f, [f64]>),
    Strided {
        values: &'f [f64],
        first: usize,
        step: usize,
    },
    /// Numbers parsed from texts, indexed by the code of the text. `None` for a text that is not a number.
    Parsed {
        texts: &'f Texts,
        numbers: Vec<Option<f64>>,
    },
    /// The coordinates of categories, indexed by the code of the text. `None` for an unknown category.
    Levels {
        texts: &'f Texts,
        places: Vec<Option<usize>>,
    },
    /// The coordinates of categories that are numbers. A number is looked up by its text.
    NumberLevels {
        numbers: Box<Source<'f>>,
        levels: Levels<'f>,
    },
    Ngrams {
        texts: &'f Texts,
        weigher: Weigher<'f>,
    },
    Moments {
        moments: &'f TimestampMicrosecondArray,
    },
}

impl<'f> Encoder<'f> {
    fn new(
        column: &'f ColumnRecipe,
        found: &Found<'f>,
        zeros_if_absent: bool,
        unseen: Unseen,
    ) -> Result<Encoder<'f>, DataError> {
        let frame = found.frame;
        let work = match (found.column(&column.name), &column.kind) {
            (None, _) if zeros_if_absent && is_column_of_block(frame, &column.name) => Work::Zeros,
            (None, _) if unseen == Unseen::Zero => Work::Missing,
            (None, _) => return Err(absent(frame, &column.name)),
            (Some(Source::Numbers(values)), Kind::Number { .. }) => Work::Numbers(values),
            (Some(Source::Strided { values, first, step }), Kind::Number { .. }) => {
                Work::Strided { values, first, step }
            }
            (Some(Source::Texts(texts)), Kind::Number { .. }) => {
                let number = |level: &str| level.parse().ok().filter(|v: &f64| v.is_finite());
                Work::Parsed { texts, numbers: texts.levels().map(number).collect() }
            }
            (Some(Source::Texts(texts)), Kind::Category { levels, .. }) => {
                let levels = Levels::new(levels);
                Work::Levels { texts, places: texts.levels().map(|l| levels.find(l)).collect() }
            }
            (Some(Source::Moments(moments)), Kind::Moment { .. }) => Work::Moments { moments },
            (Some(Source::Moments(_)), _) | (Some(_), Kind::Moment { .. }) => {
                let (is, was) = match column.kind {
                    Kind::Moment { .. } => ("does not contain", "from dates or times"),
                    _ => ("contains", "from other values"),
                };
                return Err(DataError::user(format!(
                    "{}, column `{}`: it {is} dates or times, but the model learned {was}; write it as in the table used for the fit",
                    frame.source, column.name
                )));
            }
            (Some(numbers), Kind::Category { levels, .. }) => {
                Work::NumberLevels { numbers: Box::new(numbers), levels: Levels::new(levels) }
            }
            (Some(Source::Texts(texts)), Kind::Text { ngrams }) => {
                Work::Ngrams { texts, weigher: Weigher::new(ngrams) }
            }
            (Some(_), Kind::Text { .. }) => {
                return Err(DataError::user(format!(
                    "{}, column `{}`: it contains numbers, but the model learned from text; choose the right \
                     column, or write text",
                    frame.source, column.name
                )));
            }
        };
        let standard = column.deviation.map(|deviation| (column.kind.centre(), deviation));
        Ok(Encoder { column, frame, unseen, work, standard })
    }

    /// Passes the index and the value of every coordinate of a row that can differ from zero to `out`.
    fn write(&self, row: usize, out: &mut dyn FnMut(usize, f64)) -> Result<(), DataError> {
        match self.standard {
            None => self.write_plain(row, out),
            Some((centre, deviation)) => self.write_plain(row, &mut |at, value| {
                out(at, if at == 0 { (value - centre) / deviation } else { value });
            }),
        }
    }

    fn write_plain(&self, row: usize, out: &mut dyn FnMut(usize, f64)) -> Result<(), DataError> {
        match &self.work {
            Work::Zeros => Ok(()),
            Work::Missing => {
                self.write_missing(out);
                Ok(())
            }
            Work::Numbers(values) => self.write_number(Some(values[row]), row, out),
            Work::Strided { values, first, step } => {
                self.write_number(Some(values[first + row * step]), row, out)
            }
            Work::Parsed { texts, numbers } => match texts.codes()[row] {
                MISSING => {
                    self.write_missing(out);
                    Ok(())
                }
                code => self.write_number(numbers[code as usize], row, out),
            },
            Work::Levels { texts, places } => match texts.codes()[row] {
                MISSING => self.write_category(None, row, None, out),
                code => {
                    self.write_category(Some(texts.level(code)), row, places[code as usize], out)
                }
            },
            Work::NumberLevels { numbers, levels } => {
                let text = numbers.text(row);
                let place = text.as_deref().and_then(|text| levels.find(text));
                self.write_category(text.as_deref(), row, place, out)
            }
            Work::Moments { moments } => {
                let moment = moments.is_valid(row).then(|| moments.value(row));
                self.write_moment(moment, out);
                Ok(())
            }
            Work::Ngrams { texts, weigher } => {
                // A missing text has no n-grams.
                if let Some(text) = texts.get(row) {
                    let weights = weigher.weights(text);
                    weights.into_iter().for_each(|(place, weight)| out(place as usize, weight));
                }
                Ok(())
            }
        }
    }

    /// Whether the row has a category that the recipe does not know.
    fn is_unseen(&self, row: usize) -> bool {
        match &self.work {
            Work::Levels { texts, places } => match texts.codes()[row] {
                MISSING => !self.column.kind.knows_missing(),
                code => places[code as usize].is_none(),
            },
            Work::NumberLevels { numbers, levels } => match numbers.text(row) {
                None => !self.column.kind.knows_missing(),
                Some(text) => levels.find(&text).is_none(),
            },
            _ => false,
        }
    }

    /// The root mean square distance of the first coordinate from its median. Returns `None` for columns other than
    /// numbers and timestamps, and if the distance is not positive and finite.
    pub(super) fn deviation(
        column: &ColumnRecipe,
        found: &Found<'_>,
    ) -> Result<Option<f64>, DataError> {
        let frame = found.frame;
        let has_days = match &column.kind {
            Kind::Number { .. } => true,
            Kind::Moment { parts, .. } => parts.days,
            Kind::Category { .. } | Kind::Text { .. } => false,
        };
        if !has_days || frame.rows == 0 {
            return Ok(None);
        }
        let encoder = Encoder::new(column, found, false, Unseen::Error)?;
        let (centre, mut sum) = (column.kind.centre(), 0.0);
        for row in 0..frame.rows {
            encoder.write_plain(row, &mut |at, value| {
                sum += if at == 0 { (value - centre) * (value - centre) } else { 0.0 };
            })?;
        }
        let deviation = (sum / frame.rows as f64).sqrt();
        Ok((deviation > 0.0 && deviation.is_finite()).then_some(deviation))
    }

    fn write_moment(&self, moment: Option<i64>, out: &mut dyn FnMut(usize, f64)) {
        let Kind::Moment { parts, median, missing, .. } = &self.column.kind else {
            unreachable!("only moments have parts")
        };
        let coordinates = parts.coordinates(moment.unwrap_or(*median));
        coordinates.into_iter().enumerate().for_each(|(at, value)| out(at, value));
        if *missing && moment.is_none() {
            out(parts.width(), 1.0);
        }
    }

    /// Passes the coordinates of a number to `out`. `number` is NaN if the value is missing, and `None` if the text is
    /// not a number, which is an error.
    fn write_number(
        &self,
        number: Option<f64>,
        row: usize,
        out: &mut dyn FnMut(usize, f64),
    ) -> Result<(), DataError> {
        match number {
            Some(number) if number.is_nan() => self.write_missing(out),
            Some(number) => out(0, number),
            None => {
                let Work::Parsed { texts, .. } = &self.work else {
                    unreachable!("all other columns contain numbers")
                };
                let (place, name) = (self.frame.place(row), &self.column.name);
                let Some(text) = texts.get(row) else {
                    unreachable!("the number of a missing text is NaN")
                };
                let text = short(text);
                return Err(DataError::user(format!(
                    "{place}, column `{name}`: `{text}` is not a number, but the model learned from numbers; \
                     fix it, or use --missing '{text}' if it means that the value is missing"
                )));
            }
        }
        Ok(())
    }

    /// Passes the coordinates of a category to `out`. `text` is `None` if the value is missing, and `place` is the
    /// index of the category if the model knows it.
    fn write_category(
        &self,
        text: Option<&str>,
        row: usize,
        place: Option<usize>,
        out: &mut dyn FnMut(usize, f64),
    ) -> Result<(), DataError> {
        let Kind::Category { levels, missing } = &self.column.kind else {
            unreachable!("only categories are looked up")
        };
        let name = &self.column.name;
        match (text, place) {
            (_, Some(place)) => out(place, 1.0),
            (None, _) if !missing && self.unseen == Unseen::Error => {
                return Err(DataError::user(format!(
                    "{}, column `{name}`: the value is missing, but no value was missing when the model was fitted; \
                    fill it in, or use --unseen zero",
                    self.frame.place(row)
                )));
            }
            (None, _) => self.write_missing(out),
            (Some(_), None) if self.unseen == Unseen::Zero => {}
            (Some(text), None) => {
                let names: Vec<&str> = levels.iter().map(String::as_str).collect();
                let hint = suggestion(text, &names);
                return Err(DataError::user(format!(
                    "{}, column `{name}`: the model has not seen the category `{}`{}; fix it, or use \
                     --unseen zero to count it as none of these",
                    self.frame.place(row),
                    short(text),
                    hint.trim_end_matches('?')
                )));
            }
        }
        Ok(())
    }

    fn write_missing(&self, out: &mut dyn FnMut(usize, f64)) {
        match &self.column.kind {
            Kind::Number { median, missing, .. } => {
                out(0, *median);
                if *missing {
                    out(1, 1.0);
                }
            }
            Kind::Moment { .. } => self.write_moment(None, out),
            Kind::Category { levels, missing: true } => out(levels.len(), 1.0),
            Kind::Category { .. } | Kind::Text { .. } => {}
        }
    }
}

/// The columns of a recipe that come from a sparse block.
enum Entries<'f> {
    /// A sparse block, with the coordinate of each of its columns. The coordinate is `u32::MAX` if the column is not
    /// used.
    Block {
        points: &'f SparsePoints,
        places: Vec<u32>,
    },
    /// Columns that are looked up by name because the table has no sparse block.
    Columns {
        first: usize,
        columns: Vec<Cow<'f, Values>>,
    },
    None,
}

impl<'f> Entries<'f> {
    fn new(
        recipe: &Recipe,
        frame: &'f Frame,
        first: usize,
        unseen: Unseen,
    ) -> Result<Entries<'f>, DataError> {
        if recipe.entries.is_empty() {
            return Ok(Entries::None);
        }
        if let Some(Block::Sparse(block)) = &frame.block
            && block.prefix() == recipe.prefix
        {
            let points = block.points();
            let mut places = vec![u32::MAX; points.dim()];
            for (at, number) in recipe.entries.iter().enumerate() {
                let column = number.checked_sub(block.first());
                if let Some(place) = column.and_then(|column| places.get_mut(column as usize)) {
                    *place = (first + at) as u32;
                }
            }
            return Ok(Entries::Block { points, places });
        }
        recipe.check_entries(frame)?;
        let mut columns = Vec::with_capacity(recipe.entries.len());
        for number in &recipe.entries {
            let name = recipe.entry_name(*number);
            match frame.column(&name) {
                Some(values) if matches!(values.as_ref(), Values::Numbers(_)) => {
                    let missing = (0..values.len()).find(|row| values.is_missing(*row));
                    if let (Some(row), Unseen::Error) = (missing, unseen) {
                        return Err(DataError::user(format!(
                            "{}, column `{name}`: the number is missing, but no number was missing when the model was \
                            fitted; fill it in, or use --unseen zero",
                            frame.place(row)
                        )));
                    }
                    columns.push(values);
                }
                Some(_) => {
                    return Err(DataError::user(format!(
                        "{}, column `{name}`: it contains text, but the model learned from numbers",
                        frame.source
                    )));
                }
                None if unseen == Unseen::Zero || frame.is_sparse() => {
                    columns.push(Cow::Owned(Values::numbers(vec![0.0; frame.rows])));
                }
                None => return Err(absent(frame, &name)),
            }
        }
        Ok(Entries::Columns { first, columns })
    }

    fn write(&self, row: usize, out: &mut dyn FnMut(usize, f64)) {
        match self {
            Entries::None => {}
            Entries::Block { points, places } => {
                let Some(x) = points.row(row) else { unreachable!("the block has every row") };
                for (column, value) in x.entries() {
                    if places[column] != u32::MAX {
                        out(places[column] as usize, value);
                    }
                }
            }
            Entries::Columns { first, columns } => {
                for (at, values) in columns.iter().enumerate() {
                    if let Values::Numbers(values) = values.as_ref()
                        && !values.values()[row].is_nan()
                    {
                        out(first + at, values.values()[row]);
                    }
                }
            }
        }
    }
}

/// The categories of a column, which are looked up by their text and, if this fails, by their meaning. `1.0` and `1`
/// have the same meaning, as do `True` and `true`. A code such as `12E3` is not the number 12000.
struct Levels<'f> {
    by_text: HashMap<&'f str, usize>,
    /// `None` if two categories have the same meaning.
    by_key: HashMap<ClassKey, Option<usize>>,
}

impl<'f> Levels<'f> {
    fn new(levels: &'f [String]) -> Levels<'f> {
        let mut by_key = HashMap::with_capacity(levels.len());
        for (place, level) in levels.iter().enumerate() {
            let found = by_key.entry(ClassKey::of(level)).and_modify(|found| *found = None);
            found.or_insert(Some(place));
        }
        let by_text = levels.iter().enumerate().map(|(place, level)| (level.as_str(), place));
        Levels { by_text: by_text.collect(), by_key }
    }

    fn find(&self, text: &str) -> Option<usize> {
        let place = self.by_text.get(text).copied();
        place.or_else(|| self.by_key.get(&ClassKey::of(text)).copied().flatten())
    }
}

/// Whether the sparse block of the table could have a column with this name.
fn is_column_of_block(frame: &Frame, name: &str) -> bool {
    matches!(&frame.block, Some(Block::Sparse(block)) if block.number(name).is_some())
}

fn absent(frame: &Frame, name: &str) -> DataError {
    let error = frame.no_column(name).to_string();
    let error = error.trim_end_matches('?');
    DataError::user(format!(
        "{error}; the model needs it: add it, or use --unseen zero to treat it as missing"
    ))
}
