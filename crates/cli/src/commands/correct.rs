//! `correct`: writes a table with corrected labels.

use super::named_rows::{check_label, check_rows};
use crate::error::CliError;
use crate::input::{Hints, InputArgs, check_no_pipe};
use crate::output::{OutputArgs, counted, note};
use clap::Args;
use halfspaces_frame::{Classes, Frame, ReadOptions, Remark, Values, same_class};
use halfspaces_pipeline::{check_row_column, is_guess, rows_by_ids};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The value in the column `source` of the output of `label` for labels that the table had before the session.
const KNOWN: &str = "known";

/// Equal old labels confirm that the rows match if labels in another order would be equal with at most this
/// probability.
const MAX_CHANCE: f64 = 0.001;

const EXAMPLES: &str = "\
Examples:
  halfspaces correct data.csv --label class --with ranking.csv --first 8 -o clean.csv
  halfspaces correct data.csv --label class --with accepted.csv -o clean.csv
  halfspaces correct data.csv --label class --with fixes.csv --id patient -o clean.csv
  halfspaces correct data.csv --label class --with answers.csv -o labelled.csv";

/// Write a table with corrected labels as CSV; the other cells keep their text, and the file keeps its delimiter.
///
/// The file of corrections is a CSV file with a column `row` (data rows, counted from 0) or a column of ids (--id), and
/// a column of new labels, `suggested` or `label`; with --id, this column may also have the name that it has in DATA. If
/// `suggested` and `label` both exist, `suggested` is the new label, and `label` must be the label in DATA. Use the
/// ranking of `audit` with --first, or a copy of the ranking with only the lines that you accept; in the copy, you can
/// change `suggested`. Or use the answers that `halfspaces label` wrote: rows whose answer is uncertain, tied between
/// annotators or only predicted keep their label. Other columns that occur in both files, such as a column of ids that
/// `audit --keep` copied, must agree.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CorrectArgs {
    /// Column of labels
    #[arg(short, long, value_name = "COLUMN")]
    pub(crate) label: String,
    /// CSV file of corrections
    #[arg(long, value_name = "FILE")]
    pub(crate) with: PathBuf,
    /// Whether the corrections are answers to questions about DATA, so that it is certain which rows they belong to
    #[arg(skip)]
    pub(crate) are_answers: bool,
    /// Use only the first rows of the file of corrections
    #[arg(long, value_name = "COUNT")]
    pub(crate) first: Option<usize>,
    /// Find the rows by this column of ids, which both files have, instead of by the column `row`
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

/// Runs `correct`.
pub(crate) fn run(args: &CorrectArgs) -> Result<(), CliError> {
    args.output.check_table(&[&args.input.data, &args.with])?;
    check_no_pipe(&args.input.data, "")?;
    let verbatim = [args.label.clone()].into_iter().chain(args.id.clone());
    let hints = Hints { others_are_texts: true, ..Hints::verbatim(verbatim) };
    let frame = args.input.read_as(&hints)?;
    for (name, remark) in &frame.remarks {
        if matches!(remark, Remark::Unread { .. }) {
            note(&format!(
                "note: {}: column `{name}` is not written, because its values cannot be shown as text",
                frame.source
            ));
        }
    }
    let labels = frame.column(&args.label).ok_or_else(|| frame.no_column(&args.label))?;
    let corrections = Corrections::read(args)?;
    let mut values = corrections.checked(args, &frame, &labels)?;
    let count = values.len();
    // A cell that already has the same label in another form, such as `1.0` for `1`, stays as it is.
    values.retain(|row, label| !same_class(label, &labels.text(*row)));
    let known: BTreeSet<String> = (0..frame.rows).map(|row| labels.text(row)).collect();
    let known = Classes::new(known);
    // A label is written in the same form as in the table: `True`, for example, if a spreadsheet program changed it to
    // `TRUE`.
    for label in values.values_mut() {
        if let Some(class) = known.find(label) {
            known.names()[class].clone_into(label);
        }
    }
    let new: BTreeSet<&str> = values.values().map(String::as_str).collect();
    let new: Vec<&str> = new.into_iter().filter(|label| known.find(label).is_none()).collect();
    if !new.is_empty() {
        note(&format!("note: labels that do not occur in {}: {}", frame.source, new.join(", ")));
    }
    let options = args.input.reading.options();
    let found = halfspaces_frame::inspect(&args.input.data, &options, &hints)?;
    if found.reading.rows != frame.rows as u64 {
        return Err(CliError::user(format!(
            "{}: the file changed while it was being read",
            frame.source
        )));
    }
    let others = halfspaces_frame::inspect(&args.input.data, &options, &Hints::default())?;
    if others.reading.header_lines > found.reading.header_lines {
        return Err(CliError::user(format!(
            "{}: other commands read {} lines as the header, but with the column `{}` of labels it is {}, so row numbers can differ; \
             join the names and units in one line, or delete the second line",
            frame.source, others.reading.header_lines, args.label, found.reading.header_lines
        )));
    }
    args.output.write(|out| {
        found
            .write_corrected(out, &args.label, &values)
            .map_err(|error| std::io::Error::other(error.to_string()))
    })?;
    let (changed, same) = (values.len(), count - values.len());
    note(&format!(
        "{changed} of {} changed; {} equal to the old label",
        counted(frame.rows as u64, "label"),
        counted(same as u64, "correction")
    ));
    Ok(())
}

