//! Explains the predictions for single rows.

use crate::commands::evaluation_data::EvaluationData;
use crate::error::CliError;
use crate::output::{aligned, counted};
use halfspaces_frame::visible;
use halfspaces_linalg::Threads;
use halfspaces_pipeline::{Pipeline, RowExplanation};
use serde::Serialize;

/// Maximum number of characters of a cell that are shown.
const MAX_CELL: usize = 40;

/// A row with its explanation; `--json` prints it as it is.
#[derive(Debug, Serialize)]
pub(super) struct ExplainedRow {
    /// The place of the row in its file.
    pub(super) place: String,
    pub(super) predicted: String,
    /// The label; absent if the table has no labels or if the model does not know this label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) label: Option<String>,
    #[serde(flatten)]
    pub(super) explanation: RowExplanation,
    /// The cell of each column of `of_columns`; empty for a coordinate that is not a column.
    pub(super) cells: Vec<String>,
    /// The number of columns of `of_columns` that are shown as text.
    #[serde(skip)]
    pub(super) shown: usize,
}

/// Explains the predictions for some rows.
pub(super) fn explain(
    model: &Pipeline,
    data: &EvaluationData,
    rows: &[usize],
    top: usize,
    threads: Threads,
) -> Result<Vec<ExplainedRow>, CliError> {
    let len = data.design.len();
    let place = |row: &usize| {
        match &data.numbers {
        Some(numbers) => numbers.binary_search(row).map_err(|_| {
            CliError::user(format!(
                "--row {row}: {} has no label for this row in the file of labels; rows of the table are counted from 0",
                data.frame.source
            ))
        }),
        None if *row < len => Ok(*row),
        None => Err(CliError::user(format!(
            "--row {row}: {} has {}; rows are counted from 0",
            data.frame.source,
            counted(len as u64, "row")
        ))),
    }
    };
    let places = rows.iter().map(place).collect::<Result<Vec<usize>, _>>()?;
    let name = |class: usize| model.classes()[class].clone();
    let explained = |(row, at): (&usize, usize)| {
        let mut explanation = RowExplanation::of(model, &data.design, at, threads)?;
        explanation.row = *row;
        let cell = |name: &String| {
            let column = data.frame.columns.iter().find(|column| column.name == *name);
            column.map_or_else(String::new, |column| column.values.text(at))
        };
        Ok(ExplainedRow {
            place: data.frame.place(at),
            predicted: name(explanation.class),
            label: data.truth.as_ref().and_then(|truth| truth[at]).map(name),
            cells: explanation.of_columns.iter().map(|of| cell(&of.column)).collect(),
            shown: top.min(explanation.of_columns.len()),
            explanation,
        })
    };
    rows.iter().zip(places).map(explained).collect()
}

impl ExplainedRow {
    /// The row, and the prediction that is explained.
    pub(super) fn title(&self) -> String {
        let RowExplanation { row, is_probability, result, .. } = &self.explanation;
        let size = match is_probability {
            true => format!("with probability {:.1} %", 100.0 * result),
            false => format!("with decision value {result:.4}"),
        };
        let label = self.label.as_ref().map(|label| format!("; label `{label}`"));
        let label = label.unwrap_or_default();
        format!("row {row} ({}): predicted `{}` {size}{label}", self.place, self.predicted)
    }

    /// The table of contributions, from the mean over other rows to the result. Its columns are the name, the cell, the
    /// number and the standard error.
    pub(super) fn table(&self) -> Vec<[String; 4]> {
        let RowExplanation { of_columns, others, baseline, result, compared_with, .. } =
            &self.explanation;
        let mean = format!(
            "mean over {} other {}",
            compared_with,
            if *compared_with == 1 { "row" } else { "rows" }
        );
        let mut table = vec![[mean, String::new(), self.number(*baseline), String::new()]];
        for (of, cell) in of_columns.iter().zip(&self.cells).take(self.shown) {
            let mut short: String = cell.chars().take(MAX_CELL).collect();
            if short.len() < cell.len() {
                short.push('…');
            }
            let error = format!("± {}", self.number(of.standard_error));
            table.push([of.column.clone(), short, self.change(of.contribution), error]);
        }
        let left_out = &of_columns[self.shown..];
        let mut rest: f64 = left_out.iter().map(|of| of.contribution).sum();
        rest += others.map_or(0.0, |others| others.mean);
        if !left_out.is_empty() || others.is_some() {
            table.push(["all others".to_owned(), String::new(), self.change(rest), String::new()]);
        }
        table.push(["this row".to_owned(), String::new(), self.number(*result), String::new()]);
        table
    }

    fn number(&self, value: f64) -> String {
        match self.explanation.is_probability {
            true => format!("{:.1} %", 100.0 * value),
            false => format!("{value:.4}"),
        }
    }

    fn change(&self, value: f64) -> String {
        match self.explanation.is_probability {
            true => format!("{:+.1} %", 100.0 * value),
            false => format!("{value:+.4}"),
        }
    }

    /// The meaning and the unit of the contributions.
    pub(super) fn unit(&self) -> &'static str {
        match self.explanation.is_probability {
            true => {
                "contributions (Shapley values) are in percentage points of the probability of the predicted class, with \
                 standard errors"
            }
            false => {
                "contributions (Shapley values) are parts of the difference between the decision value of the \
                predicted class and that of the best other class, with standard errors"
            }
        }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![String::new(), visible(&self.title())];
        let visible_cells = |row: [String; 4]| row.iter().map(|cell| visible(cell)).collect();
        let table: Vec<Vec<String>> = self.table().into_iter().map(visible_cells).collect();
        lines.extend(aligned(&table));
        lines.push(self.unit().to_owned());
        lines
    }
}
