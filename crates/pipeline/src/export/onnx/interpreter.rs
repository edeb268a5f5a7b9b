//! An interpreter that runs ONNX graphs from the bytes of a file. It supports only the operators that exports use, for
//! tensors of up to two dimensions. It follows the specification of the operators and does not depend on the models.

use super::schema::{Element, GraphProto, ModelProto, NodeProto, TensorProto};
use prost::Message;
use std::collections::HashMap;

/// The elements of a tensor, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Elements {
    Numbers(Vec<f64>),
    Integers(Vec<i64>),
    Texts(Vec<String>),
    Truths(Vec<bool>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) elements: Elements,
}

use Elements::{Integers, Numbers, Texts, Truths};

impl Tensor {
    pub(crate) fn numbers(shape: &[usize], values: Vec<f64>) -> Tensor {
        assert_eq!(shape.iter().product::<usize>(), values.len());
        Tensor { shape: shape.to_vec(), elements: Numbers(values) }
    }

    pub(crate) fn as_numbers(&self) -> &[f64] {
        let Numbers(values) = &self.elements else { panic!("numbers, not {self:?}") };
        values
    }

    pub(crate) fn as_texts(&self) -> &[String] {
        let Texts(values) = &self.elements else { panic!("texts, not {self:?}") };
        values
    }

    fn as_integers(&self) -> &[i64] {
        let Integers(values) = &self.elements else { panic!("integers, not {self:?}") };
        values
    }

    fn as_truths(&self) -> &[bool] {
        let Truths(values) = &self.elements else { panic!("truth values, not {self:?}") };
        values
    }

    fn matrix(&self) -> (usize, usize) {
        let [rows, columns] = self.shape[..] else { panic!("a matrix, not {:?}", self.shape) };
        (rows, columns)
    }

    /// Returns a tensor with the elements at the given positions.
    fn picked(&self, shape: Vec<usize>, places: &[usize]) -> Tensor {
        let elements = match &self.elements {
            Numbers(of) => Numbers(places.iter().map(|at| of[*at]).collect()),
            Integers(of) => Integers(places.iter().map(|at| of[*at]).collect()),
            Texts(of) => Texts(places.iter().map(|at| of[*at].clone()).collect()),
            Truths(of) => Truths(places.iter().map(|at| of[*at]).collect()),
        };
        Tensor { shape, elements }
    }

    fn of_proto(proto: &TensorProto) -> Tensor {
        let shape: Vec<usize> = proto.dims.iter().map(|n| *n as usize).collect();
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).unwrap();
        let elements = match proto.data_type {
            t if t == Element::Double as i32 => Numbers(proto.double_data.clone()),
            t if t == Element::Int64 as i32 => Integers(proto.int64_data.clone()),
            t if t == Element::String as i32 => Texts(proto.string_data.iter().map(text).collect()),
            other => panic!("element type {other}"),
        };
        Tensor { shape, elements }
    }
}

/// Broadcasts two shapes. Returns the common shape and, for each of its elements, the positions of the two elements
/// that are combined.
fn pairs(a: &[usize], b: &[usize]) -> (Vec<usize>, Vec<(usize, usize)>) {
    let rank = a.len().max(b.len());
    let padded = |shape: &[usize]| [&vec![1; rank - shape.len()], shape].concat();
    let (a, b) = (padded(a), padded(b));
    let size = |(x, y): (&usize, &usize)| {
        assert!(x == y || *x == 1 || *y == 1, "shapes {a:?} and {b:?}");
        if *x == 1 { *y } else { *x }
    };
    let shape: Vec<usize> = a.iter().zip(&b).map(size).collect();
    let place = |of: &[usize], index: &[usize]| {
        of.iter().zip(index).fold(0, |at, (n, i)| at * n + if *n == 1 { 0 } else { *i })
    };
    let count = shape.iter().product::<usize>();
    let pair = |mut at: usize| {
        let mut index = vec![0; rank];
        for (i, n) in index.iter_mut().zip(&shape).rev() {
            (*i, at) = (at % n, at / n);
        }
        (place(&a, &index), place(&b, &index))
    };
    let pairs = (0..count).map(pair).collect();
    (shape, pairs)
}

