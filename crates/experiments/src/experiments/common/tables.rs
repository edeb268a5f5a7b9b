//! Cells of tables. A cell is empty if there are no values, and contains "not finite" if its number is not finite.

use halfspaces_eval::{Group, Table, stats};

/// A column: its name and a function from a row `R` to its cell.
pub(crate) type Column<'a, R> = (&'a str, &'a dyn Fn(&R) -> String);

/// A table with one row for each of `rows`.
pub(crate) fn table<R>(
    name: &str,
    caption: &str,
    rows: impl IntoIterator<Item = R>,
    columns: &[Column<'_, R>],
) -> Table {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut table = Table::new(name, caption, &names);
    for row in rows {
        table.push(columns.iter().map(|(_, cell)| cell(&row)).collect());
    }
    table
}

/// A power of ten with its exponent as a superscript, such as 10⁸⁰.
pub(crate) fn power_text(exponent: i32) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        digit => {
            let at = digit.to_digit(10).and_then(|d| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(d as usize));
            at.unwrap_or_else(|| unreachable!("numbers are written in digits: {digit}"))
        }
    };
    format!("10{}", exponent.to_string().chars().map(raised).collect::<String>())
}

/// The cell for a number that is not finite.
const NOT_FINITE: &str = "not finite";

/// A summary of `values` as text; empty if there are no values.
fn summary(values: &[f64], decimals: usize, of: impl Fn(&[f64]) -> Option<f64>) -> String {
    match of(values).filter(|value| value.is_finite()) {
        Some(value) => format!("{value:.decimals$}"),
        None if values.is_empty() => String::new(),
        None => NOT_FINITE.into(),
    }
}

/// The median as text.
pub(crate) fn median_text(values: &[f64], decimals: usize) -> String {
    summary(values, decimals, stats::median)
}

/// The mean as text.
pub(crate) fn mean_text(values: &[f64], decimals: usize) -> String {
    summary(values, decimals, stats::mean)
}

/// The smallest value as text.
pub(crate) fn least_text(values: &[f64], decimals: usize) -> String {
    extreme_text(values, decimals, f64::min)
}

/// The largest value as text.
pub(crate) fn most_text(values: &[f64], decimals: usize) -> String {
    extreme_text(values, decimals, f64::max)
}

/// The smallest or the largest value as text. An infinite value is shown as such, since it means that a bound is
/// violated.
fn extreme_text(values: &[f64], decimals: usize, pick: fn(f64, f64) -> f64) -> String {
    let extreme = values.iter().copied().reduce(pick);
    extreme.map_or_else(String::new, |value| format!("{value:.decimals$}"))
}

/// Two cells: the mean and its 95 % interval. A single value has no interval.
pub(crate) fn mean_cells(values: &[f64], digits: usize) -> [String; 2] {
    let interval = match stats::mean_interval(values, 0.95) {
        Some(i) => format!("{:.digits$} to {:.digits$}", i.low, i.high),
        None if values.len() < 2 => String::new(),
        None => NOT_FINITE.into(),
    };
    [mean_text(values, digits), interval]
}

/// Values and cells of the trials of a setting. Trials for which `of` gives `None` are skipped.
pub(crate) trait Trials<O> {
    fn outcomes(&self) -> &[O];

    /// The number of trials as text.
    fn count(&self) -> String {
        self.outcomes().len().to_string()
    }

    /// One value per trial.
    fn values<V: Into<Option<f64>>>(&self, of: impl Fn(&O) -> V) -> Vec<f64> {
        self.outcomes().iter().filter_map(|o| of(o).into()).collect()
    }

    fn median<V: Into<Option<f64>>>(&self, decimals: usize, of: impl Fn(&O) -> V) -> String {
        median_text(&self.values(of), decimals)
    }

    fn most<V: Into<Option<f64>>>(&self, decimals: usize, of: impl Fn(&O) -> V) -> String {
        most_text(&self.values(of), decimals)
    }

    fn least<V: Into<Option<f64>>>(&self, decimals: usize, of: impl Fn(&O) -> V) -> String {
        least_text(&self.values(of), decimals)
    }
}

impl<C, O> Trials<O> for Group<C, O> {
    fn outcomes(&self) -> &[O] {
        &self.outcomes
    }
}

impl<O> Trials<O> for [O] {
    fn outcomes(&self) -> &[O] {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_say_what_is_missing() {
        assert_eq!((median_text(&[], 1), median_text(&[1.0, 2.0], 1)), ("".into(), "1.5".into()));
        assert_eq!(median_text(&[1.0, f64::INFINITY, 2.0], 1), NOT_FINITE);
        assert_eq!(most_text(&[1.0, f64::INFINITY], 1), "inf");
        assert_eq!(mean_cells(&[1.0], 1), ["1.0".to_owned(), String::new()]);
        assert_eq!(mean_cells(&[1.0, f64::NAN], 1), [NOT_FINITE; 2]);
    }

    #[test]
    fn powers_are_raised() {
        assert_eq!((power_text(80), power_text(-12)), ("10⁸⁰".into(), "10⁻¹²".into()));
    }

    #[test]
    fn columns_stand_beside_their_names() {
        let squares =
            table("t", "c", [2, 3], &[("x", &|x| x.to_string()), ("x²", &|x| (x * x).to_string())]);
        assert_eq!(squares.to_csv(), "x,x²\n2,4\n3,9\n");
    }
}
