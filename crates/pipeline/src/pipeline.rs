//! The pipeline, which consists of a recipe, a model, the class names and the fit report.

use crate::design::Design;
use crate::model::{Decisions, Model};
use crate::recipe::{Recipe, Unseen};
use crate::report::Report;
use halfspaces_frame::{
    ClassKey, Classes, ColumnRule, DataError, Frame, Hints, Labels, MISSING_SHOWN, Ragged,
    ReadOptions, find_class, first_of, read, same_class, short,
};
use halfspaces_linalg::Threads;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// A fitted pipeline that maps table rows to class names. [`Pipeline::fit`] creates a pipeline, and [`Pipeline::load`]
/// loads one from a file.
///
/// See the crate documentation for an example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    pub(crate) label: LabelPart,
    pub(crate) recipe: Recipe,
    pub(crate) model: Model,
    pub(crate) report: Report,
    /// The treatment of ragged rows that was requested when the pipeline was fitted.
    #[serde(skip_serializing_if = "is_default", default)]
    pub(crate) ragged: Ragged,
}

fn is_default(ragged: &Ragged) -> bool {
    *ragged == Ragged::default()
}

/// The label column and the classes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LabelPart {
    /// The label column.
    pub(crate) column: String,
    /// The class names. With two classes, the positive class is last.
    pub(crate) classes: Vec<String>,
    /// The positive class, if it was learned against several other classes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) against_rest: Option<String>,
    /// The rule by which labels are read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) rule: Option<ColumnRule>,
}

impl LabelPart {
    /// The hints with which later parts of a labelled table must be read.
    pub(crate) fn hints(&self, recipe: &Recipe) -> Hints {
        let mut hints = recipe.hints(std::slice::from_ref(&self.column));
        if let Some(rule) = &self.rule {
            hints.rules.insert(self.column.clone(), rule.clone());
        }
        hints
    }

    /// The class of each row of a part of a table, or `None` if the label is unknown. Labels are looked up among the
    /// `known` classes, which are those of this value.
    pub(crate) fn classes_of(&self, labels: &Labels, known: &Classes) -> Vec<Option<usize>> {
        let class = |label: &String| match &self.against_rest {
            Some(positive) => Some(usize::from(ClassKey::of(label) == ClassKey::of(positive))),
            None => known.find(label),
        };
        let of_label: Vec<Option<usize>> = labels.classes.iter().map(class).collect();
        labels.of_row.iter().map(|label| of_label[*label]).collect()
    }
}

/// The true classes of a table's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueClasses {
    /// The class of each row, or `None` if the model does not know the label.
    pub of_row: Vec<Option<usize>>,
    /// Notes on unknown labels, on labels that are combined into one class, and on a table that may be the one to which
    /// the model was fitted.
    pub notes: Vec<String>,
}

impl Pipeline {
    /// The name of the label column.
    #[must_use]
    pub fn label_column(&self) -> &str {
        &self.label.column
    }

