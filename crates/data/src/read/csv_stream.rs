//! The examples of a CSV file, one at a time.

use super::csv_options::Missing;
use super::csv_schema::{ColumnKind, CsvSchema, MISSING};
use super::error::{Location, ReadError, excerpt};
use super::input::open;
use super::number::{finite, is_missing};
use super::number_fault::NumberFault;
use super::records::Records;
use halfspaces_linalg::{DenseRow, ExampleStream, Label, SparseRow};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The examples of a CSV input, one at a time, in memory for one record.
///
/// ```
/// use halfspaces_data::read::{CsvOptions, CsvSchema, CsvStream};
/// let text = "age,job,rich\n30,clerk,1\n40,cook,0\n";
/// let schema = CsvSchema::scan(text.as_bytes(), "people", &CsvOptions::new())?;
/// let mut stream = CsvStream::new(text.as_bytes(), "people", schema);
/// let mut ages = 0.0;
/// while let Some((point, _label)) = stream.next_row()? {
///     ages += point.as_slice()[0];
/// }
/// assert_eq!(ages, 70.0);
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug)]
pub struct CsvStream<R> {
    records: Records<R>,
    schema: CsvSchema,
    /// Whether the header, if there is one, has been read.
    begun: bool,
    /// Whether the present record is the first of all, as data.
    on_first_line: bool,
    /// The values of the present point; in the sparse form those stored, at `columns`.
    values: Vec<f64>,
    columns: Vec<u32>,
}

impl CsvStream<File> {
    /// The examples of a file.
    ///
    /// # Errors
    /// [`ReadError::Io`].
    pub fn open(path: impl AsRef<Path>, schema: CsvSchema) -> Result<CsvStream<File>, ReadError> {
        let (file, name) = open(path.as_ref())?;
        Ok(CsvStream::new(file, &name, schema))
    }
}

impl<R: Read> CsvStream<R> {
    /// The examples of an input called `name` (for messages); it is read in large blocks and needs
    /// no buffer of its own.
    ///
    /// The schema may come from another file with the same columns; if it has a header, so must
    /// this input, with the same names.
    pub fn new(reader: R, name: &str, schema: CsvSchema) -> CsvStream<R> {
        let layout = &schema.layout;
        let width = Some(layout.kinds.len());
        let records = Records::new(reader, name, layout.delimiter, width, layout.max_line);
        let (values, columns) = (Vec::new(), Vec::new());
        CsvStream { records, schema, begun: false, on_first_line: false, values, columns }
    }

    /// The schema.
    pub fn schema(&self) -> &CsvSchema {
        &self.schema
    }

    /// The name of the input.
    pub(super) fn name(&self) -> &str {
        self.records.name()
    }

    /// The next example, dense; `None` after the last.
    ///
    /// # Errors
    /// What is wrong with the next record; the one after it can still be read, unless a line was
    /// too long or the input is no text.
    pub fn next_row(&mut self) -> Result<Option<(DenseRow<'_>, Label)>, ReadError> {
        if !self.advance()? {
            return Ok(None);
        }
        self.values.clear();
        let mut label = None;
        for (i, (kind, field)) in
            self.schema.layout.kinds.iter().zip(self.records.fields()).enumerate()
        {
            let at = || self.records.at(Some(i));
            match kind {
                ColumnKind::Numeric => self.values.push(self.number(field, at)?),
                ColumnKind::Categorical(categories) => {
                    let place = category(categories, field, self.schema.layout.missing, at)?;
                    let start = self.values.len();
                    self.values.resize(start + categories.len(), 0.0);
                    self.values[start + place] = 1.0;
                }
                ColumnKind::Label => label = Some(class(&self.schema, field, at)?),
            }
        }
        let Some(label) = label else { unreachable!("every schema has a label column") };
        Ok(Some((DenseRow::new(&self.values)?, label)))
    }

    /// The next example, sparse (zeros are not stored); `None` after the last.
    ///
    /// # Errors
    /// What is wrong with the next record; the one after it can still be read, unless a line was
    /// too long or the input is no text.
    pub fn next_sparse_row(&mut self) -> Result<Option<(SparseRow<'_>, Label)>, ReadError> {
        if !self.advance()? {
            return Ok(None);
        }
        self.values.clear();
        self.columns.clear();
        let mut label = None;
        let mut start = 0;
        for (i, (kind, field)) in
            self.schema.layout.kinds.iter().zip(self.records.fields()).enumerate()
        {
            let at = || self.records.at(Some(i));
            let (place, value, width) = match kind {
                ColumnKind::Numeric => (0, self.number(field, at)?, 1),
                ColumnKind::Categorical(categories) => {
                    let place = category(categories, field, self.schema.layout.missing, at)?;
                    (place, 1.0, categories.len())
                }
                ColumnKind::Label => {
                    label = Some(class(&self.schema, field, at)?);
                    continue;
                }
            };
            if value != 0.0 {
                // A schema has no more coordinates than fit.
                self.columns.push((start + place) as u32);
                self.values.push(value);
            }
            start += width;
        }
        let Some(label) = label else { unreachable!("every schema has a label column") };
        Ok(Some((SparseRow::new(&self.columns, &self.values, self.schema.dim())?, label)))
    }

