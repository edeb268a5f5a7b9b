//! Labels in the output of a labelling session that were predicted by a model.

use halfspaces_frame::{DataError, Frame};

/// The column that contains the source of each label, in files that `halfspaces label` writes.
pub(crate) const SOURCE: &str = "source";

/// Whether the label of a row is a guess of a model that no person has confirmed. `source` is the cell of the row in the
/// column `source` that `halfspaces label` writes.
///
/// ```
/// use halfspaces_pipeline::is_guess;
/// assert!(is_guess("predicted") && !is_guess("confirmed"));
/// ```
#[must_use]
pub fn is_guess(source: &str) -> bool {
    source == "predicted"
}

/// Checks that the column `label` of a table, from which a model will learn, contains no guesses. Only the output of
/// `halfspaces label` can contain guesses. It has the columns `label`, `source` and `probability`.
///
/// ```
/// use halfspaces_frame::{Hints, ReadOptions, read_bytes};
/// use halfspaces_pipeline::check_no_guesses;
/// let text = b"a,label,source,probability\n1,p,known,\n2,q,predicted,0.7\n".to_vec();
/// let frame = read_bytes("all.csv", text, &ReadOptions::default(), &Hints::default())?;
/// let error = check_no_guesses(&frame, "label").unwrap_err().to_string();
/// assert!(error.starts_with("all.csv, line 3, column `label`: the label is a prediction of a model (1 of 2 rows)"));
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
///
/// # Errors
/// Returns an error that names the first guess.
pub fn check_no_guesses(frame: &Frame, label: &str) -> Result<(), DataError> {
    if label != "label" || !frame.has("label") || !frame.has("probability") {
        return Ok(());
    }
    let Some(source) = frame.column(SOURCE) else { return Ok(()) };
    let guesses: Vec<usize> = (0..frame.rows).filter(|row| is_guess(&source.text(*row))).collect();
    let Some(first) = guesses.first() else { return Ok(()) };
    Err(DataError::user(format!(
        "{}, column `label`: the label is a prediction of a model ({} of {} rows), because its `source` is `{}`; pass the table \
         without these columns, and this file with --labels, which leaves out predicted labels",
        frame.place(*first),
        guesses.len(),
        frame.rows,
        source.text(*first)
    )))
}
