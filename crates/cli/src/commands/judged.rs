//! A model and labelled rows: what `evaluate` and `explain` begin with.

use crate::error::CliError;
use crate::input::InputArgs;
use crate::output::note;
use halfspaces_pipeline::{Design, Pipeline, Unseen};

/// Rows, and their classes if the table has labels.
pub(super) struct Judged {
    pub(super) source: String,
    pub(super) design: Design,
    /// For each row the class of its label; `None` for a label that the model does not know.
    pub(super) truth: Option<Vec<Option<usize>>>,
}

/// Reads a table for a model, with its labels: those of `label`, otherwise of the column that the model learned from.
pub(super) fn read(
    model: &Pipeline,
    input: &InputArgs,
    label: Option<&str>,
    needed: bool,
    unseen: Unseen,
) -> Result<Judged, CliError> {
    let name = label.unwrap_or(model.label_column());
    let frame = input.read_for(model, &[name.to_owned()], &[])?;
    let truth = if frame.has(name) {
        let found = model.true_classes(&frame, name)?;
        found.notes.iter().for_each(|text| note(&format!("note: {text}")));
        Some(found.of_row)
    } else if needed || label.is_some() {
        let error = frame.no_column(name).to_string();
        let advice = match error.ends_with('?') {
            true => " Name the column of labels by --label",
            false => "; name the column of labels by --label",
        };
        return Err(CliError::user(error + advice));
    } else {
        None
    };
    let design = model.design(&frame, unseen)?;
    Ok(Judged { source: frame.source, design, truth })
}
