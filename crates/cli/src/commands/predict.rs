//! `predict`: predicts the labels of a table.

use crate::error::CliError;
use crate::input::{CostArgs, InputArgs};
use crate::output::{OutputArgs, copied_names, csv_io_error};
use crate::progress::Progress;
use crate::recipe;
use clap::Args;
use halfspaces_pipeline::{Pipeline, Unseen};
use std::path::PathBuf;

/// Predict the label of every row of a table.
///
/// Writes CSV, one row for each row of DATA, with the columns `label`, `value` and `probability`. `label` is the
/// predicted class. `value` is the decision value: with two classes it is positive for the second class (the one that
/// --positive names in `fit`) and negative for the first; with more classes it is the difference between the best class
/// and the second best. A larger absolute value means more confidence. `probability` is the calibrated probability of
/// `label`; it is empty if the model has no probabilities. With --cost or --threshold, the score of a class is its cost
/// times its probability. `value` is then the logarithm of the ratio of two scores: the score of the second class
/// divided by that of the first or, with more classes, the best score divided by the second best.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  halfspaces predict model.json new.csv -o labels.csv
  halfspaces predict model.json new.parquet --keep id --all --unseen zero
  halfspaces predict model.json new.csv --cost ill=9 -o labels.csv
  cat new.csv | halfspaces predict model.json - | head")]
pub(crate) struct PredictArgs {
    /// Model file written by `halfspaces fit`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
    /// How to treat a category that the model has not seen and a column that is missing from the table
    #[arg(long, value_parser = recipe::unseen(), default_value = "error")]
    unseen: Unseen,
    #[command(flatten)]
    costs: CostArgs,
    /// Copy a column of DATA to the front of the output; may be repeated. Cells are copied without the blanks around
    /// them; cells given with --missing become empty; feature columns are copied as the model reads them. If the output already has a column COLUMN, the copy is called
    /// `kept COLUMN`
    #[arg(long, value_name = "COLUMN")]
    keep: Vec<String>,
    /// Also write the probability of every class, in columns `probability=CLASS`
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    input: InputArgs,
}

/// Runs `predict`.
pub(crate) fn run(args: &PredictArgs) -> Result<(), CliError> {
    args.output.check_table(&[&args.model, &args.input.data])?;
    let model = Pipeline::load(&args.model)?;
    let progress = Progress::start("predicting");
    let frame = args.input.read_for(&model, &[], &args.keep)?;
    if let Some((_, name)) =
        args.keep.iter().enumerate().find(|(at, name)| args.keep[..*at].contains(name))
    {
        return Err(CliError::user(format!("--keep {name}: it is named twice; name it once")));
    }
    let kept = args.keep.iter().map(|name| frame.column(name).ok_or_else(|| frame.no_column(name)));
    let kept = kept.collect::<Result<Vec<_>, _>>()?;
    let mut found = model.decide(&frame, args.unseen, args.input.reading.threads())?;
    if let Some(costs) = args.costs.costs(model.classes())? {
        found = costs.decide(&found)?;
    }
    drop(progress);
    let names = model.classes();
    args.output.write(|out| {
        let mut csv = csv::Writer::from_writer(out);
        let mut results = ["label", "value", "probability"].map(str::to_owned).to_vec();
        if args.all {
            results.extend(names.iter().map(|name| format!("probability={name}")));
        }
        let kept_names = copied_names(&args.keep, &results);
        csv.write_record(kept_names.iter().chain(&results)).map_err(csv_io_error)?;
        let mut cells: Vec<String> = Vec::new();
        for (row, (class, value)) in found.classes.iter().zip(&found.values).enumerate() {
            cells.clear();
            cells.extend(kept.iter().map(|column| column.text(row)));
            cells.extend([names[*class].clone(), value.to_string()]);
            let of_classes = found.probabilities.as_ref().map(|all| &all[row]);
            cells.push(of_classes.map_or(String::new(), |all| probability(all[*class])));
            if args.all {
                match of_classes {
                    Some(all) => cells.extend(all.iter().map(|p| probability(*p))),
                    None => cells.extend(names.iter().map(|_| String::new())),
                }
            }
            csv.write_record(&cells).map_err(csv_io_error)?;
        }
        csv.flush()
    })
}

fn probability(p: f64) -> String {
    format!("{p:.6}")
}
