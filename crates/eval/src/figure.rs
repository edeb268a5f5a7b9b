//! Figures: points, lines and bands on linear or logarithmic axes, drawn as SVG.
//!
//! The drawing is plotters'; a short style sheet in each file turns its colours over when the
//! reader's system is dark. Colours are Okabe and Ito's, which stay apart for colour-blind readers,
//! and every colour has its own marker.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;
use thiserror::Error;

/// A colour of the palette, with its marker.
///
/// ```
/// use halfspaces_eval::{Axis, Colour, Figure, Layer};
/// let svg = |colour| {
///     let layers = vec![Layer::Points { name: "p".into(), colour, data: vec![(2.0, 4.0)] }];
///     let (x, y) = (Axis::linear("x"), Axis::linear("y"));
///     Figure { name: "f".into(), caption: "c".into(), x, y, layers }.to_svg()
/// };
/// assert!(svg(Colour::Orange)?.contains("#E69F00") && !svg(Colour::Blue)?.contains("#E69F00"));
/// # Ok::<(), halfspaces_eval::FigureError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Circle.
    Blue,
    /// Triangle.
    Orange,
    /// Square.
    Green,
    /// Cross.
    Vermilion,
    /// Diamond.
    Purple,
    /// Ring.
    Sky,
    /// The colour of text: for bounds.
    Ink,
}

const PAPER: RGBColor = RGBColor(255, 255, 254);
const INK: RGBColor = RGBColor(31, 35, 40);
const FAINT: RGBColor = RGBColor(222, 226, 231);

/// Colours for dark screens, laid over the attributes plotters writes.
const STYLE: &str = "<style>@media (prefers-color-scheme: dark){\
[fill=\"#FFFFFE\"]{fill:#15191f}[stroke=\"#FFFFFE\"]{stroke:#15191f}\
[fill=\"#1F2328\"]{fill:#e6e9ee}[stroke=\"#1F2328\"]{stroke:#e6e9ee}\
[fill=\"#DEE2E7\"]{fill:#2c333c}[stroke=\"#DEE2E7\"]{stroke:#2c333c}\
[fill=\"#0072B2\"]{fill:#4aa8e0}[stroke=\"#0072B2\"]{stroke:#4aa8e0}\
[fill=\"#009E73\"]{fill:#3ccf9f}[stroke=\"#009E73\"]{stroke:#3ccf9f}\
[fill=\"#D55E00\"]{fill:#ff8b4d}[stroke=\"#D55E00\"]{stroke:#ff8b4d}\
}text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Liberation Sans\",sans-serif}</style>";

impl Colour {
    fn rgb(self) -> RGBColor {
        match self {
            Colour::Blue => RGBColor(0, 114, 178),
            Colour::Orange => RGBColor(230, 159, 0),
            Colour::Green => RGBColor(0, 158, 115),
            Colour::Vermilion => RGBColor(213, 94, 0),
            Colour::Purple => RGBColor(204, 121, 167),
            Colour::Sky => RGBColor(86, 180, 233),
            Colour::Ink => INK,
        }
    }
}

/// How an axis is divided.
///
/// ```
/// use halfspaces_eval::{Axis, AxisScale, Colour, Figure, Layer};
/// let svg = |scale, y| {
///     let data = vec![(1.0, 1.0), (2.0, 100.0), (3.0, y)];
///     let layers = vec![Layer::Points { name: "p".into(), colour: Colour::Blue, data }];
///     let (x, y) = (Axis::linear("x"), Axis { label: "y".into(), scale });
///     Figure { name: "f".into(), caption: "c".into(), x, y, layers }.to_svg()
/// };
/// // Powers have no place for 0 nor for what is below it: both are drawn at the edge.
/// assert!(svg(AxisScale::Log, 0.0)? == svg(AxisScale::Log, -5.0)?);
/// assert!(svg(AxisScale::Linear, 0.0)? != svg(AxisScale::Linear, -5.0)?);
/// # Ok::<(), halfspaces_eval::FigureError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisScale {
    /// Evenly.
    Linear,
    /// By powers; values at or below zero are drawn at the lower edge.
    Log,
}

