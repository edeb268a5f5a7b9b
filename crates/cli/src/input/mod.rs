//! Tables from files, as the command line names them.

mod args;

use crate::error::CliError;
use crate::frame::Frame;
use crate::output::note;
pub(crate) use args::ReadingArgs;
use clap::Args;
pub(crate) use halfspaces_frame::{Hints, LargeTable};
use halfspaces_pipeline::Pipeline;
use std::path::{Path, PathBuf};

/// Which file, and how it is read.
#[derive(Debug, Clone, Args)]
pub(crate) struct InputArgs {
    /// The table: CSV, TSV, LIBSVM, Parquet, Arrow, NPY or NPZ, also as .gz or .zst; - for standard input
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

    /// Reads the table, knowing something of it.
    pub(crate) fn read_as(&self, hints: &Hints) -> Result<Frame, CliError> {
        read(&self.data, &self.reading, hints)
    }

    /// Reads the table for a model; `others` are columns of texts in addition, `kept` columns to be copied.
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

    /// Opens a table that is read in parts.
    pub(crate) fn open_large(&self, hints: Hints) -> Result<LargeTable, CliError> {
        LargeTable::open(&self.data, &self.reading.options(), hints)
    }
}

/// Reads a table from a file, or from standard input for `-`, and prints the notes of the reader.
pub(crate) fn read(path: &Path, reading: &ReadingArgs, hints: &Hints) -> Result<Frame, CliError> {
    let mut frame = halfspaces_frame::read(path, &reading.options(), hints)?;
    print_notes(&mut frame);
    Ok(frame)
}

/// Prints the notes of a table that have not been printed yet.
pub(crate) fn print_notes(frame: &mut Frame) {
    for text in frame.notes.drain(..) {
        note(&format!("note: {text}"));
    }
}
