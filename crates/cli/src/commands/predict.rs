//! `predict`: the labels of a table's rows.

use crate::error::CliError;
use crate::input::InputArgs;
use crate::output::{OutputArgs, csv_fault};
use crate::progress::Progress;
use crate::recipe;
use clap::Args;
use halfspaces_pipeline::{Pipeline, Unseen};
use std::path::PathBuf;

/// Predict the label of every row of a table.
///
/// Writes CSV with the columns `label`, `value` (how sure: of two classes positive for the second, of more by how much the
/// best exceeds the next) and `probability` (of the label; empty if the model has none).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  halfspaces predict model.json new.csv -o labels.csv
  halfspaces predict model.json new.parquet --keep id --all --unseen zero
  cat new.csv | halfspaces predict model.json - | head")]
pub(crate) struct PredictArgs {
    /// The model, written by `halfspaces fit`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// What becomes of a category that the model has not seen, and of a column that is not there
    #[arg(long, value_parser = recipe::unseen(), default_value = "error")]
    unseen: Unseen,
    /// Copy a column of the table in front, as it stands or, if the model learned from it, as it was read; one of a name that results have, too, becomes `kept NAME`
    #[arg(long, value_name = "COLUMN")]
    keep: Vec<String>,
    /// Write the probability of every class, in columns named after them
    #[arg(long)]
    all: bool,
}

/// Predicts labels.
pub(crate) fn run(args: &PredictArgs) -> Result<(), CliError> {
    args.output.check(&[&args.model, &args.input.data])?;
    let model = Pipeline::load(&args.model)?;
    let progress = Progress::start("predicting");
    let frame = args.input.read_for(&model, &[], &args.keep)?;
    let kept = args.keep.iter().map(|name| frame.column(name).ok_or_else(|| frame.no_column(name)));
    let kept = kept.collect::<Result<Vec<_>, _>>()?;
    let found = model.decide(&frame, args.unseen, args.input.reading.threads())?;
    drop(progress);
    let names = model.classes();
    args.output.write(|out| {
        let mut csv = csv::Writer::from_writer(out);
        let mut results = ["label", "value", "probability"].map(str::to_owned).to_vec();
        if args.all {
            results.extend(names.iter().map(|name| format!("probability={name}")));
        }
        let kept_name = |name: &String| {
            if results.contains(name) { format!("kept {name}") } else { name.clone() }
        };
        let kept_names: Vec<String> = args.keep.iter().map(kept_name).collect();
        csv.write_record(kept_names.iter().chain(&results)).map_err(csv_fault)?;
        let mut cells: Vec<String> = Vec::new();
        for (row, (class, value)) in found.classes.iter().zip(&found.values).enumerate() {
            cells.clear();
            cells.extend(kept.iter().map(|column| column.text(row)));
            cells.extend([names[*class].clone(), value.to_string()]);
            let shares = found.probabilities.as_ref().map(|all| &all[row]);
            cells.push(shares.map_or(String::new(), |shares| probability(shares[*class])));
            if args.all {
                match shares {
                    Some(shares) => cells.extend(shares.iter().map(|p| probability(*p))),
                    None => cells.extend(names.iter().map(|_| String::new())),
                }
            }
            csv.write_record(&cells).map_err(csv_fault)?;
        }
        csv.flush()
    })
}

fn probability(p: f64) -> String {
    format!("{p:.6}")
}
