//! Writers of labelled points: what they write, the readers give back to the bit.
//!
//! Numbers are written in the fewest digits that name them uniquely, labels as 1 and -1.

use halfspaces_linalg::{InputError, Label, PointSet, RowView};
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use thiserror::Error;

/// Why points could not be written.
///
/// ```
/// use halfspaces_data::read::{WriteError, write_libsvm};
/// use halfspaces_linalg::{InputError, Points};
/// let points = Points::new(vec![1.0], 1)?;
/// let fault = write_libsvm(Vec::new(), &points, &[]).unwrap_err();
/// assert!(matches!(fault, WriteError::Input(InputError::LengthMismatch { points: 1, labels: 0 })));
/// # Ok::<(), InputError>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The operating system refused.
    #[error("{0}; check that the place can be written and has room")]
    Io(#[from] io::Error),
    /// Points, labels and names do not fit each other.
    #[error(transparent)]
    Input(#[from] InputError),
}

/// Writes CSV: a header if there are names, one line per point, the label last (called `label`, with
/// as many `_` behind it as it takes to differ from the other names).
///
/// To be read back, names must be distinct and not empty; read a file of named points with
/// [`Header::Present`](super::Header::Present), so that names that look like numbers stay names.
///
/// # Errors
/// [`WriteError::Io`]; [`InputError::LengthMismatch`] (labels), [`InputError::DimensionMismatch`]
/// (names).
///
/// ```
/// use halfspaces_data::read::write_csv;
/// use halfspaces_linalg::{Label, Points};
/// let points = Points::from_rows(&[[0.1, 1e300], [2.0, -0.0]])?;
/// let mut text = Vec::new();
/// let names = ["size".to_owned(), "a, b".to_owned()];
/// write_csv(&mut text, &points, &[Label::Positive, Label::Negative], &names)?;
/// assert_eq!(text, b"size,\"a, b\",label\n0.1,1e300,1\n2,-0,-1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_csv<W: Write, P: PointSet>(
    writer: W,
    points: &P,
    labels: &[Label],
    columns: &[String],
) -> Result<(), WriteError> {
    InputError::check_len(points.len(), labels.len())?;
    let mut writer = BufWriter::new(writer);
    let mut line = String::new();
    if !columns.is_empty() {
        InputError::check_dim(points.dim(), columns.len())?;
        for name in columns {
            push_name(&mut line, name);
            line.push(',');
        }
        let mut label = "label".to_owned();
        while columns.contains(&label) {
            label.push('_');
        }
        line.push_str(&label);
        line.push('\n');
        writer.write_all(line.as_bytes())?;
    }
    for (row, label) in points.rows().zip(labels) {
        line.clear();
        let mut next = 0;
        for (j, value) in row.entries() {
            line.extend(std::iter::repeat_n("0,", j.saturating_sub(next)));
            push_number(&mut line, value);
            line.push(',');
            next = j + 1;
        }
        line.extend(std::iter::repeat_n("0,", points.dim().saturating_sub(next)));
        line.push_str(number_of(*label));
        line.push('\n');
        writer.write_all(line.as_bytes())?;
    }
    Ok(writer.flush()?)
}

/// Writes LIBSVM text: one line per point, zeros (also -0) left out. Declare the dimension to read
/// the file back if its last coordinates may all be zero.
///
/// # Errors
/// [`WriteError::Io`]; [`InputError::LengthMismatch`].
///
/// ```
/// use halfspaces_data::read::write_libsvm;
/// use halfspaces_linalg::{Label, Points};
/// let points = Points::from_rows(&[[0.5, 0.0, 2.0]])?;
/// let mut text = Vec::new();
/// write_libsvm(&mut text, &points, &[Label::Negative])?;
/// assert_eq!(text, b"-1 1:0.5 3:2\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_libsvm<W: Write, P: PointSet>(
    writer: W,
    points: &P,
    labels: &[Label],
) -> Result<(), WriteError> {
    InputError::check_len(points.len(), labels.len())?;
    let mut writer = BufWriter::new(writer);
    let mut line = String::new();
    for (row, label) in points.rows().zip(labels) {
        line.clear();
        line.push_str(number_of(*label));
        for (j, value) in row.entries().filter(|&(_, value)| value != 0.0) {
            push(&mut line, format_args!(" {}:", j + 1));
            push_number(&mut line, value);
        }
        line.push('\n');
        writer.write_all(line.as_bytes())?;
    }
    Ok(writer.flush()?)
}

fn number_of(label: Label) -> &'static str {
    match label {
        Label::Positive => "1",
        Label::Negative => "-1",
    }
}

#[expect(clippy::expect_used, reason = "formatting numbers into a string cannot fail")]
fn push(line: &mut String, text: std::fmt::Arguments<'_>) {
    line.write_fmt(text).expect("a string takes all that is written");
}