fn numeric(a: &Tensor, b: &Tensor, f: impl Fn(f64, f64) -> f64) -> Tensor {
    let (shape, pairs) = pairs(&a.shape, &b.shape);
    let (a, b) = (a.as_numbers(), b.as_numbers());
    Tensor { shape, elements: Numbers(pairs.iter().map(|(i, j)| f(a[*i], b[*j])).collect()) }
}

fn each(a: &Tensor, f: impl Fn(f64) -> f64) -> Tensor {
    let values = a.as_numbers().iter().map(|v| f(*v)).collect();
    Tensor { shape: a.shape.clone(), elements: Numbers(values) }
}

fn equal(a: &Tensor, b: &Tensor) -> Tensor {
    let (shape, pairs) = pairs(&a.shape, &b.shape);
    let truths = match (&a.elements, &b.elements) {
        (Numbers(a), Numbers(b)) => pairs.iter().map(|(i, j)| a[*i] == b[*j]).collect(),
        (Texts(a), Texts(b)) => pairs.iter().map(|(i, j)| a[*i] == b[*j]).collect(),
        (Integers(a), Integers(b)) => pairs.iter().map(|(i, j)| a[*i] == b[*j]).collect(),
        _ => panic!("elements of one type"),
    };
    Tensor { shape, elements: Truths(truths) }
}

fn chosen(by: &Tensor, yes: &Tensor, no: &Tensor) -> Tensor {
    // Broadcast all three inputs to the common shape.
    let (shape, _) = pairs(&by.shape, &yes.shape);
    let (shape, _) = pairs(&shape, &no.shape);
    let spread = |of: &Tensor| -> Vec<usize> {
        pairs(&of.shape, &shape).1.into_iter().map(|(at, _)| at).collect()
    };
    let (by_places, yes_places, no_places) = (spread(by), spread(yes), spread(no));
    let (by, yes, no) = (by.as_truths(), yes.as_numbers(), no.as_numbers());
    let value = |at: usize| {
        if by[by_places[at]] { yes[yes_places[at]] } else { no[no_places[at]] }
    };
    let count = by_places.len();
    Tensor { shape, elements: Numbers((0..count).map(value).collect()) }
}

fn product(a: &Tensor, b: &Tensor) -> Tensor {
    let (rows, inner) = a.matrix();
    let columns = if b.shape.len() == 1 { 1 } else { b.matrix().1 };
    assert_eq!(inner, b.shape[0], "inner dimensions");
    let (x, y) = (a.as_numbers(), b.as_numbers());
    let mut values = Vec::with_capacity(rows * columns);
    for i in 0..rows {
        for j in 0..columns {
            values.push((0..inner).map(|k| x[i * inner + k] * y[k * columns + j]).sum());
        }
    }
    let shape = if b.shape.len() == 1 { vec![rows] } else { vec![rows, columns] };
    Tensor { shape, elements: Numbers(values) }
}

/// Reduces each row to one element with `f`.
fn reduced(a: &Tensor, axes: &Tensor, f: impl Fn(&[f64]) -> f64) -> Tensor {
    assert_eq!(axes.as_integers(), [1]);
    let (rows, columns) = a.matrix();
    let values = a.as_numbers().chunks(columns).map(f).collect();
    Tensor { shape: vec![rows, 1], elements: Numbers(values) }
}

fn concatenated(parts: &[&Tensor], axis: i64) -> Tensor {
    if parts[0].shape.len() == 1 {
        assert_eq!(axis, 0);
        let values: Vec<i64> = parts.iter().flat_map(|part| part.as_integers().to_vec()).collect();
        return Tensor { shape: vec![values.len()], elements: Integers(values) };
    }
    assert_eq!(axis, 1);
    let rows = parts[0].matrix().0;
    let mut values = Vec::new();
    for row in 0..rows {
        for part in parts {
            assert_eq!(part.matrix().0, rows, "rows");
            let columns = part.matrix().1;
            values.extend_from_slice(&part.as_numbers()[row * columns..][..columns]);
        }
    }
    Tensor { shape: vec![rows, values.len() / rows], elements: Numbers(values) }
}

