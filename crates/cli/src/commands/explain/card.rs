//! The model card: everything that is known about a model, on one page.

use super::explanation::{Bar, Explanation, OnData};
use super::text;
use crate::commands::evaluation_data::EvaluationData;
use crate::error::CliError;
use crate::html::{self, escape, page, table, table_of_html};
use crate::output::counted;
use halfspaces_eval::{Axis, Colour, Figure, Layer};
use halfspaces_frame::first_of;
use halfspaces_pipeline::{
    CONFIDENCE, Decisions, Evaluation, Pipeline, ProbabilityScores, Rate, Report, SplitBy,
};
use std::path::Path;

/// Maximum number of columns of one kind, and of candidates, that are listed.
const LISTED: usize = 200;
/// Maximum number of classes for which the confusion matrix is shown.
const MAX_MATRIX: usize = 20;
/// Length of the longest bar, in em.
const LONGEST: f64 = 14.0;

/// The model card, with measurements on a table if a table was given.
pub(super) fn page_of(
    file: &Path,
    model: &Pipeline,
    explanation: &Explanation,
    measured: Option<&(&EvaluationData, OnData, Decisions)>,
) -> Result<String, CliError> {
    let report = model.report();
    let mut body = heading("The model", &facts(model, explanation));
    body.push_str(&heading("Columns", &columns(model)));
    body.push_str(&candidates(report));
    if let Some((data, on_data, decisions)) = measured {
        let name = escape(&data.frame.source);
        if let Some(truth) = &data.truth {
            let evaluation = Evaluation::new(model.classes(), decisions, truth)?;
            body.push_str(&heading(&format!("Errors on {name}"), &errors(&evaluation)));
        }
        body.push_str(&heading("Importance of the columns", &importance(on_data)));
        body.push_str(&heading("Margins", &margins(on_data)));
    }
    for of_class in &explanation.weights {
        let rows = of_class
            .weights
            .iter()
            .map(|w| vec![w.coordinate.clone(), format!("{:+.4}", w.weight)]);
        let unit =
            if explanation.sparse { "for a change of 1" } else { "for one standard deviation" };
        body.push_str(&heading(
            &format!("Largest weights for {}", escape(&of_class.class)),
            &table(&["coordinate", unit], rows),
        ));
    }
    for row in &explanation.rows {
        let largest = row.explanation.of_columns.iter().map(|of| of.contribution.abs());
        let largest = largest.fold(f64::MIN_POSITIVE, f64::max);
        let changes = row.explanation.of_columns.iter().map(|of| of.contribution).take(row.shown);
        // The first line of the table is the mean. It has no bar, and neither do the lines after the columns.
        let bars = std::iter::once(String::new()).chain(changes.map(|of| bar(of / largest)));
        let rows = row.table().into_iter().zip(bars.chain(std::iter::repeat(String::new())));
        let rows = rows.map(|(cells, bar)| {
            cells.iter().map(|cell| escape(cell)).chain([bar]).collect::<Vec<_>>()
        });
        let shown = table_of_html(&["column", "cell", "contribution", "standard error", ""], rows);
        body.push_str(&heading(
            "One row explained",
            &format!("<p>{}.</p>\n{shown}<p>{}.</p>\n", escape(&row.title()), escape(row.unit())),
        ));
    }
    body.push_str(&heading("Limits", &limits(model, measured.is_some())));
    Ok(page(&format!("Model card of {}", file.display()), &body))
}

/// A section; both arguments are HTML.
fn heading(title: &str, body: &str) -> String {
    format!("<h2>{title}</h2>\n{body}")
}

