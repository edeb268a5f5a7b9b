//! `transform`: brings points into radially isotropic position.

use crate::error::CliError;
use crate::html::{escape, page, table};
use crate::input::InputArgs;
use crate::output::{aligned, check_targets, note, print, print_json, write_file};
use crate::progress::Progress;
use crate::recipe::ColumnArgs;
use clap::Args;
use halfspaces_eval::{Axis, Colour, Figure, Layer};
use halfspaces_forster::{
    Accuracy, Decomposition, ForsterError, ForsterTransform, Normalisation, Position, Reason,
};
use halfspaces_frame::{Block, Frame, Values, first_of};
use halfspaces_linalg::{Params, PointSet, Points, Threads};
use halfspaces_pipeline::{Recipe, RecipeOptions, Unseen};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum number of points drawn in a figure.
const DRAWN: usize = 1000;
/// Number of significant digits of a scale.
const DIGITS: i32 = 4;
/// Maximum number of pieces listed in a report.
const LISTED: usize = 50;

/// Number of corners of a drawn circle.
const CORNERS: u32 = 90;

/// The columns of the table of pieces.
const PIECES: [&str; 5] =
    ["piece", "points", "dimensions", "least eigenvalue", "largest eigenvalue"];

/// The uses of radially isotropic position, as HTML.
const WHY: &str = "In radially isotropic position, no direction has more weight than another, whatever the units and the \
    correlations of the columns. Learners that depend on lengths and angles, such as the perceptron, then make fewer \
    mistakes, and each halfspace in the new coordinates is also a halfspace in the old ones. The transform also gives \
    an estimate of the covariance that heavy tails do not distort.";

const EXAMPLES: &str = "\
Examples:
  halfspaces transform data.csv --drop label -o points.csv
  halfspaces transform data.npy --center --html report.html --matrix matrix.csv --scatter scatter.csv
  halfspaces transform data.csv --drop label --json > position.json";

/// Bring points into radially isotropic position, or find subspaces that contain too many of them.
///
/// A linear map brings n points in d dimensions into radially isotropic position if (d/n) Σ u uᵀ is the identity
/// matrix, where each u is a mapped point that was scaled to length 1. If a subspace of k dimensions contains more than
/// k n / d of the points, no such map exists. The points are then split into pieces, and each piece is brought into
/// position within its subspace.
///
/// In this position, no direction has more weight than another, whatever the units and the correlations of the columns.
/// Learners that depend on lengths and angles, such as the perceptron, then make fewer mistakes, and each halfspace in
/// the new coordinates is also a halfspace in the old ones. The scatter matrix is an estimate of the covariance that
/// heavy tails do not distort.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TransformArgs {
    /// First subtract the median of each column
    #[arg(long)]
    center: bool,
    /// Maximum difference between 1 and an eigenvalue of (d/n) Σ u uᵀ
    #[arg(long, value_name = "DELTA", default_value_t = 1e-6, allow_negative_numbers = true)]
    accuracy: f64,
    /// Write the transformed points, scaled to length 1, as CSV with the columns row (counted from 0), piece and
    /// coordinates
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
    /// Write the matrix A of the first piece as CSV, one row per column of DATA
    #[arg(long, value_name = "FILE")]
    matrix: Option<PathBuf>,
    /// Write Tyler's scatter matrix of the first piece as CSV
    #[arg(long, value_name = "FILE")]
    scatter: Option<PathBuf>,
    /// Write an HTML report with figures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print pieces, certificates and transforms as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    columns: ColumnArgs,
}

