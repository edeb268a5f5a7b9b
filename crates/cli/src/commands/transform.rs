//! `halfspaces transform`: points in radially isotropic position.

use crate::error::CliError;
use crate::frame::{Frame, Values};
use crate::html::{escape, page, table};
use crate::input::InputArgs;
use crate::output::{check_targets, note, say, write_file};
use crate::progress::Progress;
use crate::recipe::ColumnArgs;
use clap::Args;
use halfspaces_eval::{Axis, Colour, Figure, Layer};
use halfspaces_forster::{
    Accuracy, Decomposition, ForsterError, ForsterTransform, Normalisation, Position, Reason,
};
use halfspaces_linalg::{Params, PointSet, Points, Threads};
use halfspaces_pipeline::{Recipe, RecipeOptions, Unseen};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Points drawn in a figure.
const DRAWN: usize = 500;
/// Pieces listed in a report.
const LISTED: usize = 50;

const EXAMPLES: &str = "\
Examples:
  halfspaces transform data.csv --drop label -o points.csv
  halfspaces transform data.npy --center --html report.html --matrix matrix.csv --scatter scatter.csv
  halfspaces transform data.csv --drop label --json > position.json";

/// Bring points into radially isotropic position, or find the subspace that holds too many of them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TransformArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Take the median off every column first: directions are then seen from the middle of the points
    #[arg(long)]
    center: bool,
    /// How far every eigenvalue of the points in position may be from 1
    #[arg(long, value_name = "DELTA", default_value_t = 1e-6, allow_negative_numbers = true)]
    accuracy: f64,
    /// Write the points in position as CSV: row, piece, coordinates
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite files that are there
    #[arg(long)]
    force: bool,
    /// Write the matrix A of the first piece as CSV, one line per column of DATA
    #[arg(long, value_name = "FILE")]
    matrix: Option<PathBuf>,
    /// Write the scatter matrix of the first piece as CSV
    #[arg(long, value_name = "FILE")]
    scatter: Option<PathBuf>,
    /// Write a report with figures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print pieces, certificates and transforms as JSON
    #[arg(long)]
    json: bool,
}

/// What was found, with what it was found of.
struct Found {
    source: String,
    points: Points,
    names: Vec<String>,
    parts: Decomposition,
    center: Option<Vec<f64>>,
    /// Columns that never change: with --center, or all 0.
    left_out: Vec<String>,
    /// A power of two per coordinate, of which `points` are multiples: what rounding does must not hang on units.
    units: Vec<f64>,
}

/// Runs `transform`.
pub(crate) fn run(args: &TransformArgs) -> Result<(), CliError> {
    let files = [&args.output, &args.matrix, &args.scatter, &args.html];
    let files: Vec<&Path> = files.into_iter().flatten().map(PathBuf::as_path).collect();
    let force = args.force;
    check_targets(&files, &[&args.input.data], force)?;
    let progress = Progress::start("reading");
    let frame = args.input.read()?;
    let found = find(args, frame)?;
    drop(progress);
    let first = found.parts.pieces().first();
    if first.is_none() && (args.matrix.is_some() || args.scatter.is_some()) {
        return Err(CliError::user(format!(
            "{}: there is no position to write: {}",
            found.source,
            found.left()
        )));
    }
    if let Some(path) = &args.output {
        write_file(path, args.force, |out| found.write_points(out))?;
    }
    if let (Some(path), Some(piece)) = (&args.matrix, first) {
        let matrix = found.matrix(piece);
        let columns = piece.transform.inner_dim();
        let header: Vec<String> = (1..=columns).map(|j| format!("u{j}")).collect();
        write_file(path, force, |out| found.write_matrix(out, &header, &matrix))?;
    }
    if let (Some(path), Some(piece)) = (&args.scatter, first) {
        let scatter = found.scatter(piece);
        write_file(path, force, |out| found.write_matrix(out, &found.names, &scatter))?;
    }
    if let Some(path) = &args.html {
        let report = found.report();
        write_file(path, force, |out| out.write_all(report.as_bytes()))?;
        note(&format!("report written to {}", path.display()));
    }
    if args.json { say(&format!("{:#}\n", found.json())) } else { say(&found.text()) }
}

