//! All examples of a CSV file at once.

use super::collect;
use super::csv_numbers::Numbers;
use super::csv_options::CsvOptions;
use super::csv_schema::CsvSchema;
use super::csv_stream::CsvStream;
use super::dataset::Dataset;
use super::error::ReadError;
use super::input::{Recorder, open};
use halfspaces_linalg::{Label, PointSet, Points, SparsePoints, reserve};
use std::io::{Read, Seek};
use std::path::Path;

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
    let schema = CsvSchema::scan_with(&mut file, &name, options, Some(&mut numbers))?;
    if let Some((points, labels)) = numbers.under(&schema)? {
        return dataset(points, labels, &schema);
    }
    drop(numbers);
    file.rewind().map_err(|source| ReadError::Io { name: name.clone(), source })?;
    collect_dense(CsvStream::new(file, &name, schema))
}

/// [`read_csv`], sparse.
///
/// # Errors
/// Any [`ReadError`].
pub fn read_csv_sparse(
    path: impl AsRef<Path>,
    options: &CsvOptions,
) -> Result<Dataset<SparsePoints>, ReadError> {
    let (mut file, name) = open(path.as_ref())?;
    let schema = CsvSchema::scan(&mut file, &name, options)?;
    file.rewind().map_err(|source| ReadError::Io { name: name.clone(), source })?;
    collect_sparse(CsvStream::new(file, &name, schema))
}

/// [`read_csv`] from any input, called `name` in messages. Its bytes are kept in memory for the second pass.
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
    let mut recorder = Recorder::new(reader);
    let mut numbers = Numbers::default();
    let schema = CsvSchema::scan_with(&mut recorder, name, options, Some(&mut numbers))?;
    if let Some((points, labels)) = numbers.under(&schema)? {
        return dataset(points, labels, &schema);
    }
    drop(numbers);
    collect_dense(CsvStream::new(&recorder.into_bytes()[..], name, schema))
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
    let mut recorder = Recorder::new(reader);
    let schema = CsvSchema::scan(&mut recorder, name, options)?;
    collect_sparse(CsvStream::new(&recorder.into_bytes()[..], name, schema))
}

fn dataset<P: PointSet>(
    points: P,
    labels: Vec<Label>,
    schema: &CsvSchema,
) -> Result<Dataset<P>, ReadError> {
    let data = Dataset::new(points, labels, schema.columns().to_vec())?;
    Ok(data.with_auto_categorical(schema.auto_categorical().to_vec()))
}

fn collect_dense<R: Read>(mut stream: CsvStream<R>) -> Result<Dataset<Points>, ReadError> {
    let (rows, dim) = (stream.schema().rows(), stream.schema().dim());
    let name = stream.name().to_owned();
    let too_large = || ReadError::TooLarge { name: name.clone(), rows, dim };
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    let size = usize::try_from(rows).ok().and_then(|n| n.checked_mul(dim)).ok_or_else(too_large)?;
    reserve(&mut values, size).map_err(|_| too_large())?;
    while let Some((row, label)) = stream.next_row()? {
        values.extend_from_slice(row.as_slice());
        labels.push(label);
    }
    dataset(Points::new(values, dim)?, labels, stream.schema())
}