/// A bar whose length is a share of the length of the longest bar. The share is between -1 and 1.
fn bar(share: f64) -> String {
    let class = if share < 0.0 { "bar less" } else { "bar" };
    format!(
        "<span class=\"{class}\" style=\"width:{:.2}em\"></span>",
        LONGEST * share.abs().min(1.0)
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn facts(model: &Pipeline, explanation: &Explanation) -> String {
    let report = model.report();
    let mut rows = Vec::new();
    let mut row = |name: &str, text: String| rows.push((name.to_owned(), text));
    row("predicts", format!("column {}", model.label_column()));
    row("learner", explanation.learner.clone());
    row("rows of the table", report.rows.to_string());
    row("rows used for the fit", report.learned_from.to_string());
    let classes = report.classes.iter().map(|class| format!("{} ({})", class.name, class.rows));
    row("classes (rows)", classes.collect::<Vec<_>>().join(", "));
    row("error if the most common class is always predicted", percent(report.commonest_error));
    if let Some(error) = report.findings.cross_validated {
        row("cross-validated error", percent(error));
    }
    let split = match &report.split {
        SplitBy::Random => "drawn at random".to_owned(),
        SplitBy::Group(column) => format!("whole groups of column {column}"),
        SplitBy::Time(column) => format!("the last rows in the order of column {column}"),
    };
    match explanation.held_out {
        Some(rate) => {
            row("held-out error", format!("{} on {} rows, {split}", rate.text(), rate.of))
        }
        None => row("held-out error", "not measured: no rows were held out".to_owned()),
    }
    if let Some(left_out) = &report.findings.left_out {
        let name = |class: usize| &model.classes()[class];
        let (label, class) = (name(left_out.label), name(left_out.class));
        row("rows left out", format!("{} labelled {label} that look like {class}", left_out.rows));
    }
    if let (Some(noise), Some(margin)) = (report.findings.noise, report.findings.margin) {
        row("selected noise rate and margin", format!("{}, {margin:.4}", percent(noise)));
    }
    row(
        "probabilities",
        if model.model().has_probabilities() { "yes, calibrated" } else { "no" }.to_owned(),
    );
    row("seed", report.seed.to_string());
    html::facts(rows)
}

/// The columns, grouped by how they are read.
fn columns(model: &Pipeline) -> String {
    let recipe = model.recipe();
    let mut of_kind: Vec<(String, Vec<String>)> = Vec::new();
    for (name, kind) in recipe.kinds() {
        match of_kind.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, names)) => names.push(name),
            None => of_kind.push((kind, vec![name])),
        }
    }
    let for_names = |names: &[String]| first_of(names, LISTED);
    let mut rows: Vec<(String, String)> =
        of_kind.iter().map(|(kind, names)| (kind.clone(), for_names(names))).collect();
    for (names, why) in [
        (recipe.constant(), "left out: constant columns"),
        (recipe.names_only(), "left out: columns that only identify rows"),
    ] {
        if !names.is_empty() {
            rows.push((why.to_owned(), for_names(names)));
        }
    }
    html::facts(rows)
}

/// The candidates that the learner compared; empty if it compared none.
fn candidates(report: &Report) -> String {
    let findings = &report.findings;
    if findings.compared.is_empty() {
        return String::new();
    }
    let row = |(rank, (error, name)): (usize, &(f64, String))| {
        let is_used = if rank < findings.chosen { "yes" } else { "no" };
        vec![percent(*error), is_used.to_owned(), name.clone()]
    };
    let rows = findings.compared.iter().take(LISTED).enumerate().map(row);
    let mut html = format!(
        "<p>Compared on {}; each row was predicted by models that were fitted without it. The model averages the \
        candidates that are in use.</p>\n{}",
        counted(findings.compared_on as u64, "row"),
        table(&["error", "in use", "candidate"], rows)
    );
    if findings.dropped > 0 {
        let count = counted(findings.dropped as u64, "more candidate");
        html.push_str(&format!("<p>{count} lost an early comparison on part of the rows.</p>\n"));
    }
    heading("Candidates", &html)
}

fn errors(evaluation: &Evaluation) -> String {
    let Evaluation {
        classes, error, baseline, confusion, of_class, unknown, probabilities, ..
    } = evaluation;
    let mut facts = vec![
        ("error", format!("{} on {} rows", error.text(), error.of)),
        ("error if the most common class is always predicted", percent(*baseline)),
    ];
    if let Some(scores) = probabilities {
        let ProbabilityScores { log_loss, brier, calibration_error, .. } = scores;
        facts.push(("log loss", format!("{log_loss:.4}")));
        facts.push(("Brier score", format!("{brier:.4}")));
        facts.push(("calibration error", format!("{calibration_error:.4}")));
    }
    if *unknown > 0 {
        facts.push(("labels unknown to the model", unknown.to_string()));
    }
    let mut html = format!(
        "<p>Ranges are exact {:.0} % confidence intervals, if rows are independent.</p>\n{}",
        100.0 * CONFIDENCE,
        html::facts(facts.into_iter().map(|(name, text)| (name.to_owned(), text)))
    );
    let rate = |rate: &Option<Rate>| rate.map_or("no rows".to_owned(), |rate| rate.text());
    let number = |of: Option<f64>| of.map_or("none".to_owned(), |of| format!("{of:.4}"));
    let rows = of_class.iter().map(|c| {
        let ranking = [number(c.auc), number(c.average_precision)];
        [vec![c.class.clone(), rate(&c.recall), rate(&c.precision)], ranking.to_vec()].concat()
    });
    html.push_str(&table(&["class", "recall", "precision", "AUC", "average precision"], rows));
    if classes.len() <= MAX_MATRIX {
        let mut header = vec!["true \\ predicted"];
        header.extend(classes.iter().map(String::as_str));
        let rows = classes.iter().zip(confusion).map(|(name, counts)| {
            std::iter::once(name.clone()).chain(counts.iter().map(ToString::to_string)).collect()
        });
        html.push_str(&format!(
            "<p>Rows by true and predicted class:</p>\n{}",
            table(&header, rows)
        ));
    }
    if let Some(scores) = probabilities {
        let figure = calibration(scores);
        html.push_str(&format!(
            "<figure>{}<figcaption>{}</figcaption></figure>\n",
            figure.to_svg(),
            escape(&figure.caption)
        ));
    }
    html
}

