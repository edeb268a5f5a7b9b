//! Figures as SVG: title and axes, bands below lines below markers. The name of every series is next to the end of its
//! line, or in a legend below if the names do not fit there.

use super::axis_layout::AxisLayout;
use super::labels::{spread, text_width, wrapped};
use super::model::{Colour, Figure, Layer};
use super::theme::{class, style};
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const PLOT_HEIGHT: f64 = 330.0;
const MARGIN: f64 = 12.0;
const TITLE_SIZE: f64 = 17.0;
const TITLE_LINE: f64 = 22.0;
const TEXT_SIZE: f64 = 14.0;
const TEXT_LINE: f64 = 17.0;
const TICK_SIZE: f64 = 13.0;
/// Space for the label of the vertical axis, above the plot.
const Y_LABEL: f64 = 26.0;
/// Space for the ticks and the label of the horizontal axis.
const X_LABEL: f64 = 48.0;
/// Maximum width of a name next to its line, and of the space before it.
const NAME_WIDTH: f64 = 165.0;
const SWATCH: f64 = 22.0;
/// Distance from the plot to the names, for the connecting lines.
const GAP: f64 = 18.0;
const LEGEND_ROW: f64 = 24.0;

/// The layers that share a name.
struct Series<'a> {
    name: &'a str,
    colour: Colour,
    layers: Vec<&'a Layer>,
}

impl Series<'_> {
    /// The end of its line: its last value, if it runs from left to right.
    fn end(&self) -> Option<(f64, f64)> {
        let ordered = |data: &[(f64, f64)]| data.windows(2).all(|pair| pair[0].0 <= pair[1].0);
        let last = |layer: &&Layer| match layer {
            Layer::Line { data, .. } if ordered(data) => data.last().copied(),
            // Markers without a line have a recognisable end only if they are in order from left to right.
            Layer::Points { data, .. } if data.windows(2).all(|p| p[0].0 < p[1].0) => {
                data.last().copied()
            }
            _ => None,
        };
        let line = |layer: &&&Layer| matches!(layer, Layer::Line { .. });
        let mut lines = self.layers.iter().filter(line).peekable();
        match lines.peek() {
            Some(_) => lines.find_map(last),
            None => self.layers.iter().find_map(last),
        }
    }
}

/// The plot on the page, and the position of the names.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    x: AxisLayout,
    y: AxisLayout,
}

impl Frame {
    fn bottom(&self) -> f64 {
        self.top + PLOT_HEIGHT
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = self.left + (self.right - self.left) * self.x.place(x);
        (across, self.bottom() - PLOT_HEIGHT * self.y.place(y))
    }

    fn path(&self, data: impl Iterator<Item = (f64, f64)>) -> String {
        let mut path = String::new();
        for (x, y) in data.map(|at| self.at(at)) {
            let command = if path.is_empty() { 'M' } else { 'L' };
            put(&mut path, format_args!("{command}{x:.1} {y:.1}"));
        }
        path
    }
}

fn put(to: &mut String, what: std::fmt::Arguments<'_>) {
    to.write_fmt(what).unwrap_or_else(|e| unreachable!("writing to a string cannot fail: {e}"));
}

/// Escapes text for XML, without control characters, which XML cannot represent.
fn escaped(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !c.is_control()).collect();
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn text(to: &mut String, (x, y): (f64, f64), attributes: &str, what: &str) {
    put(to, format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\"{attributes}>{}</text>\n", escaped(what)));
}

/// The marker of a colour, centred at `(x, y)`.
fn marker(to: &mut String, colour: Colour, (x, y): (f64, f64)) {
    let class = class(colour);
    let polygon = |corners: &[(f64, f64)]| {
        let points: Vec<String> =
            corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy)).collect();
        format!("<polygon class=\"mark {class}\" points=\"{}\"/>\n", points.join(" "))
    };
    let shape = match colour {
        Colour::Blue | Colour::Ink => {
            format!("<circle class=\"mark {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\n")
        }
        Colour::Sky => {
            format!("<circle class=\"ring {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\n")
        }
        Colour::Orange => polygon(&[(0.0, -5.0), (5.0, 4.0), (-5.0, 4.0)]),
        Colour::Green => polygon(&[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)]),
        Colour::Purple => polygon(&[(0.0, -6.0), (5.0, 0.0), (0.0, 6.0), (-5.0, 0.0)]),
        Colour::Vermilion => polygon(&[(0.0, 5.0), (5.0, -4.0), (-5.0, -4.0)]),
    };
    to.push_str(&shape);
}

