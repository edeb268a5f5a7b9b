//! The examples of a CSV file, one at a time or all together.

use super::Location;
use super::collect;
use super::csv_options::{CsvOptions, Missing};
use super::csv_schema::{ColumnKind, CsvSchema, MISSING, Watcher, open};
use super::dataset::Dataset;
use super::error::{ReadError, excerpt};
use super::number::{finite, is_missing, parse};
use super::records::Records;
use halfspaces_linalg::{DenseRow, ExampleStream, Label, Points, SparsePoints, SparseRow};
use std::fs::File;
use std::io::{Read, Seek};
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
    /// Whether the header, if there is one, is behind us.
    begun: bool,
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
        let records = Records::new(reader, name, schema.delimiter, Some(schema.kinds.len()));
        CsvStream { records, schema, begun: false, values: Vec::new(), columns: Vec::new() }
    }

    /// The schema.
    pub fn schema(&self) -> &CsvSchema {
        &self.schema
    }

    /// The next example, dense; `None` after the last.
    ///
    /// # Errors
    /// What is wrong with the next record; the one after it can still be read.
    pub fn next_row(&mut self) -> Result<Option<(DenseRow<'_>, Label)>, ReadError> {
        if !self.advance()? {
            return Ok(None);
        }
        self.values.clear();
        let mut label = None;
        for (i, (kind, field)) in self.schema.kinds.iter().zip(self.records.fields()).enumerate() {
            let at = || self.records.at(Some(i));
            match kind {
                ColumnKind::Numeric => self.values.push(finite(field, at)?),
                ColumnKind::Categorical(categories) => {
                    let place = category(categories, field, self.schema.missing, at)?;
                    let start = self.values.len();
                    self.values.resize(start + categories.len(), 0.0);
                    self.values[start + place] = 1.0;
                }
                ColumnKind::Label => label = Some(class(&self.schema, field, at)?),
            }
        }
        let label = label.ok_or_else(|| self.no_label())?;
        Ok(Some((DenseRow::new(&self.values)?, label)))
    }

    /// The next example, sparse (zeros are not stored); `None` after the last.
    ///
    /// # Errors
    /// What is wrong with the next record; the one after it can still be read.
    pub fn next_sparse_row(&mut self) -> Result<Option<(SparseRow<'_>, Label)>, ReadError> {
        if !self.advance()? {
            return Ok(None);
        }
        self.values.clear();
        self.columns.clear();
        let mut label = None;
        let mut start = 0;
        for (i, (kind, field)) in self.schema.kinds.iter().zip(self.records.fields()).enumerate() {
            let at = || self.records.at(Some(i));
            let (place, value, width) = match kind {
                ColumnKind::Numeric => (0, finite(field, at)?, 1),
                ColumnKind::Categorical(categories) => {
                    let place = category(categories, field, self.schema.missing, at)?;
                    (place, 1.0, categories.len())
                }
                ColumnKind::Label => {
                    label = Some(class(&self.schema, field, at)?);
                    continue;
                }
            };
            if value != 0.0 {
                self.columns.push((start + place) as u32);
                self.values.push(value);
            }
            start += width;
        }
        let label = label.ok_or_else(|| self.no_label())?;
        Ok(Some((SparseRow::new(&self.columns, &self.values, self.schema.dim())?, label)))
    }

    /// The same stream, whose [`ExampleStream::next_row`] is sparse.
    pub fn into_sparse(self) -> CsvSparseStream<R> {
        CsvSparseStream { stream: self }
    }

    /// Moves to the next row of data.
    fn advance(&mut self) -> Result<bool, ReadError> {
        if !self.begun {
            if self.schema.has_header {
                if !self.records.advance()? {
                    return Ok(false);
                }
                // Under another header no row is handed out, however often one is asked for.
                self.check_header()?;
            }
            self.begun = true;
        }
        self.records.advance()
    }

    fn check_header(&self) -> Result<(), ReadError> {
        for (i, (name, field)) in self.schema.names.iter().zip(self.records.fields()).enumerate() {
            if name.as_bytes() != field {
                return Err(ReadError::OtherName {
                    at: self.records.at(Some(i)),
                    expected: name.clone(),
                    found: excerpt(field),
                });
            }
        }
        Ok(())
    }

    /// A record without a label field; every schema has one, so this is never met.
    fn no_label(&self) -> ReadError {
        ReadError::MissingValue { at: self.records.at(None) }
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
    match schema.classes.binary_search_by(|(text, _)| text[..].cmp(field)) {
        Ok(place) => Ok(schema.classes[place].1),
        Err(_) if is_missing(field) => Err(ReadError::MissingValue { at: at() }),
        Err(_) => {
            let classes = schema.classes().map(|(text, _)| text).collect();
            Err(ReadError::UnknownLabel { at: at(), found: excerpt(field), classes })
        }
    }
}