    /// The same stream, whose [`ExampleStream::next_row`] is sparse.
    pub fn into_sparse(self) -> CsvSparseStream<R> {
        CsvSparseStream { stream: self }
    }

    /// Moves to the next row of data.
    fn advance(&mut self) -> Result<bool, ReadError> {
        if !self.begun {
            if self.schema.layout.has_header {
                if !self.records.advance()? {
                    return Ok(false);
                }
                // Under another header no row is handed out, however often one is asked for.
                self.check_header()?;
            }
            self.begun = true;
            self.on_first_line = !self.schema.layout.has_header;
        } else {
            self.on_first_line = false;
        }
        self.records.advance()
    }

    fn check_header(&self) -> Result<(), ReadError> {
        for (i, (name, field)) in
            self.schema.layout.names.iter().zip(self.records.fields()).enumerate()
        {
            if name.as_bytes() != field {
                return Err(ReadError::OtherName {
                    at: self.records.at(Some(i)),
                    expected: excerpt(name.as_bytes()),
                    found: excerpt(field),
                });
            }
        }
        Ok(())
    }

    /// The number that a field spells.
    #[inline]
    fn number(&self, field: &[u8], at: impl FnOnce() -> Location) -> Result<f64, ReadError> {
        finite(field, at, |cause| match cause {
            NumberFault::Text if self.on_first_line => NumberFault::TextOnFirstLine,
            _ => cause,
        })
    }
}

impl<R: Read> ExampleStream for CsvStream<R> {
    type Row<'a>
        = DenseRow<'a>
    where
        R: 'a;
    type Error = ReadError;

    fn dim(&self) -> usize {
        self.schema.dim()
    }

    fn next_row(&mut self) -> Result<Option<(DenseRow<'_>, Label)>, ReadError> {
        CsvStream::next_row(self)
    }
}

/// A [`CsvStream`] of sparse rows, which one-hot coding makes short.
///
/// ```
/// use halfspaces_data::read::{CsvOptions, CsvSchema, CsvStream};
/// use halfspaces_linalg::{ExampleStream, RowView};
/// let text = "red,round,1\nblue,flat,0\n";
/// let schema = CsvSchema::scan(text.as_bytes(), "things", &CsvOptions::new())?;
/// let mut stream = CsvStream::new(text.as_bytes(), "things", schema).into_sparse();
/// let first = stream.next_row()?.map(|(point, _)| point.entries().collect::<Vec<_>>());
/// assert_eq!(first, Some(vec![(1, 1.0), (3, 1.0)]));
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug)]
pub struct CsvSparseStream<R> {
    stream: CsvStream<R>,
}

impl<R: Read> CsvSparseStream<R> {
    /// The schema.
    pub fn schema(&self) -> &CsvSchema {
        self.stream.schema()
    }
}

impl<R: Read> ExampleStream for CsvSparseStream<R> {
    type Row<'a>
        = SparseRow<'a>
    where
        R: 'a;
    type Error = ReadError;

    fn dim(&self) -> usize {
        self.stream.dim()
    }

    fn next_row(&mut self) -> Result<Option<(SparseRow<'_>, Label)>, ReadError> {
        self.stream.next_sparse_row()
    }
}

/// The place of `field` among the categories of its column.
fn category(
    categories: &[Box<[u8]>],
    field: &[u8],
    missing: Missing,
    at: impl Fn() -> Location,
) -> Result<usize, ReadError> {
    let wanted = match (is_missing(field), missing) {
        (true, Missing::Error) => return Err(ReadError::MissingValue { at: at() }),
        (true, Missing::Category) => MISSING,
        (false, _) => field,
    };
    categories
        .binary_search_by(|category| category[..].cmp(wanted))
        .map_err(|_| ReadError::UnknownCategory { at: at(), found: excerpt(field) })
}

/// The label of the class `field`.
fn class(schema: &CsvSchema, field: &[u8], at: impl Fn() -> Location) -> Result<Label, ReadError> {
    match schema.layout.classes.binary_search_by(|(text, _)| text[..].cmp(field)) {
        Ok(place) => Ok(schema.layout.classes[place].1),
        Err(_) if is_missing(field) => Err(ReadError::MissingValue { at: at() }),
        Err(_) => {
            let classes = schema.layout.classes.iter().map(|(text, _)| excerpt(text)).collect();
            Err(ReadError::UnknownLabel { at: at(), found: excerpt(field), classes })
        }
    }
}
