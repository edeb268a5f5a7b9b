//! The input of `evaluate`, `compare` and `explain`: a table that is read for a model, with its labels if it has any.

use crate::error::CliError;
use crate::input::{InputArgs, LabelFileArgs, failed_labels, print_notes};
use crate::output::note;
use crate::recipe;
use clap::Args;
use halfspaces_frame::Frame;
use halfspaces_pipeline::{Decisions, Design, Pipeline, Unseen};

/// The rows of a table as a model sees them, and their true classes if the table has labels.
pub(super) struct EvaluationData {
    pub(super) frame: Frame,
    pub(super) design: Design,
    /// The true class of each row; `None` for a label that is unknown to the model.
    pub(super) truth: Option<Vec<Option<usize>>>,
    /// The number of each row in the table, counted from 0, if only the rows with a label in a file of labels are used.
    pub(super) numbers: Option<Vec<usize>>,
}

/// The options of commands that need a labelled table.
#[derive(Debug, Args)]
pub(crate) struct LabelledArgs {
    /// Column of labels [default: the label column of the model; with --labels, the column `label`, or the only column
    /// besides row numbers and ids]
    #[arg(short, long, value_name = "COLUMN")]
    label: Option<String>,
    #[command(flatten)]
    label_file: LabelFileArgs,
    /// How to treat a category that the model has not seen and a column that is missing from the table
    #[arg(long, value_parser = recipe::unseen(), default_value = "error")]
    unseen: Unseen,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

impl LabelledArgs {
    /// Whether an option says where the labels are.
    pub(super) fn names_labels(&self) -> bool {
        self.label.is_some() || self.label_file.labels.is_some()
    }

    /// The name of the table, the decisions of a model for its rows, and the true class of each row.
    pub(crate) fn decide(
        &self,
        model: &Pipeline,
    ) -> Result<(String, Decisions, Vec<Option<usize>>), CliError> {
        let label = self.label.as_deref();
        let EvaluationData { frame, design, truth, .. } =
            read(model, &self.input, &self.label_file, label, true, self.unseen)?;
        let source = frame.source.clone();
        drop(frame);
        let decisions = model.model().decide(&design, self.input.reading.threads())?;
        let Some(truth) = truth else { unreachable!("labels are required") };
        Ok((source, decisions, truth))
    }
}

/// Reads a table for a model. Labels come from `label_file` or from the column `label`, which is by default the label
/// column of the model. If `needed` is true, there must be labels.
pub(super) fn read(
    model: &Pipeline,
    input: &InputArgs,
    label_file: &LabelFileArgs,
    label: Option<&str>,
    needed: bool,
    unseen: Unseen,
) -> Result<EvaluationData, CliError> {
    let name = label.unwrap_or(model.label_column());
    if let Some(file) = label_file.file(label) {
        let frame = input.read_for(model, &[], file.id.as_slice())?;
        let joined = file.join(frame, &input.reading.options());
        let mut joined = joined.map_err(|error| failed_labels(&file.path, error))?;
        if joined.are_predictions && needed {
            return Err(CliError::user(format!(
                "{}: its labels are predictions of a model, because it has the columns `value` and `probability` of the output of \
                 `predict`; pass the true labels, or remove these columns if a person checked the labels",
                file.path.display()
            )));
        }
        print_notes(&mut joined.frame);
        if joined.is_chosen {
            note(
                "note: a labelling session chose which rows were labelled, so the intervals say nothing about other rows, unless \
                 the session had --order random",
            );
        }
        let found = model.true_classes(&joined.frame, &joined.column)?;
        found.notes.iter().for_each(|text| note(&format!("note: {text}")));
        let design = model.design(&joined.frame, unseen)?;
        let (frame, numbers) = (joined.frame, Some(joined.rows));
        return Ok(EvaluationData { frame, design, truth: Some(found.of_row), numbers });
    }
    let frame = input.read_for(model, &[name.to_owned()], &[])?;
    let truth = if frame.has(name) {
        let found = model.true_classes(&frame, name)?;
        found.notes.iter().for_each(|text| note(&format!("note: {text}")));
        Some(found.of_row)
    } else if needed || label.is_some() {
        let error = frame.no_column(name).to_string();
        let advice = match error.ends_with('?') {
            true => " Pass the column of labels with --label",
            false => "; pass the column of labels with --label",
        };
        return Err(CliError::user(error + advice));
    } else {
        None
    };
    let design = model.design(&frame, unseen)?;
    Ok(EvaluationData { frame, design, truth, numbers: None })
}
