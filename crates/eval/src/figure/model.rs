//! The content of a figure.

/// A colour of the palette, with its marker.
///
/// ```
/// use halfspaces_eval::{Axis, Colour, Figure, Layer};
/// let svg = |colour| {
///     let layers = vec![Layer::Points { name: "p".into(), colour, data: vec![(2.0, 4.0)] }];
///     let (x, y) = (Axis::linear("x"), Axis::linear("y"));
///     Figure { name: "f".into(), title: "t".into(), caption: "c".into(), x, y, layers }.to_svg()
/// };
/// assert!(svg(Colour::Orange).contains("mark orange") && !svg(Colour::Blue).contains("mark orange"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Blue, with a circle as its marker.
    Blue,
    /// Orange, with a triangle as its marker.
    Orange,
    /// Green, with a square as its marker.
    Green,
    /// Vermilion, with a triangle that points down as its marker.
    Vermilion,
    /// Purple, with a diamond as its marker.
    Purple,
    /// Sky blue, with a ring as its marker.
    Sky,
    /// Grey, with a cross as its marker.
    Grey,
    /// The colour of text, which is used for bounds.
    Ink,
}

/// The scale of an axis.
///
/// ```
/// use halfspaces_eval::{Axis, AxisScale, Colour, Figure, Layer};
/// let svg = |scale, y| {
///     let data = vec![(1.0, 1.0), (2.0, 100.0), (3.0, y)];
///     let layers = vec![Layer::Points { name: "p".into(), colour: Colour::Blue, data }];
///     let (x, y) = (Axis::linear("x"), Axis { label: "y".into(), scale });
///     Figure { name: "f".into(), title: "t".into(), caption: "c".into(), x, y, layers }.to_svg()
/// };
/// // A logarithmic axis cannot show values of at most 0: they are drawn at the edge.
/// assert!(svg(AxisScale::Log, 0.0) == svg(AxisScale::Log, -5.0));
/// assert!(svg(AxisScale::Linear, 0.0) != svg(AxisScale::Linear, -5.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisScale {
    /// A linear scale.
    Linear,
    /// A logarithmic scale. Values at or below zero are drawn at the lower edge.
    Log,
}

/// An axis.
///
/// ```
/// use halfspaces_eval::{Axis, Figure};
/// let (x, y) = (Axis::log("examples"), Axis::linear("time / s"));
/// let (name, title, caption) = ("f".into(), "t".into(), "c".into());
/// let figure = Figure { name, title, caption, x, y, layers: vec![] };
/// assert!(figure.to_svg().contains("time / s"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The label of the axis, with the unit if there is one.
    pub label: String,
    /// The scale of the axis.
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

/// One layer of a figure. Layers with the same name form one series, which is named once.
///
/// ```
/// use halfspaces_eval::{Axis, Colour, Figure, Layer};
/// let (name, colour) = (String::from("perceptron"), Colour::Blue);
/// let points = Layer::Points { name: name.clone(), colour, data: vec![(2.0, 4.0), (4.0, 16.0)] };
/// let band = Layer::Band { name, colour, data: vec![(2.0, 3.0, 5.0), (4.0, 14.0, 18.0)] };
/// let (x, y, layers) = (Axis::log("1/γ"), Axis::log("mistakes"), vec![band, points]);
/// let figure = Figure { name: "f".into(), title: "t".into(), caption: "c".into(), x, y, layers };
/// assert_eq!(figure.to_svg().matches("perceptron").count(), 1); // at the end of the line
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// A layer of markers.
    Points {
        /// Name of the series.
        name: String,
        /// Colour.
        colour: Colour,
        /// (x, y) pairs.
        data: Vec<(f64, f64)>,
    },
    /// A line through the points in order.
    Line {
        /// Name of the series.
        name: String,
        /// Colour.
        colour: Colour,
        /// Whether the line is dashed, as the lines of bounds are.
        dashed: bool,
        /// (x, y) pairs.
        data: Vec<(f64, f64)>,
    },
    /// The area between two curves.
    Band {
        /// Name of the series.
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
///     title: "Mistakes grow with 1/γ²".into(),
///     caption: "Medians over ten runs.".into(),
///     x: Axis::log("1/γ"),
///     y: Axis::log("mistakes"),
///     layers: vec![Layer::Points {
///         name: "perceptron".into(),
///         colour: Colour::Blue,
///         data: vec![(2.0, 4.0), (4.0, 16.0)],
///     }],
/// };
/// assert!(figure.to_svg().starts_with("<svg") && figure.to_svg().contains("grow with 1/γ²"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// File name without extension.
    pub name: String,
    /// The title, a sentence that states the finding.
    pub title: String,
    /// The caption: what is drawn, which trials the data come from, and how to read the figure.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The layers, in drawing order.
    pub layers: Vec<Layer>,
}

impl Layer {
    pub(super) fn name(&self) -> &str {
        match self {
            Layer::Points { name, .. } | Layer::Line { name, .. } | Layer::Band { name, .. } => {
                name
            }
        }
    }

    pub(super) fn colour(&self) -> Colour {
        match self {
            Layer::Points { colour, .. }
            | Layer::Line { colour, .. }
            | Layer::Band { colour, .. } => *colour,
        }
    }

    /// All values, including both ends of bands.
    pub(super) fn corners(&self) -> Vec<(f64, f64)> {
        match self {
            Layer::Points { data, .. } | Layer::Line { data, .. } => data.clone(),
            Layer::Band { data, .. } => {
                data.iter().flat_map(|(x, low, high)| [(*x, *low), (*x, *high)]).collect()
            }
        }
    }
}
