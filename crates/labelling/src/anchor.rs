//! Matches the items of a session with the rows of a changed pool.

use crate::event::{Event, PoolId};
use crate::keys::ItemKey;
use crate::record::Record;
use std::collections::{HashMap, HashSet};

/// A labelled or skipped item that the new pool does not contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingItem {
    /// The row in the session's current pool.
    pub row: usize,
    /// The class; `None` if the item was skipped or is uncertain.
    pub class: Option<usize>,
    /// Whether the new pool has copies of the item, but too few, and the labels of the copies differ.
    pub is_ambiguous: bool,
}

/// The match between the rows of a new pool and the items of a session.
///
/// Items with the same key are copies of each other. Copies are matched in order, because nothing distinguishes them.
///
/// ```
/// use halfspaces_labelling::{Anchoring, Event, Header, ItemIds, ItemKey, ItemSpec, PoolId, Record};
///
/// let pool = |texts: &[&str]| {
///     let by = ItemSpec { id: Some("id".into()), ..ItemSpec::default() };
///     let keys = texts.iter().map(|text| ItemKey::of_text(text)).collect();
///     PoolId::new("pool.csv", 1, ItemIds { by, table: "00".into(), keys, contents: vec![], cells: None })
/// };
/// let mut record = Record::new(&Header::new(pool(&["a", "b", "c"]), vec!["x".into(), "y".into()], 0));
/// record.take(record.check(&Event::Known { labels: vec![(2, "y".into())] })?);
///
/// // The pool is now in reverse order, with one more item.
/// let anchoring = Anchoring::find(&record, &pool(&["d", "c", "b", "a"])).unwrap();
/// assert_eq!((anchoring.moved, anchoring.added, anchoring.removed), (1, 1, 0));
/// let step = record.check(&anchoring.event(pool(&["d", "c", "b", "a"])))?;
/// record.take(step);
/// assert_eq!((record.label(1), record.label(2)), (Some(1), None));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchoring {
    items: Vec<usize>,
    /// Labelled or skipped items whose row number in the new pool differs from that in the current pool.
    pub moved: usize,
    /// Labelled or skipped items that the new pool contains.
    pub found: usize,
    /// Labelled or skipped items that the new pool contains and the current pool does not.
    pub returned: usize,
    /// Rows of the new pool whose items are new to the session.
    pub added: usize,
    /// Rows of the current pool that the new pool does not contain, including those of [`Anchoring::missing`].
    pub removed: usize,
    /// Labelled or skipped items of the current pool that the new pool does not contain.
    pub missing: Vec<MissingItem>,
    /// Rows of the new pool whose contents differ from those in the current pool even though their ids are the same.
    pub changed: Vec<usize>,
    /// Items with a changed key that are matched by their contents, for example after an image file was renamed.
    pub renamed: usize,
}

impl Anchoring {
    /// Matches the items of a session with the rows of a new pool. Returns `None` if the session or the pool has no
    /// keys.
    #[must_use]
    pub fn find(record: &Record, pool: &PoolId) -> Option<Anchoring> {
        let keys = &pool.items.as_ref()?.keys;
        record.pool().items.as_ref()?;
        let mut anchoring = Anchoring {
            items: vec![usize::MAX; keys.len()],
            moved: 0,
            found: 0,
            returned: 0,
            added: 0,
            removed: 0,
            missing: Vec::new(),
            changed: Vec::new(),
            renamed: 0,
        };
        let mut rows_of: HashMap<ItemKey, Vec<usize>> = HashMap::with_capacity(keys.len());
        keys.iter().enumerate().for_each(|(row, key)| rows_of.entry(*key).or_default().push(row));
        let mut items_of: HashMap<ItemKey, Vec<usize>> = HashMap::with_capacity(rows_of.len());
        for item in 0..record.items() {
            let Some(key) = record.key(item) else { continue };
            items_of.entry(key).or_default().push(item);
        }
        let touched: HashSet<usize> = (0..record.items())
            .filter(|item| record.class_of_item(*item).is_some() || record.is_item_aside(*item))
            .collect();
        for (key, mut items) in items_of {
            let rows = rows_of.get(&key).map_or(&[][..], Vec::as_slice);
            // Prefer labelled or skipped items, then items of the current pool.
            if items.len() > rows.len() {
                items.sort_by_key(|item| {
                    (!touched.contains(item), record.row_of(*item).is_none(), *item)
                });
                anchoring.leave_out(record, &items, rows.len(), &touched);
                items.truncate(rows.len());
                items.sort_unstable();
            }
            for (item, row) in items.into_iter().zip(rows) {
                anchoring.items[*row] = item;
            }
        }
        anchoring.find_by_contents(record, pool);
        let mut next = record.items();
        for (row, item) in anchoring.items.iter_mut().enumerate() {
            if *item == usize::MAX {
                *item = next;
                next += 1;
                anchoring.added += 1;
            } else if touched.contains(item) {
                anchoring.found += 1;
                match record.row_of(*item) {
                    None => anchoring.returned += 1,
                    Some(before) => anchoring.moved += usize::from(before != row),
                }
            }
        }
        anchoring.missing.sort_by_key(|missing| missing.row);
        anchoring.compare_contents(record, pool);
        Some(anchoring)
    }

