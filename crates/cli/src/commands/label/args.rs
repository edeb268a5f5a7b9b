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
however the last run ended. An answer belongs to an item, not to a row number: it stays valid if
the pool is sorted or extended.

Data rows are counted from 0 in questions, in the session file and in the column `row` of the output.
Messages about a file give line numbers, which are counted from 1 and include the header.";

/// Label a pool of rows: the model predicts a class for one row at a time, and you confirm or correct it.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LabelArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Names of the classes, at least two [default: those of the session, the labels in
    /// --known, or the classes of --model]
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "A,B,..",
        allow_hyphen_values = true,
        help_heading = "Answers"
    )]
    pub(crate) classes: Vec<String>,
    /// Seed of all random choices [default: that of the session, or 0]
    #[arg(long, help_heading = "Answers")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,

    /// What to show: a table with one row per row of DATA, or a folder with one image per row of DATA. Columns that
    /// occur in both tables must agree
    #[arg(long, value_name = "FILE|FOLDER", help_heading = "Items")]
    pub(crate) items: Option<PathBuf>,
    /// Columns to show. The model learns from a shown column of text only if its text is long and varied, or if --text
    /// or --use names it
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,..", help_heading = "Items")]
    pub(crate) show: Vec<String>,
    /// Column with the paths of the images to show, relative to the folder of the table
    #[arg(long, value_name = "COLUMN", help_heading = "Items")]
    pub(crate) image: Option<String>,
    /// Folder that contains all images; files outside it are never read [default: the folder of the table]
    #[arg(long, value_name = "FOLDER", requires = "image", help_heading = "Items")]
    pub(crate) image_root: Option<PathBuf>,
    /// Column of unique ids that identify items if the pool changes; not used as a feature [default: identify items by
    /// their whole content]
    #[arg(long, value_name = "COLUMN", help_heading = "Items")]
    pub(crate) id: Option<String>,

    /// Column of known labels; its cell is empty in each row without a known label
    #[arg(long, value_name = "COLUMN", help_heading = "Answers")]
    pub(crate) known: Option<String>,
    /// Ask about the rows that this CSV file lists, even though --known gives their labels. From a ranking of `audit`,
    /// the rows whose suggestion differs from the label are used; from another file with a column `row`, all rows. The
    /// labels and the other columns of the file must agree with DATA. The known label is shown; the model does not
    /// learn from it
    #[arg(long, value_name = "FILE", requires = "known", help_heading = "Answers")]
    pub(crate) review: Option<PathBuf>,
    /// Start from the predictions of this model, which `fit` wrote. They are used until the session's own model makes
    /// fewer errors on the answers. A category that the model does not know is treated as different from all known ones
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub(crate) model: Option<PathBuf>,
    /// Merge the sessions of several annotators on DATA: report how well they agree, and ask about the rows on which
    /// they disagree; with --export, ask nothing. The file of --output contains the class that most annotators gave,
    /// and the answer of each annotator
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
    /// Order of the questions
    #[arg(long, value_enum, default_value_t = Order::Recommended, help_heading = "Answers")]
    pub(crate) order: Order,
    /// Look for a rare class: always ask about the row that is most likely to belong to this class
    #[arg(long, value_name = "CLASS", conflicts_with = "order", help_heading = "Answers")]
    pub(crate) seek: Option<String>,
    /// Ask in the browser instead of the terminal
    #[arg(long, help_heading = "Answers")]
    pub(crate) web: bool,
    /// Port of the page; 0 selects a free port
    #[arg(long, default_value_t = 0, requires = "web", help_heading = "Answers")]
    pub(crate) port: u16,
    /// Ask nothing and write the labels of the session to --output; the session file is only read, unless --known or an
    /// import has new labels for it
    #[arg(long, requires = "output", conflicts_with_all = ["web", "simulate"], help_heading = "Answers")]
    pub(crate) export: bool,
    /// File to write the labels to when the session ends; after Ctrl-C, use --export. The column `row` contains the
    /// numbers of the data rows, counted from 0
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

    /// Simulate a session whose answers are the labels in the column of --label, and report the number of corrections
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
    /// Whether DATA is a folder of images. The model then learns from the images that are shown.
    pub(crate) fn is_folder(&self) -> bool {
        self.input.data.is_dir()
    }

    /// The seed of a new session.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }
}

/// The order of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    /// The most confident prediction first
    Recommended,
    /// The likeliest examples of the class with the fewest answers first, until each class has 20 answers
    Rare,
    /// Random order: the labelled rows are a random sample of the pool, from which an error can be measured
    Random,
    /// Order of the file, for --simulate
    Given,
}
