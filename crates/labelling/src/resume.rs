//! Resumes a session with a changed pool: finds the answered items again and reports the changes.

use crate::anchor::Anchoring;
use crate::cells::Cells;
use crate::event::{Event, PoolId};
use crate::file::SessionLog;
use crate::journal::Tail;
use crate::record::Record;
use halfspaces_frame::{DataError, DateOrder};
use std::collections::HashSet;
use std::path::Path;

/// The maximum number of rows listed in a message.
const LISTED: usize = 5;

/// The pool with which a session is resumed.
///
/// ```
/// use halfspaces_labelling::{Header, ItemIds, ItemKey, ItemSpec, PoolId, Record, ResumedPool};
/// let pool = |texts: &[&str]| {
///     let by = ItemSpec { id: Some("id".into()), ..ItemSpec::default() };
///     let keys = texts.iter().map(|text| ItemKey::of_text(text)).collect();
///     PoolId::new("pool.csv", 1, ItemIds { by, table: "00".into(), keys, contents: vec![], cells: None })
/// };
/// let record = Record::new(&Header::new(pool(&["a", "b"]), vec!["x".into(), "y".into()], 0));
/// let (same, longer, other) = (pool(&["a", "b"]), pool(&["a", "b", "c"]), pool(&["d", "e"]));
/// let event = |pool: &PoolId| {
///     let resumed = ResumedPool { id: pool, first_version: pool, cells: None, keep_found: false };
///     resumed.event(&record, "s.jsonl".as_ref(), &mut Vec::new())
/// };
/// assert!(event(&same)?.is_none() && event(&longer)?.is_some() && event(&other).is_err());
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ResumedPool<'a> {
    /// The identity of the pool.
    pub id: &'a PoolId,
    /// The identity of the pool, computed as for session files of version 1.
    pub first_version: &'a PoolId,
    /// The cells of the pool, from which the examples in messages are taken; `None` for messages without examples.
    pub cells: Option<&'a Cells>,
    /// Whether to continue even if answered items are missing.
    pub keep_found: bool,
}

impl ResumedPool<'_> {
    /// The event that adapts a session to this pool; `None` if the pool is unchanged. A description of the changes is
    /// added to `notes`.
    ///
    /// # Errors
    /// Returns an error if the session belongs to other items, if it identifies its items in another way
    /// ([`ItemIds::by`](crate::ItemIds::by)), if its dates are read in another order, if answers may belong to other rows ([`Anchoring::confused`]), or if
    /// answered items are missing.
    pub fn event(
        self,
        record: &Record,
        path: &Path,
        notes: &mut Vec<String>,
    ) -> Result<Option<Event>, DataError> {
        event(self, record, path, notes)
    }

    /// The state of a session after it was adapted to this pool, and the event of [`ResumedPool::event`]. The session
    /// itself does not change. If the last line of its file was cut off, a note says so.
    ///
    /// # Errors
    /// Those of [`ResumedPool::event`].
    pub fn resume(
        self,
        log: &SessionLog,
        path: &Path,
        notes: &mut Vec<String>,
    ) -> Result<(Record, Option<Event>), DataError> {
        if log.tail() == Tail::Cut {
            let name = path.display();
            notes.push(format!("note: {name}: the last line is truncated and is ignored"));
        }
        let mut record = log.record().clone();
        let event = self.event(&record, path, notes)?;
        if let Some(event) = &event {
            record.take(event.clone()).map_err(DataError::user)?;
        }
        Ok((record, event))
    }
}

