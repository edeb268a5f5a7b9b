//! `audit`: finds labels that are probably wrong.

mod web_review;

use crate::error::CliError;
use crate::html::{escape, image_cell, marked, page, table, table_of_html};
use crate::input::{Hints, InputArgs, LabelFileArgs, check_no_pipe, is_pipe};
use crate::learner;
use crate::output::{
    check_table_name, check_targets, copied_names, counted, note, print, print_json, write_file,
};
use crate::progress::Progress;
use crate::recipe::ColumnArgs;
use clap::Args;
use halfspaces_eval::{Axis, Colour, Figure, Layer};
use halfspaces_frame::Labels;
use halfspaces_frame::{Column, Frame};
use halfspaces_frame::{short, visible};
use halfspaces_linalg::Monitor;
use halfspaces_pipeline::{
    Audit, AuditResult, AuditTable, Method, Plan, Suspect, TextParts, check_no_guesses,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use web_review::{Review, review};

/// Maximum number of columns of the audited table that the HTML report shows.
const SHOWN: usize = 8;
/// Maximum number of characters of a cell in the HTML report.
const MAX_CELL: usize = 200;
/// Maximum number of characters of a marked text in the HTML report.
const MAX_MARKED: usize = 2000;
/// Maximum number of words that are printed as evidence against a label.
const MAX_AGAINST: usize = 4;
/// Maximum number of classes for which the table of labels and suggestions is shown.
const MAX_MATRIX: usize = 20;
/// Maximum number of pairs of label and suggestion by which the rows of the report can be filtered.
const MAX_PAIRS: usize = 12;
/// Maximum number of points on the curve.
const MAX_CURVE: usize = 400;

/// The commands for a review, as HTML.
const EXAMPLES: &str = "\
Examples:
  halfspaces audit data.csv --label class
  halfspaces audit data.csv --label class -o ranking.csv --html report.html --top 100
  halfspaces audit mails.csv --label spam --html report.html
  halfspaces audit data.csv --label class --web clean.csv
  halfspaces audit X.npy --labels y.npy -o ranking.csv";

/// Find labels that are probably wrong and rank all rows, the most suspicious first.
///
/// Each row is judged by a classifier that was fitted without it (cross-validation). `agreement` measures how strongly
/// that classifier supports the label; it is negative if the classifier predicts (and suggests) another class. With two
/// classes it is the decision value divided by the mean absolute decision value. With more classes it is the
/// probability of the label minus the probability of the most probable other class or, for models without
/// probabilities, the corresponding difference of decision values. If there are columns of text, the words that are
/// evidence against the label are shown. The ranking is sorted by `sort_key`, which also accounts for classes whose
/// labels are wrong more often.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditArgs {
    /// Column of labels [default with --labels: column `label`, or the only column besides row numbers and ids]
    #[arg(short, long, value_name = "COLUMN", required_unless_present = "labels")]
    label: Option<String>,
    #[command(flatten)]
    label_file: LabelFileArgs,
    /// Learning algorithm of the classifier
    #[arg(long, value_parser = learner::method(), default_value = "auto", value_name = "LEARNER")]
    learner: Method,
    /// Number of cross-validation folds; the rows of each fold are judged by a model fitted to the other folds
    #[arg(long, default_value_t = 5, allow_negative_numbers = true)]
    folds: usize,
    /// Allowed probability, between 0 and 1, that the upper bound on the number of wrong labels does not hold
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.05, allow_negative_numbers = true)]
    failure: f64,
    /// Seed of the split into folds and of the learner
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write the ranking of all rows as CSV: rank, row (data rows, counted from 0), label, suggested, agreement,
    /// likely_wrong (yes or no), line (line of the file, counted from 1; empty if the format has no lines), sort_key; for texts,
    /// also contradicts (the row with nearly the same text, or with the same values, and another label, if any). With --id, the ids are added
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Copy a column of DATA to the ranking; may be repeated. If the ranking already has a column COLUMN, the copy is
    /// called `kept COLUMN`
    #[arg(long, value_name = "COLUMN", requires = "output")]
    keep: Vec<String>,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
    /// After the audit, open a page in the browser to review the labels that the classifier contradicts, and write the
    /// table with the confirmed and corrected labels to this file. The answers are saved in FILE.session.jsonl
    #[arg(long, value_name = "FILE", conflicts_with = "labels")]
    web: Option<PathBuf>,
    /// Write an HTML report that shows the first rows of the ranking
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Number of rows printed and shown in the report
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    top: usize,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    columns: ColumnArgs,
}