/// Reads a CSV file: a scan, then the points, unless all columns turn out to be numbers, which the scan
/// has kept. The file must allow reading twice; give a pipe to [`read_csv_from`].
///
/// # Errors
/// Any [`ReadError`].
pub fn read_csv(
    path: impl AsRef<Path>,
    options: &CsvOptions,
) -> Result<Dataset<Points>, ReadError> {
    let (mut file, name) = open(path.as_ref())?;
    let mut numbers = Numbers::default();
    let schema = CsvSchema::scan_with(&mut file, &name, options, &mut numbers)?;
    if let Some((points, labels)) = numbers.under(&schema) {
        return Ok(Dataset::new(Points::new(points, schema.dim())?, labels, columns_of(&schema))?);
    }
    drop(numbers);
    match file.rewind() {
        Ok(()) => collect_dense(CsvStream::new(file, &name, schema)),
        Err(source) => Err(ReadError::Io { name, source }),
    }
}

/// [`read_csv`], sparse.
///
/// # Errors
/// Any [`ReadError`].
pub fn read_csv_sparse(
    path: impl AsRef<Path>,
    options: &CsvOptions,
) -> Result<Dataset<SparsePoints>, ReadError> {
    collect_sparse(rescanned(path.as_ref(), options)?)
}

/// [`read_csv`] from any input, called `name` in messages. Its bytes are held in memory.
///
/// # Errors
/// Any [`ReadError`].
///
/// ```
/// use halfspaces_data::read::{CsvOptions, read_csv_from};
/// let data = read_csv_from(&b"0.5, 1, -1\n2, 3, +1\n"[..], "tiny", &CsvOptions::new())?;
/// assert_eq!(data.points().as_slice(), [0.5, 1.0, 2.0, 3.0]);
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
pub fn read_csv_from<R: Read>(
    reader: R,
    name: &str,
    options: &CsvOptions,
) -> Result<Dataset<Points>, ReadError> {
    let bytes = all_bytes(reader, name)?;
    let mut numbers = Numbers::default();
    let schema = CsvSchema::scan_with(&bytes[..], name, options, &mut numbers)?;
    if let Some((points, labels)) = numbers.under(&schema) {
        return Ok(Dataset::new(Points::new(points, schema.dim())?, labels, columns_of(&schema))?);
    }
    drop(numbers);
    collect_dense(CsvStream::new(&bytes[..], name, schema))
}

/// [`read_csv_from`], sparse.
///
/// # Errors
/// Any [`ReadError`].
pub fn read_csv_sparse_from<R: Read>(
    reader: R,
    name: &str,
    options: &CsvOptions,
) -> Result<Dataset<SparsePoints>, ReadError> {
    let bytes = all_bytes(reader, name)?;
    collect_sparse(scanned(&bytes, name, options)?)
}

/// The stream of a file that has been scanned.
fn rescanned(path: &Path, options: &CsvOptions) -> Result<CsvStream<File>, ReadError> {
    let (mut file, name) = open(path)?;
    let schema = CsvSchema::scan(&mut file, &name, options)?;
    match file.rewind() {
        Ok(()) => Ok(CsvStream::new(file, &name, schema)),
        Err(source) => Err(ReadError::Io { name, source }),
    }
}