fn event(
    pool: ResumedPool<'_>,
    record: &Record,
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<Option<Event>, DataError> {
    let ResumedPool { id, first_version, keep_found, .. } = pool;
    let before = record.pool();
    let name = path.display();
    if before.items.is_none() {
        // Session files of version 1 identify the pool only as a whole.
        if !before.is_same(first_version) {
            return Err(DataError::user(format!(
                "{}; version 1 of the session file does not identify individual items: to carry the answers over, use \
                 --export with the old pool and --known with the new one",
                foreign(before, first_version, path)
            )));
        }
        return Ok(Some(Anchoring::first_keys(id.clone())));
    }
    let by = |pool: &PoolId| pool.items.as_ref().map(|items| items.by.clone());
    if by(before) != by(id) {
        return Err(DataError::user(format!(
            "{name}: this session identifies its items by other columns than {} does here, or by the same columns in \
             another order; pass another file with --session",
            id.source
        )));
    }
    if let Some((column, order)) = turned_date(before, id) {
        let advice = match order {
            DateOrder::DayFirst => "pass --day-first, or",
            _ => "correct the dates in which the day is first, or",
        };
        return Err(DataError::user(format!(
            "{name}: column `{column}`: the dates of {} were read with the {} first in the last run and are read in the \
             other order now, so its answers may belong to other rows: {advice} pass another file with --session",
            id.source,
            if order == DateOrder::DayFirst { "day" } else { "month" }
        )));
    }
    let cells = |pool: &PoolId| pool.items.as_ref().and_then(|items| items.cells.clone());
    if before.is_same(id) && (cells(before) == cells(id) || is_settled(before, id)) {
        return Ok(None);
    }
    let Some(anchoring) = Anchoring::find(record, id) else { unreachable!("both pools have keys") };
    let touched = anchoring.found + anchoring.missing.len();
    if anchoring.is_foreign() && !(keep_found && touched > 0) {
        let mut why = foreign(before, id, path);
        let table = |id: &PoolId| id.items.as_ref().map(|items| items.table.clone());
        if table(before) == table(id) {
            why.push_str(
                "; the table is the same, but the texts or images shown with it have changed or are in another order",
            );
        }
        return Err(DataError::user(why));
    }
    if let Some(rows) = anchoring.confused.first() {
        let what = confused(rows, id, pool.cells);
        if !before.is_same(id) || cells(before).is_some() {
            return Err(DataError::user(format!(
                "{name}: {what}; as the table was changed or read differently since the last run, it is unknown which \
                 answer belongs to which row: restore the table and the options of the last run, or start a new \
                 session with --id COLUMN: pass another file with --session"
            )));
        }
        notes.push(format!(
            "note: {name}: {what}; an earlier version wrote this session, so if the table was sorted since then, check \
             these answers"
        ));
    }
    if !anchoring.missing.is_empty() {
        let lost = lost(&anchoring, before, id);
        if !keep_found {
            return Err(DataError::user(format!(
                "{name}: {lost}; restore these rows, continue without them with `label --keep-found` (their answers stay \
                 in the session file), or pass another file with --session"
            )));
        }
        notes.push(format!("note: {name}: {lost}; their answers stay in the session file"));
    }
    if let Some(changes) = changes(&anchoring, id) {
        notes.push(format!("note: {name}: {changes}"));
    }
    if !anchoring.changed.is_empty() {
        let rows = listed(anchoring.changed.iter().copied());
        notes.push(format!(
            "note: {name}: items with the same id and changed content: {} (rows {rows}); their answers are kept",
            anchoring.changed.len()
        ));
    }
    Ok(Some(anchoring.event(id.clone())))
}

/// Whether the cells of two pools with the same keys need not be compared, because no key occurs twice and the dates are
/// read in the same order. The session then keeps the older hashes of its cells and does not grow.
fn is_settled(before: &PoolId, now: &PoolId) -> bool {
    let (Some(before), Some(now)) = (&before.items, &now.items) else { return false };
    let (Some(old), Some(new)) = (&before.cells, &now.cells) else { return false };
    let mut seen = HashSet::with_capacity(now.keys.len());
    old.dates == new.dates && now.keys.iter().all(|key| seen.insert(*key))
}

/// A column of dates in which the order of day and month has changed, and the order in `before`; `None` if there is no
/// such column or the items have ids.
fn turned_date<'a>(before: &'a PoolId, now: &PoolId) -> Option<(&'a str, DateOrder)> {
    let (before, now) = (before.items.as_ref()?, now.items.as_ref()?);
    if before.by.id.is_some() {
        return None;
    }
    let now = &now.cells.as_ref()?.dates;
    before.cells.as_ref()?.dates.iter().find_map(|(column, order)| {
        let orders = (*order, *now.get(column)?);
        let is_turned = matches!(
            orders,
            (DateOrder::DayFirst, DateOrder::MonthFirst)
                | (DateOrder::MonthFirst, DateOrder::DayFirst)
        );
        is_turned.then_some((column.as_str(), *order))
    })
}

