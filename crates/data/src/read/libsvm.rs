//! LIBSVM text: `label index:value index:value ... # comment`, indices from 1 and increasing.
//!
//! Blank lines and lines of comment alone are skipped. A `qid:n` right after the label (the query
//! of a ranking task) is skipped too. Zeros that are written out are not stored. Labels are numbers:
//! see [`LibsvmOptions::positive`].

use super::Location;
use super::classes::{NumberRule, same};
use super::csv_schema::open;
use super::dataset::Dataset;
use super::error::{ReadError, excerpt};
use super::lines::{BUFFER, Lines};
use super::number::{finite, integer_of_word};
use super::records::bytes_equal;
use halfspaces_linalg::{ExampleStream, Label, SparsePoints, SparseRow};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The largest dimension: columns are 32-bit numbers from 0.
const LARGEST_DIM: usize = u32::MAX as usize;

/// How many classes a message lists, at most.
const CLASSES_KEPT: usize = 16;

/// How a LIBSVM file is to be understood.
///
/// ```
/// use halfspaces_data::read::{LibsvmOptions, read_libsvm_from};
/// let options = LibsvmOptions::new().positive(3.0).dim(4);
/// let data = read_libsvm_from(&b"3 1:0.5\n1 2:1\n2 2:-1\n"[..], "digits", &options)?;
/// assert_eq!((data.dim(), data.positives()), (4, 1));
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LibsvmOptions {
    positive: Option<f64>,
    dim: Option<usize>,
}

impl LibsvmOptions {
    /// The default options: nothing declared, all found by a scan.
    #[must_use]
    pub fn new() -> LibsvmOptions {
        LibsvmOptions::default()
    }

    /// The class labelled +1; every other is -1. Without it there may be at most two classes and
    /// the larger is +1 (so +1/-1, 1/0 and 2/1 all work); an only class is +1 iff above 0.
    #[must_use]
    pub fn positive(mut self, class: f64) -> LibsvmOptions {
        self.positive = Some(class);
        self
    }

    /// The number of coordinates; without it, the largest index of the file.
    #[must_use]
    pub fn dim(mut self, dim: usize) -> LibsvmOptions {
        self.dim = Some(dim);
        self
    }

    /// The dimension that is declared, checked.
    fn checked_dim(&self) -> Result<Option<usize>, ReadError> {
        match self.dim {
            Some(dim) if dim == 0 || dim > LARGEST_DIM => Err(ReadError::BadDimension { dim }),
            dim => Ok(dim),
        }
    }
}

/// What must be known of LIBSVM text before its examples can be read one by one: the dimension and
/// which labels are positive.
///
/// ```
/// use halfspaces_data::read::{LibsvmOptions, LibsvmSchema};
/// let text = b"2 1:0.5 7:1\n1 3:2\n";
/// let schema = LibsvmSchema::scan(&text[..], "tiny", &LibsvmOptions::new())?;
/// assert_eq!((schema.dim(), schema.rows()), (7, Some(2)));
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LibsvmSchema {
    dim: usize,
    rule: NumberRule,
    rows: Option<u64>,
}

impl LibsvmSchema {
    /// Reads an input called `name` (for messages) once, from where it stands to its end.
    ///
    /// # Errors
    /// Any [`ReadError`] about LIBSVM text, labels or options.
    pub fn scan<R: BufRead>(
        reader: R,
        name: &str,
        options: &LibsvmOptions,
    ) -> Result<LibsvmSchema, ReadError> {
        LibsvmSchema::scan_with(reader, name, options, |_, _| {})
    }

    /// [`LibsvmSchema::scan`], which shows every example with its label as written.
    fn scan_with<R: BufRead>(
        reader: R,
        name: &str,
        options: &LibsvmOptions,
        mut show: impl FnMut(&Example, f64),
    ) -> Result<LibsvmSchema, ReadError> {
        let declared = options.checked_dim()?;
        let mut lines = Lines::new(reader, name);
        let mut example = Example::default();
        let (mut rows, mut largest) = (0, 0);
        let mut classes = Classes::new(options.positive);
        while lines.advance()? {
            let Some(value) = example.read(&lines, declared.unwrap_or(LARGEST_DIM))? else {
                continue;
            };
            rows += 1;
            largest = largest.max(example.last);
            classes.see(value, || lines.at(Some(1)))?;
            show(&example, value);
        }
        if rows == 0 {
            return Err(ReadError::NoRows { name: name.to_owned() });
        }
        let dim = declared.unwrap_or(largest as usize);
        if dim == 0 {
            return Err(ReadError::NoFeatures { name: name.to_owned() });
        }
        Ok(LibsvmSchema { dim, rule: classes.rule()?, rows: Some(rows) })
    }