/// The stream of bytes that have been scanned.
fn scanned<'a>(
    bytes: &'a [u8],
    name: &str,
    options: &CsvOptions,
) -> Result<CsvStream<&'a [u8]>, ReadError> {
    let schema = CsvSchema::scan(bytes, name, options)?;
    Ok(CsvStream::new(bytes, name, schema))
}

/// Everything that is left of an input.
pub(super) fn all_bytes<R: Read>(mut reader: R, name: &str) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    match reader.read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(source) => Err(ReadError::Io { name: name.to_owned(), source }),
    }
}

/// The points of a table of numbers, kept while it is scanned in the hope that it is one.
#[derive(Debug, Default)]
struct Numbers {
    values: Vec<f64>,
    /// The classes in the order in which they appear, and that of every row.
    classes: Vec<Box<[u8]>>,
    class_of: Vec<u8>,
    /// A field was not a finite number, or there are too many classes or values.
    failed: bool,
}

impl Numbers {
    /// Points and labels, if the schema says that every column but the labels' is numeric.
    fn under(&mut self, schema: &CsvSchema) -> Option<(Vec<f64>, Vec<Label>)> {
        let numeric = |kind: &ColumnKind| matches!(kind, ColumnKind::Numeric | ColumnKind::Label);
        let complete = self.class_of.len() as u64 == schema.rows();
        if self.failed || !complete || !schema.kinds.iter().all(numeric) {
            return None;
        }
        let label = |text: &[u8]| {
            let place = schema.classes.binary_search_by(|(class, _)| class[..].cmp(text)).ok()?;
            schema.classes.get(place).map(|(_, label)| *label)
        };
        let labels: Vec<Label> =
            self.classes.iter().map(|text| label(text)).collect::<Option<_>>()?;
        let of_rows = self.class_of.iter().map(|class| labels.get(usize::from(*class)).copied());
        let labels = of_rows.collect::<Option<_>>()?;
        self.values.shrink_to_fit();
        Some((std::mem::take(&mut self.values), labels))
    }

    /// Keeps a row; `None` if it is not one of numbers.
    fn keep<'f>(&mut self, fields: impl Iterator<Item = &'f [u8]>, label: usize) -> Option<()> {
        for (i, field) in fields.enumerate() {
            if i == label {
                let place = match self.classes.iter().position(|class| class[..] == *field) {
                    Some(place) => place,
                    None => {
                        self.classes.push(field.into());
                        self.classes.len() - 1
                    }
                };
                self.class_of.push(u8::try_from(place).ok()?);
            } else {
                let value = parse(field).filter(|value| value.is_finite())?;
                if self.values.len() == self.values.capacity() {
                    self.values.try_reserve(1).ok()?;
                }
                self.values.push(value);
            }
        }
        Some(())
    }
}

impl Watcher for Numbers {
    fn looks(&self) -> bool {
        !self.failed
    }

    fn see<'f>(&mut self, fields: impl Iterator<Item = &'f [u8]>, label: usize) {
        if !self.failed && self.keep(fields, label).is_none() {
            *self = Numbers { failed: true, ..Numbers::default() };
        }
    }
}

fn columns_of(schema: &CsvSchema) -> Vec<String> {
    schema.columns().to_vec()
}

fn collect_dense<R: Read>(mut stream: CsvStream<R>) -> Result<Dataset<Points>, ReadError> {
    let (columns, rows) = (columns_of(&stream.schema), stream.schema.rows());
    let dim = stream.schema.dim();
    let name = stream.records.name().to_owned();
    let too_large = || ReadError::TooLarge { name: name.clone(), rows, dim };
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    let size = usize::try_from(rows).ok().and_then(|n| n.checked_mul(dim)).ok_or_else(too_large)?;
    values.try_reserve_exact(size).map_err(|_| too_large())?;
    while let Some((row, label)) = stream.next_row()? {
        values.extend_from_slice(row.as_slice());
        labels.push(label);
    }
    Ok(Dataset::new(Points::new(values, dim)?, labels, columns)?)
}

