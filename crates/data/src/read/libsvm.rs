//! LIBSVM text: `label index:value index:value ... # comment`, indices from 1 and increasing.
//!
//! Blank lines and lines of comment alone are skipped. A `qid:n` right after the label (the query
//! of a ranking task) is skipped too. Zeros that are written out are not stored. Labels are numbers:
//! see [`LibsvmOptions::positive`].

use super::dataset::Dataset;
use super::error::ReadError;
use super::input::open;
use super::libsvm_example::Example;
use super::libsvm_schema::{Examples, LibsvmOptions, LibsvmSchema};
use super::lines::{BUFFER, Lines};
use halfspaces_linalg::{ExampleStream, Label, SparsePoints, SparseRow};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

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
        let lines = Lines::new(reader, name, schema.max_line, false);
        LibsvmStream { lines, schema, example: Example::default() }
    }

    /// The schema.
    pub fn schema(&self) -> &LibsvmSchema {
        &self.schema
    }

    /// The next example; `None` after the last.
    ///
    /// # Errors
    /// What is wrong with the next line; the one after it can still be read, unless a line was
    /// too long or the input is no text.
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
    let mut examples = Examples::default();
    let schema = LibsvmSchema::scan_with(reader, name, options, Some(&mut examples))?;
    let Examples { columns, values, mut ends, labels } = examples;
    let label = |class: &f64| match schema.rule.label(*class) {
        Some(label) => label,
        None => unreachable!("the rule was made from these classes"),
    };
    // Which classes are positive is known after the last.
    let labels: Vec<Label> = labels.iter().map(label).collect();
    ends.insert(0, 0);
    let points = SparsePoints::new(ends, columns, values, schema.dim)?;
    Ok(Dataset::new(points, labels, vec![])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{MAX_SPARSE_DIM, PointSet, Points, Threads};
    use proptest::prelude::*;
    use std::io::Write;

    /// By one thread and by three, alike.
    fn read(text: &str, options: &LibsvmOptions) -> Result<Dataset<SparsePoints>, ReadError> {
        let one = read_libsvm_from(text.as_bytes(), "t", options);
        let three = options.clone().threads(Threads::new(3).unwrap());
        let three = read_libsvm_from(text.as_bytes(), "t", &three);
        match (&one, &three) {
            (Ok(one), Ok(three)) => assert_eq!(one, three, "{text:?}"),
            (Err(one), Err(three)) => assert_eq!(one.to_string(), three.to_string(), "{text:?}"),
            _ => panic!("{text:?}: {one:?} and {three:?}"),
        }
        one
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
                "line 1, column 1: \"x\" is not a number; write a number; labels and values are numbers in LIBSVM text",
            ),
            (
                "1 1:1\n\n1 2:a\n",
                "line 3, column 2: \"a\" is not a number; write a number; labels and values are numbers in LIBSVM text",
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
                "line 1, column 2: index 4294967296 is larger than 2147483648, the largest there can be; number the features anew, from 1 without gaps",
            ),
            (
                "1 1:1\n2 1:1\n3 1:1\n",
                "line 3, column 1: the labels are \"1\", \"2\", \"3\"; name the positive class in the options",
            ),
        ] {
            assert_eq!(message(text), format!("t, {expected}"));
        }
        assert!(message("1 1:?\n").starts_with("t, line 1, column 2: the value is missing; "));
        let huge = format!("1 1{}:1\n", "0".repeat(40));
        assert!(message(&huge).starts_with(&format!(
            "t, line 1, column 2: index 1{} is larger than",
            "0".repeat(40)
        )));
        assert!(message("1 0x1f:1\n").contains("\"0x1f:1\" is not an index:value pair"));
        assert!(
            message("1 1:0x1f\n").ends_with("\"0x1f\" is not a number; write it in decimal digits")
        );
        assert!(message("1 1:1_000\n").ends_with("write the digits without separators"));
        assert!(message("1,2 1:1\n").ends_with("if this is a CSV file, use read_csv"));
        assert!(
            message("1 1:1\n1 1:\x002\n").ends_with("remove the NUL byte; the file may be damaged")
        );
        assert!(message("1 1:1\n\0\0\0").contains("remove the NUL byte"));
        assert!(message("\u{feff}\u{feff}1 1:1\n").contains("a second byte-order mark"));
        assert!(message("1 1:1\n\u{feff}1 1:1\n").contains("line 2: a second byte-order mark"));
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
            "t, line 2, column 2: index 4 is beyond dimension 3; declare a larger one with \
             LibsvmOptions::dim"
        );
        for dim in [0, MAX_SPARSE_DIM + 1] {
            let bad = read("1 1:1\n", &options().dim(dim)).unwrap_err();
            assert!(matches!(bad, ReadError::BadDimension { dim: d } if d == dim));
        }
        assert_eq!(
            LibsvmSchema::declared(&options()).unwrap_err().to_string(),
            "the dimension is 0; it must be declared, from 1 to 2147483648"
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
            "t, line 2, column 1: unknown label \"2\", known are \"-1\", \"0\", \"1\"; fix it, or \
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
    fn lines_without_end_are_refused() {
        let options = LibsvmOptions::new().max_line(1000);
        let fault = read_libsvm_from(std::io::repeat(b' '), "t", &options).unwrap_err();
        assert!(matches!(fault, ReadError::LineTooLong { limit: 1000, .. }));
        let gzip = read_libsvm_from(&b"\x1f\x8b\x08\0"[..], "t", &options).unwrap_err();
        assert!(gzip.to_string().starts_with("t: compressed with gzip; unpack it first"));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_saved_schema_is_checked() {
        let scan = |text: &[u8]| LibsvmSchema::scan(text, "t", &LibsvmOptions::new()).unwrap();
        for schema in [scan(b"1 2:1\n"), scan(b"1 2:1\n2 1:1\n")] {
            let saved = serde_json::to_value(&schema).unwrap();
            assert_eq!(serde_json::from_value::<LibsvmSchema>(saved.clone()).unwrap(), schema);
            for (field, value) in [
                ("dim", serde_json::json!(0)),
                ("dim", serde_json::json!(1u64 << 32)),
                ("rule", serde_json::json!({"Pair": {"negative": 2.0, "positive": 1.0}})),
            ] {
                let mut changed = saved.clone();
                changed[field] = value;
                assert!(serde_json::from_value::<LibsvmSchema>(changed).is_err(), "{field}");
            }
        }
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
        /// Many blocks, with one line in so many that is not an example of two classes.
        #[test]
        fn threads_change_nothing(
            lines in prop::collection::vec((0..2, 1..300u32, any::<i16>()), 1..120),
            other in prop::option::of((0usize..120, prop::sample::select(vec![
                "", "# nothing", "2 1:1", "1 0:1", "1 1:x", "\u{feff}1 1:1", "1 2:1 1:1", "1 1:\0", "1", "1 400:1",
            ]))),
            longest in any::<bool>(),
            dim in prop::option::of(290usize..400),
        ) {
            let line = |(y, j, v): &(i32, u32, i16)| format!("{y} {j}:{v} {}:1", j + 1);
            let mut lines: Vec<String> = lines.iter().map(line).collect();
            if let Some((at, text)) = other {
                lines.insert(at.min(lines.len()), text.to_owned());
            }
            let options = LibsvmOptions::new().max_line(if longest { 15 } else { 1000 });
            let options = dim.map_or(options.clone(), |dim| options.dim(dim));
            let _ = read(&lines.join("\n"), &options);
            let _ = read(&lines.join("\r\n"), &options.positive(2.0));
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