impl Figure {
    /// The figure as an SVG file.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let corners: Vec<(f64, f64)> = self.layers.iter().flat_map(Layer::corners).collect();
        let x = AxisLayout::new(self.x.scale, corners.iter().map(|c| c.0));
        let y = AxisLayout::new(self.y.scale, corners.iter().map(|c| c.1));
        let title = wrapped(&self.title, TITLE_SIZE * 1.08, WIDTH - 2.0 * MARGIN);
        let top = MARGIN + TITLE_LINE * title.len() as f64 + Y_LABEL;
        let widest = |labels: &[(f64, String)]| {
            labels.iter().map(|(_, label)| text_width(label, TICK_SIZE)).fold(0.0, f64::max)
        };
        let left = MARGIN + widest(y.ticks()).max(20.0) + 8.0;
        let mut frame = Frame { left, right: WIDTH - 2.0 * MARGIN, top, x, y };

        let series = self.series();
        let names: Vec<Vec<String>> =
            series.iter().map(|s| wrapped(s.name, TEXT_SIZE, NAME_WIDTH)).collect();
        let direct = self.direct_labels(&series, &names, &mut frame);
        let rows = if direct.is_none() { legend_rows(&series, frame.left) } else { Vec::new() };
        let height = frame.bottom() + X_LABEL + LEGEND_ROW * rows.len() as f64;

        let mut svg = format!(
            "<svg class=\"hf\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n{}\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n",
            escaped(self.described().trim()),
            style(),
        );
        for (row, line) in title.iter().enumerate() {
            let baseline = MARGIN + TITLE_LINE * (row as f64 + 0.75);
            text(&mut svg, (MARGIN, baseline), " class=\"title\"", line);
        }
        self.draw_axes(&mut svg, &frame);
        self.draw_layers(&mut svg, &frame);
        if corners.is_empty() {
            let middle = (0.5 * (frame.left + frame.right), frame.top + 0.5 * PLOT_HEIGHT);
            text(&mut svg, middle, " class=\"soft\" text-anchor=\"middle\"", "no trials yet");
        }
        if let Some(centres) = direct {
            draw_names(&mut svg, &frame, &series, &names, &centres);
        }
        for (row, entries) in rows.iter().enumerate() {
            let middle = frame.bottom() + X_LABEL + LEGEND_ROW * (row as f64 + 0.4);
            for (at, series) in entries {
                series.swatch(&mut svg, (*at, middle));
                text(&mut svg, (at + SWATCH + 6.0, middle + 5.0), "", series.name);
            }
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// A description of the figure for readers who cannot see it.
    fn described(&self) -> String {
        let stop =
            if self.title.ends_with(['.', '?', '!']) || self.title.is_empty() { "" } else { "." };
        format!("{}{stop} {}", self.title, self.caption)
    }

    /// The layers by name, without those that have no data.
    fn series(&self) -> Vec<Series<'_>> {
        let mut all: Vec<Series<'_>> = Vec::new();
        for layer in self.layers.iter().filter(|layer| !layer.corners().is_empty()) {
            match all.iter_mut().find(|series| series.name == layer.name()) {
                Some(series) => series.layers.push(layer),
                None => all.push(Series {
                    name: layer.name(),
                    colour: layer.colour(),
                    layers: vec![layer],
                }),
            }
        }
        all
    }