fn collect_sparse<R: Read>(stream: CsvStream<R>) -> Result<Dataset<SparsePoints>, ReadError> {
    let columns = columns_of(&stream.schema);
    let (points, labels) = collect::sparse(stream.into_sparse())?;
    Ok(Dataset::new(points, labels, columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Categorical, Header, LabelColumn};
    use halfspaces_linalg::PointSet;
    use proptest::prelude::*;
    use std::io::Write;

    fn read(text: &str, options: &CsvOptions) -> Result<Dataset<Points>, ReadError> {
        read_csv_from(text.as_bytes(), "t", options)
    }

    fn message(text: &str, options: &CsvOptions) -> String {
        let dense = read(text, options).unwrap_err().to_string();
        let sparse = read_csv_sparse_from(text.as_bytes(), "t", options).unwrap_err().to_string();
        assert_eq!(dense, sparse);
        dense
    }

    #[test]
    fn every_way_to_write_a_file_reads_alike() {
        let auto = CsvOptions::new().positive("yes");
        let plain = read("a,b,y\n1,u v,yes\n2,w,no\n", &auto).unwrap();
        assert_eq!(plain.columns(), ["a", "b=u v", "b=w"]);
        assert_eq!(plain.points().as_slice(), [1.0, 1.0, 0.0, 2.0, 0.0, 1.0]);
        assert_eq!(plain.labels(), [Label::Positive, Label::Negative]);
        for text in [
            "a,b,y\r\n1,u v,yes\r\n2,w,no\r\n",
            "a,b,y\n1,u v,yes\n2,w,no",
            "\u{feff}a,b,y\n1,u v,yes\n2,w,no\n",
            "\n\na,b,y\n\n1,u v,yes\n   \n2,w,no\n\n\n",
            "\"a\",\"b\",\"y\"\n\"1\",\"u v\",yes\n\" 2\",\"w\",\"no\"\n",
            " a ,\tb, y\n 1 , u v ,yes \n2, w,\tno\n",
        ] {
            assert_eq!(read(text, &auto).unwrap(), plain, "{text:?}");
        }
        let semicolons = CsvOptions::new().positive("yes").delimiter(b';');
        assert_eq!(read("a;b;y\n1;u v;yes\n2;w;no\n", &semicolons).unwrap(), plain);
    }

    #[test]
    fn text_is_bytes() {
        let text = "größe,y\nsehr groß,1\nklein,0\n";
        let data = read(text, &CsvOptions::new()).unwrap();
        assert_eq!(data.columns(), ["größe=klein", "größe=sehr groß"]);
        let latin = read_csv_from(&b"gr\xf6\xdfer,1\nkl,0\n"[..], "t", &CsvOptions::new());
        assert_eq!(latin.unwrap().points().as_slice(), [1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn values_that_are_no_numbers_say_where() {
        let none = CsvOptions::new().categorical(Categorical::None);
        assert_eq!(
            message("1,2,1\n\n3,abc,0\n", &none),
            "t, line 3, column 2: \"abc\" is not a number; \
             write one, or declare the CSV column categorical"
        );
        for bad in ["nan", "-inf", "Infinity", "1e400"] {
            assert_eq!(
                message(&format!("1,2,1\r\n{bad},4,0\r\n"), &CsvOptions::new()),
                format!(
                    "t, line 2, column 1: {bad:?} is not finite; \
                     drop the row or fill in a finite number"
                )
            );
        }
        for missing in ["", "?", "NA"] {
            assert_eq!(
                message(&format!("1,2,1\n3,{missing},0\n"), &CsvOptions::new()),
                "t, line 2, column 2: the value is missing; drop the row or fill the value in \
                 (a categorical column may also be read with Missing::Category)"
            );
        }
        // In numeric columns missing values are never categories.
        let category = CsvOptions::new().missing(Missing::Category);
        assert!(message("1,2,1\n,4,0\n", &category).starts_with("t, line 2, column 1: the value"));
    }

    #[test]
    fn missing_categories() {
        let text = "a,1\n?,0\n,1\nb,0\n";
        assert!(message(text, &CsvOptions::new()).starts_with("t, line 2, column 1: the value is"));
        let data = read(text, &CsvOptions::new().missing(Missing::Category)).unwrap();
        assert_eq!(data.columns(), ["x1=?", "x1=a", "x1=b"]);
        assert_eq!(data.points().as_slice()[3..9], [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn another_file_must_fit_the_schema() {
        let options = CsvOptions::new();
        let schema = CsvSchema::scan(&b"a,b,y\n1,u,0\n2,v,1\n"[..], "train", &options).unwrap();
        let fault = |text: &str| {
            let mut stream = CsvStream::new(text.as_bytes(), "test", schema.clone());
            loop {
                match stream.next_row() {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("no fault"),
                    Err(fault) => return fault.to_string(),
                }
            }
        };
        assert_eq!(
            fault("a,b,y\n5,u,1\n5,w,1\n"),
            "test, line 3, column 2: \"w\" is a category the schema does not know; \
             scan a file that contains it"
        );
        assert_eq!(
            fault("a,b,y\n5,u,2\n"),
            "test, line 2, column 3: unknown label \"2\", known are \"0\", \"1\"; mend it, or name \
             the positive class and scan a file that contains every label"
        );
        assert_eq!(
            fault("b,a,y\nu,5,1\n"),
            "test, line 1, column 1: expected the column \"a\", found \"b\"; \
             order the columns as in the file that was scanned"
        );
        assert!(fault("a,b\n").starts_with("test, line 1: expected 3 fields, found 2; "));
        assert!(
            fault("a,b,y\n1,u,?\n").starts_with("test, line 2, column 3: the value is missing")
        );
        assert!(
            fault("a,b,y\n1,?,0\n").starts_with("test, line 2, column 2: the value is missing")
        );
        assert!(CsvStream::new(&b""[..], "test", schema.clone()).next_row().unwrap().is_none());
    }

    #[test]
    fn a_stream_goes_on_after_a_fault() {
        let options = CsvOptions::new().categorical(Categorical::None);
        let text = b"1,1\nx,0\n2,3,4\n5,0\n";
        let schema = CsvSchema::scan(&b"1,1\n5,0\n"[..], "t", &options).unwrap();
        let mut stream = CsvStream::new(&text[..], "t", schema);
        assert!(stream.next_row().unwrap().is_some());
        assert!(matches!(stream.next_row(), Err(ReadError::NotANumber { .. })));
        let ragged = stream.next_sparse_row().unwrap_err();
        assert!(matches!(ragged, ReadError::Ragged { expected: 2, found: 3, .. }));
        let (row, label) = stream.next_row().unwrap().unwrap();
        assert_eq!((row.as_slice(), label), (&[5.0][..], Label::Negative));
        assert!(stream.next_row().unwrap().is_none());
    }

    #[test]
    fn files_read_as_bytes_do() {
        let text = "a,b,y\n1,u,0\n0,v,1\n";
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let options = CsvOptions::new();
        let data = read_csv(file.path(), &options).unwrap();
        assert_eq!(data, read(text, &options).unwrap());
        let sparse = read_csv_sparse(file.path(), &options).unwrap();
        assert_eq!(sparse.points().stored(), 3); // the 0 is not stored
        assert_eq!(sparse.points().to_dense().unwrap(), *data.points());
        let schema = CsvSchema::scan_path(file.path(), &options).unwrap();
        let mut stream = CsvStream::open(file.path(), schema).unwrap();
        assert_eq!(stream.next_row().unwrap().unwrap().0.as_slice(), [1.0, 1.0, 0.0]);
        let named = read_csv(file.path(), &options.header(Header::Absent)).unwrap_err();
        assert!(named.to_string().starts_with(&file.path().display().to_string()));
    }

    /// A reader that fails after its text.
    struct Failing(&'static [u8]);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(std::io::Error::other("the disk is gone")),
                n => Ok(n),
            }
        }
    }

    #[test]
    fn a_failing_reader_is_reported() {
        let message = "t: the disk is gone; check that it exists and can be read";
        let options = CsvOptions::new();
        let fault = CsvSchema::scan(Failing(b"1,1\n"), "t", &options).unwrap_err();
        assert_eq!(fault.to_string(), message);
        let fault = read_csv_from(Failing(b"1,1\n"), "t", &options).unwrap_err();
        assert_eq!(fault.to_string(), message);
    }

    /// Text that looks like CSV, with everything that makes it hard.
    fn soup() -> impl Strategy<Value = String> {
        let field = prop_oneof![
            4 => "[0-9]{1,3}",
            2 => "[ab?]",
            1 => "[-+.0-9eE]{1,5}",
            1 => Just("NA".to_owned()),
            1 => Just("nan".to_owned()),
            1 => Just("\"x,\n\"\"y\"".to_owned()),
            1 => "[\" \t\r]{0,2}",
        ];
        let line = prop::collection::vec(field, 3).prop_map(|fields| fields.join(","));
        prop::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n"))
    }

    fn any_options() -> impl Strategy<Value = CsvOptions> {
        let header = prop_oneof![Just(Header::Auto), Just(Header::Present), Just(Header::Absent)];
        let categorical = prop_oneof![
            Just(Categorical::Auto),
            Just(Categorical::None),
            Just(Categorical::Columns(vec![0.into()])),
        ];
        (header, categorical, any::<bool>(), any::<bool>(), 1..5usize).prop_map(
            |(header, categorical, missing, positive, limit)| {
                let missing = if missing { Missing::Category } else { Missing::Error };
                let mut options = CsvOptions::new()
                    .header(header)
                    .categorical(categorical)
                    .missing(missing)
                    .max_categories(limit);
                if positive {
                    options = options.positive("1");
                }
                options
            },
        )
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>, options in any_options()) {
            let _ = read_csv_from(&bytes[..], "t", &options);
            let _ = read_csv_sparse_from(&bytes[..], "t", &options);
        }

        /// What a scan keeps is what a second pass reads, whatever kind of table it is.
        #[test]
        fn kept_and_read_again_agree(
            rows in prop::collection::vec(prop::collection::vec("-?[0-9]{1,3}(\\.[0-9]{1,2})?", 3), 1..200),
            header in any::<bool>(),
            limit in 1..5usize,
            late in prop_oneof![3 => Just(""), 1 => Just("1,nan,2\n"), 1 => Just("1,?,2\n")],
        ) {
            let lines = rows.iter().map(|row| format!("{}\n", row.join(",")));
            let text = header.then(|| "a,b,y\n".into()).into_iter().chain(lines).collect::<String>();
            let text = text + late;
            let options = CsvOptions::new().max_categories(limit).positive("1").label(LabelColumn::First);
            let read = read(&text, &options);
            let again = CsvSchema::scan(text.as_bytes(), "t", &options)
                .and_then(|schema| collect_dense(CsvStream::new(text.as_bytes(), "t", schema)));
            match (read, again) {
                (Ok(read), Ok(again)) => prop_assert_eq!(read, again),
                (read, again) => {
                    prop_assert_eq!(read.unwrap_err().to_string(), again.unwrap_err().to_string());
                }
            }
        }

        /// Dense, sparse and streamed agree, in what they read and in what they refuse.
        #[test]
        fn all_forms_agree(text in soup(), options in any_options()) {
            let dense = read(&text, &options);
            let sparse = read_csv_sparse_from(text.as_bytes(), "t", &options);
            match (dense, sparse) {
                (Ok(dense), Ok(sparse)) => {
                    prop_assert_eq!(
                        &SparsePoints::from_dense(dense.points()).unwrap(),
                        sparse.points()
                    );
                    prop_assert_eq!(dense.labels(), sparse.labels());
                    prop_assert_eq!(dense.columns(), sparse.columns());
                    let schema = CsvSchema::scan(text.as_bytes(), "t", &options).unwrap();
                    prop_assert_eq!(schema.rows(), dense.len() as u64);
                    let mut stream = CsvStream::new(text.as_bytes(), "t", schema);
                    for (row, &label) in dense.points().rows().zip(dense.labels()) {
                        prop_assert_eq!(stream.next_row().unwrap(), Some((row, label)));
                    }
                    prop_assert!(stream.next_row().unwrap().is_none());
                }
                (dense, sparse) => {
                    prop_assert_eq!(dense.unwrap_err().to_string(), sparse.unwrap_err().to_string());
                }
            }
        }
    }
}
