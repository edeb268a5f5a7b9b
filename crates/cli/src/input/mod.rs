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

/// Whether a path is standard input or a pipe, which can be read only once.
pub(crate) fn is_pipe(path: &Path) -> bool {
    path == Path::new("-") || path.exists() && !path.is_file() && !path.is_dir()
}

/// Checks that a path can be read more than once. `option` precedes the message.
pub(crate) fn check_no_pipe(path: &Path, option: &str) -> Result<(), CliError> {
    if !is_pipe(path) {
        return Ok(());
    }
    let what = match path == Path::new("-") {
        true => "standard input cannot be read more than once".to_owned(),
        false => format!("{} is a pipe, which cannot be read more than once", path.display()),
    };
    Err(CliError::user(format!("{option}{what}; pass a file")))
}

/// Prints the pending notes of a table and removes them.
pub(crate) fn print_notes(frame: &mut Frame) {
    for text in frame.notes.drain(..) {
        note(&format!("note: {text}"));
    }
}