    /// Makes space next to the plot for the names of all series and returns their heights. Returns `None` and leaves
    /// the frame unchanged if some series has no end or there are too many names.
    fn direct_labels(
        &self,
        series: &[Series<'_>],
        names: &[Vec<String>],
        frame: &mut Frame,
    ) -> Option<Vec<f64>> {
        let ends = series.iter().map(Series::end).collect::<Option<Vec<_>>>()?;
        let lines = names.iter().flatten();
        let width = lines.map(|line| text_width(line, TEXT_SIZE)).reduce(f64::max)?;
        if width > NAME_WIDTH {
            return None;
        }
        let heights = names.iter().map(|lines| TEXT_LINE * lines.len() as f64 + 5.0);
        let wanted: Vec<(f64, f64)> =
            ends.iter().map(|end| frame.at(*end).1).zip(heights).collect();
        let centres = spread(&wanted, frame.top - 10.0, frame.bottom() + 10.0)?;
        frame.right = WIDTH - MARGIN - width - SWATCH - 6.0 - GAP;
        Some(centres)
    }

    fn draw_axes(&self, svg: &mut String, frame: &Frame) {
        let (left, right, top, bottom) = (frame.left, frame.right, frame.top, frame.bottom());
        for (value, label) in frame.y.ticks() {
            let at = bottom - PLOT_HEIGHT * frame.y.place(*value);
            put(svg, format_args!("<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>\n"));
            let end = " class=\"tick\" text-anchor=\"end\"";
            text(svg, (left - 7.0, at + 4.5), end, label);
        }
        // Labels of narrow ticks are omitted if they overlap the preceding label.
        let mut free = f64::NEG_INFINITY;
        for (value, label) in frame.x.ticks() {
            let at = left + (right - left) * frame.x.place(*value);
            put(svg, format_args!("<path class=\"grid\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>\n"));
            put(svg, format_args!("<path class=\"axis\" d=\"M{at:.1} {bottom:.1}v5\"/>\n"));
            let half = 0.5 * text_width(label, TICK_SIZE);
            if at - half >= free {
                let middle = " class=\"tick\" text-anchor=\"middle\"";
                text(svg, (at, bottom + 19.0), middle, label);
                free = at + half + 4.0;
            }
        }
        put(svg, format_args!("<path class=\"axis\" d=\"M{left:.1} {bottom:.1}H{right:.1}\"/>\n"));
        text(svg, (MARGIN, top - 10.0), " class=\"soft\"", &self.y.label);
        let middle = 0.5 * (left + right);
        let half = 0.5 * text_width(&self.x.label, TEXT_SIZE);
        let at = middle.max(MARGIN + half).min(WIDTH - MARGIN - half);
        text(svg, (at, bottom + 40.0), " class=\"soft\" text-anchor=\"middle\"", &self.x.label);
    }

    fn draw_layers(&self, svg: &mut String, frame: &Frame) {
        for layer in &self.layers {
            if let Layer::Band { colour, data, .. } = layer
                && !data.is_empty()
            {
                let upper = data.iter().map(|(at, _, high)| (*at, *high));
                let lower = data.iter().rev().map(|(at, low, _)| (*at, *low));
                let (class, path) = (class(*colour), frame.path(upper.chain(lower)));
                put(svg, format_args!("<path class=\"band {class}\" d=\"{path}Z\"/>\n"));
            }
        }
        for layer in &self.layers {
            if let Layer::Line { colour, dashed, data, .. } = layer
                && !data.is_empty()
            {
                let (class, path) = (class(*colour), frame.path(data.iter().copied()));
                let dash = if *dashed { " dash" } else { "" };
                put(svg, format_args!("<path class=\"line{dash} {class}\" d=\"{path}\"/>\n"));
            }
        }
        for layer in &self.layers {
            if let Layer::Points { colour, data, .. } = layer {
                for at in data {
                    marker(svg, *colour, frame.at(*at));
                }
            }
        }
    }
}

impl Series<'_> {
    /// A small sample of the series, from `(x, y)` to the right.
    fn swatch(&self, svg: &mut String, (x, y): (f64, f64)) {
        let class = class(self.colour);
        let (mut band, mut line, mut marked) = (false, None, false);
        for layer in &self.layers {
            match layer {
                Layer::Band { .. } => band = true,
                Layer::Line { dashed, .. } => line = Some(*dashed),
                Layer::Points { .. } => marked = true,
            }
        }
        if band {
            put(
                svg,
                format_args!(
                    "<rect class=\"band {class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{SWATCH}\" height=\"12\"/>\n",
                    y - 6.0
                ),
            );
        }
        if let Some(dashed) = line {
            let dash = if dashed { " dash" } else { "" };
            put(
                svg,
                format_args!(
                    "<path class=\"line{dash} {class}\" d=\"M{x:.1} {y:.1}h{SWATCH}\"/>\n"
                ),
            );
        }
        if marked {
            marker(svg, self.colour, (x + 0.5 * SWATCH, y));
        }
    }
}