    /// The class names. With two classes, the positive class is last.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.label.classes
    }

    /// The recipe that converts columns to coordinates.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The model that classifies the coordinates.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The report of the fit.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The hints with which a table must be read for this model. `others` are additional columns of text.
    #[must_use]
    pub fn hints(&self, others: &[String]) -> Hints {
        let mut hints = Hints { keeps_rows: true, ..self.recipe.hints(others) };
        if let Some(rule) = &self.label.rule {
            hints.rules.insert(self.label.column.clone(), rule.clone());
        }
        hints
    }

    /// The read options `told`, with the treatment of ragged rows that was used for the fit unless `told` requests
    /// another treatment.
    #[must_use]
    pub fn options(&self, told: &ReadOptions) -> ReadOptions {
        // `Skip` is not inherited, because a skipped row has no prediction. The caller must request it explicitly.
        let inherits = is_default(&told.ragged) && self.ragged == Ragged::Pad;
        let ragged = if inherits { self.ragged } else { told.ragged };
        ReadOptions { ragged, ..told.clone() }
    }

    /// Reads a table for this model from a file, by the rules that were determined when the model was fitted. `others`
    /// are additional columns of text. `kept` are columns that the caller wants to copy: their cells are left unchanged
    /// unless the model learned from them. The notes of the frame include notes on the columns of the model and notes
    /// on rows and columns without a value.
    ///
    /// # Errors
    /// Returns the same errors as [`halfspaces_frame::read`]. Also returns an error if a cell does not match the rule
    /// of its column.
    pub fn read_table(
        &self,
        path: &Path,
        told: &ReadOptions,
        others: &[String],
        kept: &[String],
    ) -> Result<Frame, DataError> {
        self.table(told, others, kept, |options, hints| read(path, options, hints))
    }

    /// Like [`Pipeline::read_table`], but reads a table from any source. The function `read` is called with the options
    /// and hints by which the columns must be read.
    ///
    /// # Errors
    /// Returns the errors of `read`.
    pub fn table(
        &self,
        told: &ReadOptions,
        others: &[String],
        kept: &[String],
        read: impl FnOnce(&ReadOptions, &Hints) -> Result<Frame, DataError>,
    ) -> Result<Frame, DataError> {
        let of_model = self.hints(&[]);
        // Numbers of a sparse block are not among the expected columns.
        let kept: Vec<String> =
            kept.iter().filter(|name| !self.recipe.has_entry(name)).cloned().collect();
        let mut hints = self.hints(&[others, &kept].concat());
        hints.verbatim.extend(kept.into_iter().filter(|name| !of_model.expected.contains(name)));
        let mut frame = read(&self.options(told), &hints)?;
        let of_columns = frame.records.iter().filter(|r| of_model.expected.contains(&r.name));
        let notes: Vec<String> = of_columns.flat_map(|record| record.notes.clone()).collect();
        frame.notes.extend(notes);
        frame.notes.extend(self.recipe.gaps(&frame, &self.label.column));
        Ok(frame)
    }

    /// Converts a table to points.
    ///
    /// # Errors
    /// Returns the same errors as [`Recipe::apply`]. Also returns an error if the entries of a sparse table are all in
    /// columns that the model does not know, unless `unseen` is [`Unseen::Zero`].
    pub fn design(&self, frame: &Frame, unseen: Unseen) -> Result<Design, DataError> {
        let design = self.recipe.apply(frame, unseen)?;
        if unseen == Unseen::Error {
            self.recipe.check_known(frame)?;
        }
        Ok(design)
    }

    /// Predicts the class of every row of a table.
    ///
    /// # Errors
    /// Returns the same errors as [`Recipe::apply`] and [`Model::values`].
    pub fn decide(
        &self,
        frame: &Frame,
        unseen: Unseen,
        threads: Threads,
    ) -> Result<Decisions, DataError> {
        let decided = self.model.decide(&self.design(frame, unseen)?, threads);
        // The check names the number that caused an overflow.
        decided.map_err(|fault| self.recipe.check_sizes(frame).err().unwrap_or(fault))
    }

    /// Reads the true classes from the labels in the column `name`.
    ///
    /// # Errors
    /// Returns an error if the column does not exist, a label is missing, or no label is one of the model's classes.
    pub fn true_classes(&self, frame: &Frame, name: &str) -> Result<TrueClasses, DataError> {
        const MOST_SHOWN: usize = 5;
        let Some(values) = frame.column(name) else { return Err(frame.no_column(name)) };
        let texts: BTreeSet<String> = (0..frame.rows).map(|row| values.text(row)).collect();
        let counterpart = self.counterpart(&texts);
        let mut unknown: Option<String> = None;
        let mut of_row = Vec::with_capacity(frame.rows);
        // For each label, its class and its number of rows.
        let mut known: HashMap<String, (Option<usize>, usize)> = HashMap::new();
        for row in 0..frame.rows {
            if values.is_missing(row) {
                return Err(DataError::user(format!(
                    "{}, column `{name}`: the label is missing ({MISSING_SHOWN} count as missing); fill it in or remove \
                     the row",
                    frame.place(row)
                )));
            }
            let text = values.text(row);
            let (class, rows) = match known.get_mut(&text) {
                Some(found) => found,
                None => known
                    .entry(text.clone())
                    .or_insert((self.class_of_label(&text, counterpart), 0)),
            };
            let class = *class;
            *rows += 1;
            if class.is_none() && unknown.is_none() {
                unknown = Some(text);
            }
            of_row.push(class);
        }
        if of_row.iter().all(Option::is_none) {
            let found = unknown.unwrap_or_default();
            return Err(DataError::user(format!(
                "{}, column `{name}`: no label is one of the model's classes {}; the first label is `{found}`",
                frame.source,
                self.label.classes.join(", ")
            )));
        }
        let note = |label: String| {
            let count = of_row.iter().filter(|class| class.is_none()).count();
            format!(
                "{}: the model does not know {count} of the labels, such as `{label}`; they count as errors, also in the baseline, precision and \
                 coverage; they are left out of recall, AUC, average precision, cost, log loss, Brier score and calibration",
                frame.source
            )
        };
        let mut notes: Vec<String> = unknown.map(note).into_iter().collect();
        if let [rest, positive] = &self.label.classes[..]
            && self.label.against_rest.is_some()
        {
            if let Some(label) = counterpart {
                notes.push(format!(
                    "{}, column `{name}`: no label is `{positive}`, so `{}` counts as `{positive}`; if this is wrong, rename the labels",
                    frame.source,
                    short(label)
                ));
            }
            let counts_as = counterpart
                .map_or_else(|| format!("`{positive}`"), |label| format!("`{}`", short(label)));
            let others = known.iter().filter(|(_, (class, _))| *class == Some(0));
            let mut others: Vec<(usize, &String)> = others.map(|(l, (_, n))| (*n, l)).collect();
            others.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
            let counted = |(rows, label): &(usize, &String)| format!("`{}` ({rows})", short(label));
            notes.push(format!(
                "{}, column `{name}`: all labels except {counts_as} count as `{rest}`: {}",
                frame.source,
                first_of(others.iter().map(counted), MOST_SHOWN)
            ));
        }
        if self.has_class_counts(&of_row) {
            notes.push(format!(
                "{}: the table has as many rows of each class as the table to which the model was fitted; if it is the \
                 same table, the errors measured on it are too small",
                frame.source
            ));
        }
        Ok(TrueClasses { of_row, notes })
    }

    /// Whether each class has as many rows as in the table to which the model was fitted.
    fn has_class_counts(&self, of_row: &[Option<usize>]) -> bool {
        let mut counts = vec![0; self.label.classes.len()];
        for class in of_row {
            match class {
                Some(class) => counts[*class] += 1,
                None => return false,
            }
        }
        let mut counted = self.label.classes.iter().zip(&counts);
        counted.all(|(name, count)| {
            self.report.classes.iter().any(|class| class.name == *name && class.rows == *count)
        })
    }

    /// If the model separates one class from all others, returns the label of a table that denotes this class but is
    /// written differently, such as `1` for `true`. Returns `None` if a label of the table matches the class itself, as
    /// in [`Classes::find`](halfspaces_frame::Classes::find).
    fn counterpart<'l>(&self, labels: &'l BTreeSet<String>) -> Option<&'l str> {
        let positive = self.label.against_rest.as_ref()?;
        let key = ClassKey::of(positive);
        if labels.iter().any(|label| ClassKey::of(label) == key) {
            return None;
        }
        labels.iter().map(String::as_str).find(|label| same_class(label, positive))
    }

    /// The class of a label, or `None` if the model does not know the label. `counterpart` is the result of
    /// [`Pipeline::counterpart`] for the table.
    fn class_of_label(&self, label: &str, counterpart: Option<&str>) -> Option<usize> {
        match &self.label.against_rest {
            Some(positive) => {
                let positive = ClassKey::of(counterpart.unwrap_or(positive));
                Some(usize::from(ClassKey::of(label) == positive))
            }
            None => find_class(label, &self.label.classes),
        }
    }

    /// Checks that the parts of a loaded pipeline are consistent.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.model.check_saved().map_err(|e| e.to_string())?;
        let (dim, expected) = (self.model.dim(), self.recipe.dim());
        if dim != expected {
            return Err(format!(
                "the learner expects {dim} coordinates, but the columns give {expected}"
            ));
        }
        let names: BTreeSet<&String> = self.label.classes.iter().collect();
        let (classes, expected) = (self.label.classes.len(), self.model.classes());
        if classes != expected {
            return Err(format!("there are {classes} names for {expected} classes"));
        }
        if names.len() < classes {
            return Err("two classes have the same name".to_owned());
        }
        Ok(())
    }
}