/// Plots the fraction of correct predictions against the predicted probability.
fn calibration(scores: &ProbabilityScores) -> Figure {
    let bins = &scores.calibration;
    let name = || "correct".to_owned();
    Figure {
        name: "calibration".to_owned(),
        title: "Correct predictions by probability".to_owned(),
        caption: "Rows are grouped by the probability of the predicted class, in bins of 10 %. If the probabilities are \
                  calibrated, the points lie on the dashed line. The band is an exact 95 % confidence interval for each \
                  bin."
            .to_owned(),
        x: Axis::linear("mean probability of the predicted class"),
        y: Axis::linear("fraction correct"),
        layers: vec![
            Layer::Band {
                name: name(),
                colour: Colour::Blue,
                data: bins.iter().map(|bin| (bin.mean, bin.correct.low, bin.correct.high)).collect(),
            },
            Layer::Points {
                name: name(),
                colour: Colour::Blue,
                data: bins.iter().map(|bin| (bin.mean, bin.correct.rate)).collect(),
            },
            Layer::Line {
                name: "calibrated".to_owned(),
                colour: Colour::Ink,
                dashed: true,
                data: bins.first().map_or_else(Vec::new, |bin| {
                    let from = bin.mean.min(bin.correct.low);
                    vec![(from, from), (1.0, 1.0)]
                }),
            },
        ],
    }
}

fn importance(on_data: &OnData) -> String {
    let OnData { importance, columns_measured, .. } = on_data;
    let largest =
        importance.of_columns.iter().map(|of| of.increase).fold(f64::MIN_POSITIVE, f64::max);
    let rows = importance.of_columns.iter().map(|of| {
        let number = |value| text::number(importance.measure, value);
        let error = format!("± {}", number(of.standard_error));
        vec![escape(&of.column), number(of.increase), error, bar(of.increase.max(0.0) / largest)]
    });
    format!(
        "<p>The importance of a column is the {} when its cells are shuffled among {} rows: the mean of {} shuffles, \
        with its standard error. {} of {} columns are shown. Columns that carry the same information can replace each \
        other, so their values are small.</p>\n{}",
        text::measure(importance.measure),
        importance.rows,
        importance.shuffles,
        importance.of_columns.len().min(*columns_measured),
        importance.columns,
        table_of_html(&["column", "importance", "standard error", ""], rows)
    )
}

fn margins(on_data: &OnData) -> String {
    let most = on_data.margins.iter().map(|bar| bar.rows).max().unwrap_or(0).max(1);
    let rows = on_data.margins.iter().map(|of: &Bar| {
        vec![text::range(of), of.rows.to_string(), bar(of.rows as f64 / most as f64)]
    });
    let what = match on_data.labelled {
        true => {
            "The margin of a row is its decision value divided by the mean absolute decision value; it is negative if \
            the row is misclassified."
        }
        false => {
            "The margin of a row is its decision value divided by the mean absolute decision value."
        }
    };
    format!("<p>{what}</p>\n{}", table_of_html(&["margin", "rows", ""], rows))
}

fn limits(model: &Pipeline, has_data: bool) -> String {
    let mut lines = vec![
        "The errors apply to rows like those that were measured. On other data, measure again with <code>halfspaces \
         evaluate</code>.",
        "Importance and contributions show what the model uses. They do not show what causes the class.",
        "The program does not know what the model is for, where its rows come from, whom its errors affect, and whether \
         errors differ between groups of people. Please add this before you pass the model on.",
    ];
    if model.report().split.is_random() {
        lines.push(
            "Held-out rows were drawn at random. If rows are related, such as several rows of one patient, the held-out \
             error is too small; in this case, fit with <code>--group</code> or <code>--time</code>.",
        );
    }
    if !has_data {
        lines.push(
            "This card has no errors by class, no importance and no margins, because it was written without a table.",
        );
    }
    let items: String = lines.iter().map(|line| format!("<li>{line}</li>\n")).collect();
    format!("<ul>\n{items}</ul>\n")
}