fn collect_sparse<R: Read>(stream: CsvStream<R>) -> Result<Dataset<SparsePoints>, ReadError> {
    let mut stream = stream.into_sparse();
    let (points, labels) = collect::sparse(&mut stream)?;
    dataset(points, labels, stream.schema())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Categorical, Column, FileKind, Header, LabelColumn, Missing, NumberFault};
    use halfspaces_linalg::{PointSet, Threads};
    use proptest::prelude::*;
    use std::io::Write;

    /// By one thread and by three, alike.
    fn read(text: &str, options: &CsvOptions) -> Result<Dataset<Points>, ReadError> {
        let one = read_csv_from(text.as_bytes(), "t", options);
        let three = options.clone().threads(Threads::new(3).unwrap());
        let three = read_csv_from(text.as_bytes(), "t", &three);
        match (&one, &three) {
            (Ok(one), Ok(three)) => assert_eq!(one, three, "{text:?}"),
            (Err(one), Err(three)) => assert_eq!(one.to_string(), three.to_string(), "{text:?}"),
            _ => panic!("{text:?}: {one:?} and {three:?}"),
        }
        one
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
             write a number, or declare the column categorical"
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
            "test, line 2, column 3: unknown label \"2\", known are \"0\", \"1\"; fix it, or name \
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

    #[test]
    fn what_is_no_text_is_named() {
        let named = |bytes: &[u8]| match read_csv_from(bytes, "t", &CsvOptions::new()) {
            Err(ReadError::NotText { kind, .. }) => kind,
            other => panic!("{other:?}"),
        };
        assert_eq!(named(b"\x1f\x8b\x08\0\0\0\0\0"), FileKind::Gzip);
        assert_eq!(named(b"PK\x03\x04\x14\0\x06\0"), FileKind::Zip);
        let utf16 =
            |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        assert_eq!(named(&utf16("\u{feff}a,b\n1,0\n")), FileKind::Utf16);
        assert_eq!(named(&utf16("a,b\n1,0\n")), FileKind::Utf16);
        let options = CsvOptions::new();
        // Zeros behind the text, as a crash leaves them.
        assert!(message("1,0\n2,1\n\0\0\0\0", &options).starts_with("t, line 3: a NUL byte; "));
        assert!(message("1,0\n2,\"1\n\0\"\n", &options).starts_with("t, line 3: a NUL byte; "));
        assert_eq!(
            message("\u{feff}\u{feff}a,y\n1,0\n", &options),
            "t, line 1: a second byte-order mark, as joining files leaves; remove it"
        );
        assert!(message("1,0\n\u{feff}2,1\n", &options).starts_with("t, line 2: a second byte-"));
        assert_eq!(
            message("1;0\n2;1\n", &options),
            "t, line 1: one field only, the labels; it holds ';', which CsvOptions::delimiter may \
             have to name"
        );
    }

    #[test]
    fn lines_without_end_are_refused() {
        let options = CsvOptions::new().max_line(10_000);
        for read in [
            read_csv_from(std::io::repeat(b'7'), "t", &options).map(|_| ()),
            read_csv_sparse_from(std::io::repeat(b','), "t", &options).map(|_| ()),
        ] {
            assert!(matches!(read, Err(ReadError::LineTooLong { limit: 10_000, .. })));
        }
        let nul = read_csv_from(std::io::repeat(0), "t", &options).unwrap_err();
        assert!(matches!(nul, ReadError::NulByte { .. }));
        // A quote that is never closed takes in line ends.
        let open = (&b"1,0\n2,\"x\n"[..]).chain(std::io::repeat(b'\n'));
        let fault = read_csv_from(open, "t", &options).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "t, line 2, column 2: the quoted field that begins here makes the record longer than \
             10000 bytes; add the closing quote, or allow longer records with max_line in the options"
        );
        // A stream says so once and ends.
        let schema = CsvSchema::scan(&b"1,0\n"[..], "t", &options).unwrap();
        let mut stream = CsvStream::new(std::io::repeat(b'7'), "t", schema);
        assert!(matches!(stream.next_row(), Err(ReadError::LineTooLong { .. })));
        assert!(stream.next_row().unwrap().is_none());
    }

    #[test]
    fn misspelt_numbers_are_no_categories() {
        let options = CsvOptions::new();
        for (value, advice) in [
            ("0x1f", "write it in decimal digits"),
            ("1_000", "write the digits without separators"),
            ("\"1,5\"", "write a decimal point instead of the comma"),
            ("\u{2212}5", "write the minus sign as the hyphen of ASCII"),
        ] {
            let shown = value.replace('"', "");
            for text in [format!("1,0\n2,1\n{value},0\n"), format!("1,0\n2,1\n{value},0\nNA,1\n")] {
                let expected = format!("t, line 3, column 1: {shown:?} is not a number; {advice}");
                assert_eq!(message(&text, &options), expected);
            }
        }
        // Where nothing is a number they may be names, and what is declared is believed.
        assert_eq!(read("0x1f,0\n0x2f,1\n", &options).unwrap().dim(), 2);
        assert_eq!(read("1_a,0\n0x2f,1\n7,1\n", &options).unwrap().dim(), 3);
        let declared = options.categorical(Categorical::Columns(vec![Column::Index(0)]));
        assert_eq!(read("1,0\n0x1f,1\n", &declared).unwrap().dim(), 2);
        // Beyond the categories allowed, and in the stream.
        let few = CsvOptions::new().max_categories(2);
        assert!(message("1,0\n0x2,0\n3,1\n", &few).ends_with("write it in decimal digits"));
        assert!(message("1,0\n2,0\n3,1\n0x2,0\n", &few).ends_with("write it in decimal digits"));
    }

    #[test]
    fn a_header_read_as_data_is_noticed() {
        let advice = "if this line names the columns, read with Header::Present; otherwise write a \
                      number, or declare the column categorical";
        let absent = || CsvOptions::new().header(Header::Absent);
        let above = |column, name| {
            format!(
                "t, line 1, column {column}: {name:?} stands above a column of numbers; {advice}"
            )
        };
        assert_eq!(message("age,y\n30,0\n40,1\n", &absent()), above(1, "age"));
        assert_eq!(message("age,y\n30,0\n40,1\n", &absent().positive("1")), above(1, "age"));
        // pandas leaves the name of the index out, and a year is a name and a number.
        assert_eq!(message(",age,y\n0,30,0\n1,40,1\n", &CsvOptions::new()), above(2, "age"));
        assert_eq!(message("2019,age,y\n0,30,0\n1,30,1\n", &CsvOptions::new()), above(2, "age"));
        // The name of the labels alone.
        assert_eq!(
            message("1,2,y\n1,2,0\n1,2,1\n", &CsvOptions::new().positive("1")),
            above(3, "y")
        );
        // More numbers than categories allowed, and a column declared numeric.
        let few = absent().max_categories(2);
        assert_eq!(message("age,y\n30,0\n40,1\n50,1\n", &few.positive("1")), above(1, "age"));
        let none = absent().categorical(Categorical::None).positive("1");
        assert_eq!(
            message("age,0\n30,0\n40,1\n", &none),
            format!("t, line 1, column 1: \"age\" is not a number; {advice}")
        );
        // No header: the text returns, or there is other text, or it is declared.
        for text in ["a,0\n30,0\n40,1\na,1\n", "a,0\n30,0\nb,1\n"] {
            assert_eq!(read(text, &absent()).unwrap().auto_categorical().len(), 1, "{text}");
        }
        let declared = absent().categorical(Categorical::Columns(vec![0.into()]));
        assert_eq!(read("a,0\n30,0\n40,1\n", &declared).unwrap().dim(), 3);
    }

    #[test]
    fn the_choices_of_auto_are_told() {
        let text = "age,job,y\n30,clerk,0\n31,7,1\n";
        let expected = "column 2 \"job\": categorical, 2 categories, as \"clerk\" is not a number";
        let data = read(text, &CsvOptions::new()).unwrap();
        assert_eq!(data.auto_categorical()[0].to_string(), expected);
        let sparse = read_csv_sparse_from(text.as_bytes(), "t", &CsvOptions::new()).unwrap();
        assert_eq!(sparse.auto_categorical(), data.auto_categorical());
        let declared = CsvOptions::new().categorical(Categorical::Columns(vec!["job".into()]));
        assert!(read(text, &declared).unwrap().auto_categorical().is_empty());
        let schema = CsvSchema::scan(text.as_bytes(), "t", &declared).unwrap();
        assert!(
            schema.to_string().contains("column 2 \"job\": categorical, 2 categories, as declared")
        );
        assert!(read("1,0\n2,1\n", &CsvOptions::new()).unwrap().auto_categorical().is_empty());
    }

    #[test]
    fn long_and_broken_text_is_shown_short() {
        let long = "\u{1b}".repeat(100_000);
        let none = CsvOptions::new().categorical(Categorical::None);
        let classes = format!("1,{long}\n2,a\n3,b\n");
        let header = format!("{long},{long},y\n1,2,0\n");
        for (text, options) in [
            (format!("1,0\n{long},1\n"), &none),
            (classes, &CsvOptions::new()),
            (header, &CsvOptions::new()),
        ] {
            let message = message(&text, options);
            assert!(message.len() < 400 && !message.contains(char::is_control), "{message}");
        }
        assert_eq!(NumberFault::of(long.as_bytes()), NumberFault::Text);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_saved_schema_is_checked() {
        let text = "age,job,y\n30,clerk,0\n31,cook,1\n";
        let schema = CsvSchema::scan(text.as_bytes(), "t", &CsvOptions::new()).unwrap();
        let saved = serde_json::to_value(&schema).unwrap();
        assert_eq!(serde_json::from_value::<CsvSchema>(saved.clone()).unwrap(), schema);
        for (field, value) in [
            ("names", serde_json::json!(["age", "job"])),
            ("kinds", serde_json::json!(["Numeric", "Numeric", "Numeric"])),
            ("kinds", serde_json::json!(["Numeric", {"Categorical": [[2], [1]]}, "Label"])),
            ("classes", serde_json::json!([])),
            ("classes", serde_json::json!([[[49], 1], [[48], -1]])),
            ("auto_categorical", serde_json::json!([])),
            ("delimiter", serde_json::json!(34)),
            ("rows", serde_json::json!(0)),
        ] {
            let mut changed = saved.clone();
            changed[field] = value.clone();
            let loaded = serde_json::from_value::<CsvSchema>(changed);
            assert_eq!(loaded.is_err(), field != "auto_categorical", "{field}: {value}");
        }
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