impl AuditArgs {
    /// The columns to copy, with their cells unchanged, for the audited rows of the table.
    fn kept(&self, label: &str, rows: &[usize]) -> Result<Vec<Column>, CliError> {
        // The ids show to which table the row numbers of the ranking belong.
        let is_file = self.output.is_some() && !is_pipe(&self.input.data);
        let id = self.label_file.id.iter().filter(|id| is_file && !self.keep.contains(id));
        let names: Vec<&String> = id.chain(&self.keep).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        check_no_pipe(&self.input.data, "--keep: ")?;
        let mut hints = Hints::verbatim(names.iter().copied().cloned());
        hints.expected.insert(label.to_owned());
        let options = self.input.reading.options();
        let frame = halfspaces_frame::read(&self.input.data, &options, &hints)?;
        if rows.last().is_some_and(|last| *last >= frame.rows) {
            return Err(CliError::user(format!(
                "{}: the file changed while it was being read",
                frame.source
            )));
        }
        let kept = names.into_iter().map(|name| {
            let values = frame.column(name).ok_or_else(|| frame.no_column(name))?;
            Ok(Column { name: name.clone(), values: values.select(rows) })
        });
        kept.collect()
    }
}

/// An audited table.
struct AuditReport {
    frame: Frame,
    /// The name of the column of image names, and the folder to which the image names are relative.
    images: Option<(String, PathBuf)>,
    /// The number of each audited row in the table, counted from 0.
    numbers: Vec<usize>,
    labels: Labels,
    result: AuditResult,
    failure: f64,
    /// The texts of the first rows of the ranking, with the evidence of each word for or against the label.
    texts: Vec<Vec<TextParts>>,
    /// The columns copied to the ranking.
    kept: Vec<Column>,
    /// For each row, the row with nearly the same text but another label, if there is one. The list is empty if there
    /// are no texts.
    contradictions: Vec<Option<usize>>,
    /// Whether a column of text is compared for contradictions.
    has_text: bool,
}