fn find(args: &TransformArgs, frame: Frame) -> Result<Found, CliError> {
    let columns =
        RecipeOptions { keep_constant: !args.center, median_only: true, ..args.columns.options() };
    let (recipe, notes) = Recipe::fit(&frame, &columns)?;
    notes.iter().for_each(|text| note(&format!("note: {text}")));
    note_missing(&frame, &args.columns.drop);
    let left_out = recipe.constant().to_vec();
    let mut points = recipe.apply(&frame, Unseen::Error)?.into_dense()?;
    let names = recipe.coordinates();
    let source = frame.source;
    let center = args.center.then(|| medians(&points));
    if let Some(center) = &center {
        let moved =
            points.as_slice().iter().zip(center.iter().cycle()).map(|(x, m)| x - m).collect();
        points = Points::new(moved, points.dim())?;
    }
    let units = units(&points);
    let scaled = points.as_slice().iter().zip(units.iter().cycle()).map(|(x, unit)| x / unit);
    let points = Points::new(scaled.collect(), points.dim())?;
    let params = ForsterTransform::params().accuracy(Accuracy::TwoSided(args.accuracy));
    let solver = params
        .threads(Threads::all())
        .check()
        .map_err(|e| CliError::user(format!("--accuracy: {e}")))?;
    let failed = |error: ForsterError| {
        let advice = match error {
            ForsterError::NoDirection { .. } => "; leave --center out, or take other columns",
            _ => "",
        };
        CliError::user(format!("{source}: {error}{advice}"))
    };
    let parts = solver.decompose(&points).map_err(failed)?;
    Ok(Found { source, points, names, parts, center, left_out, units })
}

/// Says which columns have missing numbers: a direction has no coordinate for these.
fn note_missing(frame: &Frame, dropped: &[String]) {
    for column in frame.columns.iter().filter(|column| !dropped.contains(&column.name)) {
        let missing = column.values.missing();
        if missing > 0 && matches!(column.values, Values::Numbers(_)) {
            note(&format!(
                "note: {}, column `{}`: {missing} missing numbers are replaced by the median",
                frame.source, column.name
            ));
        }
    }
}

/// A matrix as its rows.
fn rows(nrows: usize, ncols: usize, at: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    (0..nrows).map(|i| (0..ncols).map(|j| at(i, j)).collect()).collect()
}

/// The largest power of two that is no more than the largest size in a column.
fn units(points: &Points) -> Vec<f64> {
    let mut largest = vec![0.0f64; points.dim()];
    for row in points.as_slice().chunks_exact(points.dim()) {
        largest.iter_mut().zip(row).for_each(|(most, x)| *most = most.max(x.abs()));
    }
    // Subnormal numbers have none that can be divided by.
    let unit = |most: f64| if most >= f64::MIN_POSITIVE { most.log2().floor().exp2() } else { 1.0 };
    largest.into_iter().map(unit).collect()
}

