//! `inspect`: shows how a table is read.

use crate::error::CliError;
use crate::input::InputArgs;
use crate::output::{check_targets, note, print, print_json, write_file};
use clap::Args;
use halfspaces_frame::{FileRecord, Hints, Inspection, visible};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Maximum number of columns printed as text.
const LISTED: usize = 100;

const EXAMPLES: &str = "\
Examples:
  halfspaces inspect data.csv
  halfspaces inspect data.csv --json > reading.json
  halfspaces inspect untidy.csv -o plain.csv";

/// Show how a table is read: format, encoding, delimiter, header, and the type of each column
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InspectArgs {
    /// Write the table as plain CSV, with its cells unchanged
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
}

/// Runs `inspect`.
pub(crate) fn run(args: &InspectArgs) -> Result<(), CliError> {
    let files: Vec<_> = args.output.as_deref().into_iter().collect();
    check_targets(&files, &[&args.input.data], args.force)?;
    let options = args.input.reading.options();
    let found = halfspaces_frame::inspect(&args.input.data, &options, &Hints::default())?;
    if let Some(path) = &args.output {
        write_file(path, args.force, |out| {
            found.write_csv(out).map_err(|error| std::io::Error::other(error.to_string()))
        })?;
        note(&format!("table written to {}", path.display()));
    }
    if args.json {
        return print_json(&found);
    }
    print(&text(&found))
}

fn text(found: &Inspection) -> String {
    let mut lines = vec![("file".to_owned(), found.source.clone())];
    lines.extend(reading(&found.reading));
    let mut text = aligned(&lines);
    if !found.columns.is_empty() {
        text.push('\n');
        text.push_str(&columns(found));
    }
    let warnings = found.columns.iter().take(LISTED).flat_map(|column| &column.warnings);
    let warnings: Vec<&String> = found.warnings.iter().chain(warnings).collect();
    if !warnings.is_empty() {
        text.push_str("\nwarnings\n");
    }
    for warning in warnings {
        let _ = writeln!(text, "  {}", visible(warning));
    }
    if let Some(problem) = &found.problem {
        let _ = writeln!(
            text,
            "\nno model can be fitted to this table as it is\n  {}",
            visible(problem)
        );
    }
    text
}

fn reading(reading: &FileRecord) -> Vec<(String, String)> {
    let mut lines = vec![("format", reading.format.clone())];
    let mut add = |name: &'static str, value: Option<String>| {
        lines.extend(value.map(|value| (name, value)));
    };
    add("compression", reading.compression.clone());
    add("encoding", reading.encoding.clone());
    add("delimiter", reading.delimiter.as_deref().map(named));
    if reading.delimiter.is_some() {
        let quoting = match (reading.quote, reading.escape.as_deref()) {
            (Some(quote), Some("backslash")) => format!("{quote}, escaped by a backslash"),
            (Some(quote), _) => format!("{quote}, doubled inside quoted cells"),
            (None, _) => "none: quotation marks are ordinary characters".to_owned(),
        };
        add("quoting", Some(quoting));
        add(
            "header",
            Some(match (reading.header_lines, reading.preamble_lines) {
                (0, _) => "none: columns are named c1, c2, ..".to_owned(),
                (1, above) => format!("line {}", above + 1),
                (lines, above) => format!("lines {} to {}", above + 1, above + lines as u64),
            }),
        );
        let above = reading.preamble_lines;
        add("preamble lines", (above > 0).then(|| above.to_string()));
        add("footnotes", reading.footnotes.map(|(first, last)| format!("lines {first} to {last}")));
        add("ragged rows", (reading.ragged_rows > 0).then(|| reading.ragged_rows.to_string()));
        add(
            "repaired rows",
            (reading.repaired_rows > 0).then(|| reading.repaired_rows.to_string()),
        );
        add(
            "skipped lines",
            (reading.skipped_lines > 0).then(|| reading.skipped_lines.to_string()),
        );
    }
    add("rows", Some(reading.rows.to_string()));
    add("columns", Some(reading.columns.to_string()));
    lines.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn named(delimiter: &str) -> String {
    match delimiter {
        "\t" => "tab".to_owned(),
        " " => "space".to_owned(),
        other => other.to_owned(),
    }
}

fn columns(found: &Inspection) -> String {
    let mut rows = vec![["column", "kind", "missing", "distinct", "examples"].map(str::to_owned)];
    for column in found.columns.iter().take(LISTED) {
        rows.push([
            visible(&column.name),
            column.kind.name().to_owned(),
            column.missing.to_string(),
            column.distinct.to_string(),
            column.examples.iter().map(|e| visible(e)).collect::<Vec<_>>().join(", "),
        ]);
    }
    let width =
        |at: usize| rows.iter().map(|row| row[at].chars().count().min(40)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        line.push_str(&row[4]);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let more = found.columns.len().saturating_sub(LISTED);
    if more > 0 {
        let _ = writeln!(text, "and {more} more columns; --json lists all");
    }
    text
}

fn aligned(lines: &[(String, String)]) -> String {
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in lines {
        let _ = writeln!(text, "{name:width$}  {}", visible(value));
    }
    text
}
