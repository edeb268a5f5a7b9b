//! Builds an ONNX graph node by node.

use super::schema::{
    AttributeProto, DimensionProto, Element, GraphProto, NodeProto, TensorProto, TensorShapeProto,
    TensorTypeProto, TypeProto, ValueInfoProto, attribute_type,
};

/// The prefix of the names of values inside the graph.
pub(super) const PREFIX: &str = "halfspaces/";
/// The name of the dimension whose size is the number of rows.
const ROWS: &str = "N";

/// The name of a value in the graph.
pub(super) type Name = String;

/// A graph under construction. Methods that add a node return the name of the node's output.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<NodeProto>,
    initializers: Vec<TensorProto>,
    inputs: Vec<ValueInfoProto>,
    outputs: Vec<ValueInfoProto>,
    count: usize,
    /// A prefix that distinguishes the names in a nested graph. It is empty for the outer graph.
    inside: &'static str,
}

impl Graph {
    /// Creates a graph that is nested in another graph.
    pub(super) fn inner(inside: &'static str) -> Graph {
        Graph { inside, ..Graph::default() }
    }

    fn fresh(&mut self) -> Name {
        self.count += 1;
        format!("{PREFIX}{}{}", self.inside, self.count)
    }

    /// Adds an input with `width` elements for each row of the table. If `width` is `None`, there is one element per
    /// row and no second dimension.
    pub(super) fn input(&mut self, name: &str, element: Element, width: Option<usize>, doc: &str) {
        self.inputs.push(info(name, element, &of_rows(width), doc));
    }

    /// Adds an input to a nested graph. The input is a vector of unknown length if `is_vector` is true, and a matrix
    /// otherwise.
    pub(super) fn inner_input(&mut self, is_vector: bool) -> Name {
        let name = self.fresh();
        let shape = vec![DimensionProto::default(); if is_vector { 1 } else { 2 }];
        self.inputs.push(info(&name, Element::Double, &shape, ""));
        name
    }

    /// Makes the value `of` an output called `name`. `width` has the same meaning as for [`Graph::input`].
    pub(super) fn output(&mut self, name: &str, of: &Name, element: Element, width: Option<usize>) {
        self.nodes.push(node("Identity", &[of], name, vec![]));
        self.outputs.push(info(name, element, &of_rows(width), ""));
    }

    /// Makes a value an output of a nested graph.
    pub(super) fn inner_output(&mut self, of: &Name, is_vector: bool) {
        let shape = vec![DimensionProto::default(); if is_vector { 1 } else { 2 }];
        self.outputs.push(info(of, Element::Double, &shape, ""));
    }

    /// Adds a constant tensor of numbers, which are given row by row.
    pub(super) fn numbers(&mut self, shape: &[usize], values: Vec<f64>) -> Name {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "a value for each place");
        self.constant(shape, Element::Double, TensorProto { double_data: values, ..none() })
    }

    /// Adds a row of constant numbers.
    pub(super) fn row(&mut self, values: Vec<f64>) -> Name {
        self.numbers(&[1, values.len()], values)
    }

    /// Adds a constant number.
    pub(super) fn number(&mut self, value: f64) -> Name {
        self.numbers(&[], vec![value])
    }

    /// Adds constant integers.
    pub(super) fn integers(&mut self, values: Vec<i64>) -> Name {
        let shape = [values.len()];
        self.constant(&shape, Element::Int64, TensorProto { int64_data: values, ..none() })
    }

    /// Adds constant texts.
    pub(super) fn texts(&mut self, shape: &[usize], values: &[String]) -> Name {
        let string_data = values.iter().map(|text| text.clone().into_bytes()).collect();
        self.constant(shape, Element::String, TensorProto { string_data, ..none() })
    }

    fn constant(&mut self, shape: &[usize], element: Element, values: TensorProto) -> Name {
        let name = self.fresh();
        let dims = shape.iter().map(|n| *n as i64).collect();
        let data_type = element as i32;
        self.initializers.push(TensorProto { dims, data_type, name: name.clone(), ..values });
        name
    }

    /// Adds a node without attributes.
    pub(super) fn op(&mut self, op: &str, inputs: &[&Name]) -> Name {
        self.op_with(op, inputs, vec![])
    }

    /// Adds a node.
    pub(super) fn op_with(
        &mut self,
        op: &str,
        inputs: &[&Name],
        attributes: Vec<AttributeProto>,
    ) -> Name {
        let output = self.fresh();
        self.nodes.push(node(op, inputs, &output, attributes));
        output
    }

    pub(super) fn into_proto(self, name: &str) -> GraphProto {
        GraphProto {
            node: self.nodes,
            name: name.to_owned(),
            initializer: self.initializers,
            input: self.inputs,
            output: self.outputs,
        }
    }
}

fn none() -> TensorProto {
    TensorProto::default()
}

fn node(op: &str, inputs: &[&Name], output: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    NodeProto {
        input: inputs.iter().map(|name| (*name).clone()).collect(),
        output: vec![output.to_owned()],
        name: output.to_owned(),
        op_type: op.to_owned(),
        attribute,
    }
}

fn of_rows(width: Option<usize>) -> Vec<DimensionProto> {
    let rows = DimensionProto { dim_param: Some(ROWS.to_owned()), ..DimensionProto::default() };
    let columns = width
        .map(|width| DimensionProto { dim_value: Some(width as i64), ..DimensionProto::default() });
    std::iter::once(rows).chain(columns).collect()
}

fn info(name: &str, element: Element, shape: &[DimensionProto], doc: &str) -> ValueInfoProto {
    let shape = Some(TensorShapeProto { dim: shape.to_vec() });
    let tensor_type = Some(TensorTypeProto { elem_type: element as i32, shape });
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto { tensor_type }),
        doc_string: doc.to_owned(),
    }
}

/// An attribute with an integer value.
pub(super) fn integer(name: &str, value: i64) -> AttributeProto {
    let name = name.to_owned();
    AttributeProto { name, i: Some(value), r#type: attribute_type::INT, ..no_attribute() }
}

/// An attribute whose value is a list of integers.
pub(super) fn integers(name: &str, values: &[i64]) -> AttributeProto {
    let (name, ints) = (name.to_owned(), values.to_vec());
    AttributeProto { name, ints, r#type: attribute_type::INTS, ..no_attribute() }
}

/// An attribute whose value is a graph.
pub(super) fn graph(name: &str, graph: GraphProto) -> AttributeProto {
    let (name, g) = (name.to_owned(), Some(Box::new(graph)));
    AttributeProto { name, g, r#type: attribute_type::GRAPH, ..no_attribute() }
}

fn no_attribute() -> AttributeProto {
    AttributeProto::default()
}
