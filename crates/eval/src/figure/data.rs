//! The data of a figure.

use super::model::{Figure, Layer};
use crate::table::Table;

/// One row: the series, x, y, and the ends of a band.
struct Row<'a> {
    series: &'a str,
    x: f64,
    y: Option<f64>,
    band: Option<(f64, f64)>,
}

impl Figure {
    /// The data as CSV: one row for each value of each series, in the order of the figure. If there is a band around
    /// the value, the row also contains its ends.
    ///
    /// ```
    /// use halfspaces_eval::{Axis, Colour, Figure, Layer};
    /// let (name, colour) = (String::from("perceptron"), Colour::Blue);
    /// let line = Layer::Line { name: name.clone(), colour, dashed: false, data: vec![(2.0, 4.0)] };
    /// let band = Layer::Band { name, colour, data: vec![(2.0, 3.0, 5.0)] };
    /// let (x, y, layers) = (Axis::log("1/γ"), Axis::log("mistakes"), vec![band, line]);
    /// let figure = Figure { name: "f".into(), title: "t".into(), caption: "c".into(), x, y, layers };
    /// assert_eq!(figure.to_csv(), "series,1/γ,mistakes,low,high\nperceptron,2,4,3,5\n");
    /// ```
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut rows: Vec<Row<'_>> = Vec::new();
        let mut drawn: Vec<(&str, &[(f64, f64)])> = Vec::new();
        for layer in &self.layers {
            if let Layer::Line { name, data, .. } | Layer::Points { name, data, .. } = layer {
                // A line and its markers are one series.
                if !drawn.contains(&(name, data)) {
                    drawn.push((name, data));
                    let values = data.iter();
                    rows.extend(values.map(|(x, y)| Row {
                        series: name,
                        x: *x,
                        y: Some(*y),
                        band: None,
                    }));
                }
            }
        }
        for layer in &self.layers {
            let Layer::Band { name, data, .. } = layer else { continue };
            for (x, low, high) in data {
                let mine = |row: &&mut Row<'_>| row.series == name && row.x.total_cmp(x).is_eq();
                let band = Some((*low, *high));
                match rows.iter_mut().find(|row| mine(row) && row.band.is_none()) {
                    Some(row) => row.band = band,
                    None => rows.push(Row { series: name, x: *x, y: None, band }),
                }
            }
        }
        let columns = ["series", &self.x.label, &self.y.label, "low", "high"];
        let mut table = Table::new(&self.name, &self.caption, &columns);
        let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
        for Row { series, x, y, band } in rows {
            let [low, high] = [band.map(|b| b.0), band.map(|b| b.1)];
            table.push(vec![series.into(), x.to_string(), number(y), number(low), number(high)]);
        }
        table.to_csv()
    }
}
