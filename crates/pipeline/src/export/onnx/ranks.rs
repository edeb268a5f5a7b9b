//! Writes the ranks of columns as part of an ONNX graph.
//!
//! The rank of x is linear between two knots v_k and v_(k+1). So the rank of x is the first rank plus a sum over all
//! intervals from v_k to v_(k+1). The summand of an interval is its slope times the length of the part of the interval
//! that lies below x.

use super::graph::{self, Graph, Name, integer, integers};
use halfspaces_features::Ranks;
use halfspaces_frame::DataError;

/// The intervals between knots, column by column. Columns with fewer intervals are padded with intervals of length 0,
/// which add nothing.
struct Intervals {
    columns: usize,
    /// The number of intervals that each column has after padding.
    count: usize,
    starts: Vec<f64>,
    lengths: Vec<f64>,
    slopes: Vec<f64>,
}

impl Intervals {
    fn new(knots: &[(&[f64], &[f64])], count: usize) -> Result<Intervals, DataError> {
        let zeros = vec![0.0; knots.len() * count];
        let (mut starts, mut lengths, mut slopes) = (zeros.clone(), zeros.clone(), zeros);
        for (column, (values, ranks)) in knots.iter().enumerate() {
            for (k, (value, rank)) in
                values.windows(2).zip(ranks.windows(2)).take(count).enumerate()
            {
                let at = column * count + k;
                starts[at] = value[0];
                lengths[at] = value[1] - value[0];
                slopes[at] = (rank[1] - rank[0]) / lengths[at];
            }
        }
        if !lengths.iter().chain(&slopes).all(|v| v.is_finite()) {
            return Err(DataError::user(
                "the model ranks a column whose numbers are too far apart or too close together for ONNX (their differences \
                 overflow); use --format python, or rescale the column and fit again",
            ));
        }
        Ok(Intervals { columns: knots.len(), count, starts, lengths, slopes })
    }

    /// Adds the nodes that compute the length of the part of each interval that lies below x.
    fn below(value: &Name, start: &Name, length: &Name, graph: &mut Graph) -> Name {
        let beyond = graph.op("Sub", &[value, start]);
        let zero = graph.number(0.0);
        let beyond = graph.op("Max", &[&beyond, &zero]);
        graph.op("Min", &[&beyond, length])
    }

    /// Adds the sums for columns that have one interval.
    fn write_one(self, x: &Name, graph: &mut Graph) -> Name {
        let [starts, lengths, slopes] =
            [self.starts, self.lengths, self.slopes].map(|values| graph.row(values));
        let below = Intervals::below(x, &starts, &lengths, graph);
        graph.op("Mul", &[&below, &slopes])
    }

    /// Adds the sums for columns that have several intervals. `Scan` processes the columns one after another, so that
    /// only the intervals of one column are in memory.
    fn write_several(self, x: &Name, graph: &mut Graph) -> Name {
        let mut body = Graph::inner("ranks/");
        let inputs = [true; 4].map(|is_vector| body.inner_input(is_vector));
        let [value, start, length, slope] = &inputs;
        let axis = body.integers(vec![1]);
        let value = body.op("Unsqueeze", &[value, &axis]);
        let below = Intervals::below(&value, start, length, &mut body);
        let sum = body.op("MatMul", &[&below, slope]);
        body.inner_output(&sum, true);
        let by_column = graph.op_with("Transpose", &[x], vec![integers("perm", &[1, 0])]);
        let shape = [self.columns, self.count];
        let [starts, lengths, slopes] =
            [self.starts, self.lengths, self.slopes].map(|values| graph.numbers(&shape, values));
        let body = graph::graph("body", body.into_proto("ranks"));
        let sums = graph.op_with(
            "Scan",
            &[&by_column, &starts, &lengths, &slopes],
            vec![integer("num_scan_inputs", 4), body],
        );
        graph.op_with("Transpose", &[&sums], vec![integers("perm", &[1, 0])])
    }
}

/// Adds the ranks of all columns to the graph.
///
/// # Errors
/// Returns an error if the distance between two values in a column overflows, or if a slope overflows.
pub(super) fn write(ranks: &Ranks, x: &Name, graph: &mut Graph) -> Result<Name, DataError> {
    let knots: Vec<(&[f64], &[f64])> = ranks.knots().collect();
    // Columns of zeros and ones, such as those of categories, have one interval. Other columns have up to a thousand.
    let several: Vec<usize> = (0..knots.len()).filter(|at| knots[*at].0.len() > 2).collect();
    let integers = |places: &[usize]| places.iter().map(|at| *at as i64).collect();
    let sums = if several.is_empty() {
        Intervals::new(&knots, 1)?.write_one(x, graph)
    } else {
        let of_several: Vec<_> = several.iter().map(|at| knots[*at]).collect();
        let longest = of_several.iter().map(|(values, _)| values.len()).max().unwrap_or(1);
        let intervals = Intervals::new(&of_several, longest - 1)?;
        if several.len() == knots.len() {
            intervals.write_several(x, graph)
        } else {
            let columns = graph.integers(integers(&several));
            let chosen = graph.op_with("Gather", &[x, &columns], vec![integer("axis", 1)]);
            let of_several = intervals.write_several(&chosen, graph);
            // The sums that `write_one` adds for columns with several intervals are not used.
            let of_one = Intervals::new(&knots, 1)?.write_one(x, graph);
            let axis = integer("axis", 1);
            let both = graph.op_with("Concat", &[&of_one, &of_several], vec![axis.clone()]);
            let mut order: Vec<usize> = (0..knots.len()).collect();
            several.iter().enumerate().for_each(|(k, at)| order[*at] = knots.len() + k);
            let order = graph.integers(integers(&order));
            graph.op_with("Gather", &[&both, &order], vec![axis])
        }
    };
    let first = graph.row(knots.iter().map(|(_, ranks)| ranks[0]).collect());
    Ok(graph.op("Add", &[&sums, &first]))
}