fn foreign(before: &PoolId, now: &PoolId, path: &Path) -> String {
    let PoolId { source, rows, columns, .. } = before;
    format!(
        "{}: line 1: this is a session for {source} ({rows} rows, {columns} columns); none of its items are in {} \
         ({} rows, {} columns); pass another file with --session",
        path.display(),
        now.source,
        now.rows,
        now.columns
    )
}

/// Describes rows with equal keys whose answers differ.
fn confused(rows: &[usize], now: &PoolId, cells: Option<&Cells>) -> String {
    let pair = cells.and_then(|cells| cells.example(rows));
    let pair = pair.map(|(row, how)| format!(": rows {} and {row} differ in {how}", rows[0]));
    format!(
        "rows {} of {} are read as equal, but they look different{}, and not all of them have the same answer",
        listed(rows.iter().copied()),
        now.source,
        pair.unwrap_or_else(|| " or looked different before".to_owned())
    )
}

/// Describes the answers whose items are not found.
fn lost(anchoring: &Anchoring, before: &PoolId, now: &PoolId) -> String {
    let missing = &anchoring.missing;
    let rows = listed(missing.iter().map(|missing| missing.row));
    let all = anchoring.found + missing.len();
    let (count, source) = (missing.len(), &now.source);
    let copies = missing.iter().filter(|missing| missing.is_ambiguous).count();
    let why = match before.items.as_ref().and_then(|items| items.by.id.as_ref()) {
        Some(column) => format!("their ids are missing from column `{column}` of {source}"),
        None => format!("they are missing from {source}, or their content has changed"),
    };
    let why = match copies {
        0 => why,
        _ if copies == count => {
            format!(
                "identical copies have different answers, and {source} has fewer copies than answers"
            )
        }
        _ => {
            format!("{why}, or identical copies have different answers and some copies are missing")
        }
    };
    format!(
        "{count} of {all} answered or skipped items were not found (formerly rows {rows}): {why}"
    )
}

/// Describes the changes to the pool; `None` if no item has another row number or [`lost`] covers all changes.
fn changes(anchoring: &Anchoring, now: &PoolId) -> Option<String> {
    let mut parts = Vec::new();
    let mut part = |count: usize, one: &str, more: &str| match count {
        0 => {}
        1 => parts.push(format!("1 {one}")),
        _ => parts.push(format!("{count} {more}")),
    };
    part(
        anchoring.moved,
        "answered or skipped item has a new row number",
        "answered or skipped items have new row numbers",
    );
    part(anchoring.added, "new item", "new items");
    part(
        anchoring.removed - anchoring.missing.len().min(anchoring.removed),
        "row was removed without the loss of an answer",
        "rows were removed without the loss of an answer",
    );
    part(
        anchoring.renamed,
        "item has another name but the same content",
        "items have new names but the same content",
    );
    part(
        anchoring.returned,
        "answered or skipped item is back",
        "answered or skipped items are back",
    );
    if parts.is_empty() {
        if anchoring.removed > 0 || !anchoring.reordered {
            return None;
        }
        parts.push("items without an answer are in a different order".to_owned());
    }
    Some(format!("the pool has changed: {} ({} rows now)", parts.join(", "), now.rows))
}

fn listed(rows: impl Iterator<Item = usize>) -> String {
    let rows: Vec<usize> = rows.collect();
    let mut text: Vec<String> = rows.iter().take(LISTED).map(usize::to_string).collect();
    if rows.len() > LISTED {
        text.push("..".to_owned());
    }
    text.join(", ")
}
