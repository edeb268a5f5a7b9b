//! A session and a pool that may have changed since: which answers are found again, and what is said about it.

use super::args::LabelArgs;
use super::pool::Pool;
use crate::error::CliError;
use halfspaces_labelling::{Anchoring, Event, PoolId, Record};
use std::path::Path;

/// Rows named in a message.
const NAMED: usize = 5;

/// The event by which a session takes over a changed pool; `None` if the pool is the same. Adds what there is to say to
/// `notes`.
pub(super) fn anchor(
    args: &LabelArgs,
    record: &Record,
    pool: &Pool,
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<Option<Event>, CliError> {
    let before = record.pool();
    let name = path.display();
    if before.items.is_none() {
        // A session of version 1 knows its pool as a whole only.
        if !before.is_same(&pool.first_version) {
            return Err(CliError::user(format!(
                "{}; version 1 has no keys of items: take the answers along by --export with the old pool and --known with \
                 the new one",
                foreign(before, &pool.first_version, path)
            )));
        }
        return Ok(Some(Anchoring::first_keys(pool.id.clone())));
    }
    if before.is_same(&pool.id) {
        return Ok(None);
    }
    let Some(anchoring) = Anchoring::find(record, &pool.id) else {
        unreachable!("both pools have keys")
    };
    let touched = anchoring.found + anchoring.missing.len();
    if anchoring.is_foreign() && !(args.keep_found && touched > 0) {
        let mut why = foreign(before, &pool.id, path);
        let table = |id: &PoolId| id.items.as_ref().map(|items| items.table.clone());
        if table(before) == table(&pool.id) {
            why.push_str(
                "; the table is the same, but the texts or images shown with it are others or in another order",
            );
        }
        return Err(CliError::user(why));
    }
    if !anchoring.missing.is_empty() {
        let lost = lost(&anchoring, before, &pool.id);
        if !args.keep_found {
            return Err(CliError::user(format!(
                "{name}: {lost}; restore these rows, go on without them by --keep-found (their answers stay in the \
                 session file), or name another file by --session"
            )));
        }
        notes.push(format!("note: {name}: {lost}; their answers stay in the session file"));
    }
    notes.push(format!("note: {name}: {}", changes(&anchoring, &pool.id)));
    if !anchoring.changed.is_empty() {
        let rows = listed(anchoring.changed.iter().copied());
        notes.push(format!(
            "note: {name}: {} of the items have other contents than before and the same id (rows {rows}); their answers are kept",
            anchoring.changed.len()
        ));
    }
    Ok(Some(anchoring.event(pool.id.clone())))
}

fn foreign(before: &PoolId, now: &PoolId, path: &Path) -> String {
    let PoolId { source, rows, columns, .. } = before;
    format!(
        "{}: line 1: a session about {source} ({rows} rows, {columns} columns), not about these {} rows and {} columns of \
         {}, none of whose items it knows; name another file by --session",
        path.display(),
        now.rows,
        now.columns,
        now.source
    )
}

/// The answers whose items are not found.
fn lost(anchoring: &Anchoring, before: &PoolId, now: &PoolId) -> String {
    let missing = &anchoring.missing;
    let rows = listed(missing.iter().filter_map(|missing| missing.row));
    let all = anchoring.found + missing.len();
    let (count, source) = (missing.len(), &now.source);
    let copies = missing.iter().filter(|missing| missing.is_ambiguous).count();
    let why = match before.items.as_ref().and_then(|items| items.by.id.as_ref()) {
        Some(column) => format!("{source} has no such ids in column `{column}`"),
        None => format!("{source} does not have them, or with other contents"),
    };
    let why = match copies {
        0 => why,
        _ if copies == count => {
            format!("{source} has fewer copies of them than there are different answers")
        }
        _ => format!("{why}, or has fewer copies than there are different answers"),
    };
    format!("{count} of {all} answered or skipped items are not found (rows {rows} before): {why}")
}

/// What has changed, in words.
fn changes(anchoring: &Anchoring, now: &PoolId) -> String {
    let mut parts = Vec::new();
    let mut part = |count: usize, one: &str, more: &str| match count {
        0 => {}
        1 => parts.push(format!("1 {one}")),
        _ => parts.push(format!("{count} {more}")),
    };
    part(
        anchoring.moved,
        "answer was moved to a new row number",
        "answers were moved to new row numbers",
    );
    part(anchoring.added, "new item", "new items");
    part(
        anchoring.removed - anchoring.missing.len().min(anchoring.removed),
        "item without an answer is gone",
        "items without an answer are gone",
    );
    part(
        anchoring.renamed,
        "item has another name and the same content",
        "items have other names and the same contents",
    );
    part(anchoring.returned, "answer is back with its item", "answers are back with their items");
    if parts.is_empty() {
        parts.push("items without an answer are in another order".to_owned());
    }
    format!("the pool has changed: {} ({} rows now)", parts.join(", "), now.rows)
}

fn listed(rows: impl Iterator<Item = usize>) -> String {
    let rows: Vec<usize> = rows.collect();
    let mut text: Vec<String> = rows.iter().take(NAMED).map(usize::to_string).collect();
    if rows.len() > NAMED {
        text.push("..".to_owned());
    }
    text.join(", ")
}
