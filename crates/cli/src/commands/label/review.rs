//! The rows that `--review` names, and the progress of the review.

use super::items::Items;
use crate::commands::named_rows::{check_label, check_rows};
use crate::error::CliError;
use crate::output::{counted, note};
use halfspaces_frame::{Classes, Frame, Hints, ReadOptions, find_class, same_class};
use halfspaces_labelling::Record;
use std::collections::BTreeMap;
use std::path::Path;

/// The rows to review.
#[derive(Debug, Default)]
pub(super) struct Reviewed {
    /// The rows, each with its place in the order of the questions.
    pub(super) places: BTreeMap<usize, usize>,
    /// The suggested label of each row; empty if the file has no suggestions.
    suggested: BTreeMap<usize, String>,
}

impl Reviewed {
    /// The rows of a CSV file whose `suggested` label differs from their `label`, or all of its rows if one of these
    /// columns is missing. Other columns that occur in both the file and the pool must agree, except for the column
    /// `except` of known labels. `known` has the known labels of the pool in the order of the rows; a `label` in the
    /// file must be the known label of its row.
    pub(super) fn read(
        path: &Path,
        pool: &Frame,
        except: Option<&str>,
        known: &[(usize, String)],
    ) -> Result<Reviewed, CliError> {
        let hints = Hints::verbatim(["row", "label", "suggested"]);
        let frame = halfspaces_frame::read(path, &ReadOptions::default(), &hints)?;
        let column = frame.column("row").ok_or_else(|| frame.no_column("row"))?;
        let labels = frame.column("label").zip(frame.column("suggested"));
        let row = |at: usize| frame.row_number(&column, at, "the pool", pool.rows);
        let mut reviewed: Vec<(usize, usize)> = Vec::new();
        for at in 0..frame.rows {
            let is_same = labels
                .as_ref()
                .is_some_and(|(label, suggested)| same_class(&label.text(at), &suggested.text(at)));
            if !is_same {
                reviewed.push((row(at)?, at));
            }
        }
        let pairs = (0..frame.rows).filter_map(|at| Some((row(at).ok()?, at)));
        check_rows(pool, &frame, &pairs.collect::<Vec<_>>(), except.as_slice())?;
        let mut rows = Reviewed::default();
        for (row, at) in reviewed {
            let place = rows.places.len();
            rows.places.entry(row).or_insert(place);
            let Some((label, suggested)) = &labels else { continue };
            rows.suggested.entry(row).or_insert_with(|| suggested.text(at));
            if let Ok(place) = known.binary_search_by_key(&row, |(row, _)| *row) {
                check_label((&frame, at, &label.text(at)), (pool, row, &known[place].1))?;
            }
        }
        note(&format!("{} to review", counted(rows.places.len() as u64, "row")));
        Ok(rows)
    }

    /// The class suggested for each row of the pool; `None` for a row that is not reviewed. Returns `None` if a reviewed
    /// row, or a row that was skipped or answered as uncertain, has no suggested class.
    pub(super) fn classes(&self, record: &Record) -> Option<Vec<Option<usize>>> {
        let mut classes = vec![None; record.rows()];
        for row in self.places.keys() {
            classes[*row] = Some(find_class(self.suggested.get(row)?, record.classes())?);
        }
        let mut set_aside = record.skipped().chain(record.uncertain());
        set_aside.all(|row| classes[row].is_some()).then_some(classes)
    }
}

/// The progress of a review of known labels.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(super) struct ReviewProgress {
    pub(super) rows: usize,
    pub(super) reviewed: usize,
    /// The number of labels that differ from the known one.
    pub(super) changed: usize,
}

impl ReviewProgress {
    /// Returns `None` if no known labels are reviewed.
    pub(super) fn of(record: &Record, items: &Items) -> Option<ReviewProgress> {
        let classes = Classes::new(record.classes().iter().cloned());
        let known = |row: usize| classes.find(items.known_label(row)?);
        let rows: Vec<(usize, Option<usize>)> =
            items.reviewed().map(|row| (row, known(row))).collect();
        let is_reviewed = |row: usize| record.label(row).is_some() || record.is_uncertain(row);
        let is_changed = |row: usize, known: Option<usize>| {
            record.label(row).is_some_and(|label| known.is_some_and(|known| known != label))
        };
        rows.iter().any(|(_, known)| known.is_some()).then(|| ReviewProgress {
            rows: rows.len(),
            reviewed: rows.iter().filter(|(row, _)| is_reviewed(*row)).count(),
            changed: rows.iter().filter(|(row, known)| is_changed(*row, *known)).count(),
        })
    }
}
