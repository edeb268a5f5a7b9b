//! Writes a model in the ONNX format, in double precision.
//!
//! The columns of numbers form one input matrix `X`, in which NaN is a missing number. Each column of categories is a
//! separate input with the name of the column. The outputs are `label` and `probabilities`, like those of scikit-learn
//! models that skl2onnx converts. A model without probabilities has the output `values` instead of `probabilities`.

mod coordinates;
mod graph;
#[cfg(test)]
pub(super) mod interpreter;
mod names;
mod ranks;
mod schema;

use super::sums::sums_of;
use crate::model::{Part, Sums};
use crate::pipeline::Pipeline;
use coordinates::{Coordinates, to};
use graph::{Graph, Name, integer, integers};
use halfspaces_features::{Distance, KernelValues, ZScore};
use halfspaces_frame::DataError;
use halfspaces_linalg::PointSet;
use halfspaces_pac::Calibration;
use halfspaces_tables::TableScale;
use names::{LABEL, PROBABILITIES, VALUES};
use prost::Message;
use schema::{Element, IR_VERSION, ModelProto, OPSET, OperatorSetIdProto, StringStringEntryProto};
use serde_json::Value;

/// Converts a model to the bytes of an ONNX file.
///
/// # Errors
/// Returns an error if a column or the learner has no counterpart in ONNX.
pub(super) fn export(pipeline: &Pipeline) -> Result<Vec<u8>, DataError> {
    let sums = sums_of(pipeline, "ONNX")?;
    let mut graph = Graph::default();
    let Coordinates { name, columns } = coordinates::write(&pipeline.recipe, &mut graph)?;
    let values = write_values(&sums, &name, &mut graph)?;
    write_label(pipeline.classes(), sums.outputs(), &values, &mut graph);
    match sums.calibration {
        Some(calibration) => {
            let probabilities =
                write_probabilities(calibration, sums.outputs(), &values, &mut graph);
            let classes = Some(pipeline.classes().len());
            graph.output(PROBABILITIES, &probabilities, Element::Double, classes);
        }
        None => graph.output(VALUES, &values, Element::Double, Some(sums.outputs())),
    }
    let property = |key: &str, values: &[String]| {
        let (key, value) = (key.to_owned(), Value::from(values).to_string());
        StringStringEntryProto { key, value }
    };
    let model = ModelProto {
        ir_version: IR_VERSION,
        producer_name: "halfspaces".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        doc_string: format!("Predicts `{}`.", pipeline.label_column()),
        graph: Some(graph.into_proto("halfspaces")),
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: OPSET }],
        metadata_props: vec![
            property("columns", &columns),
            property("classes", pipeline.classes()),
        ],
    };
    Ok(model.encode_to_vec())
}

