//! The explanation for the terminal.

use super::explanation::{Bar, Explanation, OnData, Weight};
use super::rows::ExplainedRow;
use crate::output::{aligned, counted};
use halfspaces_frame::visible;
use halfspaces_pipeline::{ColumnImportance, ImportanceMeasure};

/// Length of the longest bar, in characters.
const LONGEST: usize = 40;

/// The explanation as lines of text.
pub(super) fn text(explanation: &Explanation) -> String {
    let Explanation {
        learner,
        classes,
        learned_from,
        held_out,
        averaged,
        sparse,
        weights,
        on_data,
        rows,
    } = explanation;
    let mut lines = vec![format!(
        "model     {learner}, fitted to {learned_from} rows; classes {}",
        visible(&classes.join(", "))
    )];
    if let Some(rate) = held_out {
        lines.push(format!("hold-out  {} rows: error {}", rate.of, rate.text()));
    }
    if !averaged.is_empty() {
        lines.push(format!("averages  {}", visible(&averaged.join("; "))));
    }
    for of_class in weights {
        lines.push(String::new());
        let unit = if *sparse { "" } else { ", per standard deviation" };
        lines.push(format!("weights for `{}`{unit}", visible(&of_class.class)));
        let row = |w: &Weight| vec![visible(&w.coordinate), format!("{:+.4}", w.weight)];
        lines.extend(aligned(&of_class.weights.iter().map(row).collect::<Vec<_>>()));
    }
    match on_data {
        Some(on_data) => lines.extend(data_lines(on_data)),
        None if weights.is_empty() && rows.is_empty() => lines.push(
            "This model has no single list of weights; pass a table (DATA) to measure the importance of each column."
                .to_owned(),
        ),
        None => {}
    }
    lines.extend(rows.iter().flat_map(ExplainedRow::lines));
    lines.join("\n") + "\n"
}

fn data_lines(on_data: &OnData) -> Vec<String> {
    let OnData { data, rows, labelled, columns_measured, importance, margins } = on_data;
    let mut lines = vec![
        String::new(),
        format!("{}: {}", visible(data), counted(*rows as u64, "row")),
        format!(
            "permutation importance: {} when the column is shuffled, with its standard error ({}, mean of {} \
             shuffles)",
            measure(importance.measure),
            counted(importance.rows as u64, "row"),
            importance.shuffles
        ),
    ];
    let columns = importance.columns;
    if *columns_measured < columns {
        lines.push(format!(
            "measured for {columns_measured} of {columns} columns: those with the fewest zeros"
        ));
    }
    let row = |i: &ColumnImportance| {
        let number = |value| number(importance.measure, value);
        vec![visible(&i.column), number(i.increase), format!("± {}", number(i.standard_error))]
    };
    lines.extend(aligned(&importance.of_columns.iter().map(row).collect::<Vec<_>>()));
    lines.push(String::new());
    lines.push(if *labelled {
        "margins in units of their mean absolute value; negative if misclassified".to_owned()
    } else {
        "decision values in units of their mean absolute value".to_owned()
    });
    let most = margins.iter().map(|bar| bar.rows).max().unwrap_or(0).max(1);
    for bar in margins {
        let range = range(bar);
        let length = (bar.rows * LONGEST).div_ceil(most);
        let line = format!("{range:>16}  {:>7}  {}", bar.rows, "#".repeat(length));
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// The quantity by which importance is measured, in words.
pub(super) fn measure(measure: ImportanceMeasure) -> &'static str {
    match measure {
        ImportanceMeasure::LogLoss => "increase in the log loss",
        ImportanceMeasure::Error => "increase in the error rate",
        ImportanceMeasure::Changed => "fraction of predictions that change",
    }
}

/// An importance as text.
pub(super) fn number(measure: ImportanceMeasure, value: f64) -> String {
    match measure {
        // A value that is rounded to 0 gets no minus sign.
        ImportanceMeasure::LogLoss if value.abs() < 0.000_05 => "0.0000".to_owned(),
        ImportanceMeasure::LogLoss => format!("{value:.4}"),
        _ => format!("{:.1} %", 100.0 * value),
    }
}

/// The range of a bin as text.
pub(super) fn range(bar: &Bar) -> String {
    match (bar.from, bar.to) {
        (None, Some(to)) => format!("below {to:.2}"),
        (Some(from), None) => format!("from {from:.2}"),
        (Some(from), Some(to)) => format!("{from:.2} to {to:.2}"),
        (None, None) => unreachable!("a histogram has several bars"),
    }
}