    /// The schema that the options declare, for input that can be read only once. If no positive
    /// class is named, the labels must be 1 (positive), -1 and 0 (negative).
    ///
    /// # Errors
    /// [`ReadError::BadDimension`] if the options have no dimension.
    pub fn declared(options: &LibsvmOptions) -> Result<LibsvmSchema, ReadError> {
        let dim = options.checked_dim()?.ok_or(ReadError::BadDimension { dim: 0 })?;
        let rule = options.positive.map_or(NumberRule::Signs, NumberRule::Only);
        Ok(LibsvmSchema { dim, rule, rows: None })
    }

    /// Number of coordinates.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of examples in the file that was scanned; `None` if there was none.
    #[must_use]
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }
}

/// The examples of LIBSVM text, one at a time, in memory for one line.
///
/// ```
/// use halfspaces_data::read::{LibsvmOptions, LibsvmSchema, LibsvmStream};
/// use halfspaces_linalg::{Label, RowView};
/// let schema = LibsvmSchema::declared(&LibsvmOptions::new().dim(5))?;
/// let mut stream = LibsvmStream::new(&b"-1 2:0.5 5:2 # first\n"[..], "tiny", schema);
/// let example = stream.next_row()?.map(|(x, label)| (x.entries().collect::<Vec<_>>(), label));
/// assert_eq!(example, Some((vec![(1, 0.5), (4, 2.0)], Label::Negative)));
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug)]
pub struct LibsvmStream<R> {
    lines: Lines<R>,
    schema: LibsvmSchema,
    example: Example,
}

impl LibsvmStream<BufReader<std::fs::File>> {
    /// The examples of a file.
    ///
    /// # Errors
    /// [`ReadError::Io`].
    pub fn open(path: impl AsRef<Path>, schema: LibsvmSchema) -> Result<Self, ReadError> {
        let (file, name) = open(path.as_ref())?;
        Ok(LibsvmStream::new(BufReader::with_capacity(BUFFER, file), &name, schema))
    }
}

impl<R: BufRead> LibsvmStream<R> {
    /// The examples of an input called `name` (for messages).
    pub fn new(reader: R, name: &str, schema: LibsvmSchema) -> LibsvmStream<R> {
        LibsvmStream { lines: Lines::new(reader, name), schema, example: Example::default() }
    }

    /// The schema.
    pub fn schema(&self) -> &LibsvmSchema {
        &self.schema
    }

    /// The next example; `None` after the last.
    ///
    /// # Errors
    /// What is wrong with the next line; the one after it can still be read.
    pub fn next_row(&mut self) -> Result<Option<(SparseRow<'_>, Label)>, ReadError> {
        let value = loop {
            if !self.lines.advance()? {
                return Ok(None);
            }
            if let Some(value) = self.example.read(&self.lines, self.schema.dim)? {
                break value;
            }
        };
        let Some(label) = self.schema.rule.label(value) else {
            return Err(ReadError::UnknownLabel {
                at: self.lines.at(Some(1)),
                found: value.to_string(),
                classes: self.schema.rule.known(),
            });
        };
        let row = SparseRow::new(&self.example.columns, &self.example.values, self.schema.dim)?;
        Ok(Some((row, label)))
    }
}

impl<R: BufRead> ExampleStream for LibsvmStream<R> {
    type Row<'a>
        = SparseRow<'a>
    where
        R: 'a;
    type Error = ReadError;

    fn dim(&self) -> usize {
        self.schema.dim
    }

    fn next_row(&mut self) -> Result<Option<(SparseRow<'_>, Label)>, ReadError> {
        LibsvmStream::next_row(self)
    }
}

/// Reads a LIBSVM file; coordinates have no names. A scan keeps what it meets, so the text is taken
/// apart once, and a pipe will do.
///
/// # Errors
/// Any [`ReadError`].
pub fn read_libsvm(
    path: impl AsRef<Path>,
    options: &LibsvmOptions,
) -> Result<Dataset<SparsePoints>, ReadError> {
    let (file, name) = open(path.as_ref())?;
    gather(BufReader::with_capacity(BUFFER, file), &name, options)
}

