//! Writers of labelled points. Reading their output back gives the same values, bit for bit.
//!
//! Numbers are written with the fewest digits that identify them uniquely, and labels are written as 1 and -1.

use halfspaces_linalg::{InputError, Label, PointSet, RowView};
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use thiserror::Error;

/// The error of a writer.
///
/// ```
/// use halfspaces_data::{WriteError, write_libsvm};
/// use halfspaces_linalg::{InputError, Points};
/// let points = Points::new(vec![1.0], 1)?;
/// let fault = write_libsvm(Vec::new(), &points, &[]).unwrap_err();
/// assert!(matches!(fault, WriteError::Input(InputError::LengthMismatch { points: 1, labels: 0 })));
/// # Ok::<(), InputError>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The operating system reported an error.
    #[error("{0}; check that the destination is writable and has free space")]
    Io(#[from] io::Error),
    /// The numbers of points, labels and names do not match.
    #[error(transparent)]
    Input(#[from] InputError),
}

/// Writes CSV: a header if there are names, and one line per point with the label last. The label column is named
/// `label`, with `_` appended until the name differs from all other names.
///
/// The output can be read again only if the names are distinct and not empty.
///
/// # Errors
/// [`WriteError::Io`]; [`InputError::LengthMismatch`] (labels), [`InputError::DimensionMismatch`] (names).
///
/// ```
/// use halfspaces_data::write_csv;
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

/// Writes LIBSVM text: one line per point, without zeros (including -0). To read the file again, specify the dimension
/// if the last coordinates may all be zero.
///
/// # Errors
/// [`WriteError::Io`]; [`InputError::LengthMismatch`].
///
/// ```
/// use halfspaces_data::write_libsvm;
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
    line.write_fmt(text).expect("writing to a string cannot fail");
}

/// Appends the shortest text that parses to `value`: plain digits or, for large or small values, digits with an
/// exponent.
fn push_number(line: &mut String, value: f64) {
    push(line, format_args!("{value:?}"));
    if line.ends_with(".0") {
        line.truncate(line.len() - 2);
    }
}

/// Appends a name, quoted if necessary.
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
    use halfspaces_linalg::Points;

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
}
