//! `halfspaces audit`: labels that are probably wrong.

use crate::error::CliError;
use crate::frame::{Column, Frame};
use crate::html::{escape, page, table};
use crate::input::{Hints, InputArgs, print_notes};
use crate::learner;
use crate::names::visible;
use crate::output::{check_targets, note, say, write_file};
use crate::progress::Progress;
use crate::recipe::ColumnArgs;
use clap::Args;
use halfspaces_eval::{Axis, Colour, Figure, Layer};
use halfspaces_frame::Labels;
use halfspaces_pipeline::{Audit, Judgement, Method, Plan, Recipe, Suspect, Unseen};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Columns of the table shown in a report.
const SHOWN: usize = 8;
/// Characters of a cell there.
const MAX_CELL: usize = 200;
/// Points of the curve.
const MAX_CURVE: usize = 400;

const EXAMPLES: &str = "\
Examples:
  halfspaces audit data.csv --label class
  halfspaces audit data.csv --label class -o ranking.csv --html report.html --top 100
  halfspaces audit mails.csv --label spam --text body --learner logistic --json";

/// Rank rows by how probably their labels are wrong
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Column of the labels
    #[arg(short, long, value_name = "COLUMN")]
    label: String,
    #[command(flatten)]
    columns: ColumnArgs,
    /// What judges each row, learned from the others
    #[arg(long, value_parser = learner::method(), default_value = "auto", value_name = "LEARNER")]
    learner: Method,
    /// Parts of the rows, each judged by what was learned from all others
    #[arg(long, default_value_t = 5, allow_negative_numbers = true)]
    folds: usize,
    /// Probability with which more labels may be wrong than the bound says
    #[arg(long, default_value_t = 0.05, allow_negative_numbers = true)]
    failure: f64,
    /// Seed of the split into parts, and of the learner
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write all rows as CSV, the most suspicious first: rank, row (from 0), label, suggested, agreement
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite files that are there
    #[arg(long)]
    force: bool,
    /// Write a report that shows the rows
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Rows printed, and shown in the report
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    top: usize,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The table with what was found of it.
struct Found {
    frame: Frame,
    labels: Labels,
    judgement: Judgement,
    failure: f64,
}

/// Runs `audit`.
pub(crate) fn run(args: &AuditArgs) -> Result<(), CliError> {
    let force = args.force;
    let files = [&args.output, &args.html];
    let files: Vec<&Path> = files.into_iter().flatten().map(PathBuf::as_path).collect();
    check_targets(&files, &[&args.input.data], force)?;
    args.columns.check_apart(&args.label, "the column of labels")?;
    let progress = Progress::start("auditing");
    let hints = Hints::texts([args.label.clone()]);
    let mut frame = args.input.read_as(&hints)?;
    let labels = Labels::take(&mut frame, &args.label)?;
    let count = labels.classes.len();
    if count < 2 {
        return Err(CliError::user(format!(
            "{}, column `{}`: all labels are {}; at least two classes are needed",
            frame.source, args.label, labels.classes[0]
        )));
    }
    print_notes(&mut frame);
    let place = format!("{}, column `{}`", frame.source, args.label);
    labels.check_rows(2, &place)?;
    let (recipe, notes) = Recipe::fit(&frame, &args.columns.options())?;
    notes.iter().for_each(|text| note(&format!("note: {text}")));
    let design = recipe.apply(&frame, Unseen::Error)?;
    let plan = Plan {
        method: args.learner,
        noise: None,
        c: None,
        seed: args.seed,
        threads: args.input.reading.threads(),
    };
    let audit = Audit { plan, folds: args.folds, failure: args.failure };
    let judgement =
        audit.run(&design, &labels.of_row, count).map_err(|error| error.at(&frame.source))?;
    drop(progress);
    let found = Found { frame, labels, judgement, failure: args.failure };
    if let Some(path) = &args.output {
        write_file(path, args.force, |out| found.write_csv(out))?;
    }
    if let Some(path) = &args.html {
        let report = found.report(args.top);
        write_file(path, force, |out| out.write_all(report.as_bytes()))?;
        note(&format!("report written to {}", path.display()));
    }
    if args.json {
        say(&format!("{:#}\n", found.json(args.top)))
    } else {
        say(&found.text(args.top))
    }
}

impl Found {
    fn label(&self, row: usize) -> &str {
        &self.labels.classes[self.labels.of_row[row]]
    }

    fn suggested(&self, suspect: &Suspect) -> &str {
        &self.labels.classes[suspect.suggested]
    }

    fn summary(&self) -> String {
        let Judgement { likely, at_most, disagreements, ranking } = &self.judgement;
        format!(
            "of {} labels {likely} are likely wrong, at most {at_most} with probability {} %; the classifier says otherwise of {disagreements}",
            ranking.len(),
            100.0 * (1.0 - self.failure)
        )
    }

