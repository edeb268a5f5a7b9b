//! Texts as sparse points.

use crate::error::Fault;
use crate::pipeline::named;
use crate::run::{LARGE, run};
use halfspaces_frame::{Column, Frame, Values};
use halfspaces_linalg::PointSet;
use halfspaces_pipeline::{Design, Recipe, RecipeOptions, Unseen};
use numpy::PyArray1;
use pyo3::prelude::*;
use std::collections::HashMap;

/// The name of the text column.
const TEXT: &str = "text";

/// A fitted map from texts to sparse points.
#[pyclass(frozen, module = "halfspaces._core")]
#[derive(Debug)]
pub(crate) struct TextMap {
    recipe: Recipe,
}

/// The three arrays of a CSR matrix.
type Csr<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

fn frame(texts: Vec<String>) -> Frame {
    let mut codes = Vec::with_capacity(texts.len());
    let mut known: HashMap<String, u32> = HashMap::new();
    for text in texts {
        let next = known.len() as u32;
        codes.push(*known.entry(text).or_insert(next));
    }
    let mut levels = vec![String::new(); known.len()];
    known.into_iter().for_each(|(text, code)| levels[code as usize] = text);
    let column = Column { name: TEXT.to_owned(), values: Values::texts(codes, &levels) };
    Frame::new("texts", vec![column])
}

/// Collects the words and the runs of characters that occur in texts.
#[pyfunction]
pub(crate) fn fit_texts(
    py: Python<'_>,
    texts: Vec<String>,
    hash_bits: Option<u32>,
) -> PyResult<TextMap> {
    let recipe = run(py, 1, LARGE, |_| {
        let text = vec![TEXT.to_owned()];
        let options = RecipeOptions { text, hash_bits, ..RecipeOptions::default() };
        Recipe::fit(&frame(texts), &options).map_err(named)
    })?;
    Ok(TextMap { recipe: recipe.0 })
}

#[pymethods]
impl TextMap {
    /// Reads a map from the output of `TextMap.to_json`.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<TextMap> {
        let recipe = serde_json::from_str(text);
        Ok(TextMap { recipe: recipe.map_err(|e| Fault::new(format!("not a map of texts: {e}")))? })
    }

    /// The map as text.
    fn to_json(&self) -> PyResult<String> {
        Ok(serde_json::to_string(&self.recipe).map_err(Fault::new)?)
    }

    /// The number of coordinates.
    #[getter]
    fn output_dim(&self) -> usize {
        self.recipe.dim()
    }

    /// The words and the runs of characters; the runs are in quotation marks.
    fn names(&self) -> Vec<String> {
        let names = self.recipe.coordinates().into_iter();
        let prefix = format!("{TEXT}~");
        names.map(|name| name.strip_prefix(&prefix).unwrap_or(&name).to_owned()).collect()
    }

    /// The values, columns and row starts of the sparse points of texts.
    fn apply<'py>(&self, py: Python<'py>, texts: Vec<String>) -> PyResult<Csr<'py>> {
        let design =
            run(py, 1, LARGE, |_| self.recipe.apply(&frame(texts), Unseen::Zero).map_err(named))?;
        let Design::Sparse(points) = design else { unreachable!("the points of texts are sparse") };
        let (mut values, mut columns, mut starts) = (Vec::new(), Vec::new(), vec![0_i64]);
        for row in points.rows() {
            values.extend_from_slice(row.values());
            columns.extend(row.columns().iter().map(|column| i64::from(*column)));
            starts.push(values.len() as i64);
        }
        Ok((
            PyArray1::from_vec(py, values),
            PyArray1::from_vec(py, columns),
            PyArray1::from_vec(py, starts),
        ))
    }
}