/// A file of corrections.
struct Corrections {
    frame: Frame,
    is_ranking: bool,
    /// The column of new labels.
    label: String,
}

impl Corrections {
    fn read(args: &CorrectArgs) -> Result<Corrections, CliError> {
        let named = ["row", "suggested", "label", &args.label].map(str::to_owned);
        let hints = Hints::verbatim(named.into_iter().chain(args.id.clone()));
        let frame = halfspaces_frame::read(&args.with, &ReadOptions::default(), &hints)?;
        let is_ranking = frame.has("suggested");
        // Next to row numbers, a column with the name of the labels in the table may contain the old labels.
        let own = args.id.as_ref().map(|_| args.label.as_str());
        let mut names = ["suggested", "label"].into_iter().chain(own);
        let label = names.find(|name| frame.has(name)).unwrap_or("label").to_owned();
        Ok(Corrections { frame, is_ranking, label })
    }

    /// The row of the table for each line, found by row numbers or by ids. Lines with a wrong row number have no row.
    fn rows(
        &self,
        args: &CorrectArgs,
        table: &Frame,
    ) -> Result<Vec<Result<usize, CliError>>, CliError> {
        let frame = &self.frame;
        if let Some(id) = &args.id {
            let ids = table.column(id).ok_or_else(|| table.no_column(id))?;
            return Ok(rows_by_ids(table, &ids, frame, id)?.into_iter().map(Ok).collect());
        }
        let Some(numbers) = frame.column("row") else {
            return Err(CliError::user(format!(
                "{}; add the numbers of the data rows, counted from 0, or pass --id with a column of ids that both files have",
                frame.no_column("row")
            )));
        };
        let row = |at: usize| frame.row_number(&numbers, at, &table.source, table.rows);
        Ok((0..frame.rows).map(row).collect())
    }

