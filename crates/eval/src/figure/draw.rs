//! Figures as SVG.

use super::axis_layout::AxisLayout;
use super::model::{Colour, Figure, FigureError, Layer};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

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

const WIDTH: u32 = 720;
const PLOT_HEIGHT: u32 = 400;
const LEGEND_ROW: u32 = 24;
/// Estimated width of a character of the legend, in pixels.
const LEGEND_CHARACTER: u32 = 8;
const FONT: u32 = 15;

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
        let x = AxisLayout::new(self.x.scale, corners.iter().map(|c| c.0));
        let y = AxisLayout::new(self.y.scale, corners.iter().map(|c| c.1));
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
        let Some((open, rest)) = svg.split_once('>') else {
            unreachable!("plotters writes an element: {svg}")
        };
        format!("{open} role=\"img\" aria-label=\"{escaped}\">\n{STYLE}{rest}")
    }
}

fn legend_width(name: &str) -> u32 {
    32 + 18 + LEGEND_CHARACTER * name.chars().count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Axis;

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
