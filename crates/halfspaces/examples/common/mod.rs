//! Reads a table with two classes, and reports an error; shared by the examples.

use halfspaces::frame::{DataError, Hints, ReadOptions, read};
use halfspaces::linalg::{Label, Points};
use halfspaces::pipeline::{LabelledTable, RecipeOptions};
use std::error::Error;
use std::process::ExitCode;

/// Reads the points and labels of a table whose last column contains the classes. Prints the reader's notes.
pub(crate) fn table(path: &str, positive: Option<&str>) -> Result<(Points, Vec<Label>), DataError> {
    let frame = read(path.as_ref(), &ReadOptions::default(), &Hints::default())?;
    let label = frame.last_column()?.name.clone();
    let table = LabelledTable::new(frame, &label, positive, &RecipeOptions::default())?;
    table.notes.iter().for_each(|note| eprintln!("{note}"));
    Ok((table.points.into_dense()?, table.labels))
}

/// Prints an error and returns the exit code, which is 2 for an invalid command line or file.
pub(crate) fn exit_code(done: Result<(), Box<dyn Error>>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