/// [`read_libsvm`] from any input, called `name` in messages.
///
/// # Errors
/// Any [`ReadError`].
///
/// ```
/// use halfspaces_data::read::{LibsvmOptions, read_libsvm_from};
/// let data = read_libsvm_from(&b"+1 1:1\n-1 3:2\n"[..], "tiny", &LibsvmOptions::new())?;
/// assert_eq!((data.len(), data.dim()), (2, 3));
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
pub fn read_libsvm_from<R: Read>(
    reader: R,
    name: &str,
    options: &LibsvmOptions,
) -> Result<Dataset<SparsePoints>, ReadError> {
    gather(BufReader::with_capacity(BUFFER, reader), name, options)
}

fn gather<R: BufRead>(
    reader: R,
    name: &str,
    options: &LibsvmOptions,
) -> Result<Dataset<SparsePoints>, ReadError> {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    // Which labels are positive is known after the last.
    let mut written = Vec::new();
    let schema = LibsvmSchema::scan_with(reader, name, options, |example, label| {
        columns.extend_from_slice(&example.columns);
        values.extend_from_slice(&example.values);
        starts.push(values.len());
        written.push(label);
    })?;
    // The rule was made from these labels and knows all of them.
    let labels: Vec<Label> = written.iter().filter_map(|label| schema.rule.label(*label)).collect();
    let points = SparsePoints::new(starts, columns, values, schema.dim)?;
    Ok(Dataset::new(points, labels, vec![])?)
}

/// One line, taken apart.
#[derive(Debug, Default)]
struct Example {
    columns: Vec<u32>,
    values: Vec<f64>,
    /// The last index, stored or not; 0 if there is none.
    last: u64,
}

impl Example {
    /// Takes the present line apart; its label as written, or `None` if there is nothing on it.
    fn read<R: BufRead>(&mut self, lines: &Lines<R>, dim: usize) -> Result<Option<f64>, ReadError> {
        self.columns.clear();
        self.values.clear();
        self.last = 0;
        let text = lines.text();
        let end = text.iter().position(|&b| b == b'#').unwrap_or(text.len());
        let mut rest = &text[..end];
        let Some(label) = next_token(&mut rest) else {
            return Ok(None);
        };
        let label = finite(label, || lines.at(Some(1)))?;
        let mut column = 1;
        while let Some(token) = next_token(&mut rest) {
            column += 1;
            if column == 2 && is_query(token) {
                continue;
            }
            self.take_pair(token, dim, || lines.at(Some(column)))?;
        }
        Ok(Some(label))
    }

    #[inline]
    fn take_pair(
        &mut self,
        token: &[u8],
        dim: usize,
        at: impl Fn() -> Location,
    ) -> Result<(), ReadError> {
        let Some((index, value)) = split_pair(token) else {
            return Err(ReadError::MalformedPair { at: at(), found: excerpt(token) });
        };
        if index == 0 {
            return Err(ReadError::IndexZero { at: at() });
        }
        if index <= self.last {
            return Err(ReadError::UnsortedIndex { at: at(), index, previous: self.last });
        }
        if index > dim as u64 {
            return Err(ReadError::IndexBeyondDimension { at: at(), index, dim });
        }
        self.last = index;
        let value = finite(value, at)?;
        if value != 0.0 {
            self.columns.push((index - 1) as u32);
            self.values.push(value);
        }
        Ok(())
    }
}

/// Cuts the next token off `text`, if there is one.
#[inline]
fn next_token<'a>(text: &mut &'a [u8]) -> Option<&'a [u8]> {
    let start = match text.first() {
        Some(b' ' | b'\t') => text.iter().position(|&b| !is_blank(b))?,
        Some(_) => 0,
        None => return None,
    };
    let rest = text.get(start..)?;
    let (token, rest) = rest.split_at_checked(token_length(rest))?;
    // The blank behind the token is not looked at again.
    *text = rest.get(1..).unwrap_or_default();
    Some(token)
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Where the first blank stands, eight bytes at a time.
#[inline]
fn token_length(text: &[u8]) -> usize {
    let (words, tail) = text.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let blanks = bytes_equal(word, b' ') | bytes_equal(word, b'\t');
        if blanks != 0 {
            return 8 * i + blanks.trailing_zeros() as usize / 8;
        }
    }
    8 * words.len() + tail.iter().position(|&b| is_blank(b)).unwrap_or(tail.len())
}