/// An axis.
///
/// ```
/// use halfspaces_eval::{Axis, Figure};
/// let (x, y) = (Axis::log("examples"), Axis::linear("time / s"));
/// let figure = Figure { name: "f".into(), caption: "c".into(), x, y, layers: vec![] };
/// assert!(figure.to_svg()?.contains("time / s"));
/// # Ok::<(), halfspaces_eval::FigureError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Its label, with the unit if there is one.
    pub label: String,
    /// Its scale.
    pub scale: AxisScale,
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub fn linear(label: &str) -> Axis {
        Axis { label: label.into(), scale: AxisScale::Linear }
    }

    /// A logarithmic axis.
    #[must_use]
    pub fn log(label: &str) -> Axis {
        Axis { label: label.into(), scale: AxisScale::Log }
    }
}

/// One series of a figure. Layers of the same name share one legend entry.
///
/// ```
/// use halfspaces_eval::{Axis, Colour, Figure, Layer};
/// let (name, colour) = (String::from("perceptron"), Colour::Blue);
/// let points = Layer::Points { name: name.clone(), colour, data: vec![(2.0, 4.0), (4.0, 16.0)] };
/// let band = Layer::Band { name, colour, data: vec![(2.0, 3.0, 5.0), (4.0, 14.0, 18.0)] };
/// let (x, y, layers) = (Axis::log("1/γ"), Axis::log("mistakes"), vec![band, points]);
/// let figure = Figure { name: "f".into(), caption: "c".into(), x, y, layers };
/// assert_eq!(figure.to_svg()?.matches("perceptron").count(), 1); // in the legend
/// # Ok::<(), halfspaces_eval::FigureError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// Markers.
    Points {
        /// Name in the legend.
        name: String,
        /// Colour.
        colour: Colour,
        /// (x, y) pairs.
        data: Vec<(f64, f64)>,
    },
    /// A line through the points in order.
    Line {
        /// Name in the legend.
        name: String,
        /// Colour.
        colour: Colour,
        /// Whether it is dashed (bounds are).
        dashed: bool,
        /// (x, y) pairs.
        data: Vec<(f64, f64)>,
    },
    /// The area between two curves.
    Band {
        /// Name in the legend.
        name: String,
        /// Colour.
        colour: Colour,
        /// (x, low, high) triples.
        data: Vec<(f64, f64, f64)>,
    },
}

/// A figure.
///
/// ```
/// use halfspaces_eval::{Axis, Colour, Figure, Layer};
/// let figure = Figure {
///     name: "growth".into(),
///     caption: "Mistakes grow with 1/γ².".into(),
///     x: Axis::log("1/γ"),
///     y: Axis::log("mistakes"),
///     layers: vec![Layer::Points {
///         name: "perceptron".into(),
///         colour: Colour::Blue,
///         data: vec![(2.0, 4.0), (4.0, 16.0)],
///     }],
/// };
/// assert!(figure.to_svg()?.starts_with("<svg"));
/// # Ok::<(), halfspaces_eval::FigureError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// File name without ending.
    pub name: String,
    /// What to see.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, in order.
    pub layers: Vec<Layer>,
}

/// A figure could not be drawn.
///
/// ```
/// use halfspaces_eval::FigureError;
/// let error = FigureError { name: "growth".into(), reason: "no font".into() };
/// assert_eq!(error.to_string(), "figure growth: no font");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("figure {name}: {reason}")]
pub struct FigureError {
    /// The figure.
    pub name: String,
    /// What the drawing library says.
    pub reason: String,
}

const WIDTH: u32 = 720;
const PLOT_HEIGHT: u32 = 400;
const LEGEND_ROW: u32 = 24;
/// Estimated width of a character of the legend, in pixels.
const LEGEND_CHARACTER: u32 = 8;
const FONT: u32 = 15;

/// An axis laid out, as plotters wants it: data values in, pixels out.
#[derive(Clone)]
struct Laid {
    log: bool,
    /// Ends of the axis, as powers of ten when `log`.
    low: f64,
    high: f64,
    /// (value, label)
    ticks: Vec<(f64, String)>,
}

impl Laid {
    fn new(scale: AxisScale, values: impl Iterator<Item = f64>) -> Laid {
        let log = scale == AxisScale::Log;
        let usable = |v: &f64| v.is_finite() && (!log || *v > 0.0);
        let place = |v: f64| if log { v.log10() } else { v };
        let range = values.filter(usable).map(place).fold(None, |range, v| match range {
            None => Some((v, v)),
            Some((low, high)) => Some((v.min(low), v.max(high))),
        });
        let (least, most) = range.unwrap_or((0.0, 1.0));
        // Halved first: the width of an axis may exceed f64.
        let pad = if most > least {
            (most / 2.0 - least / 2.0) * 0.1
        } else {
            0.5 * least.abs().max(0.5)
        };
        let high = (most + pad).min(f64::MAX);
        let mut low = (least - pad).max(f64::MIN);
        // A linear axis of counts or ratios starts at 0 when that is near.
        if !log && least >= 0.0 && low < 0.3 * high {
            low = 0.0;
        }
        let ticks = if log { log_ticks(low, high) } else { linear_ticks(low, high) };
        Laid { log, low, high, ticks }
    }

