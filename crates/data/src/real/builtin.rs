//! Real data sets included in the crate. `datasets/README.md` lists their sources, licence and changes.

use crate::dataset::Dataset;
use halfspaces_linalg::{InputError, Label, PointSet, Points, SparsePoints};
use std::collections::BTreeSet;

/// A real data set included in the crate.
///
/// ```
/// use halfspaces_data::Builtin;
/// for set in Builtin::ALL {
///     let data = set.load()?;
///     assert!(data.len() > 300 && data.dim() >= 30, "{}", set.name());
/// }
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Builtin {
    /// Wisconsin diagnostic breast cancer: 569 × 30, positive = malignant.
    Wdbc,
    /// Radar returns from the ionosphere: 351 × 33, positive = good.
    Ionosphere,
    /// Mushrooms, with 22 categorical columns in one-hot coding: 5644 × 98, positive = poisonous.
    Mushroom,
}

impl Builtin {
    /// All data sets.
    pub const ALL: [Builtin; 3] = [Builtin::Wdbc, Builtin::Ionosphere, Builtin::Mushroom];

    /// The short name, which is also the name of the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Builtin::Wdbc => "wdbc",
            Builtin::Ionosphere => "ionosphere",
            Builtin::Mushroom => "mushroom",
        }
    }

    /// A description of the examples.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Builtin::Wdbc => {
                "Wisconsin diagnostic breast cancer: 569 tumours, 30 measurements of cell nuclei; \
                 positive: malignant"
            }
            Builtin::Ionosphere => {
                "351 radar returns from the ionosphere, 33 numbers each; positive: shows structure"
            }
            Builtin::Mushroom => {
                "5644 mushrooms without missing values, 22 categories each, one-hot encoded in 98 \
                 coordinates; positive: poisonous"
            }
        }
    }

    /// The source of the data.
    #[must_use]
    pub fn source(self) -> &'static str {
        match self {
            Builtin::Wdbc => {
                "UCI Machine Learning Repository, Breast Cancer Wisconsin (Diagnostic)"
            }
            Builtin::Ionosphere => "UCI Machine Learning Repository, Ionosphere",
            Builtin::Mushroom => "UCI Machine Learning Repository, Mushroom",
        }
    }

    /// The licence of the data.
    #[must_use]
    pub fn licence(self) -> &'static str {
        "CC BY 4.0"
    }

    /// The examples in dense form.
    ///
    /// # Errors
    /// Never fails for the included data.
    pub fn load(self) -> Result<Dataset<Points>, InputError> {
        let (cells, columns) = (self.cells(), self.columns());
        let values = cells.iter().flat_map(|row| columns.iter().map(|column| column.value(row)));
        let points = Points::new(values.collect(), columns.len())?;
        self.dataset(points, &cells, &columns)
    }

    /// The examples in sparse form.
    ///
    /// # Errors
    /// Never fails for the included data.
    pub fn load_sparse(self) -> Result<Dataset<SparsePoints>, InputError> {
        let (cells, columns) = (self.cells(), self.columns());
        let mut points = SparsePoints::empty(columns.len())?;
        for row in &cells {
            let values = columns.iter().map(|column| column.value(row));
            let entries = (0..).zip(values).filter(|(_, value)| *value != 0.0);
            let (places, values): (Vec<u32>, Vec<f64>) = entries.unzip();
            points.push(&places, &values)?;
        }
        self.dataset(points, &cells, &columns)
    }

    fn dataset<P: PointSet>(
        self,
        points: P,
        cells: &[Vec<&str>],
        columns: &[Column],
    ) -> Result<Dataset<P>, InputError> {
        let label = |row: &Vec<&str>| match row.last() == Some(&self.positive()) {
            true => Label::Positive,
            false => Label::Negative,
        };
        let names = columns.iter().map(|column| match &column.category {
            None => format!("x{}", column.at + 1),
            Some(category) => format!("x{}={category}", column.at + 1),
        });
        Dataset::new(points, cells.iter().map(label).collect(), names.collect())
    }

    /// The cells of the file, which has no header, quotes or missing values; the last cell of a row is its class.
    fn cells(self) -> Vec<Vec<&'static str>> {
        let cells = |line: &'static str| line.split(',').map(str::trim).collect();
        self.text().lines().map(cells).collect()
    }

    /// The coordinates: one for each numeric column, and one for each category of the other columns.
    fn columns(self) -> Vec<Column> {
        let cells = self.cells();
        let width = cells.first().map_or(0, Vec::len) - 1;
        let of_column = |at: usize| {
            let categories: BTreeSet<&str> = cells.iter().map(|row| row[at]).collect();
            match categories.iter().all(|cell| cell.parse::<f64>().is_ok()) {
                true => vec![Column { at, category: None }],
                false => {
                    let column = |category| Column { at, category: Some(category) };
                    categories.into_iter().map(column).collect()
                }
            }
        };
        (0..width).flat_map(of_column).collect()
    }

    fn text(self) -> &'static str {
        match self {
            Builtin::Wdbc => include_str!("../../datasets/wdbc.csv"),
            Builtin::Ionosphere => include_str!("../../datasets/ionosphere.csv"),
            Builtin::Mushroom => include_str!("../../datasets/mushroom.csv"),
        }
    }

    fn positive(self) -> &'static str {
        match self {
            Builtin::Wdbc => "M",
            Builtin::Ionosphere => "g",
            Builtin::Mushroom => "p",
        }
    }
}