/// Runs `audit`.
pub(crate) fn run(args: &AuditArgs) -> Result<(), CliError> {
    let force = args.force;
    let files = [&args.output, &args.html, &args.web];
    let files: Vec<&Path> = files.into_iter().flatten().map(PathBuf::as_path).collect();
    check_targets(&files, &args.label_file.with(&args.input.data), force)?;
    args.output.as_deref().map_or(Ok(()), check_table_name)?;
    if args.web.is_some() {
        check_no_pipe(&args.input.data, "--web: ")?;
    }
    if args.web.is_some() && args.input.data.is_dir() {
        let folder = args.input.data.display();
        return Err(CliError::user(format!(
            "--web: {folder} is a folder of images, not a table that can be corrected; write the ranking with -o ranking.csv, \
             and run `halfspaces label {folder} --known label --review ranking.csv --web -o answers.csv`"
        )));
    }
    let progress = Progress::start("reading");
    let columns = args.columns.options();
    let joined = args.label_file.read(&args.input, args.label.as_deref(), &columns)?;
    let (frame, label, numbers) = match joined {
        Some(joined) => (joined.frame, joined.column, joined.rows),
        None => {
            let Some(label) = args.label.clone() else {
                unreachable!("--label is required if --labels is not given")
            };
            let hints = columns.with_texts(Hints::texts([label.clone()]));
            let frame = args.input.read_as(&hints)?;
            check_no_guesses(&frame, &label)?;
            let numbers = (0..frame.rows).collect();
            (frame, label, numbers)
        }
    };
    let table = AuditTable::new(frame, &label, &columns)?;
    table.notes.iter().for_each(|text| note(&format!("note: {text}")));
    let kept = args.kept(&label, &numbers)?;
    let plan = Plan {
        method: args.learner,
        noise: None,
        c: None,
        seed: args.seed,
        threads: args.input.reading.threads(),
    };
    drop(progress);
    let monitor = Monitor::default();
    let progress = Progress::monitored("auditing", &monitor);
    let audit = Audit { plan, folds: args.folds, failure: args.failure };
    let (classes, count) = (&table.labels.of_row, table.labels.classes.len());
    let Some(result) = monitor.run(|| audit.run(&table.design, classes, count)) else {
        unreachable!("nothing stops the audit")
    };
    let result = result.map_err(|error| error.at(&table.frame.source))?;
    drop(progress);
    let contradictions = table.contradictions();
    let has_text = !table.recipe.text_columns().is_empty();
    let AuditTable { frame, labels, recipe, .. } = table;
    let top = &result.ranking[..args.top.min(result.ranking.len())];
    let rows: Vec<usize> = top.iter().map(|suspect| suspect.row).collect();
    let weights_of = |suspect: &Suspect| {
        result.weights(suspect.row, labels.of_row[suspect.row], suspect.suggested)
    };
    // Words can count as evidence for or against a label only if the model has one halfspace for each class.
    let weights: Option<Vec<Vec<f64>>> = top.iter().map(weights_of).collect();
    let texts = match weights {
        Some(weights) => recipe.text_parts(&frame, &rows, &|place, at| weights[place][at]),
        None => Vec::new(),
    };
    let failure = args.failure;
    let images = frame.image_column(&args.input.data);
    let images = images.map(|(name, folder)| (name.to_owned(), folder));
    let shows = args.html.is_some() || args.web.is_some();
    if let Some((name, _)) = images.as_ref().filter(|_| shows && !frame.is_folder()) {
        let what = if args.html.is_some() { "report" } else { "page" };
        note(&format!("note: column `{}`: the {what} shows the images", visible(name)));
    }
    let report = AuditReport {
        frame,
        images,
        numbers,
        labels,
        result,
        failure,
        texts,
        kept,
        contradictions,
        has_text,
    };
    if let Some(path) = &args.output {
        write_file(path, args.force, |out| report.write_csv(out))?;
    }
    if let Some(path) = &args.html {
        let html = report.html(args.top, &review_commands(args, &label));
        write_file(path, force, |out| out.write_all(html.as_bytes()))?;
        note(&format!("report written to {}", path.display()));
    }
    if args.json {
        print_json(&report.json(args.top))?;
    } else {
        print(&report.text(args.top))?;
    }
    let Some(corrected) = &args.web else { return Ok(()) };
    let mut ranking = Vec::new();
    report.write_csv(&mut ranking).map_err(|error| CliError::system(error.to_string()))?;
    let (contradicted, shown) = (report.contradicted(), report.text_columns());
    let (input, columns, label) = (&args.input, &args.columns, label.as_str());
    let image = report.images.as_ref().map(|(name, _)| name.clone());
    let review_of = Review { input, columns, label, ranking, contradicted, shown, image, force };
    review(review_of, corrected)
}

/// The commands for a review of the labels in the browser, as HTML.
fn review_commands(args: &AuditArgs, label: &str) -> String {
    let word = |text: String| {
        let is_plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
        let quoted = if text.chars().all(is_plain) {
            text
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        };
        escape(&quoted)
    };
    let data = word(args.input.data.display().to_string());
    let label = word(label.to_owned());
    let (ranking, first) = match &args.output {
        Some(path) => (word(path.display().to_string()), "With"),
        None => (
            "ranking.csv".to_owned(),
            "Write the ranking with <code>-o ranking.csv</code>. Then, with",
        ),
    };
    format!(
        "<p>{first} the first command, you review these labels one by one in the browser; the second command writes the \
         corrected table:</p>\n<pre>halfspaces label {data} --known {label} \\\n  --review {ranking} --web -o \
         answers.csv\nhalfspaces correct {data} --label {label} \\\n  --with answers.csv -o corrected.csv</pre>\n"
    )
}

impl AuditReport {
    /// The number of labels that the classifier contradicts.
    fn contradicted(&self) -> usize {
        let ranking = self.result.ranking.iter();
        ranking.filter(|suspect| suspect.suggested != self.labels.of_row[suspect.row]).count()
    }

    /// The columns of text from which the classifier learns.
    fn text_columns(&self) -> Vec<String> {
        let columns = self.frame.columns.iter();
        let texts = columns.filter(|column| column.values.is_free_text());
        texts.map(|column| column.name.clone()).collect()
    }

    fn label(&self, row: usize) -> &str {
        &self.labels.classes[self.labels.of_row[row]]
    }

    fn suggested(&self, suspect: &Suspect) -> &str {
        &self.labels.classes[suspect.suggested]
    }