fn medians(points: &Points) -> Vec<f64> {
    let (values, dim) = (points.as_slice(), points.dim());
    let median = |j: usize| {
        let mut column: Vec<f64> = values.iter().skip(j).step_by(dim).copied().collect();
        let middle = column.len() / 2;
        *column.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    (0..dim).map(median).collect()
}

impl Found {
    /// The matrix A of a piece, for points in the units of the table.
    fn matrix(&self, piece: &Position) -> Vec<Vec<f64>> {
        let matrix = piece.transform.matrix();
        rows(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)] / self.units[i])
    }

    /// Tyler's scatter matrix of a piece, of points in the units of the table; its trace is the piece's dimension.
    fn scatter(&self, piece: &Position) -> Vec<Vec<f64>> {
        let scatter = piece.transform.scatter(Normalisation::Trace);
        // Scaled by the largest of its roots, so that no square overflows and the trace is at least 1.
        let roots =
            self.units.iter().enumerate().map(|(i, unit)| unit * scatter[(i, i)].max(0.0).sqrt());
        let most = roots.fold(f64::MIN_POSITIVE, f64::max);
        let unit = |i: usize| self.units[i] / most;
        // A column that the piece's subspace does not touch has no part, however large its unit.
        let of = |i: usize, j: usize| match scatter[(i, j)] {
            s if s.abs() > 0.0 => s * unit(i) * unit(j),
            _ => 0.0,
        };
        let trace: f64 = (0..scatter.nrows()).map(|i| of(i, i)).sum();
        let factor = piece.transform.inner_dim() as f64 / trace;
        let dim = scatter.nrows();
        rows(dim, dim, |i, j| factor * of(i, j))
    }

    /// Columns left out, if any are.
    fn note_of_columns(&self) -> Option<String> {
        let names = self.left_out.join(", ");
        (!names.is_empty()).then(|| format!("columns that never change are left out: {names}"))
    }

    /// Per row the piece that it is in, and its unit vector there.
    fn placed(&self) -> Vec<Option<(usize, Vec<f64>)>> {
        let mut placed = vec![None; self.points.len()];
        for (piece, position) in self.parts.pieces().iter().enumerate() {
            for &row in position.subspace.members() {
                let Some(x) = self.points.as_slice().chunks_exact(self.points.dim()).nth(row)
                else {
                    unreachable!("members are rows")
                };
                placed[row] = match position.transform.apply_row(x) {
                    Ok(unit) => Some((piece, unit)),
                    Err(error) => unreachable!("members have a place in their subspace: {error}"),
                };
            }
        }
        placed
    }

    fn write_points(&self, out: &mut dyn Write) -> io::Result<()> {
        let width =
            self.parts.pieces().iter().map(|piece| piece.transform.inner_dim()).max().unwrap_or(0);
        let header: Vec<String> = (1..=width).map(|j| format!("u{j}")).collect();
        writeln!(out, "row,piece,{}", header.join(","))?;
        for (row, place) in self.placed().into_iter().enumerate() {
            let (piece, unit) = match place {
                Some((piece, unit)) => ((piece + 1).to_string(), unit),
                None => (String::new(), Vec::new()),
            };
            let empty = vec![String::new(); width - unit.len()];
            let cells: Vec<String> = unit.iter().map(f64::to_string).chain(empty).collect();
            writeln!(out, "{row},{piece},{}", cells.join(","))?;
        }
        Ok(())
    }

    /// A matrix with one row per column of the table.
    fn write_matrix(
        &self,
        out: &mut dyn Write,
        header: &[String],
        rows: &[Vec<f64>],
    ) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(std::iter::once("column").chain(header.iter().map(String::as_str)))?;
        for (name, row) in self.names.iter().zip(rows) {
            let cells = row.iter().map(f64::to_string);
            writer.write_record(std::iter::once(name.clone()).chain(cells))?;
        }
        writer.flush()
    }

    fn summary(&self) -> String {
        let (rows, dim) = (self.points.len(), self.points.dim());
        let what = match self.parts.pieces() {
            [] => "no position was found".to_owned(),
            [only]
                if only.transform.inner_dim() == only.subspace.span_dim()
                    && self.parts.is_complete() =>
            {
                "in radially isotropic position".to_owned()
            }
            [first, ..] => format!(
                "{} of them lie in a subspace of {} dimensions, which is its share or more",
                first.subspace.members().len(),
                first.transform.inner_dim()
            ),
        };
        format!("{rows} points in {dim} dimensions: {what}")
    }

    /// Why points are left, if any are.
    fn left(&self) -> String {
        let why = match self.parts.reason() {
            None => return String::new(),
            Some(Reason::IterationCap) => "the cap on steps was reached",
            Some(Reason::ConditionCap) => {
                "the transform degenerates: points lie near a subspace, but not in it"
            }
            Some(Reason::Stalled) => {
                "rounding is larger than the accuracy asked for; ask for less by --accuracy"
            }
            Some(Reason::CertificateMissed) => {
                "the certificate falls short by rounding; ask for less by --accuracy"
            }
        };
        format!("{} points are left: {why}", self.parts.unplaced().len())
    }

    fn rows_of_pieces(&self) -> Vec<Vec<String>> {
        let row = |(number, piece): (usize, &Position)| {
            let (subspace, certificate) = (&piece.subspace, piece.certificate);
            vec![
                (number + 1).to_string(),
                subspace.members().len().to_string(),
                format!("{} of {}", piece.transform.inner_dim(), subspace.span_dim()),
                format!("{:.9}", certificate.least()),
                format!("{:.9}", certificate.largest()),
            ]
        };
        self.parts.pieces().iter().enumerate().take(LISTED).map(row).collect()
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.source, self.summary());
        text.push_str("piece   points  dimensions  least eigenvalue  largest\n");
        for row in self.rows_of_pieces() {
            text.push_str(&format!(
                "{:>5} {:>8}  {:>10}  {:>16}  {}\n",
                row[0], row[1], row[2], row[3], row[4]
            ));
        }
        let (zeros, left) = (self.parts.zero_rows().len(), self.left());
        if zeros > 0 {
            text.push_str(&format!("{zeros} points are zero and have no direction\n"));
        }
        for line in self.note_of_columns().into_iter().chain((!left.is_empty()).then_some(left)) {
            text.push_str(&format!("{line}\n"));
        }
        text
    }

    fn json(&self) -> Value {
        let piece = |piece: &Position| {
            let (transform, scatter) = (&piece.transform, self.scatter(piece));
            let matrix = self.matrix(piece);
            json!({
                "dimension": transform.inner_dim(),
                "of_dimensions": piece.subspace.span_dim(),
                "rows": piece.subspace.members(),
                "least_eigenvalue": piece.certificate.least(),
                "largest_eigenvalue": piece.certificate.largest(),
                "matrix": matrix,
                "scatter": scatter,
            })
        };
        json!({
            "points": self.points.len(),
            "columns": self.names,
            "left_out": self.left_out,
            "center": self.center,
            "pieces": self.parts.pieces().iter().map(piece).collect::<Vec<Value>>(),
            "zero_rows": self.parts.zero_rows(),
            "rows_left": self.parts.unplaced(),
            "why_left": self.parts.reason().map(|_| self.left()),
        })
    }

    fn report(&self) -> String {
        let mut body = format!("<p>{}</p>\n", escape(&self.summary()));
        let (zeros, left) = (self.parts.zero_rows().len(), self.left());
        if zeros > 0 {
            body.push_str(&format!("<p>{zeros} points are zero and have no direction.</p>\n"));
        }
        for line in self.note_of_columns().into_iter().chain((!left.is_empty()).then_some(left)) {
            body.push_str(&format!("<p>{}.</p>\n", escape(&line)));
        }
        body.push_str("<h2>Pieces</h2>\n<p>Each holds at least its share of the points that the ones before left over. \
            The eigenvalues are those of (k/n) Σ u uᵀ over its n unit vectors u in k dimensions, recomputed from the points as given: \
            in position all are 1.</p>\n");
        let header = ["piece", "points", "dimensions", "least eigenvalue", "largest eigenvalue"];
        body.push_str(&table(&header, self.rows_of_pieces()));
        body.push_str("<h2>Directions</h2>\n");
        for figure in self.figures() {
            let caption = escape(&figure.caption);
            body.push_str(&format!(
                "<figure>{}<figcaption>{caption}</figcaption></figure>\n",
                figure.to_svg()
            ));
        }
        if let Some(piece) = self.parts.pieces().first() {
            let scatter = self.scatter(piece);
            let spread = |i: usize| {
                vec![self.names[i].clone(), format!("{:.3e}", scatter[i][i].max(0.0).sqrt())]
            };
            body.push_str("<h2>Scatter</h2>\n<p>The square root of the diagonal of Tyler's scatter matrix of the first piece (trace k): \
                the scale of each column, whatever its tails.</p>\n");
            body.push_str(&table(&["column", "scale"], (0..self.names.len()).map(spread)));
        }
        page(&format!("Position of {}", self.source), &body)
    }

    /// The first two coordinates of the first points of the first piece, scaled to length 1: before and after.
    fn figures(&self) -> Vec<Figure> {
        let Some(piece) = self.parts.pieces().first() else { return Vec::new() };
        if self.points.dim() < 2 || piece.transform.inner_dim() < 2 {
            return Vec::new();
        }
        let members = piece.subspace.members();
        let every = members.len().div_ceil(DRAWN);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for &row in members.iter().step_by(every) {
            let x = &self.points.as_slice()[row * self.points.dim()..][..self.points.dim()];
            let given: Vec<f64> = x.iter().zip(&self.units).map(|(x, unit)| x * unit).collect();
            // Of points as large as numbers go, too.
            let most = given.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            let norm = given.iter().map(|v| (v / most) * (v / most)).sum::<f64>().sqrt();
            before.push((given[0] / most / norm, given[1] / most / norm));
            match piece.transform.apply_row(x) {
                Ok(unit) => after.push((unit[0], unit[1])),
                Err(error) => unreachable!("members have a place in their subspace: {error}"),
            }
        }
        let figure = |name: &str, title: &str, colour, data, x: &str, y: &str| Figure {
            name: name.to_owned(),
            title: title.to_owned(),
            caption: format!(
                "The first two coordinates of {} points.",
                members.len().div_ceil(every)
            ),
            x: Axis::linear(x),
            y: Axis::linear(y),
            layers: vec![Layer::Points { name: "points".to_owned(), colour, data }],
        };
        vec![
            figure(
                "before",
                "As given, scaled to length 1",
                Colour::Orange,
                before,
                &self.names[0],
                &self.names[1],
            ),
            figure("after", "In position", Colour::Blue, after, "u1", "u2"),
        ]
    }
}
