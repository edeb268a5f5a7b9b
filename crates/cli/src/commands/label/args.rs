//! The options of `label`.

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
  halfspaces label images/ --classes cat,dog,bird --web
  halfspaces label features.npy --items items.csv --image file --known label --web
  halfspaces label mails.csv --session mails.csv.session.jsonl --text body --show body --export -o labels.csv
  halfspaces label data.csv --known class --review ranking.csv --web -o answers.csv
  halfspaces label new.csv --model model.json --web
  halfspaces label mails.csv --classes ham,spam --text body --show body --annotator ann
  halfspaces label mails.csv --text body --show body --merge ann.jsonl bob.jsonl --export -o labels.csv
  halfspaces label data.csv --label class --simulate --json

Every answer is saved in the session file before the next question is shown. The same command resumes the session,
however the last run ended. An answer belongs to an item, not to a row number: a pool that was sorted or extended
keeps its answers.

Row numbers count data rows from 0: in questions, in the session file and in the column `row` of the output.
Messages about a file name its lines, counted from 1 with the header.";

/// Label a pool of rows: the model predicts a class for one row at a time, and you confirm or correct it.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LabelArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Names of the classes, at least two [default: those of the session, the labels in
    /// --known, or the classes of --model]
    #[arg(long, value_delimiter = ',', value_name = "A,B,..", allow_hyphen_values = true)]
    pub(crate) classes: Vec<String>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,

    /// What to show: a table with one row per row of DATA, or a folder with one image per row of DATA. Columns of both
    /// tables must agree
    #[arg(long, value_name = "FILE|FOLDER", help_heading = "Items")]
    pub(crate) items: Option<PathBuf>,
    /// Columns to show; the model learns from text columns among them only if they are named by --text or --use
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,..", help_heading = "Items")]
    pub(crate) show: Vec<String>,
    /// Column of paths of images to show, relative to the folder of the table
    #[arg(long, value_name = "COLUMN", help_heading = "Items")]
    pub(crate) image: Option<String>,
    /// Folder that contains all images; other files are never read [default: the folder of the table]
    #[arg(long, value_name = "FOLDER", requires = "image", help_heading = "Items")]
    pub(crate) image_root: Option<PathBuf>,
    /// Column of unique ids that identify items if the pool changes; not used as a feature [default: identify items by
    /// their whole content]
    #[arg(long, value_name = "COLUMN", help_heading = "Items")]
    pub(crate) id: Option<String>,

    /// Column of labels that are already known; its cells are empty in the other rows
    #[arg(long, value_name = "COLUMN", help_heading = "Answers")]
    pub(crate) known: Option<String>,
    /// Ask about rows of this CSV file although --known gives their labels. In a ranking of `audit`, these are the rows
    /// whose suggestion differs from the label; in another file with a column `row`, all rows. The labels and the other
    /// columns of the file must agree with DATA. The known label is shown; the model does not learn from it
    #[arg(long, value_name = "FILE", requires = "known", help_heading = "Answers")]
    pub(crate) review: Option<PathBuf>,
    /// Start from the predictions of this model, written by `fit`. They are used until the session's own model makes
    /// fewer errors on the answers. A category that the model does not know counts as none of its categories
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub(crate) model: Option<PathBuf>,
    /// Merge the sessions of several annotators about DATA: report how well they agree, and ask about the rows on which
    /// they disagree; with --export, ask nothing. --output gets the class that most annotators gave and the answer of
    /// each annotator
    #[arg(long, num_args = 1.., value_name = "SESSION", conflicts_with_all = ["known", "review", "import_labelstudio", "with_predictions"], help_heading = "Answers")]
    pub(crate) merge: Vec<PathBuf>,
    /// Name of the annotator, which a new session stores [the default of --session is then DATA.NAME.session.jsonl]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["merge", "simulate"], help_heading = "Answers")]
    pub(crate) annotator: Option<String>,
    /// Import labels from a Label Studio export (JSON, JSON-MIN or CSV); they never replace answers of this session
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub(crate) import_labelstudio: Option<PathBuf>,
    /// Continue even if answered items are missing from the pool; their answers stay in the session
    #[arg(long, help_heading = "Answers")]
    pub(crate) keep_found: bool,
    /// Session file, which stores one answer per line [default: DATA.session.jsonl in the current folder]
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub(crate) session: Option<PathBuf>,
    /// Order in which rows are asked
    #[arg(long, value_enum, default_value_t = Order::Recommended, help_heading = "Answers")]
    pub(crate) order: Order,
    /// Look for a rare class: always ask about the row that most probably has this class
    #[arg(long, value_name = "CLASS", conflicts_with = "order", help_heading = "Answers")]
    pub(crate) seek: Option<String>,
    /// Ask in the browser instead of the terminal
    #[arg(long, help_heading = "Answers")]
    pub(crate) web: bool,
    /// Port of the page; 0 selects a free port
    #[arg(long, default_value_t = 0, requires = "web", help_heading = "Answers")]
    pub(crate) port: u16,
    /// Ask nothing and write the labels of the session to --output; the session file is only read
    #[arg(long, requires = "output", conflicts_with_all = ["web", "simulate"], help_heading = "Answers")]
    pub(crate) export: bool,
    /// File to write the labels to when the session ends; after Ctrl-C, use --export. Column `row` counts data rows
    /// from 0
    #[arg(short, long, value_name = "FILE", help_heading = "Labels")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output", help_heading = "Labels")]
    pub(crate) force: bool,
    /// Format of the output [default: by the file name: JSON Lines for .jsonl, Label Studio for .json, otherwise CSV]
    #[arg(long = "as", value_name = "FORMAT", requires = "output", help_heading = "Labels")]
    pub(crate) export_format: Option<ExportFormat>,
    /// Also write rows without an answer, with the predicted class and its probability
    #[arg(long, requires = "output", help_heading = "Labels")]
    pub(crate) with_predictions: bool,

    /// A text that says what happens to the labels at the end, if another command started the session
    #[arg(skip)]
    pub(crate) ending: Option<String>,

    /// Simulate a session whose answers are the labels in --label, and report the number of corrections
    #[arg(long, requires = "label", conflicts_with_all = ["web", "session", "known", "import_labelstudio", "output", "classes", "merge"], help_heading = "Simulation")]
    pub(crate) simulate: bool,
    /// Column of the true labels
    #[arg(short, long, value_name = "COLUMN", requires = "simulate", help_heading = "Simulation")]
    pub(crate) label: Option<String>,
    /// Stop after this many answers
    #[arg(long, value_name = "COUNT", requires = "simulate", help_heading = "Simulation")]
    pub(crate) max_answers: Option<usize>,
    /// Print the result as JSON
    #[arg(long, requires = "simulate", help_heading = "Simulation")]
    pub(crate) json: bool,
}

impl LabelArgs {
    /// Whether DATA is a folder of images, which are both learned and shown.
    pub(crate) fn is_folder(&self) -> bool {
        self.input.data.is_dir()
    }
}

/// The order of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    /// The most confident prediction first
    Recommended,
    /// The likeliest examples of the class with the fewest answers first, until each class has 20
    Rare,
    /// Random order, for --simulate
    Random,
    /// Order of the file, for --simulate
    Given,
}