    /// Where along the axis a value lies, from 0 to 1.
    fn place(&self, v: f64) -> f64 {
        let at = match (self.log, v > 0.0) {
            (false, _) => v,
            (true, true) => v.log10(),
            (true, false) => self.low,
        };
        // Halved for the same reason as above; NaN ends at the lower edge.
        let share = (at / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }
}

impl Ranged for Laid {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (f64::from(to - from) * self.place(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|(at, _)| *at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Laid {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(at, _)| at.total_cmp(value).is_eq());
        tick.map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, about six of them.
fn linear_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = high / 6.0 - low / 6.0;
    // Too narrow a span for numbers to tell its ticks apart.
    if rough <= 1e-12 * high.abs().max(low.abs()).max(1e-280) {
        return vec![(low, format!("{low:e}"))];
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough);
    let step = step.unwrap_or(10.0 * power);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let shown = |v: f64| match decimals {
        0..=9 => format!("{v:.decimals$}"),
        _ => format!("{v:.1e}"),
    };
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last.min(first + 20)).map(|i| (i as f64 * step, shown(i as f64 * step))).collect()
}

/// Powers of ten, every second or fourth if there are many, with 2 and 5 between if there are few.
fn log_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let decades = high - low;
    let every = ((decades / 7.0).ceil() as i64).max(1);
    let within = |p: i64, m: f64| (m * 10f64.powi(p as i32), power_label(p, m));
    let between: &[f64] = if decades <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let powers = low.floor() as i64..=high.ceil() as i64;
    powers
        .filter(|p| p % every == 0)
        .flat_map(|p| between.iter().map(move |m| within(p, *m)))
        .filter(|(at, _)| (low..=high).contains(&at.log10()))
        .collect()
}

fn power_label(power: i64, times: f64) -> String {
    if (-3..=4).contains(&power) {
        let decimals = (-power).max(0) as usize;
        return format!("{:.decimals$}", times * 10f64.powi(power as i32));
    }
    let raised = |c: char| match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    };
    let exponent: String = power.to_string().chars().map(raised).collect();
    if times > 1.0 { format!("{times}·10{exponent}") } else { format!("10{exponent}") }
}

impl Layer {
    fn name(&self) -> &str {
        match self {
            Layer::Points { name, .. } | Layer::Line { name, .. } | Layer::Band { name, .. } => {
                name
            }
        }
    }

    fn corners(&self) -> Vec<(f64, f64)> {
        match self {
            Layer::Points { data, .. } | Layer::Line { data, .. } => data.clone(),
            Layer::Band { data, .. } => {
                data.iter().flat_map(|(x, low, high)| [(*x, *low), (*x, *high)]).collect()
            }
        }
    }
}

/// The marker of a colour, centred at `(x, y)` in pixels.
fn marker(colour: Colour, (x, y): (i32, i32)) -> Vec<(i32, i32)> {
    match colour {
        Colour::Orange => vec![(x, y - 5), (x + 5, y + 4), (x - 5, y + 4)],
        Colour::Green => vec![(x - 4, y - 4), (x + 4, y - 4), (x + 4, y + 4), (x - 4, y + 4)],
        Colour::Purple => vec![(x, y - 6), (x + 5, y), (x, y + 6), (x - 5, y)],
        Colour::Vermilion => vec![(x, y + 5), (x + 5, y - 4), (x - 5, y - 4)],
        _ => vec![],
    }
}

fn draw_marker<DB: DrawingBackend>(
    area: &DrawingArea<DB, plotters::coord::Shift>,
    colour: Colour,
    at: (i32, i32),
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let fill = colour.rgb().mix(0.75).filled();
    match colour {
        Colour::Sky => area.draw(&Circle::new(at, 4, colour.rgb().stroke_width(2))),
        Colour::Blue | Colour::Ink => area.draw(&Circle::new(at, 4, fill)),
        _ => area.draw(&Polygon::new(marker(colour, at), fill)),
    }
}