    fn text(&self, top: usize) -> String {
        let mut text = format!("{}: {}\n", visible(&self.frame.source), self.summary());
        let suspects = &self.judgement.ranking[..top.min(self.judgement.ranking.len())];
        let width = |of: &dyn Fn(&Suspect) -> usize, least: usize| {
            suspects.iter().map(of).max().unwrap_or(0).max(least)
        };
        let place = width(&|s| visible(&self.frame.place(s.row)).chars().count(), 5);
        let label = width(&|s| visible(self.label(s.row)).chars().count(), 5);
        let suggested = width(&|s| visible(self.suggested(s)).chars().count(), 9);
        text.push_str(&format!(
            "{:place$}  {:label$}  {:suggested$}  agreement\n",
            "where", "label", "suggested"
        ));
        for suspect in suspects {
            text.push_str(&format!(
                "{:place$}  {:label$}  {:suggested$}  {:9.3}\n",
                visible(&self.frame.place(suspect.row)),
                visible(self.label(suspect.row)),
                visible(self.suggested(suspect)),
                suspect.agreement
            ));
        }
        text
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(["rank", "row", "label", "suggested", "agreement"])?;
        for (place, suspect) in self.judgement.ranking.iter().enumerate() {
            writer.write_record([
                &(place + 1).to_string(),
                &suspect.row.to_string(),
                self.label(suspect.row),
                self.suggested(suspect),
                &suspect.agreement.to_string(),
            ])?;
        }
        writer.flush()
    }

    fn json(&self, top: usize) -> Value {
        let suspect = |suspect: &Suspect| {
            json!({
                "row": suspect.row,
                "place": self.frame.place(suspect.row),
                "label": self.label(suspect.row),
                "suggested": self.suggested(suspect),
                "agreement": suspect.agreement,
            })
        };
        json!({
            "rows": self.judgement.ranking.len(),
            "classes": self.labels.classes,
            "likely_wrong": self.judgement.likely,
            "wrong_at_most": self.judgement.at_most,
            "failure": self.failure,
            "disagreements": self.judgement.disagreements,
            "ranking": self.judgement.ranking.iter().take(top).map(suspect).collect::<Vec<Value>>(),
        })
    }

    fn report(&self, top: usize) -> String {
        let mut body = format!("<p>{}.</p>\n", escape(&self.summary()));
        body.push_str(
            "<p>Each row was judged by a classifier that was learned without it. The bound is proved if each label is wrong \
             independently of the others with a probability of at most one half; the order and the count of likely wrong ones are \
             heuristic.</p>\n<h2>Most suspicious rows</h2>\n",
        );
        let shown: Vec<&Column> = self.frame.columns.iter().take(SHOWN).collect();
        let mut header = vec!["rank", "where", "label", "suggested", "agreement"];
        header.extend(shown.iter().map(|column| column.name.as_str()));
        let row = |(place, suspect): (usize, &Suspect)| {
            let cell = |column: &&Column| {
                let text = column.values.text(suspect.row);
                let short: String = text.chars().take(MAX_CELL).collect();
                if short.len() < text.len() { short + "…" } else { short }
            };
            let mut cells = vec![
                (place + 1).to_string(),
                self.frame.place(suspect.row),
                self.label(suspect.row).to_owned(),
                self.suggested(suspect).to_owned(),
                format!("{:.3}", suspect.agreement),
            ];
            cells.extend(shown.iter().map(cell));
            cells
        };
        body.push_str(&table(
            &header,
            self.judgement.ranking.iter().take(top).enumerate().map(row),
        ));
        let figure = self.figure();
        let caption = escape(&figure.caption);
        body.push_str(&format!(
            "<figure>{}<figcaption>{caption}</figcaption></figure>\n",
            figure.to_svg()
        ));
        page(&format!("Labels of {}", self.frame.source), &body)
    }

    fn figure(&self) -> Figure {
        let ranking = &self.judgement.ranking;
        let every = ranking.len().div_ceil(MAX_CURVE);
        let point = |(place, suspect): (usize, &Suspect)| ((place + 1) as f64, suspect.agreement);
        let data = ranking.iter().enumerate().step_by(every).map(point).collect();
        Figure {
            name: "agreement".to_owned(),
            title: "How far every label agrees with the classifier".to_owned(),
            caption: "The most suspicious row first: below 0 the classifier says otherwise."
                .to_owned(),
            x: Axis::linear("rank"),
            y: Axis::linear("agreement"),
            layers: vec![Layer::Line {
                name: "rows".to_owned(),
                colour: Colour::Blue,
                dashed: false,
                data,
            }],
        }
    }
}