/// The result of a transform, with its input.
struct Transformed {
    source: String,
    points: Points,
    names: Vec<String>,
    parts: Decomposition,
    center: Option<Vec<f64>>,
    /// Columns that are ignored: constant columns with --center, columns of zeros without it.
    left_out: Vec<String>,
    /// Powers of two by which the coordinates of `points` were divided, so that rounding does not depend on the units
    /// of columns.
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
    let found = transform(args, frame)?;
    drop(progress);
    let first = found.parts.pieces().first();
    if first.is_none() && (args.matrix.is_some() || args.scatter.is_some()) {
        return Err(CliError::user(format!(
            "{}: no position was found, so there is no matrix to write: {}",
            found.source,
            found.remainder()
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
        let html = found.html();
        write_file(path, force, |out| out.write_all(html.as_bytes()))?;
        note(&format!("report written to {}", path.display()));
    }
    if args.json { print_json(&found.json()) } else { print(&found.text()) }
}

fn transform(args: &TransformArgs, frame: Frame) -> Result<Transformed, CliError> {
    let columns =
        RecipeOptions { keep_constant: !args.center, median_only: true, ..args.columns.options() };
    let (recipe, notes) = Recipe::fit(&frame, &columns)?;
    notes.iter().for_each(|text| note(&format!("note: {text}")));
    note_missing(&frame, &recipe);
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
            ForsterError::NoDirection { .. } => "; omit --center, or use other columns",
            _ => "",
        };
        CliError::user(format!("{source}: {error}{advice}"))
    };
    let parts = solver.decompose(&points).map_err(failed)?;
    Ok(Transformed { source, points, names, parts, center, left_out, units })
}

/// Prints a note for each column of the recipe with missing values, which are replaced because a direction needs all
/// coordinates.
fn note_missing(frame: &Frame, recipe: &Recipe) {
    const LISTED_NAMES: usize = 5;
    let used: HashSet<String> = recipe.kinds().into_iter().map(|(name, _)| name).collect();
    for column in frame.columns.iter().filter(|column| used.contains(&column.name)) {
        let what = match column.values {
            Values::Numbers(_) => "missing numbers are replaced by the median",
            Values::Moments(_) => "missing dates are replaced by the median",
            Values::Texts(_) => "missing values count as a category of their own",
        };
        let missing = column.values.missing();
        if missing > 0 {
            note(&format!("note: {}, column `{}`: {missing} {what}", frame.source, column.name));
        }
    }
    let Some(block @ Block::Dense { .. }) = &frame.block else { return };
    let has_gap = |place: &usize| block.column(*place).iter().any(|value| value.is_nan());
    let names = (0..block.dim()).filter(has_gap).map(|place| block.name(place));
    let names: Vec<String> = names.filter(|name| used.contains(name)).collect();
    if !names.is_empty() {
        note(&format!(
            "note: {}: missing numbers are replaced by the median in the columns {}",
            frame.source,
            first_of(names, LISTED_NAMES)
        ));
    }
}

/// A positive number with [`DIGITS`] significant digits, with an exponent only if it is very large or small.
fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.log10().floor() as i32;
    if !(-7..=8).contains(&magnitude) {
        return format!("{value:.*e}", DIGITS as usize - 1);
    }
    format!("{value:.*}", (DIGITS - 1 - magnitude).max(0) as usize)
}

/// The rows of a matrix with these entries.
fn rows(nrows: usize, ncols: usize, at: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    (0..nrows).map(|i| (0..ncols).map(|j| at(i, j)).collect()).collect()
}

/// The unit of each column: the largest power of two that is at most the largest absolute value of the column.
fn units(points: &Points) -> Vec<f64> {
    let mut largest = vec![0.0f64; points.dim()];
    for row in points.as_slice().chunks_exact(points.dim()) {
        largest.iter_mut().zip(row).for_each(|(most, x)| *most = most.max(x.abs()));
    }
    // Subnormal columns are not scaled: dividing by their unit could overflow.
    let unit = |most: f64| if most >= f64::MIN_POSITIVE { most.log2().floor().exp2() } else { 1.0 };
    largest.into_iter().map(unit).collect()
}

/// The median of each column. For an even number of rows, it is the mean of the middle two values.
fn medians(points: &Points) -> Vec<f64> {
    let (values, dim) = (points.as_slice(), points.dim());
    let median = |j: usize| {
        let mut column: Vec<f64> = values.iter().skip(j).step_by(dim).copied().collect();
        let (middle, is_even) = (column.len() / 2, column.len().is_multiple_of(2));
        let (below, median, _) = column.select_nth_unstable_by(middle, f64::total_cmp);
        match below.iter().copied().max_by(f64::total_cmp) {
            Some(lower) if is_even => lower / 2.0 + *median / 2.0,
            _ => *median,
        }
    };
    (0..dim).map(median).collect()
}

