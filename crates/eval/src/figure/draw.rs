//! Draws figures as SVG: a title, axes and layers, with bands below lines and lines below markers. The name of every
//! series is next to the end of its line, or in a legend below the plot if the names do not fit there or the figure is
//! narrow.

use super::axis_layout::AxisLayout;
use super::labels::{spread, text_width, wrapped};
use super::model::{Colour, Figure, Layer};
use super::theme::{class, style};
use crate::text::typeset;
use std::fmt::Write;

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
/// Maximum width of a name next to its line. The next constant is the width of the line sample that precedes the name.
const NAME_WIDTH: f64 = 165.0;
const SWATCH: f64 = 22.0;
/// Distance from the plot to the names, which leaves space for the connecting lines.
const GAP: f64 = 18.0;
const LEGEND_ROW: f64 = 24.0;

/// The shape of a figure. Lengths are in pixels, and text has the same size in all shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The shape for a page, where names may be next to the plot.
    Wide,
    /// The shape for a phone, where names are below the plot.
    Narrow,
    /// Like `Narrow`, but with a square plot and the same scale on both axes.
    Square,
}

impl Shape {
    fn width(self) -> f64 {
        if self == Shape::Wide { 760.0 } else { 360.0 }
    }

    /// The CSS classes of the shape. On a page with a wide and a narrow figure, the style sheet uses them to show only
    /// one.
    fn class(self) -> &'static str {
        match self {
            Shape::Wide => "hf wide",
            Shape::Narrow => "hf narrow",
            Shape::Square => "hf square",
        }
    }
}

/// The layers that share a name.
struct Series<'a> {
    name: &'a str,
    colour: Colour,
    layers: Vec<&'a Layer>,
}

impl Series<'_> {
    /// The end of the series' line: its last point, if the line runs from left to right.
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
    bottom: f64,
    x: AxisLayout,
    y: AxisLayout,
}

impl Frame {
    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = self.left + (self.right - self.left) * self.x.place(x);
        (across, self.bottom - (self.bottom - self.top) * self.y.place(y))
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

/// Escapes text for XML and removes control characters, which XML cannot represent.
fn escaped(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !c.is_control()).collect();
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn text(to: &mut String, (x, y): (f64, f64), attributes: &str, what: &str) {
    let what = escaped(what);
    put(to, format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\"{attributes}>{what}</text>\n"));
}

/// Draws lines of text, the first with its baseline at `y`.
fn text_lines(to: &mut String, (x, y): (f64, f64), attributes: &str, lines: &[String]) {
    for (row, line) in lines.iter().enumerate() {
        text(to, (x, y + TEXT_LINE * row as f64), attributes, line);
    }
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
        Colour::Grey => {
            let (left, top) = (x - 4.0, y - 4.0);
            format!("<path class=\"line {class}\" d=\"M{left:.1} {top:.1}l8 8m0 -8l-8 8\"/>\n")
        }
    };
    to.push_str(&shape);
}

