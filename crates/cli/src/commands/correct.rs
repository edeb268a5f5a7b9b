//! `correct`: writes a table with corrected labels.

use crate::error::CliError;
use crate::input::{Hints, InputArgs};
use crate::output::{OutputArgs, note};
use clap::Args;
use halfspaces_frame::{Frame, ReadOptions, Values};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  halfspaces correct data.csv --label class --with ranking.csv --first 8 -o clean.csv
  halfspaces correct data.csv --label class --with accepted.csv -o clean.csv
  halfspaces correct data.csv --label class --with answers.csv -o labelled.csv";

/// Write a table with corrected labels as plain CSV; the other cells keep their text.
///
/// The corrections are a CSV file with a column `row` (data rows, counted from 0) and a column `suggested` or `label`,
/// the new label. If both columns exist, `suggested` is the new label, and `label` must be the label in DATA. Use the
/// ranking of `audit` with --first, or a copy of it with only the lines that you accept, in which you can change
/// `suggested`. Or use the answers of `label`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CorrectArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Column of labels
    #[arg(short, long, value_name = "COLUMN")]
    label: String,
    /// CSV file of corrections
    #[arg(long, value_name = "FILE")]
    with: PathBuf,
    /// Use only the first rows of the file of corrections
    #[arg(long, value_name = "COUNT")]
    first: Option<usize>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Runs `correct`.
pub(crate) fn run(args: &CorrectArgs) -> Result<(), CliError> {
    args.output.check(&[&args.input.data, &args.with])?;
    if args.input.data == Path::new("-") {
        return Err(CliError::user("standard input cannot be read more than once; pass a file"));
    }
    let mut hints = Hints::texts([args.label.clone()]);
    hints.verbatim.insert(args.label.clone());
    let frame = args.input.read_as(&hints)?;
    let labels = frame.column(&args.label).ok_or_else(|| frame.no_column(&args.label))?;
    let corrections = Corrections::read(&args.with)?;
    let values = corrections.checked(args, &frame, &labels)?;
    let known: BTreeSet<String> = (0..frame.rows).map(|row| labels.text(row)).collect();
    let new: BTreeSet<&String> = values.values().filter(|label| !known.contains(*label)).collect();
    if !new.is_empty() {
        let new: Vec<&str> = new.into_iter().map(String::as_str).collect();
        note(&format!("note: new labels, not in {}: {}", frame.source, new.join(", ")));
    }
    let changed = values.iter().filter(|(row, label)| labels.text(**row) != **label).count();
    let found = halfspaces_frame::inspect(&args.input.data, &args.input.reading.options())?;
    args.output.write(|out| {
        found
            .write_corrected(out, &args.label, &values)
            .map_err(|error| std::io::Error::other(error.to_string()))
    })?;
    let one = |count: usize| if count == 1 { "" } else { "s" };
    let same = values.len() - changed;
    note(&format!(
        "{changed} of {} label{} changed; {same} correction{} equal to the old label",
        frame.rows,
        one(frame.rows),
        one(same)
    ));
    Ok(())
}

/// A file of corrections.
struct Corrections {
    frame: Frame,
    is_ranking: bool,
}

impl Corrections {
    fn read(path: &Path) -> Result<Corrections, CliError> {
        let mut hints = Hints::texts(["row", "suggested", "label"]);
        hints.verbatim.extend(["suggested".to_owned(), "label".to_owned()]);
        let frame = halfspaces_frame::read(path, &ReadOptions::default(), &hints)?;
        let is_ranking = frame.has("suggested");
        Ok(Corrections { frame, is_ranking })
    }

    fn column(&self, name: &str) -> Result<Cow<'_, Values>, CliError> {
        self.frame.column(name).ok_or_else(|| self.frame.no_column(name))
    }

    /// The new label of each corrected row of the table.
    fn checked(
        &self,
        args: &CorrectArgs,
        table: &Frame,
        labels: &Values,
    ) -> Result<BTreeMap<usize, String>, CliError> {
        let Corrections { frame, is_ranking } = self;
        let place = |at: usize| frame.place(at);
        let rows = self.column("row")?;
        let after = self.column(if *is_ranking { "suggested" } else { "label" })?;
        let before = if *is_ranking { frame.column("label") } else { None };
        if *is_ranking && args.first.is_none() && frame.rows == table.rows {
            return Err(CliError::user(format!(
                "{}: it has every row of {}, so every suggestion would be accepted; delete the rows that you do not accept, \
                 or pass --first COUNT",
                frame.source, table.source
            )));
        }
        let mut values = BTreeMap::new();
        for at in 0..frame.rows.min(args.first.unwrap_or(usize::MAX)) {
            let text = rows.text(at);
            let row = text.parse::<usize>().ok().filter(|row| *row < table.rows);
            let row = row.ok_or_else(|| {
                CliError::user(format!(
                    "{}, column `row`: `{text}` is not a row of {}, which has {} rows, counted from 0",
                    place(at),
                    table.source,
                    table.rows
                ))
            })?;
            let label = after.text(at);
            if label.is_empty() {
                return Err(CliError::user(format!(
                    "{}: there is no new label; fill it in, or delete the line",
                    place(at)
                )));
            }
            if let Some(before) = &before
                && before.text(at) != labels.text(row)
            {
                return Err(CliError::user(format!(
                    "{}: row {row} has the label `{}` here, but `{}` in {}; was the row moved, or is it already corrected?",
                    place(at),
                    before.text(at),
                    labels.text(row),
                    table.place(row)
                )));
            }
            if let Some(other) = values.insert(row, label.clone())
                && other != label
            {
                return Err(CliError::user(format!(
                    "{}: row {row} has two new labels, `{other}` and `{label}`; delete one of them",
                    place(at)
                )));
            }
        }
        Ok(values)
    }
}