impl Figure {
    /// The figure as an SVG file.
    ///
    /// # Errors
    /// [`FigureError`] with what the drawing library reports.
    pub fn to_svg(&self) -> Result<String, FigureError> {
        self.draw().map_err(|reason| FigureError { name: self.name.clone(), reason })
    }

    fn draw(&self) -> Result<String, String> {
        let corners: Vec<(f64, f64)> = self.layers.iter().flat_map(Layer::corners).collect();
        let x = Laid::new(self.x.scale, corners.iter().map(|c| c.0));
        let y = Laid::new(self.y.scale, corners.iter().map(|c| c.1));
        let legend = self.legend();
        let height = PLOT_HEIGHT + LEGEND_ROW * legend.len() as u32;

        let mut svg = String::new();
        {
            let text = |e: DrawingAreaErrorKind<_>| e.to_string();
            let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
            root.fill(&PAPER).map_err(text)?;
            let (plot, below) = root.split_vertically(PLOT_HEIGHT);
            let font = ("sans-serif", FONT).into_font().color(&INK);
            let mut chart = ChartBuilder::on(&plot)
                .margin(10)
                .margin_right(24)
                .x_label_area_size(46)
                .y_label_area_size(70)
                .build_cartesian_2d(x, y)
                .map_err(text)?;
            chart
                .configure_mesh()
                .x_desc(self.x.label.as_str())
                .y_desc(self.y.label.as_str())
                .label_style(font.clone())
                .axis_desc_style(font.clone())
                .axis_style(INK)
                .bold_line_style(FAINT)
                .light_line_style(TRANSPARENT)
                .draw()
                .map_err(text)?;
            if corners.is_empty() {
                let middle = font.clone().pos(Pos::new(HPos::Center, VPos::Center));
                let at = (WIDTH as i32 / 2, PLOT_HEIGHT as i32 / 2);
                plot.draw(&Text::new("no trials yet", at, middle)).map_err(text)?;
            }
            for layer in &self.layers {
                match layer {
                    Layer::Band { colour, data, .. } => {
                        let upper = data.iter().map(|(at, _, high)| (*at, *high));
                        let lower = data.iter().rev().map(|(at, low, _)| (*at, *low));
                        let area = Polygon::new(
                            upper.chain(lower).collect::<Vec<_>>(),
                            colour.rgb().mix(0.2).filled(),
                        );
                        chart.draw_series(std::iter::once(area)).map_err(text)?;
                    }
                    Layer::Line { colour, dashed, data, .. } => {
                        let path = data.iter().copied();
                        let style = colour.rgb().stroke_width(2);
                        if *dashed {
                            chart
                                .draw_series(DashedLineSeries::new(path, 7, 5, style))
                                .map_err(text)?;
                        } else {
                            chart.draw_series(LineSeries::new(path, style)).map_err(text)?;
                        }
                    }
                    Layer::Points { colour, data, .. } => {
                        for at in data {
                            let at = chart.backend_coord(at);
                            draw_marker(&plot, *colour, at).map_err(text)?;
                        }
                    }
                }
            }
            for (row, entries) in legend.iter().enumerate() {
                let mut left = 80;
                let middle = (row as u32 * LEGEND_ROW) as i32 + 8;
                for layer in entries {
                    self.draw_legend_entry(&below, layer, (left, middle)).map_err(text)?;
                    let name = font.clone().pos(Pos::new(HPos::Left, VPos::Center));
                    below
                        .draw(&Text::new(layer.name().to_owned(), (left + 32, middle), name))
                        .map_err(text)?;
                    left += legend_width(layer.name()) as i32;
                }
            }
            root.present().map_err(text)?;
        }
        Ok(self.themed(&svg))
    }

