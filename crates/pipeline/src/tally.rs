//! Counts of the rows of a table that is read in parts, and notes on rows that do not fit the first ones.

use crate::late::LateValues;
use crate::recipe::Recipe;
use halfspaces_frame::{DataError, Frame, Remark};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// The counts and the notes for some consecutive rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// The number of rows.
    pub(crate) rows: u64,
    /// The number of rows of each class.
    pub(crate) by_class: BTreeMap<usize, usize>,
    /// The number of rows with unknown labels.
    left_out: u64,
    /// For each column with unknown categories, the number of rows with an unknown category.
    unseen: BTreeMap<String, u64>,
    /// For each column of the recipe, the first note on how the column was read and the first note on one of its cells.
    notes: BTreeMap<String, [Option<String>; 2]>,
    late: LateValues,
}

impl Tally {
    pub(crate) fn new(late: LateValues) -> Tally {
        let (unseen, notes) = (BTreeMap::new(), BTreeMap::new());
        Tally { rows: 0, by_class: BTreeMap::new(), left_out: 0, unseen, notes, late }
    }

    /// Adds the rows that follow. Their labels have been removed from `chunk`; `classes` are the classes of the rows,
    /// or `None` if the label is unknown.
    ///
    /// # Errors
    /// Returns the same errors as [`Recipe::apply`].
    pub(crate) fn add(
        &mut self,
        chunk: &Frame,
        recipe: &Recipe,
        classes: &[Option<usize>],
    ) -> Result<(), DataError> {
        self.rows += chunk.rows as u64;
        for class in classes {
            match class {
                Some(class) => *self.by_class.entry(*class).or_default() += 1,
                None => self.left_out += 1,
            }
        }
        for (column, rows) in recipe.unseen_rows(chunk)? {
            *self.unseen.entry(column.to_owned()).or_default() += rows;
        }
        self.late.add(chunk);
        // A search for each column of the recipe would take quadratic time.
        let rules = chunk.records.iter().filter_map(|of| Some((&of.name, of.notes.first()?)));
        let rules: HashMap<&String, &String> = rules.collect();
        let remarks = chunk.remarks.iter().map(|(name, remark)| (name, remark));
        let remarks: HashMap<&String, &Remark> = remarks.rev().collect();
        for column in &recipe.columns {
            let name = &column.name;
            let of_rule = rules.get(name).map(|note| (*note).clone());
            let of_cell = remarks.get(name).map(|remark| chunk.about(name, remark));
            if of_rule.is_some() || of_cell.is_some() {
                self.note(name.clone(), [of_rule, of_cell]);
            }
        }
        Ok(())
    }

    fn note(&mut self, column: String, notes: [Option<String>; 2]) {
        let known = self.notes.entry(column).or_default();
        for (known, note) in known.iter_mut().zip(notes) {
            *known = known.take().or(note);
        }
    }

    /// Adds the counts and the notes for the rows that follow.
    pub(crate) fn merge(&mut self, later: Tally) {
        self.rows += later.rows;
        self.left_out += later.left_out;
        for (class, rows) in later.by_class {
            *self.by_class.entry(class).or_default() += rows;
        }
        for (column, rows) in later.unseen {
            *self.unseen.entry(column).or_default() += rows;
        }
        for (column, notes) in later.notes {
            self.note(column, notes);
        }
        self.late.merge(later.late);
    }

    /// Adds the notes to `notes`, the notes on the first `size` rows. `advice` says what to do about values that occur
    /// only in later rows.
    pub(crate) fn add_notes(
        self,
        source: &str,
        size: usize,
        advice: &str,
        notes: &mut Vec<String>,
    ) {
        for note in self.notes.into_values().flatten().flatten() {
            // The first rows were read before, with the same notes.
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        let late = self.late.notes(source, notes, advice);
        notes.extend(late);
        if self.left_out > 0 {
            notes.push(format!(
                "{source}: {} rows have labels that do not occur in the first {size} rows; these rows are not used",
                self.left_out
            ));
        }
        for (column, count) in self.unseen {
            notes.push(format!(
                "{source}, column `{column}`: {count} rows have categories that do not occur in the training rows among \
                 the first {size} rows; these categories count as different from all known ones; {advice}"
            ));
        }
    }
}