/// Index and value of `index:value`. An index too large for 64 bits becomes the largest of them.
#[inline]
fn split_pair(token: &[u8]) -> Option<(u64, &[u8])> {
    // The colon among the first eight bytes, behind one digit at least and before something.
    if let Some(word) = token.first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        let colons = bytes_equal(word, b':');
        let at = colons.trailing_zeros() as usize / 8;
        if colons != 0 && at > 0 && at + 1 < token.len() {
            return Some((integer_of_word(word, at)?, token.get(at + 1..)?));
        }
    }
    split_pair_one_by_one(token)
}

/// [`split_pair`], of any length.
fn split_pair_one_by_one(token: &[u8]) -> Option<(u64, &[u8])> {
    let mut index = 0u64;
    for (i, &byte) in token.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            index = index.saturating_mul(10).saturating_add(u64::from(digit));
        } else if byte == b':' && i > 0 && i + 1 < token.len() {
            return Some((index, &token[i + 1..]));
        } else {
            return None;
        }
    }
    None
}

/// Whether a token is a query number, `qid:n`.
fn is_query(token: &[u8]) -> bool {
    matches!(token.strip_prefix(b"qid:"), Some(n) if n.iter().all(u8::is_ascii_digit) && !n.is_empty())
}

/// The classes a scan has seen.
struct Classes {
    positive: Option<f64>,
    seen_positive: bool,
    seen: Vec<f64>,
    /// Where the last class to appear appeared first.
    latest: Option<Location>,
}

impl Classes {
    fn new(positive: Option<f64>) -> Classes {
        Classes { positive, seen_positive: false, seen: Vec::new(), latest: None }
    }

    /// Notes a class; a fault if its sign cannot be told.
    fn see(&mut self, value: f64, at: impl Fn() -> Location) -> Result<(), ReadError> {
        self.seen_positive |= self.positive.is_some_and(|p| same(p, value));
        if self.seen.len() < CLASSES_KEPT && !self.seen.iter().any(|&v| same(v, value)) {
            self.seen.push(value);
            self.latest = Some(at());
            if self.positive.is_none() && self.seen.len() > 2 {
                return Err(ReadError::UnclearPositive { at: at(), classes: self.names() });
            }
        }
        Ok(())
    }

    fn rule(self) -> Result<NumberRule, ReadError> {
        match (self.positive, &self.latest) {
            (Some(positive), Some(at)) if !self.seen_positive && self.seen.len() > 1 => {
                let (at, classes) = (at.clone(), self.names());
                Err(ReadError::AbsentPositive { at, positive: positive.to_string(), classes })
            }
            (Some(positive), _) => Ok(NumberRule::Only(positive)),
            (None, _) => Ok(NumberRule::of(self.seen.iter().copied()).unwrap_or(NumberRule::Signs)),
        }
    }

