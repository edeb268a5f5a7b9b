//! The predictions of a fitted model, which a session uses at its start.

use super::args::LabelArgs;
use crate::error::CliError;
use crate::input::check_no_pipe;
use halfspaces_frame::find_class;
use halfspaces_linalg::Threads;
use halfspaces_online::LabellingSession;
use halfspaces_pipeline::{Pipeline, Unseen};

/// Reads the model of `--model`, if any.
pub(super) fn load(args: &LabelArgs) -> Result<Option<Pipeline>, CliError> {
    let Some(path) = &args.model else { return Ok(None) };
    check_no_pipe(&args.input.data, "--model: ")?;
    let model = Pipeline::load(path)?;
    if !model.model().has_probabilities() {
        return Err(CliError::user(format!(
            "{}: the model has no probabilities, so its confidence in a prediction is unknown; fit it with --learner auto, or \
             hold out more rows",
            path.display()
        )));
    }
    Ok(Some(model))
}

/// The predictions of the model for the rows of the pool: a class and its probability for each row. `classes` are the
/// names of the classes of the session.
pub(super) fn predictions(
    args: &LabelArgs,
    model: Option<&Pipeline>,
    classes: &[String],
) -> Result<Option<Vec<(usize, f64)>>, CliError> {
    let (Some(path), Some(model)) = (&args.model, model) else { return Ok(None) };
    let name = path.display();
    let place = |class: &String| {
        find_class(class, classes).ok_or_else(|| {
            CliError::user(format!(
                "{name}: the model predicts `{class}`, but the classes of this session are {}; name all classes with \
                 --classes",
                classes.join(", ")
            ))
        })
    };
    let places = model.classes().iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let frame = args.input.read_for(model, &[], &[])?;
    // The pool may have categories that the model has not seen, but it must have all columns. In sparse files, absent
    // columns are 0.
    if !frame.is_sparse() {
        let places = model.recipe().places();
        places.iter().try_for_each(|(column, _)| match frame.has(column) {
            true => Ok(()),
            false => Err(frame.no_column(column)),
        })?;
    }
    let design = model.design(&frame, Unseen::Zero)?;
    let decisions = model.model().decide(&design, Threads::all())?;
    let Some(probabilities) = decisions.probabilities else {
        unreachable!("the model has probabilities")
    };
    let prediction =
        |(class, of_classes): (&usize, &Vec<f64>)| (places[*class], of_classes[*class]);
    Ok(Some(decisions.classes.iter().zip(&probabilities).map(prediction).collect()))
}

/// Passes the predictions, if there are any, to a session.
pub(super) fn advise(
    session: &mut LabellingSession,
    predictions: Option<&[(usize, f64)]>,
) -> Result<(), CliError> {
    let advised = predictions.map_or(Ok(()), |of_rows| session.advise(of_rows));
    advised.map_err(|error| CliError::user(format!("--model: {error}")))
}