    fn column(&self, name: &str) -> Result<Cow<'_, Values>, CliError> {
        self.frame.column(name).ok_or_else(|| self.frame.no_column(name))
    }

    /// Checks that a ranking is in the order of its column `rank`, if it has one.
    fn check_order(&self) -> Result<(), CliError> {
        let Some(ranks) = self.frame.column("rank") else { return Ok(()) };
        let Values::Numbers(ranks) = ranks.as_ref() else { return Ok(()) };
        match ranks.values().windows(2).position(|pair| pair[0] >= pair[1]) {
            None => Ok(()),
            Some(at) => Err(CliError::user(format!(
                "{}: rank {} comes after rank {}, so --first would not use the most suspicious rows; sort the file by its column \
                 `rank`, or delete the lines that you do not accept and omit --first",
                self.frame.place(at + 1),
                ranks.value(at + 1),
                ranks.value(at)
            ))),
        }
    }

    /// The new label of each corrected row of the table.
    fn checked(
        &self,
        args: &CorrectArgs,
        table: &Frame,
        labels: &Values,
    ) -> Result<BTreeMap<usize, String>, CliError> {
        let Corrections { frame, is_ranking, label } = self;
        let place = |at: usize| frame.place(at);
        let rows = self.rows(args, table)?;
        let row_of = |at: usize| rows[at].clone();
        let after = self.column(label)?;
        let before = if *is_ranking { frame.column("label") } else { None };
        let source = if *is_ranking { None } else { frame.column("source") };
        // The source of a row that has no label, or only a predicted one, in the output of `label`.
        let unanswered = |at: usize| {
            let source = source.as_ref()?.text(at);
            (is_guess(&source) || after.text(at).is_empty()).then_some(source)
        };
        let mut left_out: BTreeMap<String, u64> = BTreeMap::new();
        if *is_ranking && args.first.is_none() && frame.rows == table.rows {
            return Err(CliError::user(format!(
                "{}: it has every row of {}, so every suggestion would be accepted; delete the rows that you do not accept, \
                 or pass --first COUNT",
                frame.source, table.source
            )));
        }
        let first = args.first.unwrap_or(frame.rows);
        if first > frame.rows {
            return Err(CliError::user(format!(
                "--first {first}: {} has fewer rows ({})",
                frame.source, frame.rows
            )));
        }
        if args.first.is_some() {
            self.check_order()?;
        }
        let mut is_confirmed = args.are_answers || args.id.is_some();
        if args.id.is_none() {
            let pairs = rows.iter().enumerate();
            let pairs: Vec<_> =
                pairs.filter_map(|(at, row)| Some((*row.as_ref().ok()?, at))).collect();
            is_confirmed |= check_rows(table, frame, &pairs, &[&args.label])?;
        }
        // Every line with a label of the table is compared, so that a table in another order is noticed.
        let is_known = |at: usize| source.as_ref().is_some_and(|source| source.text(at) == KNOWN);
        let mut compared = BTreeSet::new();
        for at in 0..frame.rows {
            let old = match &before {
                Some(before) => before.text(at),
                None if is_known(at) => after.text(at),
                None => continue,
            };
            let row = row_of(at)?;
            check_label((frame, at, &old), (table, row, &labels.text(row)))?;
            compared.insert(row);
        }
        is_confirmed |= chance_of_equality(labels, &compared) <= MAX_CHANCE;
        if !is_confirmed {
            let pairs = (0..frame.rows).map(|at| Ok((row_of(at)?, at)));
            let pairs = pairs.collect::<Result<Vec<_>, CliError>>()?;
            let advice = format!(
                "if it numbers the data rows of {}, rename the column `row` of this table; otherwise, pass the table to which \
                 the numbers belong",
                table.source
            );
            check_row_column(table, frame, &pairs, &advice)?;
            note(&format!(
                "note: {}: the labels are joined to the rows of {} by row number; the files have no common column that \
                 could confirm this",
                frame.source, table.source
            ));
        }
        let mut values = BTreeMap::new();
        for at in 0..first {
            if let Some(source) = unanswered(at) {
                *left_out.entry(source).or_default() += 1;
                continue;
            }
            let row = row_of(at)?;
            let label = after.text(at);
            if label.is_empty() {
                return Err(CliError::user(format!(
                    "{}: there is no new label; fill it in, or delete the line",
                    place(at)
                )));
            }
            if let Some(other) = values.insert(row, label.clone())
                && !same_class(&other, &label)
            {
                return Err(CliError::user(format!(
                    "{}: row {row} has two new labels, `{other}` and `{label}`; delete one of them",
                    place(at)
                )));
            }
        }
        for (source, count) in left_out {
            note(&format!(
                "note: {}: {} {source}; these rows keep their label",
                frame.source,
                counted(count, "row")
            ));
        }
        Ok(values)
    }
}

/// The probability that the labels of `rows` would all be equal to the labels of rows chosen at random.
fn chance_of_equality(labels: &Values, rows: &BTreeSet<usize>) -> f64 {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    (0..labels.len()).for_each(|row| *counts.entry(labels.text(row)).or_default() += 1);
    let share = |row: &usize| counts[&labels.text(*row)] as f64 / labels.len() as f64;
    rows.iter().map(share).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_equal_labels_are_no_chance() {
        let labels = Values::texts((0..20).map(|row| row % 2).collect(), &["no", "yes"]);
        let chance = |count: usize| chance_of_equality(&labels, &(0..count).collect());
        assert_eq!((chance(0), chance(1), chance(3)), (1.0, 0.5, 0.125));
        assert!(chance(9) > MAX_CHANCE && chance(10) <= MAX_CHANCE);
        // All labels are equal in any order.
        let same = Values::texts(vec![0; 20], &["no"]);
        assert_eq!(chance_of_equality(&same, &(0..20).collect()), 1.0);
    }
}