    fn names(&self) -> Vec<String> {
        self.seen.iter().map(f64::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{PointSet, Points};
    use proptest::prelude::*;
    use std::io::Write;

    fn read(text: &str, options: &LibsvmOptions) -> Result<Dataset<SparsePoints>, ReadError> {
        read_libsvm_from(text.as_bytes(), "t", options)
    }

    fn message(text: &str) -> String {
        read(text, &LibsvmOptions::new()).unwrap_err().to_string()
    }

    #[test]
    fn every_way_to_write_a_file_reads_alike() {
        let auto = LibsvmOptions::new();
        let plain = read("+1 1:0.5 3:-2\n-1 2:1\n", &auto).unwrap();
        let rows = [[0.5, 0.0, -2.0], [0.0, 1.0, 0.0]];
        assert_eq!(plain.points().to_dense().unwrap(), Points::from_rows(&rows).unwrap());
        assert_eq!(plain.labels(), [Label::Positive, Label::Negative]);
        assert!(plain.columns().is_empty());
        for text in [
            "+1 1:0.5 3:-2\r\n-1 2:1\r\n",
            "+1 1:0.5 3:-2\n-1 2:1",
            "\u{feff}1 1:0.5 3:-2\n0 2:1\n",
            "# made by hand\n\n2  1:5e-1\t3:-2.0 # 4:7\n \n 1 2:1# end\n",
            "1 qid:7 1:.5 3:-2\n0 qid:8 2:1\n",
            "1 1:0.5 2:0 3:-2\n0 1:0 2:1 3:-0\n",
            "1 001:0.5 3:-2\n0 2:+1\n",
        ] {
            assert_eq!(read(text, &auto).unwrap(), plain, "{text:?}");
        }
        let three = read("1 1:0.5 3:-2\n7 2:1\n", &LibsvmOptions::new().positive(1.0)).unwrap();
        assert_eq!(three, plain);
    }

    #[test]
    fn faults_say_where() {
        for (text, expected) in [
            (
                "x 1:1\n",
                "line 1, column 1: \"x\" is not a number; write one, or declare the CSV column categorical",
            ),
            (
                "1 1:1\n\n1 2:a\n",
                "line 3, column 2: \"a\" is not a number; write one, or declare the CSV column categorical",
            ),
            (
                "1 1:1 2:nan\n",
                "line 1, column 3: \"nan\" is not finite; drop the row or fill in a finite number",
            ),
            (
                "inf 1:1\n",
                "line 1, column 1: \"inf\" is not finite; drop the row or fill in a finite number",
            ),
            (
                "1 1:1 2:\n",
                "line 1, column 3: \"2:\" is not an index:value pair; write it as 3:0.5",
            ),
            ("1 5\n", "line 1, column 2: \"5\" is not an index:value pair; write it as 3:0.5"),
            ("1 :5\n", "line 1, column 2: \":5\" is not an index:value pair; write it as 3:0.5"),
            (
                "1 -1:5\n",
                "line 1, column 2: \"-1:5\" is not an index:value pair; write it as 3:0.5",
            ),
            (
                "1 qid:a 1:1\n",
                "line 1, column 2: \"qid:a\" is not an index:value pair; write it as 3:0.5",
            ),
            (
                "1 1:1 qid:1\n",
                "line 1, column 3: \"qid:1\" is not an index:value pair; write it as 3:0.5",
            ),
            (
                "1 0:5\n",
                "line 1, column 2: index 0; indices start at 1, so add 1 to every index of the file",
            ),
            (
                "1 2:1 2:1\n",
                "line 1, column 3: index 2 after 2; sort the pairs of a line and drop duplicates",
            ),
            (
                "1 2:0 1:1\n",
                "line 1, column 3: index 1 after 2; sort the pairs of a line and drop duplicates",
            ),
            (
                "1 4294967296:1\n",
                "line 1, column 2: index 4294967296 is beyond dimension 4294967295; declare a larger dimension",
            ),
            (
                "1 1:1\n2 1:1\n3 1:1\n",
                "line 3, column 1: the labels are \"1\", \"2\", \"3\"; name the positive class in the options",
            ),
        ] {
            assert_eq!(message(text), format!("t, {expected}"));
        }
        assert!(message("1 1:?\n").starts_with("t, line 1, column 2: the value is missing; "));
        assert!(message("1 99999999999999999999999:1\n").contains("beyond dimension"));
        assert_eq!(message("# nothing\n"), "t: no rows of data; give at least one example");
        assert_eq!(
            message("1\n-1 # no pair\n"),
            "t: no features beside the labels; check the delimiter, or declare a dimension"
        );
    }

    #[test]
    fn options_are_checked() {
        let options = LibsvmOptions::new;
        let beyond = read("1 1:1\n0 4:1\n", &options().dim(3)).unwrap_err();
        assert_eq!(
            beyond.to_string(),
            "t, line 2, column 2: index 4 is beyond dimension 3; declare a larger dimension"
        );
        for dim in [0, LARGEST_DIM + 1] {
            let bad = read("1 1:1\n", &options().dim(dim)).unwrap_err();
            assert!(matches!(bad, ReadError::BadDimension { dim: d } if d == dim));
        }
        assert_eq!(
            LibsvmSchema::declared(&options()).unwrap_err().to_string(),
            "dimension 0; declare one from 1 to 4294967295"
        );
        let absent = read("1 1:1\n2 1:1\n2 1:2\n", &options().positive(3.0)).unwrap_err();
        assert_eq!(
            absent.to_string(),
            "t, line 2, column 1: the labels are \"1\", \"2\", without the positive class \"3\"; \
             name one of them"
        );
        // Rows without pairs are points too, once the dimension is known.
        assert_eq!(read("1\n", &options().dim(2)).unwrap().points().stored(), 0);
    }

    #[test]
    fn declared_labels_are_signs_or_named() {
        let options = LibsvmOptions::new().dim(1);
        let schema = LibsvmSchema::declared(&options).unwrap();
        let mut stream = LibsvmStream::new(&b"1 1:1\n2 1:1\n0 1:1\n-1 1:1\n"[..], "t", schema);
        assert_eq!(stream.next_row().unwrap().unwrap().1, Label::Positive);
        assert_eq!(
            stream.next_row().unwrap_err().to_string(),
            "t, line 2, column 1: unknown label \"2\", known are \"-1\", \"0\", \"1\"; mend it, or \
             name the positive class and scan a file that contains every label"
        );
        assert_eq!(stream.next_row().unwrap().unwrap().1, Label::Negative);
        assert_eq!(stream.next_row().unwrap().unwrap().1, Label::Negative);
        assert!(stream.next_row().unwrap().is_none());

        let schema = LibsvmSchema::declared(&options.positive(2.0)).unwrap();
        let mut stream = LibsvmStream::new(&b"2\n1\n"[..], "t", schema);
        assert_eq!(stream.next_row().unwrap().unwrap().1, Label::Positive);
        assert_eq!(stream.next_row().unwrap().unwrap().1, Label::Negative);
    }

    #[test]
    fn files_read_as_bytes_do() {
        let text = "1 1:1 4:2\n-1 2:1\n";
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let options = LibsvmOptions::new();
        let data = read_libsvm(file.path(), &options).unwrap();
        assert_eq!(data, read(text, &options).unwrap());
        let schema = LibsvmSchema::scan(text.as_bytes(), "t", &options).unwrap();
        let mut stream = LibsvmStream::open(file.path(), schema).unwrap();
        assert_eq!(stream.next_row().unwrap().unwrap().0.columns(), [0, 3]);
        let missing = read_libsvm("/no/such/file", &options).unwrap_err();
        assert!(matches!(missing, ReadError::Io { name, .. } if name == "/no/such/file"));
    }

    proptest! {
        #[test]
        fn tokens_are_what_stands_between_blanks(text in "[ \ta:]{0,40}") {
            let mut rest = text.as_bytes();
            let mut tokens = Vec::new();
            while let Some(token) = next_token(&mut rest) {
                tokens.push(token);
            }
            let expected: Vec<&[u8]> =
                text.split([' ', '\t']).filter(|t| !t.is_empty()).map(str::as_bytes).collect();
            prop_assert_eq!(tokens, expected);
        }

        #[test]
        fn pairs_are_split_alike_in_one_word_and_one_by_one(
            token in prop_oneof!["[0-9]{0,9}:[-.0-9]{0,9}", "[-:.0-9x]{0,12}"],
        ) {
            prop_assert_eq!(split_pair(token.as_bytes()), split_pair_one_by_one(token.as_bytes()));
        }

        #[test]
        fn no_bytes_panic(bytes: Vec<u8>, text in "([-+.0-9:#\n\r \t]|[0-9]:[0-9]|qid:){0,40}") {
            for options in [LibsvmOptions::new(), LibsvmOptions::new().positive(1.0).dim(3)] {
                let _ = read_libsvm_from(&bytes[..], "t", &options);
                let _ = read(&text, &options);
            }
        }

        /// A declared stream yields what the scan and the collection do.
        #[test]
        fn streamed_and_collected_agree(
            rows in prop::collection::vec((any::<bool>(), prop::collection::btree_map(1..9u32, -9..9i8, 0..5)), 1..8),
        ) {
            let mut text = String::new();
            for (positive, pairs) in &rows {
                text.push_str(if *positive { "1" } else { "-1" });
                pairs.iter().for_each(|(j, v)| text.push_str(&format!(" {j}:{v}")));
                text.push('\n');
            }
            let options = LibsvmOptions::new().dim(8);
            let data = read(&text, &options).unwrap();
            let schema = LibsvmSchema::declared(&options).unwrap();
            let mut stream = LibsvmStream::new(text.as_bytes(), "t", schema);
            for (row, &label) in data.points().rows().zip(data.labels()) {
                prop_assert_eq!(stream.next_row().unwrap(), Some((row, label)));
            }
            prop_assert!(stream.next_row().unwrap().is_none());
        }
    }
}