    /// Records the copies `items[kept..]` of an item. The new pool has no rows for these copies.
    fn leave_out(
        &mut self,
        record: &Record,
        items: &[usize],
        kept: usize,
        touched: &HashSet<usize>,
    ) {
        let (kept, out) = items.split_at(kept);
        for item in out {
            let Some(row) = record.row_of(*item) else { continue };
            self.removed += 1;
            if !touched.contains(item) {
                continue;
            }
            let class = record.class_of_item(*item);
            // If all matched copies have the same label as this copy, no label is lost.
            let differs = |other: &&usize| record.class_of_item(**other) != class;
            let is_ambiguous = kept.iter().any(|other| differs(&other));
            if kept.is_empty() || is_ambiguous {
                self.missing.push(MissingItem { row, class, is_ambiguous });
            }
        }
    }

    /// Matches each unmatched item with the unmatched row that has the same contents, if both are unique.
    fn find_by_contents(&mut self, record: &Record, pool: &PoolId) {
        let (Some(before), Some(now)) = (&record.pool().items, &pool.items) else { return };
        if before.by.id.is_some() {
            return;
        }
        let found: HashSet<usize> = self.items.iter().copied().collect();
        let mut pairs: HashMap<ItemKey, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for item in (0..record.items()).filter(|item| !found.contains(item)) {
            let row = record.row_of(item);
            if let Some(content) = row.and_then(|row| before.contents.get(row)) {
                pairs.entry(*content).or_default().0.push(item);
            }
        }
        for (row, content) in now.contents.iter().enumerate() {
            if self.items[row] == usize::MAX {
                pairs.entry(*content).or_default().1.push(row);
            }
        }
        for (items, rows) in pairs.into_values() {
            if let ([item], [row]) = (&items[..], &rows[..]) {
                self.items[*row] = *item;
                self.renamed += 1;
                self.removed -= 1;
                let before = record.row_of(*item);
                self.missing.retain(|missing| Some(missing.row) != before);
            }
        }
    }

    fn compare_contents(&mut self, record: &Record, pool: &PoolId) {
        let (Some(before), Some(now)) = (&record.pool().items, &pool.items) else { return };
        if before.by.id.is_none() {
            return;
        }
        for (row, (item, content)) in self.items.iter().zip(&now.contents).enumerate() {
            let old = record.row_of(*item).and_then(|row| before.contents.get(row));
            if old.is_some_and(|old| old != content) {
                self.changed.push(row);
            }
        }
    }

    /// Whether the new pool contains no item of the session.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.added == self.items.len()
    }

    /// The event that makes `pool` the current pool of the session.
    #[must_use]
    pub fn event(self, pool: PoolId) -> Event {
        Event::Pool { pool, items: self.items }
    }

    /// The event that adds keys to the pool of a version-1 session.
    #[must_use]
    pub fn first_keys(pool: PoolId) -> Event {
        let items = (0..pool.rows).collect();
        Event::Pool { pool, items }
    }
}
