//! Reads the tables that the command line names.

mod args;

use crate::error::CliError;
use crate::output::note;
pub(crate) use args::{CostArgs, LabelFileArgs, ReadingArgs, failed_labels};
use clap::Args;
use halfspaces_frame::Frame;
pub(crate) use halfspaces_frame::{Hints, LargeTable};
use halfspaces_pipeline::Pipeline;
use std::path::{Path, PathBuf};

/// The input file and the options that say how it is read.
#[derive(Debug, Clone, Args)]
pub(crate) struct InputArgs {
    /// Table to read: CSV, TSV, LIBSVM, Parquet, Arrow, NPY or NPZ, also compressed (.gz, .zst); - reads standard input
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

impl InputArgs {
    /// Reads the table.
    pub(crate) fn read(&self) -> Result<Frame, CliError> {
        self.read_as(&Hints::default())
    }

    /// Reads the table with hints about the types of its columns.
    pub(crate) fn read_as(&self, hints: &Hints) -> Result<Frame, CliError> {
        read(&self.data, &self.reading, hints)
    }

    /// Reads the columns that a model needs, the text columns `others`, and the columns `kept`, which are copied to the
    /// output.
    pub(crate) fn read_for(
        &self,
        model: &Pipeline,
        others: &[String],
        kept: &[String],
    ) -> Result<Frame, CliError> {
        let mut frame = model.read_table(&self.data, &self.reading.options(), others, kept)?;
        print_notes(&mut frame);
        Ok(frame)
    }

    /// Opens a table that is read in chunks.
    pub(crate) fn open_large(&self, hints: Hints) -> Result<LargeTable, CliError> {
        LargeTable::open(&self.data, &self.reading.options(), hints)
    }
}

/// Reads a table from a file, or from standard input if the path is `-`, and prints the reader's notes.
pub(crate) fn read(path: &Path, reading: &ReadingArgs, hints: &Hints) -> Result<Frame, CliError> {
    let mut frame = halfspaces_frame::read(path, &reading.options(), hints)?;
    print_notes(&mut frame);
    Ok(frame)
}

/// Prints the pending notes of a table and removes them.
pub(crate) fn print_notes(frame: &mut Frame) {
    for text in frame.notes.drain(..) {
        note(&format!("note: {text}"));
    }
}