/// Adds the decision values as a matrix with one column for each value.
fn write_values(sums: &Sums<'_>, x: &Name, graph: &mut Graph) -> Result<Name, DataError> {
    // Parts that have the same scale share the scaled coordinates.
    let mut scaled: Vec<(TableScale<'_>, Name)> = Vec::new();
    let mut sum: Option<Name> = None;
    for part in &sums.parts {
        let coordinates = match part.scale {
            None => x.clone(),
            Some(scale) => match scaled.iter().find(|(other, _)| *other == scale) {
                Some((_, name)) => name.clone(),
                None => {
                    let name = match scale {
                        TableScale::Standard(scale) => write_standard(scale, x, graph),
                        TableScale::Ranks(ranks) => ranks::write(ranks, x, graph)?,
                    };
                    scaled.push((scale, name.clone()));
                    name
                }
            },
        };
        let features = match part.kernel {
            None => coordinates,
            Some(kernel) => write_kernel(kernel, &coordinates, graph),
        };
        let value = write_affine(part, &features, graph);
        sum = Some(match sum {
            None => value,
            Some(sum) => graph.op("Add", &[&sum, &value]),
        });
    }
    let Some(sum) = sum else { unreachable!("a model has at least one part") };
    Ok(sum)
}

/// Adds (x - mean)/deviation for each column. A column whose deviation is 0 becomes 0.
fn write_standard(scale: &ZScore, x: &Name, graph: &mut Graph) -> Name {
    let inverse = |s: &f64| if *s > 0.0 { *s } else { f64::INFINITY };
    let means = graph.row(scale.means().to_vec());
    let deviations = graph.row(scale.deviations().iter().map(inverse).collect());
    let shifted = graph.op("Sub", &[x, &means]);
    graph.op("Div", &[&shifted, &deviations])
}

/// Adds the kernel value exp(-distance/scale) for each row and centre.
fn write_kernel(kernel: &KernelValues, x: &Name, graph: &mut Graph) -> Name {
    let centres = kernel.centres();
    let (count, dim) = (centres.len(), centres.dim());
    let transposed: Vec<f64> =
        (0..dim).flat_map(|j| (0..count).map(move |i| centres.as_slice()[i * dim + j])).collect();
    let distance = match kernel.kernel().distance() {
        Distance::SquaredEuclidean => {
            let squares = centres.as_slice().chunks_exact(dim);
            let squares = squares.map(|z| z.iter().map(|v| v * v).sum()).collect();
            let squares = graph.row(squares);
            let centres = graph.numbers(&[dim, count], transposed);
            let products = graph.op("MatMul", &[x, &centres]);
            let two = graph.number(2.0);
            let products = graph.op("Mul", &[&products, &two]);
            let own = graph.op("Mul", &[x, x]);
            let columns = graph.integers(vec![1]);
            let own = graph.op("ReduceSum", &[&own, &columns]);
            let sums = graph.op("Add", &[&own, &squares]);
            let distance = graph.op("Sub", &[&sums, &products]);
            // Rounding can make the distance between equal points negative.
            let zero = graph.number(0.0);
            graph.op("Max", &[&distance, &zero])
        }
        Distance::Manhattan => {
            // The coordinates are processed one after another, so that only the differences of one coordinate are in
            // memory.
            let mut body = Graph::inner("distance/");
            let sum = body.inner_input(false);
            let (value, centre) = (body.inner_input(true), body.inner_input(true));
            let axis = body.integers(vec![1]);
            let value = body.op("Unsqueeze", &[&value, &axis]);
            let difference = body.op("Sub", &[&value, &centre]);
            let difference = body.op("Abs", &[&difference]);
            let sum = body.op("Add", &[&sum, &difference]);
            body.inner_output(&sum, false);
            let centres = graph.numbers(&[dim, count], transposed);
            let rows = [integer("start", 0), integer("end", 1)];
            let rows = graph.op_with("Shape", &[x], rows.to_vec());
            let columns = graph.integers(vec![count as i64]);
            let shape = graph.op_with("Concat", &[&rows, &columns], vec![integer("axis", 0)]);
            let zero = graph.number(0.0);
            let zeros = graph.op("Expand", &[&zero, &shape]);
            let by_column = graph.op_with("Transpose", &[x], vec![integers("perm", &[1, 0])]);
            let body = graph::graph("body", body.into_proto("distance"));
            graph.op_with(
                "Scan",
                &[&zeros, &by_column, &centres],
                vec![integer("num_scan_inputs", 2), body],
            )
        }
    };
    let factor = graph.number(-(1.0 / kernel.kernel().scale()).min(f64::MAX));
    let exponent = graph.op("Mul", &[&distance, &factor]);
    graph.op("Exp", &[&exponent])
}

/// Adds the products of the features with the weights, plus the biases.
fn write_affine(part: &Part<'_>, features: &Name, graph: &mut Graph) -> Name {
    let (count, dim) = (part.affine.len(), part.affine[0].weights.len());
    let weights = (0..dim).flat_map(|i| part.affine.iter().map(move |of| of.weights[i])).collect();
    let weights = graph.numbers(&[dim, count], weights);
    let biases = graph.row(part.affine.iter().map(|of| of.bias).collect());
    let products = graph.op("MatMul", &[features, &weights]);
    graph.op("Add", &[&products, &biases])
}

/// Adds the predicted class. With two classes, this is the second class if the value is at least 0. With more classes,
/// it is the first class with the largest value.
fn write_label(classes: &[String], outputs: usize, values: &Name, graph: &mut Graph) {
    let class = if outputs == 1 {
        let zero = graph.number(0.0);
        let is_second = graph.op("GreaterOrEqual", &[values, &zero]);
        let class = graph.op_with("Cast", &[&is_second], vec![to(Element::Int64)]);
        let columns = graph.integers(vec![1]);
        graph.op("Squeeze", &[&class, &columns])
    } else {
        let attributes = vec![integer("axis", 1), integer("keepdims", 0)];
        graph.op_with("ArgMax", &[values], attributes)
    };
    let names = graph.texts(&[classes.len()], classes);
    let label = graph.op_with("Gather", &[&names, &class], vec![integer("axis", 0)]);
    graph.output(LABEL, &label, Element::String, None);
}

/// Multiplies what the powers of the distances exceed the second smallest power by the tail of the calibration.
fn write_tail(calibration: Calibration, outputs: usize, powers: &Name, graph: &mut Graph) -> Name {
    let columns = graph.integers(vec![1]);
    // The second smallest power is the smallest one after one smallest power is replaced by infinity.
    let negated = graph.op("Neg", &[powers]);
    let attributes = vec![integer("axis", 1), integer("keepdims", 0)];
    let smallest = graph.op_with("ArgMax", &[&negated], attributes);
    let smallest = graph.op("Unsqueeze", &[&smallest, &columns]);
    let places = graph.integers((0..outputs as i64).collect());
    let is_smallest = graph.op("Equal", &[&smallest, &places]);
    let least = graph.number(f64::NEG_INFINITY);
    let others = graph.op("Where", &[&is_smallest, &least, &negated]);
    let second = graph.op("ReduceMax", &[&others, &columns]);
    let second = graph.op("Neg", &[&second]);
    let within = graph.op("Min", &[powers, &second]);
    let beyond = graph.op("Sub", &[powers, &within]);
    let tail = graph.number(calibration.tail());
    let beyond = graph.op("Mul", &[&beyond, &tail]);
    graph.op("Add", &[&within, &beyond])
}

/// Adds the probability of each class, as [`Calibration::probabilities`] computes it.
fn write_probabilities(
    calibration: Calibration,
    outputs: usize,
    values: &Name,
    graph: &mut Graph,
) -> Name {
    let columns = graph.integers(vec![1]);
    let distances = if outputs == 1 {
        let zero = graph.number(0.0);
        let negated = graph.op("Neg", &[values]);
        let both = graph.op_with("Concat", &[values, &negated], vec![integer("axis", 1)]);
        graph.op("Max", &[&both, &zero])
    } else {
        let most = graph.op("ReduceMax", &[values, &columns]);
        graph.op("Sub", &[&most, values])
    };
    let unit = graph.number(calibration.unit());
    let exponent = graph.number(calibration.exponent());
    let most = graph.number(Calibration::MAX_POWER);
    let slope = graph.number(-calibration.slope());
    let powers = graph.op("Div", &[&distances, &unit]);
    let powers = graph.op("Pow", &[&powers, &exponent]);
    let powers = graph.op("Min", &[&powers, &most]);
    let powers =
        if outputs > 2 { write_tail(calibration, outputs, &powers, graph) } else { powers };
    let powers = graph.op("Mul", &[&powers, &slope]);
    let shares = graph.op("Exp", &[&powers]);
    let total = graph.op("ReduceSum", &[&shares, &columns]);
    let shares = graph.op("Div", &[&shares, &total]);
    let kept = graph.number(1.0 - calibration.slip());
    let floor = graph.number(calibration.slip() / outputs.max(2) as f64);
    let shares = graph.op("Mul", &[&shares, &kept]);
    graph.op("Add", &[&shares, &floor])
}