    /// The estimated number of wrong labels, and advice on where to look for them.
    fn estimate(&self) -> String {
        let AuditResult { likely, ranking, disagreements, baseline, .. } = &self.result;
        let rows = ranking.len();
        if !self.result.is_informative() {
            return format!(
                "{rows} labels; the audit cannot tell which of them are wrong: the classifier disagrees with \
                 {disagreements}, and always giving the most frequent label would disagree with {baseline}"
            );
        }
        let mut text = match likely {
            0 => format!("{rows} labels, none of them likely wrong"),
            1 => format!("{rows} labels, 1 of them likely wrong; inspect the top of the ranking"),
            _ => format!(
                "{rows} labels, {likely} of them likely wrong; inspect the first {likely} rows of the ranking"
            ),
        };
        if *likely > 0 && self.result.has_many_disagreements() {
            text.push_str(", but do not accept a suggestion without a look: many of these labels may be right");
        }
        text
    }

    /// The number of disagreements and the bound on the number of wrong labels.
    fn bound(&self) -> String {
        let AuditResult { at_most, disagreements, .. } = &self.result;
        let labels = counted(*disagreements as u64, "label");
        format!(
            "the classifier disagrees with {labels} (negative agreement); with {} % confidence, at most {at_most} labels \
             are wrong, if labels are wrong independently of each other",
            100.0 * (1.0 - self.failure)
        )
    }

    /// Sentences on the rows and columns that the report shows.
    fn extent(&self, top: usize) -> String {
        let AuditResult { likely, ranking, .. } = &self.result;
        let mut text =
            format!("These are the first {} of {} rows.", top.min(ranking.len()), ranking.len());
        if *likely > top {
            text.push_str(&format!(
                " The option --top {likely} shows all rows that are likely wrong."
            ));
        } else if *likely > 0 && self.result.is_informative() {
            text.push_str(&format!(" Only the first {likely} are likely wrong."));
        }
        text.push_str(
            " They are in the order of the sort key, which also depends on how often the labels of each class seem to be wrong.",
        );
        let more = self.frame.columns.len().saturating_sub(SHOWN);
        if more > 0 {
            text.push_str(&format!(
                " {} not shown.",
                if more == 1 {
                    "One more column is".into()
                } else {
                    format!("{more} more columns are")
                }
            ));
        }
        text
    }