impl Transformed {
    /// The matrix A of a piece, for points in the original units.
    fn matrix(&self, piece: &Position) -> Vec<Vec<f64>> {
        let matrix = piece.transform.matrix();
        rows(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)] / self.units[i])
    }

    /// Tyler's scatter matrix of a piece in the original units; its trace is the dimension of the piece.
    fn scatter(&self, piece: &Position) -> Vec<Vec<f64>> {
        let scatter = piece.transform.scatter(Normalisation::Trace);
        // Divides by the largest square root of a diagonal entry, so that no square overflows and the trace is at least
        // 1.
        let roots =
            self.units.iter().enumerate().map(|(i, unit)| unit * scatter[(i, i)].max(0.0).sqrt());
        let most = roots.fold(f64::MIN_POSITIVE, f64::max);
        let unit = |i: usize| self.units[i] / most;
        // A column that is zero on the subspace of the piece contributes nothing, however large its unit.
        let of = |i: usize, j: usize| match scatter[(i, j)] {
            s if s.abs() > 0.0 => s * unit(i) * unit(j),
            _ => 0.0,
        };
        let trace: f64 = (0..scatter.nrows()).map(|i| of(i, i)).sum();
        let factor = piece.transform.inner_dim() as f64 / trace;
        let dim = scatter.nrows();
        rows(dim, dim, |i, j| factor * of(i, j))
    }

    /// The note on ignored columns, if there are any.
    fn note_of_columns(&self) -> Option<String> {
        let names = self.left_out.join(", ");
        (!names.is_empty()).then(|| format!("constant columns are ignored: {names}"))
    }

    /// The piece of each row, and the unit vector of the row in that piece; `None` for a row that is in no piece.
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

    /// Writes a matrix with one row per column of the table.
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
                "{} of them lie in a subspace of {} dimensions, so the points are split into pieces",
                first.subspace.members().len(),
                first.transform.inner_dim()
            ),
        };
        format!("{rows} points in {dim} dimensions: {what}")
    }

    /// The number of points that were not brought into radially isotropic position, and the reason; empty if there are
    /// none.
    fn remainder(&self) -> String {
        let why = match self.parts.reason() {
            None => return String::new(),
            Some(Reason::IterationCap) => "the maximum number of iterations was reached",
            Some(Reason::ConditionCap) => {
                "the transform degenerates, because points lie near a subspace but not in it"
            }
            Some(Reason::Stalled) => {
                "rounding errors exceed the requested accuracy; pass a larger --accuracy"
            }
            Some(Reason::CertificateMissed) => {
                "the certificate misses the requested accuracy because of rounding; pass a larger --accuracy"
            }
        };
        format!(
            "{} points are not in radially isotropic position: {why}",
            self.parts.unplaced().len()
        )
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
        let mut lines = vec![format!("{}: {}", self.source, self.summary())];
        let mut pieces = vec![PIECES.map(str::to_owned).to_vec()];
        pieces.extend(self.rows_of_pieces());
        lines.extend(aligned(&pieces));
        lines.extend(self.notes());
        lines.join("\n") + "\n"
    }

    /// Notes on zero points, ignored columns and points that are not in radially isotropic position.
    fn notes(&self) -> Vec<String> {
        let (zeros, remainder) = (self.parts.zero_rows().len(), self.remainder());
        let mut notes = Vec::new();
        notes.extend((zeros > 0).then(|| format!("{zeros} points are zero and have no direction")));
        notes.extend(self.note_of_columns());
        notes.extend((!remainder.is_empty()).then_some(remainder));
        notes
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
            "why_left": self.parts.reason().map(|_| self.remainder()),
        })
    }

    fn html(&self) -> String {
        let mut body = format!("<p>{}.</p>\n<p>{WHY}</p>\n", escape(&self.summary()));
        for line in self.notes() {
            body.push_str(&format!("<p>{}.</p>\n", escape(&line)));
        }
        body.push_str("<h2>Pieces</h2>\n<p>A piece of k dimensions contains at least the fraction k/d of the points \
        that remain when the pieces above it are removed, where d is the dimension of these points. The eigenvalues \
        are those of (k/n) Σ u uᵀ over the n unit vectors u of the piece, recomputed from the input; in radially \
        isotropic position, all of them are 1.</p>\n");
        body.push_str(&table(&PIECES, self.rows_of_pieces()));
        let figures = self.figures();
        if let Some(Figure { caption, .. }) = figures.first() {
            let drawn: String = figures.iter().map(Figure::to_square_svg).collect();
            let caption = escape(caption);
            body.push_str(&format!(
                "<h2>Directions</h2>\n<figure><div class=\"pair\">{drawn}</div><figcaption>{caption}</figcaption></figure>\n"
            ));
        }
        if let Some(piece) = self.parts.pieces().first() {
            let scatter = self.scatter(piece);
            let spread =
                |i: usize| vec![self.names[i].clone(), significant(scatter[i][i].max(0.0).sqrt())];
            body.push_str("<h2>Scatter</h2>\n<p>The scale of a column is the square root of its diagonal entry in Tyler's \
                scatter matrix of the first piece. The trace of this matrix is k. Only ratios of scales have a meaning. \
                They are robust to heavy tails.</p>\n");
            body.push_str(&table(&["column", "scale"], (0..self.names.len()).map(spread)));
        }
        page(&format!("Radially isotropic position of {}", self.source), &body)
    }

    /// The first two coordinates of points of the first piece, scaled to length 1, before and after the transform. If
    /// there are too many points, the drawn points are evenly spaced in the order of the rows.
    fn figures(&self) -> Vec<Figure> {
        let Some(piece) = self.parts.pieces().first() else { return Vec::new() };
        if self.points.dim() < 2 || piece.transform.inner_dim() < 2 {
            return Vec::new();
        }
        let members = piece.subspace.members();
        let drawn = members.len().min(DRAWN);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for &row in (0..drawn).map(|at| &members[at * members.len() / drawn]) {
            let x = &self.points.as_slice()[row * self.points.dim()..][..self.points.dim()];
            let given: Vec<f64> = x.iter().zip(&self.units).map(|(x, unit)| x * unit).collect();
            // Divides by the largest coordinate first, so that no square overflows.
            let largest = given.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            let norm = given.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt();
            before.push((given[0] / largest / norm, given[1] / largest / norm));
            match piece.transform.apply_row(x) {
                Ok(unit) => after.push((unit[0], unit[1])),
                Err(error) => unreachable!("members have a place in their subspace: {error}"),
            }
        }
        let part = if drawn < members.len() { format!("{drawn} of") } else { "all".to_owned() };
        let dim = piece.transform.inner_dim();
        let caption = format!(
            "The first two coordinates of {part} {} points, scaled to length 1. The dashed circle has the radius √(2/{dim}), \
             which is the root mean square of the distance from the origin in radially isotropic position.",
            members.len()
        );
        let radius = (2.0 / dim as f64).sqrt();
        let angle = |at: u32| f64::from(at) * std::f64::consts::TAU / f64::from(CORNERS);
        let circle = |at| (radius * angle(at).cos(), radius * angle(at).sin());
        let figure = |name: &str, title: &str, colour, data, x: &str, y: &str| Figure {
            name: name.to_owned(),
            title: title.to_owned(),
            caption: caption.clone(),
            x: Axis::linear(x),
            y: Axis::linear(y),
            layers: vec![
                Layer::Points { name: "points".to_owned(), colour, data },
                Layer::Line {
                    name: "distance in position".to_owned(),
                    colour: Colour::Ink,
                    dashed: true,
                    data: (0..=CORNERS).map(circle).collect(),
                },
            ],
        };
        vec![
            figure(
                "before",
                "Before the transform",
                Colour::Orange,
                before,
                &self.names[0],
                &self.names[1],
            ),
            figure("after", "After the transform", Colour::Blue, after, "u1", "u2"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_four_rows_is_the_mean_of_the_middle_two() {
        let rows = vec![4.0, -2.0, 1.0, 5.0, 3.0, -1.0, 100.0, -1.0];
        let points = Points::new(rows, 2).unwrap();
        assert_eq!(medians(&points), [3.5, -1.0]);
        let odd = Points::new(vec![4.0, 1.0, 3.0], 1).unwrap();
        assert_eq!(medians(&odd), [3.0]);
    }

    #[test]
    fn scales_have_four_digits() {
        for (value, text) in [
            (3.295, "3.295"),
            (0.0, "0"),
            (0.000_123_46, "0.0001235"),
            (0.000_012_35, "0.00001235"),
            (1.5e-8, "1.500e-8"),
            (329.53, "329.5"),
            (123_456.0, "123456"),
            (1.5e12, "1.500e12"),
        ] {
            assert_eq!(significant(value), text);
        }
    }
}