fn transposed(a: &Tensor) -> Tensor {
    let (rows, columns) = a.matrix();
    let places: Vec<usize> =
        (0..columns).flat_map(|j| (0..rows).map(move |i| i * columns + j)).collect();
    a.picked(vec![columns, rows], &places)
}

fn gathered(a: &Tensor, places: &Tensor, axis: i64) -> Tensor {
    let indices: Vec<usize> = places.as_integers().iter().map(|at| *at as usize).collect();
    if axis == 0 && a.shape.len() == 1 {
        return a.picked(places.shape.clone(), &indices);
    }
    assert_eq!(axis, 1);
    let (rows, columns) = a.matrix();
    let at: Vec<usize> =
        (0..rows).flat_map(|i| indices.iter().map(move |j| i * columns + j)).collect();
    a.picked(vec![rows, indices.len()], &at)
}

struct Node<'n> {
    node: &'n NodeProto,
    values: &'n HashMap<String, Tensor>,
}

impl Node<'_> {
    fn attribute(&self, name: &str) -> Option<&super::schema::AttributeProto> {
        self.node.attribute.iter().find(|attribute| attribute.name == name)
    }

    fn integer(&self, name: &str) -> i64 {
        self.attribute(name).and_then(|of| of.i).unwrap_or_else(|| panic!("attribute {name}"))
    }

    fn input(&self, at: usize) -> &Tensor {
        let name = &self.node.input[at];
        self.values.get(name).unwrap_or_else(|| panic!("no value {name}"))
    }

    fn result(&self) -> Tensor {
        let (a, rest) = (self.input(0), &self.node.input[1..]);
        let b = || self.input(1);
        assert_eq!(self.node.output.len(), 1);
        match self.node.op_type.as_str() {
            "Identity" => a.clone(),
            "Add" => numeric(a, b(), |x, y| x + y),
            "Sub" => numeric(a, b(), |x, y| x - y),
            "Mul" => numeric(a, b(), |x, y| x * y),
            "Div" => numeric(a, b(), |x, y| x / y),
            "Pow" => numeric(a, b(), f64::powf),
            "Max" => numeric(a, b(), f64::max),
            "Min" => numeric(a, b(), f64::min),
            "Abs" => each(a, f64::abs),
            "Exp" => each(a, f64::exp),
            "Neg" => each(a, |x| -x),
            "IsNaN" => {
                let truths = a.as_numbers().iter().map(|v| v.is_nan()).collect();
                Tensor { shape: a.shape.clone(), elements: Truths(truths) }
            }
            "Equal" => equal(a, b()),
            "GreaterOrEqual" => {
                let (shape, pairs) = pairs(&a.shape, &b().shape);
                let (a, b) = (a.as_numbers(), b().as_numbers());
                let truths = pairs.iter().map(|(i, j)| a[*i] >= b[*j]).collect();
                Tensor { shape, elements: Truths(truths) }
            }
            "Where" => chosen(a, b(), self.input(2)),
            "Cast" => {
                let truths = a.as_truths().iter().map(|truth| i64::from(*truth));
                let elements = match self.integer("to") {
                    t if t == Element::Double as i64 => Numbers(truths.map(|v| v as f64).collect()),
                    t if t == Element::Int64 as i64 => Integers(truths.collect()),
                    other => panic!("cast to {other}"),
                };
                Tensor { shape: a.shape.clone(), elements }
            }
            "Concat" => {
                let parts: Vec<&Tensor> = (0..=rest.len()).map(|at| self.input(at)).collect();
                concatenated(&parts, self.integer("axis"))
            }
            "Gather" => gathered(a, b(), self.integer("axis")),
            "MatMul" => product(a, b()),
            "ReduceSum" => reduced(a, b(), |row| row.iter().sum()),
            "ReduceMax" => {
                reduced(a, b(), |row| row.iter().copied().fold(f64::NEG_INFINITY, f64::max))
            }
            "ArgMax" => {
                assert_eq!((self.integer("axis"), self.integer("keepdims")), (1, 0));
                let (rows, columns) = a.matrix();
                let first = |row: &[f64]| {
                    (0..columns).fold(0, |best, at| if row[at] > row[best] { at } else { best })
                };
                let places = a.as_numbers().chunks(columns).map(|row| first(row) as i64).collect();
                Tensor { shape: vec![rows], elements: Integers(places) }
            }
            "Unsqueeze" => {
                assert_eq!((a.shape.len(), b().as_integers()), (1, &[1][..]));
                Tensor { shape: vec![a.shape[0], 1], ..a.clone() }
            }
            "Squeeze" => {
                assert_eq!((a.matrix().1, b().as_integers()), (1, &[1][..]));
                Tensor { shape: vec![a.shape[0]], ..a.clone() }
            }
            "Transpose" => {
                assert_eq!(self.attribute("perm").unwrap().ints, [1, 0]);
                transposed(a)
            }
            "Shape" => {
                let range = self.integer("start") as usize..self.integer("end") as usize;
                let sizes: Vec<i64> = a.shape[range].iter().map(|n| *n as i64).collect();
                Tensor { shape: vec![sizes.len()], elements: Integers(sizes) }
            }
            "Expand" => {
                let shape: Vec<usize> = b().as_integers().iter().map(|n| *n as usize).collect();
                let (shape, pairs) = pairs(&a.shape, &shape);
                let places: Vec<usize> = pairs.into_iter().map(|(at, _)| at).collect();
                a.picked(shape, &places)
            }
            "Scan" => self.scanned(),
            other => panic!("operator {other}"),
        }
    }

    /// Runs the body of a `Scan` for each row of the scanned inputs. The body has either one state or one output that
    /// is collected over the rows.
    fn scanned(&self) -> Tensor {
        let body = self.attribute("body").and_then(|of| of.g.as_deref()).unwrap();
        let scanned = self.integer("num_scan_inputs") as usize;
        let states = self.node.input.len() - scanned;
        assert!(states <= 1 && body.output.len() == 1);
        let mut state = (states == 1).then(|| self.input(0).clone());
        let (mut collected, mut width) = (Vec::new(), 0);
        let steps = self.input(states).shape[0];
        for step in 0..steps {
            let rows = (states..self.node.input.len()).map(|at| {
                let of = self.input(at);
                let (count, columns) = of.matrix();
                assert_eq!(count, steps, "steps");
                let places: Vec<usize> = (step * columns..(step + 1) * columns).collect();
                of.picked(vec![columns], &places)
            });
            let inputs = body.input.iter().map(|input| input.name.clone());
            let given = inputs.zip(state.iter().cloned().chain(rows)).collect();
            let result = run_graph(body, given).remove(&body.output[0].name).unwrap();
            if states == 1 {
                state = Some(result);
            } else {
                width = result.as_numbers().len();
                collected.extend_from_slice(result.as_numbers());
            }
        }
        state.unwrap_or_else(|| Tensor::numbers(&[steps, width], collected))
    }
}

/// Runs a graph and returns the values of all names.
fn run_graph(graph: &GraphProto, mut values: HashMap<String, Tensor>) -> HashMap<String, Tensor> {
    for input in &graph.input {
        assert!(values.contains_key(&input.name), "input {}", input.name);
    }
    for constant in &graph.initializer {
        let previous = values.insert(constant.name.clone(), Tensor::of_proto(constant));
        assert!(previous.is_none(), "{} twice", constant.name);
    }
    for node in &graph.node {
        let result = Node { node, values: &values }.result();
        assert!(
            values.insert(node.output[0].clone(), result).is_none(),
            "{} twice",
            node.output[0]
        );
    }
    values
}

/// Runs a model on the given inputs and returns its outputs.
pub(crate) fn run(bytes: &[u8], inputs: HashMap<String, Tensor>) -> HashMap<String, Tensor> {
    let model = ModelProto::decode(bytes).unwrap();
    assert_eq!(model.opset_import[0].version, super::schema::OPSET);
    let graph = model.graph.unwrap();
    let mut values = run_graph(&graph, inputs);
    graph.output.iter().map(|of| (of.name.clone(), values.remove(&of.name).unwrap())).collect()
}
