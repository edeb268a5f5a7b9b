//! The native module of the Python package `halfspaces`.
//!
//! The Python code checks arguments according to scikit-learn's conventions; this module converts arrays to points,
//! calls the libraries and returns arrays. Models are exchanged with Python as text (JSON), so they can be copied,
//! pickled and compared.

mod audit;
mod binary;
mod block_labeler;
mod blocks;
mod command;
mod datasets;
mod error;
mod frame;
mod labeler;
mod learner;
mod model;
mod online;
mod parts;
mod pipeline;
mod rows;
mod run;
mod streams;
mod text;
mod transform;

use pyo3::prelude::*;

/// The native part of the package `halfspaces`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::audit::{audit_rows, audit_table};
    #[pymodule_export]
    use super::block_labeler::{BlocksLabeler, simulate_labelling_blocks};
    #[pymodule_export]
    use super::blocks::{
        block_rows, count_errors_blocks, fit_logistic_blocks, fit_perceptron_blocks,
        fit_position_blocks, largest_margins_blocks, merge, partial,
    };
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::datasets::{add_noise, draw, draw_heavy, draw_trap, load_table, tight};
    #[pymodule_export]
    use super::labeler::{Session, class_keys, session_labels};
    #[pymodule_export]
    use super::model::{Model, fit};
    #[pymodule_export]
    use super::online::Online;
    #[pymodule_export]
    use super::parts::{PartsPlan, PartsSurvey, audit_judged, run_on_points};
    #[pymodule_export]
    use super::pipeline::{TablePipeline, fit_pipeline};
    #[pymodule_export]
    use super::rows::largest_norm;
    #[pymodule_export]
    use super::run::set_progress;
    #[pymodule_export]
    use super::text::{TextMap, fit_texts};
    #[pymodule_export]
    use super::transform::{Map, fit_map, fit_position};

    /// The version of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python expects")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
