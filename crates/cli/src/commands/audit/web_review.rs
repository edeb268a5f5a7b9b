//! `audit --web`: opens the contradicted labels for review in the browser, and then writes the corrected table.

use crate::commands::correct::{self, CorrectArgs};
use crate::commands::label::{self, LabelArgs, label_args, session_labels};
use crate::error::CliError;
use crate::input::InputArgs;
use crate::output::{OutputArgs, note, write_file};
use crate::recipe::ColumnArgs;
use halfspaces_labelling::RowLabel;
use std::path::{Path, PathBuf};

/// The path of the session file of a review: the path of the corrected table with `.session.jsonl` added.
fn session_path(corrected: &Path) -> PathBuf {
    let mut name = corrected.as_os_str().to_owned();
    name.push(".session.jsonl");
    PathBuf::from(name)
}

/// The review of a table.
pub(super) struct Review<'a> {
    pub(super) input: &'a InputArgs,
    pub(super) columns: &'a ColumnArgs,
    /// The column of labels.
    pub(super) label: &'a str,
    /// The ranking as CSV.
    pub(super) ranking: Vec<u8>,
    /// The number of labels that the classifier contradicts.
    pub(super) contradicted: usize,
    /// The columns of text, which the page shows.
    pub(super) shown: Vec<String>,
    /// The column of image names, if the page shows images.
    pub(super) image: Option<String>,
    pub(super) force: bool,
}

/// Opens a page that asks about the labels that the classifier contradicts. When the person stops, writes the table
/// with the new labels to the file `corrected`. All other labels stay as they are.
pub(super) fn review(of: Review<'_>, corrected: &Path) -> Result<(), CliError> {
    let Review { input, columns, label, ranking: ranked, contradicted, shown, image, force } = of;
    if contradicted == 0 {
        let corrected = corrected.display();
        note(&format!(
            "no label is contradicted, so there is nothing to review; {corrected} is not written"
        ));
        return Ok(());
    }
    let folder = tempfile::tempdir()
        .map_err(|error| CliError::system(format!("cannot create a temporary folder: {error}")))?;
    let (ranking, answers) = (folder.path().join("ranking.csv"), folder.path().join("answers.csv"));
    write_file(&ranking, false, |out| out.write_all(&ranked))?;
    let session = session_path(corrected);
    let options = LabelArgs {
        known: Some(label.to_owned()),
        show: shown,
        image,
        ..label_args(input, columns, &session)
    };
    let ending = format!("the corrected table is written to {}", corrected.display());
    let (review, ending) = (Some(ranking), Some(ending));
    label::run(&LabelArgs { review, ending, web: true, ..options.clone() })?;
    let labels = session_labels(&options, &session, RowLabel::is_by_person)?.by_row;
    if labels.is_empty() {
        let corrected = corrected.display();
        note(&format!(
            "no label was reviewed, so {corrected} is not written; the same command continues the review"
        ));
        return Ok(());
    }
    write_file(&answers, false, |out| {
        writeln!(out, "row,label")?;
        let mut csv = csv::Writer::from_writer(out);
        labels.iter().try_for_each(|(row, label)| csv.write_record([&row.to_string(), label]))?;
        csv.flush()
    })?;
    let output = OutputArgs { output: Some(corrected.to_owned()), force };
    correct::run(&CorrectArgs {
        label: label.to_owned(),
        with: answers,
        are_answers: true,
        first: None,
        id: None,
        output,
        input: input.clone(),
    })?;
    note(&format!(
        "{} written; the same command with --force continues the review",
        corrected.display()
    ));
    Ok(())
}