    fn draw_legend_entry<DB: DrawingBackend>(
        &self,
        area: &DrawingArea<DB, plotters::coord::Shift>,
        layer: &Layer,
        (left, middle): (i32, i32),
    ) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
        let ends = [(left, middle), (left + 26, middle)];
        match layer {
            Layer::Points { colour, .. } => draw_marker(area, *colour, (left + 13, middle)),
            Layer::Line { colour, dashed: false, .. } => {
                area.draw(&PathElement::new(ends, colour.rgb().stroke_width(2)))
            }
            Layer::Line { colour, .. } => [0, 10, 20].into_iter().try_for_each(|from| {
                let dash = [(left + from, middle), (left + from + 6, middle)];
                area.draw(&PathElement::new(dash, colour.rgb().stroke_width(2)))
            }),
            Layer::Band { colour, .. } => {
                let box_ends = [(left, middle - 6), (left + 26, middle + 6)];
                area.draw(&Rectangle::new(box_ends, colour.rgb().mix(0.2).filled()))
            }
        }
    }

    /// The layers with distinct names, in rows that fit the width.
    fn legend(&self) -> Vec<Vec<&Layer>> {
        let mut rows: Vec<Vec<&Layer>> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        let mut used = 0;
        for layer in &self.layers {
            if seen.contains(&layer.name()) {
                continue;
            }
            seen.push(layer.name());
            let width = legend_width(layer.name());
            match rows.last_mut() {
                Some(row) if used + width <= WIDTH - 90 => row.push(layer),
                _ => {
                    rows.push(vec![layer]);
                    used = 0;
                }
            }
            used += width;
        }
        rows
    }

    /// Adds the style sheet and the text for those who cannot see the figure.
    fn themed(&self, svg: &str) -> String {
        // XML has no way to write control characters.
        let plain: String = self.caption.chars().filter(|c| !c.is_control()).collect();
        let escaped = plain.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        match svg.split_once('>') {
            Some((open, rest)) => {
                format!("{open} role=\"img\" aria-label=\"{escaped}\">\n{STYLE}{rest}")
            }
            None => svg.into(),
        }
    }
}

fn legend_width(name: &str) -> u32 {
    32 + 18 + LEGEND_CHARACTER * name.chars().count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<(f64, String)>) -> Vec<String> {
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(labels(linear_ticks(0.0, 1.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(linear_ticks(-3.0, 47.0)), ["0", "10", "20", "30", "40"]);
        assert_eq!(labels(log_ticks(-1.1, 2.1)), ["0.1", "1", "10", "100"]);
        assert_eq!(labels(log_ticks(0.9, 2.1)), ["10", "20", "50", "100"]);
        assert_eq!(labels(log_ticks(4.5, 6.9)), ["10⁵", "10⁶"]);
        assert!(log_ticks(-20.0, 20.0).len() <= 8);
    }

    #[test]
    fn odd_data_is_drawn_without_panic() {
        let figure = |data: Vec<(f64, f64)>| Figure {
            name: "f".into(),
            caption: "a < b & \"c\"".into(),
            x: Axis::log("x"),
            y: Axis::linear("y"),
            layers: vec![
                Layer::Line {
                    name: "l".into(),
                    colour: Colour::Ink,
                    dashed: true,
                    data: data.clone(),
                },
                Layer::Band {
                    name: "b".into(),
                    colour: Colour::Sky,
                    data: data.iter().map(|(x, y)| (*x, *y, y + 1.0)).collect(),
                },
                Layer::Points { name: "p".into(), colour: Colour::Purple, data },
            ],
        };
        for data in [
            vec![],
            vec![(1.0, 1.0)],
            vec![(0.0, 0.0), (-1.0, 5.0)],
            vec![(1e-300, -1e300), (1e300, 1e300)],
            vec![(f64::NAN, f64::INFINITY), (1.0, 2.0)],
            vec![(1.0, 0.0), (2.0, 1e-323)],
            vec![(1.0, 1.0), (2.0, 1.0 + 1e-15)],
        ] {
            let svg = figure(data.clone()).to_svg().unwrap();
            assert!(svg.contains("a &lt; b &amp; &quot;c&quot;"));
            assert_eq!(svg.contains("no trials yet"), data.is_empty());
            assert!(!svg.contains("NaN") && svg.trim_end().ends_with("</svg>"));
        }
    }

    #[test]
    fn a_legend_breaks_into_rows_and_names_each_series_once() {
        let layer = |name: &str| Layer::Points {
            name: name.into(),
            colour: Colour::Blue,
            data: vec![(1.0, 1.0)],
        };
        let long = "a rather long name of a learner and its order";
        let figure = Figure {
            name: "f".into(),
            caption: String::new(),
            x: Axis::linear("x"),
            y: Axis::linear("y"),
            layers: vec![
                layer(long),
                layer(long),
                layer("b"),
                layer("another quite long name here"),
            ],
        };
        let rows: Vec<usize> = figure.legend().iter().map(Vec::len).collect();
        assert_eq!(rows.iter().sum::<usize>(), 3);
        assert_eq!(rows.len(), 2);
    }
}
