//! `export`: writes a model in a format that other programs can run.

use crate::error::CliError;
use crate::output::OutputArgs;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use halfspaces_pipeline::{ExportFormat, Pipeline};
use std::path::PathBuf;

/// Write a model in a format that can be used without this program.
///
/// onnx: a model for onnxruntime and other runtimes, in double precision. All columns of numbers are one input `X`, and
/// each column of categories is an input with the name of the column. The outputs are `label` and `probabilities`.
///
/// python: a module that needs only the standard library. It has a function `predict` for one row, and can be run as a
/// program on a CSV file. It reads cells in the same way as the command `predict`.
///
/// sql: a query on a table `data`, for models with one halfspace per class (--learner logistic, svm, perceptron or
/// perspectron in `fit`).
///
/// If the format cannot express a column or the learner, the command stops with an error.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  halfspaces export model.json -o model.onnx
  halfspaces export model.json -o model.py
  halfspaces export model.json --format sql")]
pub(crate) struct ExportArgs {
    /// Model file written by `halfspaces fit`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Format of the output [default: by the extension of the output file: .onnx, .py or .sql]
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    format: Option<ExportFormat>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Runs `export`.
pub(crate) fn run(args: &ExportArgs) -> Result<(), CliError> {
    args.output.check(&[&args.model])?;
    let by_name = || ExportFormat::of_file(args.output.output.as_deref()?);
    let Some(format) = args.format.or_else(by_name) else {
        return Err(CliError::user(
            "the format is not known: pass --format onnx, python or sql, or an output file that ends in .onnx, .py or .sql",
        ));
    };
    let exported = Pipeline::load(&args.model)?.export(format)?;
    args.output.write(|out| out.write_all(&exported))
}

fn format() -> impl TypedValueParser<Value = ExportFormat> {
    let value = |format: ExportFormat| {
        PossibleValue::new(format.name()).help(match format {
            ExportFormat::Onnx => "A model for onnxruntime",
            ExportFormat::Python => "A Python module without dependencies",
            ExportFormat::Sql => "A query",
        })
    };
    PossibleValuesParser::new(ExportFormat::ALL.map(value))
        .try_map(|name| name.parse::<ExportFormat>())
}