    /// The unit of `agreement`.
    fn unit(&self) -> &'static str {
        match self.labels.classes.len() {
            2 => {
                "agreement: in units of the classifier's mean |decision value|; negative if the classifier predicts \
                the suggested class"
            }
            _ => {
                "agreement: probability of the label minus that of the best other class (without probabilities, the \
                 difference of decision values); negative if the classifier predicts the suggested class"
            }
        }
    }

    /// The words that are the strongest evidence against the label of the row at this place in the ranking.
    fn against(&self, place: usize) -> Vec<(&str, f64)> {
        let mut words: Vec<(&str, f64)> = Vec::new();
        for text in self.texts.get(place).into_iter().flatten() {
            for (range, part) in &text.parts {
                let word = &text.text[range.clone()];
                match words.iter_mut().find(|(known, _)| *known == word) {
                    Some((_, sum)) => *sum += part,
                    None => words.push((word, *part)),
                }
            }
        }
        words.retain(|(word, part)| *part < 0.0 && word.chars().any(char::is_alphanumeric));
        words.sort_by(|a, b| a.1.total_cmp(&b.1));
        words.truncate(MAX_AGAINST);
        words
    }

    /// The line of the file at which a row starts; empty if the format has no lines.
    fn line(&self, row: usize) -> String {
        let place = self.frame.place(row);
        let line = place.strip_prefix(&format!("{}, line ", self.frame.source));
        line.unwrap_or_default().to_owned()
    }

    /// Reports the number of rows with a near-duplicate that has a different label; `None` if there are no such rows.
    fn contradictory(&self) -> Option<String> {
        let rows = self.contradictions.iter().flatten().count();
        (rows > 0).then(|| match self.has_text {
            true => format!(
                "{rows} rows have nearly the same text as a row with another label (cosine similarity at least 0.9): \
                one of the two labels is likely wrong"
            ),
            false => format!(
                "{rows} rows have the same values as a row with another label: one of the two labels is wrong, or the columns do not \
                 determine the class"
            ),
        })
    }

    /// The row with the same values or nearly the same text as this one but with a different label, if any.
    fn contradiction(&self, row: usize) -> Option<usize> {
        *self.contradictions.get(row)?
    }

    /// The place and the label of the row that contradicts this one.
    fn contradiction_text(&self, row: usize) -> Option<String> {
        let row = self.contradiction(row)?;
        Some(format!("{}: {}", self.frame.place(row), self.label(row)))
    }

    fn text(&self, top: usize) -> String {
        let source = visible(&self.frame.source);
        let mut text = format!("{source}: {}\n{}\n", self.estimate(), self.bound());
        self.contradictory().iter().for_each(|line| text.push_str(&format!("{line}\n")));
        let suspects = &self.result.ranking[..top.min(self.result.ranking.len())];
        let width = |of: &dyn Fn(&Suspect) -> usize, least: usize| {
            suspects.iter().map(of).max().unwrap_or(0).max(least)
        };
        let place = width(&|s| visible(&self.frame.place(s.row)).chars().count(), 5);
        let name = |class: &str| short(&visible(class));
        let label = width(&|s| name(self.label(s.row)).chars().count(), 5);
        let suggested = width(&|s| name(self.suggested(s)).chars().count(), 9);
        let has_texts = self.texts.iter().any(|texts| !texts.is_empty());
        text.push_str(&format!(
            "{:place$}  {:label$}  {:suggested$}  agreement  sort_key{}\n",
            "where",
            "label",
            "suggested",
            if has_texts { "  words against the label" } else { "" }
        ));
        for (rank, suspect) in suspects.iter().enumerate() {
            let against: Vec<&str> = self.against(rank).into_iter().map(|(word, _)| word).collect();
            let twin = self.contradiction_text(suspect.row).filter(|_| self.has_text);
            let twin = twin.map_or_else(String::new, |twin| format!("  like {twin}"));
            let line = format!(
                "{:place$}  {:label$}  {:suggested$}  {:9.3}  {:8.3}  {}{}",
                visible(&self.frame.place(suspect.row)),
                name(self.label(suspect.row)),
                name(self.suggested(suspect)),
                suspect.agreement,
                suspect.sort_key,
                visible(&against.join(", ")),
                visible(&twin)
            );
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text.push_str(&format!("{}\n", self.unit()));
        text
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        let own =
            ["rank", "row", "label", "suggested", "agreement", "likely_wrong", "line", "sort_key"];
        let mut header = own.map(str::to_owned).to_vec();
        header.extend((!self.contradictions.is_empty()).then(|| "contradicts".to_owned()));
        header.extend(copied_names(self.kept.iter().map(|column| &column.name), &header));
        writer.write_record(header)?;
        for (place, suspect) in self.result.ranking.iter().enumerate() {
            let mut record = vec![
                (place + 1).to_string(),
                self.numbers[suspect.row].to_string(),
                self.label(suspect.row).to_owned(),
                self.suggested(suspect).to_owned(),
                suspect.agreement.to_string(),
                if place < self.result.likely { "yes" } else { "no" }.to_owned(),
                self.line(suspect.row),
                suspect.sort_key.to_string(),
            ];
            if !self.contradictions.is_empty() {
                let twin = self.contradiction(suspect.row);
                record.push(twin.map_or(String::new(), |row| self.numbers[row].to_string()));
            }
            record.extend(self.kept.iter().map(|column| column.values.text(suspect.row)));
            writer.write_record(record)?;
        }
        writer.flush()
    }

    fn json(&self, top: usize) -> Value {
        let suspect = |(rank, suspect): (usize, &Suspect)| {
            let mut entry = json!({
                "row": self.numbers[suspect.row],
                "place": self.frame.place(suspect.row),
                "label": self.label(suspect.row),
                "suggested": self.suggested(suspect),
                "agreement": suspect.agreement,
                "sort_key": suspect.sort_key,
            });
            if let Some(row) = self.contradiction(suspect.row) {
                entry["contradicts"] = self.numbers[row].into();
            }
            if self.texts.get(rank).is_some_and(|texts| !texts.is_empty()) {
                entry["against"] = self.against(rank).into_iter().map(|(word, _)| word).collect();
            }
            entry
        };
        let mut found = json!({
            "rows": self.result.ranking.len(),
            "classes": self.labels.classes,
            "likely_wrong": self.result.likely,
            "wrong_at_most": self.result.at_most,
            "failure": self.failure,
            "disagreements": self.result.disagreements,
            "baseline": self.result.baseline,
            "ranking": self.result.ranking.iter().take(top).enumerate().map(suspect).collect::<Vec<Value>>(),
        });
        if !self.contradictions.is_empty() {
            found["contradictions"] = self.contradictions.iter().flatten().count().into();
        }
        found
    }

    /// The report. `review` contains the commands for a review of the labels, as HTML.
    fn html(&self, top: usize, review: &str) -> String {
        let mut body = format!("<p>{}.</p>\n", escape(&self.estimate()));
        body.push_str(&format!(
            "<p>The bound: {}. Each row was judged by a classifier that was fitted without it. The bound is proved for \
             labels that are wrong independently of each other, each with a probability of at most one half. The ranking \
             and the number of likely wrong labels are heuristic.</p>\n{review}{}<h2>Most suspicious rows</h2>\n<p>{}</p>\n<p>{}.</p>\n",
            escape(&self.bound()),
            self.matrix(),
            self.extent(top),
            escape(self.unit())
        ));
        if let Some(line) = self.contradictory() {
            body.push_str(&format!("<p>{}.</p>\n", escape(&line)));
        }
        if self.texts.iter().any(|texts| !texts.is_empty()) {
            body.push_str(
                "<p>Marked words are evidence <mark class=\"no2\">against the label</mark> or <mark class=\"yes2\">for \
                 it</mark>, compared with the suggested class.</p>\n",
            );
        }
        let mut shown: Vec<&Column> = self.frame.columns.iter().collect();
        // The column of images comes first, because it may be the last of many columns.
        if let Some((name, _)) = &self.images {
            shown.sort_by_key(|column| column.name != *name);
        }
        shown.truncate(SHOWN);
        let has_lines = !self.line(0).is_empty();
        let place = if has_lines { "line" } else { "row" };
        let mut header = vec!["rank", place, "label", "suggested", "agreement", "sort key"];
        let has_twins = !self.contradictions.is_empty();
        if has_twins {
            header.push(if self.has_text { "same text" } else { "same values" });
        }
        header.extend(shown.iter().map(|column| column.name.as_str()));
        let row = |(place, suspect): (usize, &Suspect)| {
            let cell = |column: &&Column| {
                let text = column.values.text(suspect.row);
                let is_image = |(name, _): &&(String, PathBuf)| *name == column.name;
                if let Some((_, folder)) = self.images.as_ref().filter(is_image) {
                    return image_cell(&folder.join(&text), &text);
                }
                let texts = self.texts.get(place).into_iter().flatten();
                let is_marked = |text: &&TextParts| text.column == column.name;
                if let Some(text) = texts.into_iter().find(is_marked) {
                    return marked(text, MAX_MARKED);
                }
                let short: String = text.chars().take(MAX_CELL).collect();
                escape(&if short.len() < text.len() { short + "…" } else { short })
            };
            let mut cells = vec![
                (place + 1).to_string(),
                if has_lines {
                    self.line(suspect.row)
                } else {
                    self.numbers[suspect.row].to_string()
                },
                escape(self.label(suspect.row)),
                escape(self.suggested(suspect)),
                format!("{:.3}", suspect.agreement),
                format!("{:.3}", suspect.sort_key),
            ];
            if has_twins {
                let twin = self.contradiction_text(suspect.row);
                cells.push(escape(&twin.unwrap_or_default()));
            }
            cells.extend(shown.iter().map(cell));
            cells
        };
        let shown = self.result.ranking.iter().take(top);
        let pairs = self.pairs(top);
        let rows = shown.enumerate().map(|(place, suspect)| {
            let mut cells = row((place, suspect));
            let pair = (self.labels.of_row[suspect.row], suspect.suggested);
            if let Some(number) = pairs.iter().position(|other| *other == pair) {
                cells[0] = format!("<span class=\"pair{number}\">{}</span>", cells[0]);
            }
            cells
        });
        let ranking = table_of_html(&header, rows);
        body.push_str(&format!("{}<div id=\"ranking\">\n{ranking}</div>\n", self.filter(&pairs)));
        let figure = self.figure();
        let caption = escape(&figure.caption);
        body.push_str(&format!(
            "<figure>{}<figcaption>{caption}</figcaption></figure>\n",
            figure.to_html()
        ));
        page(&format!("Label audit of {}", self.frame.source), &body)
    }

    /// The pairs of label and suggestion of the rows that the report shows, the most frequent pair first.
    fn pairs(&self, top: usize) -> Vec<(usize, usize)> {
        let mut rows: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for suspect in self.result.ranking.iter().take(top) {
            *rows.entry((self.labels.of_row[suspect.row], suspect.suggested)).or_default() += 1;
        }
        let mut pairs: Vec<_> = rows.into_iter().collect();
        pairs.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
        pairs.into_iter().map(|(pair, _)| pair).take(MAX_PAIRS).collect()
    }

    /// Buttons that show only the rows with one pair of label and suggestion. They work without scripts.
    fn filter(&self, pairs: &[(usize, usize)]) -> String {
        if pairs.len() < 2 {
            return String::new();
        }
        let classes = &self.labels.classes;
        let mut buttons =
            "<label><input type=\"radio\" name=\"pair\" checked> all</label>".to_owned();
        let mut style = String::new();
        for (number, (label, suggested)) in pairs.iter().enumerate() {
            let name = match label == suggested {
                true => format!("{} (agrees)", escape(&classes[*label])),
                false => format!("{} → {}", escape(&classes[*label]), escape(&classes[*suggested])),
            };
            buttons.push_str(&format!(
                " <label><input type=\"radio\" name=\"pair\" id=\"show{number}\"> {name}</label>"
            ));
            style.push_str(&format!(
                "main:has(#show{number}:checked) #ranking tbody tr:not(:has(.pair{number})){{display:none}}\n"
            ));
        }
        format!(
            "<style>{style}</style>\n<p class=\"filter\">Show rows with label → suggestion: {buttons}</p>\n"
        )
    }

    /// The estimated share of wrong labels of each class, as a table with a heading.
    fn flip_rates(&self) -> String {
        let classes = &self.labels.classes;
        let mut rows = vec![0usize; classes.len()];
        self.labels.of_row.iter().for_each(|class| rows[*class] += 1);
        let mut wrong = vec![BTreeMap::<usize, usize>::new(); classes.len()];
        for suspect in &self.result.ranking[..self.result.likely] {
            *wrong[self.labels.of_row[suspect.row]].entry(suspect.suggested).or_default() += 1;
        }
        let of_class = |((name, rows), wrong): ((&String, usize), BTreeMap<usize, usize>)| {
            let count: usize = wrong.values().sum();
            let to: Vec<String> =
                wrong.iter().map(|(class, rows)| format!("{} ({rows})", classes[*class])).collect();
            let rate = format!("{:.1} %", 100.0 * count as f64 / rows as f64);
            vec![name.clone(), rows.to_string(), count.to_string(), rate, to.join(", ")]
        };
        let header = ["label", "rows", "likely wrong", "estimated flip rate", "suggested instead"];
        let table = table(&header, classes.iter().zip(rows).zip(wrong).map(of_class));
        format!("<h2>Estimated flip rates</h2>\n{table}")
    }

    /// The number of rows for each label and suggestion, as a table with a heading. The text is empty if there are too
    /// many classes.
    fn matrix(&self) -> String {
        let classes = &self.labels.classes;
        if classes.len() > MAX_MATRIX {
            return String::new();
        }
        let mut counts = vec![vec![0usize; classes.len()]; classes.len()];
        for suspect in &self.result.ranking {
            counts[self.labels.of_row[suspect.row]][suspect.suggested] += 1;
        }
        let mut header = vec!["label \\ suggested"];
        header.extend(classes.iter().map(String::as_str));
        let rows = classes.iter().zip(counts).map(|(name, counts)| {
            let counts = counts.iter().map(ToString::to_string);
            std::iter::once(name.clone()).chain(counts).collect()
        });
        format!("<h2>Labels and suggestions</h2>\n{}{}", table(&header, rows), self.flip_rates())
    }

    fn figure(&self) -> Figure {
        let ranking = &self.result.ranking;
        let every = ranking.len().div_ceil(MAX_CURVE);
        let point = |(place, suspect): (usize, &Suspect)| ((place + 1) as f64, suspect.agreement);
        let data = ranking.iter().enumerate().step_by(every).map(point).collect();
        Figure {
            name: "agreement".to_owned(),
            title: "Agreement of the classifier with every label".to_owned(),
            caption: "All rows, the most suspicious first. If the agreement is below 0, the classifier predicts another class."
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