/// A coordinate of the points.
#[derive(Debug)]
struct Column {
    /// Index of the cell, within a row, that contains the coordinate.
    at: usize,
    /// The category for which the coordinate is 1; `None` for a numeric column.
    category: Option<&'static str>,
}

impl Column {
    fn value(&self, row: &[&str]) -> f64 {
        match self.category {
            Some(category) => f64::from(u8::from(row[self.at] == category)),
            None => match row[self.at].parse() {
                Ok(value) => value,
                Err(_) => unreachable!("all cells of a column without categories are numbers"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Label, PointSet, RowView};

    #[test]
    fn names_are_those_of_the_files() {
        assert_eq!(Builtin::ALL.map(Builtin::name), ["wdbc", "ionosphere", "mushroom"]);
    }

    /// The expected numbers of rows, coordinates and positives were counted with `wc` and `awk`.
    #[test]
    fn shapes_and_classes() {
        let shape = |set: Builtin| {
            let data = set.load().unwrap();
            let sparse = set.load_sparse().unwrap();
            assert_eq!(sparse.points(), &SparsePoints::from_dense(data.points()).unwrap());
            assert_eq!((sparse.labels(), sparse.columns()), (data.labels(), data.columns()));
            (data.len(), data.dim(), data.positives())
        };
        assert_eq!(shape(Builtin::Wdbc), (569, 30, 212));
        assert_eq!(shape(Builtin::Ionosphere), (351, 33, 225));
        assert_eq!(shape(Builtin::Mushroom), (5644, 98, 2156));
    }

    #[test]
    fn first_rows() {
        let wdbc = Builtin::Wdbc.load().unwrap();
        let row = wdbc.points().row(0).unwrap().as_slice();
        assert_eq!((row[0], row[3], row[14], row[29]), (17.99, 1001.0, 0.006, 0.119));
        assert_eq!((wdbc.labels()[0], wdbc.labels()[568]), (Label::Positive, Label::Negative));

        let ionosphere = Builtin::Ionosphere.load().unwrap();
        let row = ionosphere.points().row(0).unwrap().as_slice();
        assert_eq!((row[0], row[1], row[2], row[32]), (1.0, 0.995, -0.059, -0.453));
        assert_eq!(ionosphere.labels()[..2], [Label::Positive, Label::Negative]);
    }

    /// The first mushroom is `x,s,n,t,p,f,c,n,k,e,e,s,s,w,w,p,w,o,p,k,s,u,p`.
    #[test]
    fn the_first_mushroom() {
        let data = Builtin::Mushroom.load_sparse().unwrap();
        let row = data.points().row(0).unwrap();
        let names: Vec<&str> = row.entries().map(|(j, _)| data.columns()[j].as_str()).collect();
        let expected: Vec<String> = "xsntpfcnkeesswwpwopksu"
            .chars()
            .enumerate()
            .map(|(i, value)| format!("x{}={value}", i + 1))
            .collect();
        assert_eq!(names, expected);
        assert_eq!(data.labels()[..2], [Label::Positive, Label::Negative]);
        assert!(data.points().rows().all(|row| row.norm_sq() == 22.0));
    }

    #[test]
    fn every_set_says_what_it_is() {
        for set in Builtin::ALL {
            assert!(set.source().starts_with("UCI Machine Learning Repository, "));
            assert!(!set.description().is_empty() && set.licence() == "CC BY 4.0");
        }
    }
}
