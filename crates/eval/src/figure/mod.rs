//! Figures: points, lines and bands on linear or logarithmic axes, drawn as SVG.
//!
//! The drawing is plotters'; a short style sheet in each file turns its colours over when the
//! reader's system is dark. Colours are Okabe and Ito's, which stay apart for colour-blind readers,
//! and every colour has its own marker.

mod axis_layout;
mod draw;
mod model;

pub use model::{Axis, AxisScale, Colour, Figure, FigureError, Layer};
