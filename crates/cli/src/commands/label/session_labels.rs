//! The labels of a session, joined to its table for `fit`.

use super::args::LabelArgs;
use super::pool::{Pool, SessionInfo};
use crate::error::CliError;
use crate::input::{Hints, InputArgs, check_no_pipe, print_notes};
use crate::output::note;
use crate::recipe::ColumnArgs;
use clap::{Args, Command, FromArgMatches};
use halfspaces_frame::visible;
use halfspaces_labelling::{Opening, RowLabel, SessionAccess, SessionFile, SessionLog};
use halfspaces_pipeline::JoinedTable;
use std::collections::BTreeMap;
use std::path::Path;

/// The labels of a session and what they refer to.
#[derive(Debug)]
pub(crate) struct SessionLabels {
    /// The label of each labelled row.
    pub(crate) by_row: BTreeMap<usize, String>,
    /// The number of rows of the table.
    rows: usize,
    /// The column that identifies the rows.
    id: Option<String>,
}

/// The rows of a table that were labelled in a session, and the column of known labels, which is removed. So is the
/// column that identifies the rows. Items are matched with rows in the same way as when a session is resumed. The
/// session file is only read.
pub(crate) fn session_table(
    input: &InputArgs,
    columns: &ColumnArgs,
    session: &Path,
) -> Result<(JoinedTable, Option<String>), CliError> {
    check_no_pipe(&input.data, "")?;
    let known = known_column(session)?;
    let labels = session_labels(&label_args(input, columns, session), session, |_| true);
    let labels = labels.map_err(|error| {
        CliError::user(format!(
            "{error}. If the session was made with --show, --items, --image or --id, run `halfspaces label --export` with the \
             same options, and pass its output with --labels"
        ))
    })?;
    let mut hints = columns.options().with_texts(Hints::texts(known.clone()));
    hints.expected.extend(labels.id.clone());
    let mut table = halfspaces_frame::read(&input.data, &input.reading.options(), &hints)?;
    if table.rows != labels.rows {
        return Err(CliError::user(format!(
            "{}: the table was read with {} rows for the session and with {} rows for the fit, so the labels may belong to other \
             rows; pass --header if the first line contains names, or --no-header",
            input.data.display(),
            labels.rows,
            table.rows
        )));
    }
    // The notes of the reader were printed when the pool was read.
    table.notes.clear();
    let known = known.filter(|name| table.has(name));
    if let Some(name) = &known {
        drop(table.take(name)?);
        note(&format!(
            "note: column `{}` has the known labels of the session, so it is not used as a feature",
            visible(name)
        ));
    }
    if let Some(id) = labels.id.filter(|id| table.has(id) && !columns.use_columns.contains(id)) {
        drop(table.take(&id)?);
        note(&format!(
            "note: column `{}` identifies the rows of the session, so it is not used as a feature",
            visible(&id)
        ));
    }
    let mut joined = JoinedTable::of_session(table, labels.by_row, &session.display().to_string())?;
    print_notes(&mut joined.frame);
    Ok((joined, known))
}

/// The column of known labels of a session, if it began with known labels.
fn known_column(session: &Path) -> Result<Option<String>, CliError> {
    // `session_labels` reports a missing file.
    if !session.exists() {
        return Ok(None);
    }
    Ok(open_existing(session)?.header().known.clone())
}

/// Opens a session for reading. An empty file is an error.
pub(super) fn open_existing(path: &Path) -> Result<SessionLog, CliError> {
    match SessionFile::open(path, SessionAccess::Read)? {
        Opening::Existing(log) => Ok(*log),
        Opening::New(_) => Err(CliError::user(format!("{}: the session is empty", path.display()))),
    }
}

/// The labels of a session that are `wanted`. `args` are the options with which the session was made.
pub(crate) fn session_labels(
    args: &LabelArgs,
    session: &Path,
    wanted: impl Fn(&RowLabel) -> bool,
) -> Result<SessionLabels, CliError> {
    if !session.exists() {
        return Err(CliError::user(format!("{}: there is no such session", session.display())));
    }
    let log = open_existing(session)?;
    let pool = Pool::read(args, &SessionInfo::of(&log))?;
    let mut notes = Vec::new();
    let (record, _) = pool.resumed(args).resume(&log, session, &mut notes)?;
    notes.iter().for_each(|text| note(&visible(text)));
    let labels = record.row_labels().filter(wanted);
    let labels = labels.map(|of| (of.row, record.classes()[of.class].clone()));
    let id = pool.id.items.as_ref().and_then(|items| items.by.id.clone());
    Ok(SessionLabels { by_row: labels.collect(), rows: pool.id.rows, id })
}

/// The options of `label` for this table and session, with defaults for all other options.
pub(crate) fn label_args(input: &InputArgs, columns: &ColumnArgs, session: &Path) -> LabelArgs {
    let command = LabelArgs::augment_args(Command::new("label"));
    let matches = command.get_matches_from(["label".as_ref(), input.data.as_os_str()]);
    let parsed = LabelArgs::from_arg_matches(&matches);
    let Ok(args) = parsed else { unreachable!("one table is enough: {parsed:?}") };
    LabelArgs {
        input: input.clone(),
        columns: columns.clone(),
        session: Some(session.to_owned()),
        ..args
    }
}