/// Appends the shortest text that reads as `value`: plain digits, or with an exponent if large or
/// small.
fn push_number(line: &mut String, value: f64) {
    push(line, format_args!("{value:?}"));
    if line.ends_with(".0") {
        line.truncate(line.len() - 2);
    }
}

/// Appends a name, quoted if it would not read as itself.
fn push_name(line: &mut String, name: &str) {
    let blank = |c| c == ' ' || c == '\t';
    if name.contains(['"', ',', '\n', '\r'])
        || name.starts_with(blank)
        || name.ends_with(blank)
        || name.starts_with('\u{feff}')
    {
        line.push('"');
        line.push_str(&name.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{
        CsvOptions, Header, LibsvmOptions, read_csv_from, read_csv_sparse_from, read_libsvm_from,
    };
    use halfspaces_linalg::{Points, SparsePoints};
    use proptest::prelude::*;

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let points = Points::new(vec![1.0, 2.0], 2).unwrap();
        let names = ["a".to_owned()];
        let fault = write_csv(Vec::new(), &points, &[Label::Positive], &names).unwrap_err();
        assert_eq!(fault.to_string(), "expected dimension 2, found 1");
        assert!(write_csv(Vec::new(), &points, &[], &[]).is_err());
        let full = write_libsvm(&mut [0u8; 3][..], &points, &[Label::Positive]).unwrap_err();
        assert!(matches!(full, WriteError::Io(_)));
    }

    #[test]
    fn the_label_column_finds_a_free_name() {
        let points = Points::new(vec![1.0, 2.0], 2).unwrap();
        let mut text = Vec::new();
        let names = ["label".to_owned(), "label_".to_owned()];
        write_csv(&mut text, &points, &[Label::Positive], &names).unwrap();
        assert_eq!(text, b"label,label_,label__\n1,2,1\n");
    }

    fn finite() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>().prop_filter("finite", |v| v.is_finite()),
            any::<u64>().prop_map(|bits| f64::from_bits(bits >> 12)), // subnormal
            Just(0.0),
            Just(-0.0),
            Just(f64::MAX),
            (-100..100i32).prop_map(f64::from),
        ]
    }

    fn examples() -> impl Strategy<Value = (Points, Vec<Label>)> {
        (1..5usize, 1..8usize).prop_flat_map(|(dim, n)| {
            let labels = prop::collection::vec(any::<bool>(), n).prop_map(|signs| {
                let label = |s| if s { Label::Positive } else { Label::Negative };
                signs.into_iter().map(label).collect()
            });
            let points = prop::collection::vec(finite(), n * dim)
                .prop_map(move |values| Points::new(values, dim).unwrap());
            (points, labels)
        })
    }

    fn bits(points: &Points) -> Vec<u64> {
        points.as_slice().iter().map(|v| v.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn csv_comes_back_to_the_bit((points, labels) in examples()) {
            let mut text = Vec::new();
            write_csv(&mut text, &points, &labels, &[]).unwrap();
            let data = read_csv_from(&text[..], "t", &CsvOptions::new()).unwrap();
            prop_assert_eq!(bits(data.points()), bits(&points));
            prop_assert_eq!(data.labels(), &labels[..]);

            let sparse = SparsePoints::from_dense(&points).unwrap();
            let mut text = Vec::new();
            write_csv(&mut text, &sparse, &labels, &[]).unwrap();
            let data = read_csv_sparse_from(&text[..], "t", &CsvOptions::new()).unwrap();
            prop_assert_eq!(data.points(), &sparse);
        }

        #[test]
        fn names_come_back(names in prop::collection::hash_set("[a-c \",\n\r\u{feff}é]{1,5}", 1..5)) {
            let names: Vec<String> = names.into_iter().collect();
            let points = Points::new(vec![1.5; names.len()], names.len()).unwrap();
            let mut text = Vec::new();
            write_csv(&mut text, &points, &[Label::Negative], &names).unwrap();
            let options = CsvOptions::new().header(Header::Present);
            let data = read_csv_from(&text[..], "t", &options).unwrap();
            prop_assert_eq!(data.columns(), &names[..]);
            prop_assert_eq!(data.points(), &points);
        }

        #[test]
        fn libsvm_comes_back_to_the_bit((points, labels) in examples()) {
            let sparse = SparsePoints::from_dense(&points).unwrap();
            let options = LibsvmOptions::new().dim(points.dim());
            let (mut text, mut other) = (Vec::new(), Vec::new());
            write_libsvm(&mut text, &points, &labels).unwrap();
            write_libsvm(&mut other, &sparse, &labels).unwrap();
            prop_assert_eq!(&text, &other);
            let data = read_libsvm_from(&text[..], "t", &options).unwrap();
            prop_assert_eq!(data.points(), &sparse);
            prop_assert_eq!(data.labels(), &labels[..]);
        }
    }
}
