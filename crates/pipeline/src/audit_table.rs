//! A table prepared for an audit, with its points, its classes and the rules by which it was read.

use crate::design::Design;
use crate::near_duplicates::{contradictions, equal_rows};
use crate::recipe::{Recipe, RecipeOptions, Unseen};
use crate::validation::row_hashes;
use halfspaces_frame::{DataError, Frame, Labels};

/// A labelled table for an [`Audit`](crate::Audit).
///
/// ```
/// use halfspaces_frame::{Column, Frame, Values};
/// use halfspaces_pipeline::{Audit, AuditTable, Method, Plan, RecipeOptions};
/// let size = Values::numbers((0..60).map(f64::from).collect());
/// let kind = Values::texts((0..60).map(|i| u32::from(i >= 30 || i == 7)).collect(), &["small", "large"]);
/// let columns = vec![Column { name: "size".into(), values: size }, Column { name: "kind".into(), values: kind }];
/// let table = AuditTable::new(Frame::new("t.csv", columns), "kind", &RecipeOptions::default())?;
/// let audit = Audit { plan: Plan::new(Method::Logistic), folds: 5, failure: 0.05 };
/// let found = audit.run(&table.design, &table.labels.of_row, table.labels.classes.len())?;
/// assert_eq!(found.ranking[0].row, 7);
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AuditTable {
    /// The table without its column of labels.
    pub frame: Frame,
    /// The labels of the rows.
    pub labels: Labels,
    /// The map from columns to coordinates, fitted to all rows.
    pub recipe: Recipe,
    /// The points that the audit uses.
    pub design: Design,
    /// Notes on decisions that could be wrong.
    pub notes: Vec<String>,
}

impl AuditTable {
    /// Takes the labels from the column `label` and converts the other columns to points.
    ///
    /// # Errors
    /// Returns an error if the column does not exist or has another role, if a label is missing, if there are fewer
    /// than two classes with at least two rows each, or if there is no column to learn from.
    pub fn new(
        mut frame: Frame,
        label: &str,
        options: &RecipeOptions,
    ) -> Result<AuditTable, DataError> {
        options.check_apart(label, "the column of labels")?;
        let labels = Labels::take(&mut frame, label)?;
        let place = format!("{}, column `{label}`", frame.source);
        if let [only] = &labels.classes[..] {
            return Err(DataError::user(format!(
                "{place}: all labels are {only}; an audit needs at least two classes"
            )));
        }
        labels.check_rows(2, &place)?;
        let (recipe, more) = Recipe::fit(&frame, options)?;
        let design = recipe.apply(&frame, Unseen::Error)?;
        let mut notes = std::mem::take(&mut frame.notes);
        notes.extend(more);
        Ok(AuditTable { frame, labels, recipe, design, notes })
    }

    /// For each row, the index of a row with a different label and nearly the same text, or `None` if there is no such
    /// row. In a table without a column of text, the rows must have the same values in all columns that are used; if there
    /// are no such rows, the result is empty. It is also empty for sparse tables without text.
    #[must_use]
    pub fn contradictions(&self) -> Vec<Option<usize>> {
        match &self.design {
            Design::Sparse(points) if !self.recipe.text_columns().is_empty() => {
                contradictions(points, &self.labels.of_row)
            }
            Design::Sparse(_) => Vec::new(),
            Design::Dense(points) => {
                let hashes: Vec<u64> = row_hashes(&self.design).collect();
                let found = equal_rows(points, &hashes, &self.labels.of_row);
                if found.iter().all(Option::is_none) { Vec::new() } else { found }
            }
        }
    }
}
