//! The arguments of `label`.

use super::export::ExportFormat;
use crate::input::InputArgs;
use crate::recipe::ColumnArgs;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  halfspaces label mails.csv --classes ham,spam --text body --show body -o labels.csv
  halfspaces label features.npy --items images/ --classes cat,dog,bird --web
  halfspaces label features.npy --items items.csv --image file --known label --web
  halfspaces label mails.csv --session mails.csv.session.jsonl --text body --show body --export -o labels.csv
  halfspaces label data.csv --label class --simulate --json

Every answer is in the session file before the next question is shown. The same command continues the session, however
the last run ended. An answer belongs to an item: a pool that was sorted or extended keeps its answers.";

/// Label a pool with a person who confirms or corrects predictions
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LabelArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The classes, at least two [default: those of the session, or of --known]
    #[arg(long, value_delimiter = ',', value_name = "A,B,..", allow_hyphen_values = true)]
    pub(crate) classes: Vec<String>,
    /// Seed of what is drawn at random
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,

    /// Table with one row for each row of DATA, or folder with one image for each, to be shown
    #[arg(long, value_name = "FILE|FOLDER", help_heading = "Items")]
    pub(crate) items: Option<PathBuf>,
    /// Columns shown; texts among them are learned from only if --text names them
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,..", help_heading = "Items")]
    pub(crate) show: Vec<String>,
    /// Column of image files, which start from the table's folder
    #[arg(long, value_name = "COLUMN", help_heading = "Items")]
    pub(crate) image: Option<String>,
    /// Folder that holds all images [default: that of the table]
    #[arg(long, value_name = "FOLDER", requires = "image", help_heading = "Items")]
    pub(crate) image_root: Option<PathBuf>,
    /// Column of ids by which items are found again in a changed pool; not learned from [default: by all that is in them]
    #[arg(long, value_name = "COLUMN", help_heading = "Items")]
    pub(crate) id: Option<String>,

    /// Column of labels known beforehand; empty where there is none
    #[arg(long, value_name = "COLUMN", help_heading = "Answers")]
    pub(crate) known: Option<String>,
    /// Labels from Label Studio, exported as JSON, JSON-MIN or CSV; an answer given here is never replaced
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub(crate) import_labelstudio: Option<PathBuf>,
    /// Go on although items that were answered are gone from the pool; their answers stay in the session
    #[arg(long, help_heading = "Answers")]
    pub(crate) keep_found: bool,
    /// File of the answers, one line each [default: DATA.session.jsonl in this folder]
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub(crate) session: Option<PathBuf>,
    /// Ask on a page in the browser
    #[arg(long, help_heading = "Answers")]
    pub(crate) web: bool,
    /// Port of the page; 0 takes a free one
    #[arg(long, default_value_t = 0, requires = "web", help_heading = "Answers")]
    pub(crate) port: u16,
    /// Ask nothing: write the labels of the session, whose file is only read
    #[arg(long, requires = "output", conflicts_with_all = ["web", "simulate"], help_heading = "Answers")]
    pub(crate) export: bool,
    /// Write the labels to this file when the session ends or you stop it by q; after Ctrl-C --export does
    #[arg(short, long, value_name = "FILE", help_heading = "Labels")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the file if it is there
    #[arg(long, requires = "output", help_heading = "Labels")]
    pub(crate) force: bool,
    /// Format of the file written [default: by its name: .jsonl, .json for Label Studio, else CSV]
    #[arg(long = "as", value_name = "FORMAT", requires = "output", help_heading = "Labels")]
    pub(crate) export_format: Option<ExportFormat>,
    /// Write rows without an answer too, with the class predicted and its probability
    #[arg(long, requires = "output", help_heading = "Labels")]
    pub(crate) with_predictions: bool,

    /// Play the session against the labels of --label instead of asking
    #[arg(long, requires = "label", conflicts_with_all = ["web", "session", "known", "import_labelstudio", "output", "classes"], help_heading = "Simulation")]
    pub(crate) simulate: bool,
    /// Column of the true labels
    #[arg(short, long, value_name = "COLUMN", requires = "simulate", help_heading = "Simulation")]
    pub(crate) label: Option<String>,
    /// Which row is next
    #[arg(long, value_enum, default_value_t = Order::Recommended, requires = "simulate", help_heading = "Simulation")]
    pub(crate) order: Order,
    /// Stop after this many answers
    #[arg(long, value_name = "COUNT", requires = "simulate", help_heading = "Simulation")]
    pub(crate) max_answers: Option<usize>,
    /// Print the result as JSON
    #[arg(long, requires = "simulate", help_heading = "Simulation")]
    pub(crate) json: bool,
}

/// Which row is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    /// The surest
    Recommended,
    /// Any
    Random,
    /// That of the file
    Given,
}
