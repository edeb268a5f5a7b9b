//! A model and labelled rows side by side: what `evaluate` and `explain` begin with.

use crate::error::CliError;
use crate::frame::Frame;
use crate::input::{InputArgs, MISSING_SHOWN};
use crate::labels::find_class;
use crate::model_file::ModelFile;
use crate::output::note;
use crate::recipe::Unseen;
use halfspaces_linalg::Points;

/// Rows, and their classes where the table has labels.
pub(super) struct Judged {
    pub(super) source: String,
    pub(super) points: Points,
    /// Per row the class of its label; `None` for one that the model does not know.
    pub(super) truth: Option<Vec<Option<usize>>>,
}

/// Reads a table for a model, with its labels: those of `label`, else of the column that the model learned from. Whether
/// they must be there is for the caller to say.
pub(super) fn read(
    model: &ModelFile,
    input: &InputArgs,
    label: Option<&str>,
    needed: bool,
    unseen: Unseen,
) -> Result<Judged, CliError> {
    let name = label.unwrap_or(&model.label.column);
    let frame = input.read_as(&model.recipe.hints(&[name.to_owned()]))?;
    let truth = match frame.column(name) {
        Some(_) => Some(classes(model, &frame, name)?),
        None if needed || label.is_some() => {
            let error = frame.no_column(name).to_string();
            let advice = match error.ends_with('?') {
                true => " Name the column of labels by --label",
                false => "; name the column of labels by --label",
            };
            return Err(CliError::user(error + advice));
        }
        None => None,
    };
    let points = model.recipe.apply(&frame, unseen)?;
    Ok(Judged { source: frame.source, points, truth })
}

fn classes(model: &ModelFile, frame: &Frame, name: &str) -> Result<Vec<Option<usize>>, CliError> {
    let Some(column) = frame.column(name) else { unreachable!("the caller has found it") };
    let mut unknown: Option<String> = None;
    let mut of_row = Vec::with_capacity(frame.rows);
    for row in 0..frame.rows {
        if column.values.is_missing(row) {
            return Err(CliError::user(format!(
                "{}, column `{name}`: the label is missing, as {MISSING_SHOWN} mean; fill it in or remove the row",
                frame.place(row)
            )));
        }
        let text = column.values.text(row);
        let class = match &model.label.against_rest {
            Some(positive) => {
                let positive = std::slice::from_ref(positive);
                Some(usize::from(find_class(&text, positive).is_some()))
            }
            None => find_class(&text, &model.label.classes),
        };
        if class.is_none() && unknown.is_none() {
            unknown = Some(text);
        }
        of_row.push(class);
    }
    if of_row.iter().all(Option::is_none) {
        let found = unknown.unwrap_or_default();
        return Err(CliError::user(format!(
            "{}, column `{name}`: no label is one of the model's classes {}; the first is `{found}`",
            frame.source,
            model.label.classes.join(", ")
        )));
    }
    if let Some(label) = unknown {
        let count = of_row.iter().filter(|class| class.is_none()).count();
        note(&format!(
            "note: {}: the model does not know {count} of the labels, such as `{label}`; they count as errors",
            frame.source
        ));
    }
    Ok(of_row)
}
