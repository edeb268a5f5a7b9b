//! Figures: points, lines and bands on linear or logarithmic axes, drawn as SVG.
//!
//! A short style sheet in each file turns its colours over when the reader's system is dark. Colours are after
//! Okabe and Ito's, which stay apart for colour-blind readers, and every colour has its own marker.

mod axis_layout;
mod data;
mod draw;
mod labels;
mod model;
mod theme;

pub use model::{Axis, AxisScale, Colour, Figure, Layer};