/// Draws the names next to the plot, each with a line that connects it to the end of its series.
fn draw_names(
    svg: &mut String,
    frame: &Frame,
    series: &[Series<'_>],
    names: &[Vec<String>],
    centres: &[f64],
) {
    let column = frame.right + GAP;
    for ((series, lines), centre) in series.iter().zip(names).zip(centres) {
        let Some((x, y)) = series.end().map(|end| frame.at(end)) else {
            unreachable!("only lines with an end have names next to them")
        };
        put(
            svg,
            format_args!(
                "<path class=\"axis lead\" d=\"M{:.1} {y:.1}L{:.1} {centre:.1}\"/>\n",
                x + 6.0,
                column - 2.0
            ),
        );
        series.swatch(svg, (column, *centre));
        let first = centre - 0.5 * TEXT_LINE * (lines.len() as f64 - 1.0) + 4.8;
        for (row, line) in lines.iter().enumerate() {
            let at = (column + SWATCH + 6.0, first + TEXT_LINE * row as f64);
            text(svg, at, "", line);
        }
    }
}

/// The series in rows that fit the width, each with its horizontal position.
fn legend_rows<'a, 'b>(series: &'a [Series<'b>], left: f64) -> Vec<Vec<(f64, &'a Series<'b>)>> {
    let mut rows: Vec<Vec<(f64, &Series<'_>)>> = Vec::new();
    let mut free = left;
    for one in series {
        let width = SWATCH + 6.0 + text_width(one.name, TEXT_SIZE) + 18.0;
        match rows.last_mut() {
            Some(row) if free + width <= WIDTH - MARGIN => row.push((free, one)),
            _ => {
                free = left;
                rows.push(vec![(free, one)]);
            }
        }
        free += width;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Axis;

    fn figure(layers: Vec<Layer>) -> Figure {
        Figure {
            name: "f".into(),
            title: "It grows".into(),
            caption: "a < b & \"c\"".into(),
            x: Axis::log("x"),
            y: Axis::linear("y"),
            layers,
        }
    }

    fn line(name: &str, data: Vec<(f64, f64)>) -> Layer {
        Layer::Line { name: name.into(), colour: Colour::Ink, dashed: true, data }
    }

    #[test]
    fn odd_data_is_drawn_without_panic() {
        let of = |data: Vec<(f64, f64)>| {
            figure(vec![
                line("l", data.clone()),
                Layer::Band {
                    name: "b".into(),
                    colour: Colour::Sky,
                    data: data.iter().map(|(x, y)| (*x, *y, y + 1.0)).collect(),
                },
                Layer::Points { name: "p".into(), colour: Colour::Purple, data },
            ])
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
            let svg = of(data.clone()).to_svg();
            assert!(svg.contains("aria-label=\"It grows. a &lt; b &amp; &quot;c&quot;\""));
            assert_eq!(svg.contains("no trials yet"), data.is_empty());
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert!(svg.trim_end().ends_with("</svg>"));
        }
    }

    /// Lines have their names at their ends, each once, in order from top to bottom. Series without an end, and more
    /// names than fit, have a legend below.
    #[test]
    fn names_stand_at_the_ends_of_lines() {
        let lines = |n: usize| -> Vec<Layer> {
            (0..n)
                .map(|i| line(&format!("line{i}x"), vec![(1.0, 1.0), (9.0, (n - i) as f64)]))
                .collect()
        };
        let height = |svg: &str, name: &str| -> f64 {
            let (before, _) = svg.split_once(&format!(">{name}</text>")).unwrap();
            let (_, y) = before.rsplit_once(" y=\"").unwrap();
            y.split('"').next().unwrap().parse().unwrap()
        };
        let total = |svg: &str| -> f64 {
            svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let mut layers = lines(4);
        layers.push(Layer::Points {
            name: "line0x".into(),
            colour: Colour::Ink,
            data: vec![(1.0, 1.0), (9.0, 4.0)],
        });
        let few = figure(layers).to_svg();
        assert_eq!(few.matches(">line0x<").count(), 1);
        let heights = ["line0x", "line1x", "line2x", "line3x"].map(|name| height(&few, name));
        assert!(heights.is_sorted() && few.contains("lead\""));
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > TEXT_LINE));
        // The longest name ends at the margin.
        let (before, _) = few.split_once(">line0x</text>").unwrap();
        let (_, x) = before.rsplit_once(" x=\"").unwrap();
        let x: f64 = x.split('"').next().unwrap().parse().unwrap();
        let longest =
            ["line0x", "line1x", "line2x", "line3x"].map(|name| text_width(name, TEXT_SIZE));
        let end = x + longest.into_iter().fold(0.0, f64::max);
        assert!((end - (WIDTH - MARGIN)).abs() < 0.1, "{end}");

        let cloud = Layer::Points {
            name: "cloud".into(),
            colour: Colour::Blue,
            data: vec![(2.0, 1.0), (1.0, 2.0), (2.0, 3.0)],
        };
        for layers in [lines(30), vec![lines(1).remove(0), cloud]] {
            let count = layers.len();
            let svg = figure(layers).to_svg();
            assert!(!svg.contains("lead\"") && total(&svg) > total(&few), "{count}");
            assert!(height(&svg, "line0x") > height(&svg, "x"));
        }
    }

    #[test]
    fn a_legend_breaks_into_rows() {
        let layer = |name: &'static str| Layer::Points {
            name: name.into(),
            colour: Colour::Blue,
            data: vec![(1.0, 1.0), (1.0, 2.0)],
        };
        let long = "a rather long name of a learner and its order";
        let figure = figure(vec![
            layer(long),
            layer(long),
            layer("b"),
            layer("another quite long name, too"),
        ]);
        let series = figure.series();
        let rows: Vec<usize> = legend_rows(&series, 50.0).iter().map(Vec::len).collect();
        assert_eq!(rows.iter().sum::<usize>(), 3);
        assert_eq!(rows.len(), 2);
    }
}