impl Figure {
    /// The figure as an SVG file, 760 pixels wide.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.drawn(Shape::Wide)
    }

    /// The figure for a page, as HTML. It contains a wide and a narrow SVG, and the page shows the one that fits the
    /// window.
    #[must_use]
    pub fn to_html(&self) -> String {
        self.drawn(Shape::Wide) + &self.drawn(Shape::Narrow)
    }

    /// The figure as an SVG file, 360 pixels wide, with a square plot and the same scale on both axes, for points in a
    /// plane. Both axes must be linear.
    ///
    /// ```
    /// use halfspaces_eval::{Axis, Colour, Figure, Layer};
    /// let data = vec![(-1.0, 0.0), (0.5, 0.25)];
    /// let layers = vec![Layer::Points { name: "points".into(), colour: Colour::Blue, data }];
    /// let (x, y) = (Axis::linear("x"), Axis::linear("y"));
    /// let figure = Figure { name: "f".into(), title: "t".into(), caption: "c".into(), x, y, layers };
    /// assert!(figure.to_square_svg().contains("width=\"360\""));
    /// ```
    #[must_use]
    pub fn to_square_svg(&self) -> String {
        self.drawn(Shape::Square)
    }

    fn drawn(&self, shape: Shape) -> String {
        let width = shape.width();
        let lines = |text: &str| wrapped(&typeset(text), TEXT_SIZE, width - 2.0 * MARGIN);
        let corners: Vec<(f64, f64)> = self.layers.iter().flat_map(Layer::corners).collect();
        let (mut xs, mut ys): (Vec<f64>, Vec<f64>) = corners.iter().copied().unzip();
        if shape == Shape::Square {
            xs.extend(&ys);
            ys.clone_from(&xs);
        }
        let x = AxisLayout::new(self.x.scale, xs.into_iter());
        let y = AxisLayout::new(self.y.scale, ys.into_iter());
        // An equation in a title stays on one line.
        let title = typeset(&self.title).replace(" = ", "\u{a0}=\u{a0}");
        let title = wrapped(&title, TITLE_SIZE * 1.08, width - 2.0 * MARGIN);
        let (x_label, y_label) = (lines(&self.x.label), lines(&self.y.label));
        let more = |label: &[String]| TEXT_LINE * label.len().saturating_sub(1) as f64;
        let top = MARGIN + TITLE_LINE * title.len() as f64 + Y_LABEL + more(&y_label);
        let widest = |labels: &[(f64, String)]| {
            labels.iter().map(|(_, label)| text_width(label, TICK_SIZE)).fold(0.0, f64::max)
        };
        let left = MARGIN + widest(y.ticks()).max(20.0) + 8.0;
        let right = width - 2.0 * MARGIN;
        let plot_height = match shape {
            Shape::Wide => 330.0,
            Shape::Narrow => 260.0,
            Shape::Square => right - left,
        };
        let mut frame = Frame { left, right, top, bottom: top + plot_height, x, y };

        let series = self.series();
        let names: Vec<Vec<String>> =
            series.iter().map(|s| wrapped(&typeset(s.name), TEXT_SIZE, NAME_WIDTH)).collect();
        let direct = match shape {
            Shape::Wide => direct_labels(&series, &names, &mut frame, width),
            Shape::Narrow | Shape::Square => None,
        };
        let legend_top = frame.bottom + X_LABEL + more(&x_label);
        let legend_left = if shape == Shape::Wide { frame.left } else { MARGIN };
        let (entries, legend_height) = match direct {
            None => legend(&series, (legend_left, width - MARGIN)),
            Some(_) => (Vec::new(), 0.0),
        };
        let height = legend_top + legend_height;

        let mut svg = format!(
            "<svg class=\"{}\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n{}\n<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n",
            shape.class(),
            escaped(self.described().trim()),
            style(),
        );
        for (row, line) in title.iter().enumerate() {
            let baseline = MARGIN + TITLE_LINE * (row as f64 + 0.75);
            text(&mut svg, (MARGIN, baseline), " class=\"title\"", line);
        }
        draw_axes(&mut svg, &frame);
        text_lines(&mut svg, (MARGIN, top - 10.0 - more(&y_label)), " class=\"soft\"", &y_label);
        let half = x_label.iter().map(|line| 0.5 * text_width(line, TEXT_SIZE)).fold(0.0, f64::max);
        let middle = 0.5 * (frame.left + frame.right);
        let middle = middle.max(MARGIN + half).min(width - MARGIN - half);
        let centred = " class=\"soft\" text-anchor=\"middle\"";
        text_lines(&mut svg, (middle, frame.bottom + 40.0), centred, &x_label);
        // Markers are drawn first, because a cloud of points would hide the lines.
        if shape == Shape::Square {
            self.draw_markers(&mut svg, &frame);
            self.draw_lines(&mut svg, &frame);
        } else {
            self.draw_lines(&mut svg, &frame);
            self.draw_markers(&mut svg, &frame);
        }
        if corners.is_empty() {
            let centre = (0.5 * (frame.left + frame.right), 0.5 * (frame.top + frame.bottom));
            text(&mut svg, centre, centred, "no trials yet");
        }
        if let Some(centres) = direct {
            draw_names(&mut svg, &frame, &series, &names, &centres);
        }
        for Entry { series, at: (x, y), lines } in &entries {
            let middle = legend_top + y;
            series.swatch(&mut svg, (*x, middle));
            text_lines(&mut svg, (x + SWATCH + 6.0, middle + 5.0), "", lines);
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// A description of the figure for readers who cannot see it.
    fn described(&self) -> String {
        let stop =
            if self.title.ends_with(['.', '?', '!']) || self.title.is_empty() { "" } else { "." };
        typeset(&format!("{}{stop} {}", self.title, self.caption))
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

    fn draw_lines(&self, svg: &mut String, frame: &Frame) {
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
    }

    fn draw_markers(&self, svg: &mut String, frame: &Frame) {
        for layer in &self.layers {
            if let Layer::Points { colour, data, .. } = layer {
                for at in data {
                    marker(svg, *colour, frame.at(*at));
                }
            }
        }
    }
}

/// Makes space next to the plot for the names of all series and returns their vertical positions. Returns `None` and
/// leaves the frame unchanged if a series has no last point or there are too many names.
fn direct_labels(
    series: &[Series<'_>],
    names: &[Vec<String>],
    frame: &mut Frame,
    width: f64,
) -> Option<Vec<f64>> {
    let ends = series.iter().map(Series::end).collect::<Option<Vec<_>>>()?;
    let lines = names.iter().flatten();
    let widest = lines.map(|line| text_width(line, TEXT_SIZE)).reduce(f64::max)?;
    if widest > NAME_WIDTH {
        return None;
    }
    let heights = names.iter().map(|lines| TEXT_LINE * lines.len() as f64 + 5.0);
    let wanted: Vec<(f64, f64)> = ends.iter().map(|end| frame.at(*end).1).zip(heights).collect();
    let centres = spread(&wanted, frame.top - 10.0, frame.bottom + 10.0)?;
    frame.right = width - MARGIN - widest - SWATCH - 6.0 - GAP;
    Some(centres)
}

/// The smallest k such that the labels of every k-th tick do not overlap.
fn stride(ticks: &[(f64, String)], across: impl Fn(f64) -> f64) -> usize {
    let fits = |every: &usize| {
        let ends = ticks.iter().step_by(*every).map(|(value, label)| {
            let half = 0.5 * text_width(label, TICK_SIZE);
            (across(*value) - half, across(*value) + half + 4.0)
        });
        let ends: Vec<(f64, f64)> = ends.collect();
        ends.windows(2).all(|pair| pair[0].1 <= pair[1].0)
    };
    (1..=ticks.len()).find(fits).unwrap_or(1)
}

fn draw_axes(svg: &mut String, frame: &Frame) {
    let Frame { left, right, top, bottom, .. } = *frame;
    for (value, label) in frame.y.ticks() {
        let at = bottom - (bottom - top) * frame.y.place(*value);
        put(svg, format_args!("<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>\n"));
        let end = " class=\"tick\" text-anchor=\"end\"";
        text(svg, (left - 7.0, at + 4.5), end, label);
    }
    let across = |value: f64| left + (right - left) * frame.x.place(value);
    let every = stride(frame.x.ticks(), across);
    for (number, (value, label)) in frame.x.ticks().iter().enumerate() {
        let at = across(*value);
        put(svg, format_args!("<path class=\"grid\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>\n"));
        put(svg, format_args!("<path class=\"axis\" d=\"M{at:.1} {bottom:.1}v5\"/>\n"));
        if number % every == 0 {
            let middle = " class=\"tick\" text-anchor=\"middle\"";
            text(svg, (at, bottom + 19.0), middle, label);
        }
    }
    put(svg, format_args!("<path class=\"axis\" d=\"M{left:.1} {bottom:.1}H{right:.1}\"/>\n"));
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
            unreachable!("only lines with a last point have names next to them")
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

/// A series in the legend: the left end and the middle of its first line, and its name, split into lines.
struct Entry<'a, 'b> {
    series: &'a Series<'b>,
    at: (f64, f64),
    lines: Vec<String>,
}

/// Returns the legend in rows between `left` and `right`, and its height. A name that is too long for a row is split
/// into several lines.
fn legend<'a, 'b>(
    series: &'a [Series<'b>],
    (left, right): (f64, f64),
) -> (Vec<Entry<'a, 'b>>, f64) {
    let mut entries = Vec::new();
    let (mut free, mut top, mut bottom) = (left, 0.0, 0.0);
    for one in series {
        let lines = wrapped(&typeset(one.name), TEXT_SIZE, right - left - SWATCH - 6.0);
        let widest = lines.iter().map(|line| text_width(line, TEXT_SIZE)).fold(0.0, f64::max);
        let width = SWATCH + 6.0 + widest;
        if free > left && free + width > right {
            (free, top) = (left, bottom);
        }
        entries.push(Entry { series: one, at: (free, top + 0.4 * LEGEND_ROW), lines });
        let rows = entries.last().map_or(0, |entry| entry.lines.len()).saturating_sub(1);
        bottom = f64::max(bottom, top + LEGEND_ROW + TEXT_LINE * rows as f64);
        free += width + 18.0;
    }
    (entries, bottom)
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

    /// Each name appears once, at the end of its line, and the names are in order from top to bottom. If a series has
    /// no last point, or if there are more names than fit, there is a legend below.
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
        assert!((end - (Shape::Wide.width() - MARGIN)).abs() < 0.1, "{end}");

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
        let rows = |left: f64, right: f64| {
            let (entries, height) = legend(&series, (left, right));
            assert_eq!(entries.len(), 3);
            let mut rows: Vec<f64> = entries.iter().map(|entry| entry.at.1).collect();
            rows.dedup();
            (rows.len(), height)
        };
        assert_eq!(rows(50.0, 600.0), (2, 2.0 * LEGEND_ROW));
        // The first name needs two lines.
        assert_eq!(rows(12.0, 348.0), (2, 2.0 * LEGEND_ROW + TEXT_LINE));
    }

    /// On a phone, all names are below the plot and end before the right edge.
    #[test]
    fn a_narrow_figure_has_its_names_below() {
        let long = "a rather long name of a learner and its order in 10^6 points";
        let names = ["line", long, "another"];
        let lines = names.map(|name| line(name, vec![(1.0, 1.0), (9.0, 2.0)]));
        let html = figure(lines.to_vec()).to_html();
        let (wide, narrow) = html.split_at(html.rfind("<svg").unwrap());
        assert!(wide.contains("hf wide") && wide.contains("lead\""));
        assert!(narrow.contains("class=\"hf narrow\"") && !narrow.contains("lead\""));
        assert!(narrow.contains("width=\"360\"") && narrow.contains("10⁶ points</text>"));
        let texts: Vec<&str> = narrow.split("<text x=\"").skip(1).collect();
        let starts = texts.iter().filter(|text| !text.contains("text-anchor"));
        for text in starts {
            let x: f64 = text.split('"').next().unwrap().parse().unwrap();
            let (_, shown) = text.split_once('>').unwrap();
            let shown = shown.split('<').next().unwrap();
            assert!(x + text_width(shown, TEXT_SIZE) < 360.0, "{shown}");
        }
        assert_eq!(html.matches("prefers-color-scheme").count(), 2);
    }

    /// If labels of ticks would overlap, only every second or third tick has a label.
    #[test]
    fn labels_of_ticks_are_evenly_spaced() {
        let ticks: Vec<(f64, String)> =
            (0..6).map(|i| (f64::from(i), format!("{i}0\u{a0}000"))).collect();
        // A label needs about 50 pixels.
        assert!(text_width("20\u{a0}000", TICK_SIZE) > 45.0);
        assert_eq!([60.0, 40.0, 20.0, 1.0].map(|gap| stride(&ticks, |v| gap * v)), [1, 2, 3, 6]);
        assert_eq!(stride(&[], |v| v), 1);
    }

    /// One unit has the same length on both axes.
    #[test]
    fn a_square_figure_has_one_scale() {
        for (width, height) in [(2.0, 0.2), (0.2, 2.0)] {
            let data = vec![(0.0, 0.0), (width, 0.0), (width, height)];
            let points = Layer::Points { name: "p".into(), colour: Colour::Blue, data };
            let mut figure = figure(vec![points]);
            figure.x = Axis::linear("x");
            let svg = figure.to_square_svg();
            let number = |text: &str| text.split('"').next().unwrap().parse::<f64>().unwrap();
            let markers = svg.split("<circle class=\"mark blue\" cx=\"").skip(1).take(3);
            let at =
                markers.map(|part| (number(part), number(part.split_once("cy=\"").unwrap().1)));
            let at: Vec<(f64, f64)> = at.collect();
            let (across, up) = ((at[1].0 - at[0].0) / width, (at[1].1 - at[2].1) / height);
            assert!((across - up).abs() < 1.0, "{across} {up}");
        }
    }
}
