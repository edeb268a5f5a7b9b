//! Figures: points, lines and bands on linear or logarithmic axes, drawn as SVG.
//!
//! A short style sheet in each file switches to a dark theme if the reader's system uses one. The colours follow the
//! palette of Okabe and Ito, whose colours colour-blind readers can tell apart, and every colour has its own marker.

mod axis_layout;
mod data;
mod draw;
mod labels;
mod model;
mod theme;

pub use model::{Axis, AxisScale, Colour, Figure, Layer};
