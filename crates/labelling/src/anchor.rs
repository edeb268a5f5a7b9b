//! Matches the items of a session with the rows of a changed pool.

use crate::event::{Event, ItemIds, PoolId};
use crate::keys::ItemKey;
use crate::record::Record;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A labelled or skipped item that the new pool does not contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingItem {
    /// The row in the session's current pool.
    pub row: usize,
    /// The class; `None` if the item was skipped or is uncertain.
    pub class: Option<usize>,
    /// Whether the new pool has some copies of the item, but too few, and the labels of the copies differ.
    pub is_ambiguous: bool,
}

/// The match between the rows of a new pool and the items of a session.
///
/// Items with the same key are copies of each other. Copies whose cells are equal are matched first
/// ([`Cells`](crate::Cells)). All other copies are matched in order, which can exchange their labels. The rows for which
/// this is possible are listed in [`Anchoring::confused`].
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
/// record.take(Event::Known { labels: vec![(2, "y".into())] })?;
///
/// // The pool is now in reverse order, with one more item.
/// let anchoring = Anchoring::find(&record, &pool(&["d", "c", "b", "a"])).unwrap();
/// assert_eq!((anchoring.moved, anchoring.added, anchoring.removed), (1, 1, 0));
/// record.take(anchoring.event(pool(&["d", "c", "b", "a"])))?;
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
    /// Whether any item of the current pool has another row number in the new pool.
    pub reordered: bool,
    /// Sets of rows of the new pool with equal keys whose labels may have been exchanged. A person may have seen these
    /// rows as different, their labels differ, and their cells do not show which item belongs to which row.
    pub confused: Vec<Vec<usize>>,
}

/// The order in which copies are matched: first those in the current pool, in the order of their rows, and then the
/// others.
fn place(record: &Record, item: usize) -> (bool, Option<usize>, usize) {
    let row = record.row_of(item);
    (row.is_none(), row, item)
}

/// Matches items and rows with the same key.
struct Copies<'a> {
    record: &'a Record,
    touched: &'a HashSet<usize>,
    /// The hashes of the cells of the new pool; empty if they are unknown.
    cells: &'a [ItemKey],
}

/// Pairs of an item and its row, the items without a row, and whether labels may have been exchanged.
type Matched = (Vec<(usize, usize)>, Vec<usize>, bool);

impl Copies<'_> {
    fn find(&self, items: &[usize], rows: &[usize]) -> Matched {
        if let ([item], [row]) = (items, rows) {
            return (vec![(*item, *row)], Vec::new(), false);
        }
        let mut pairs = Vec::with_capacity(items.len().min(rows.len()));
        // Items and rows whose cells are equal.
        let mut equal: BTreeMap<ItemKey, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for row in rows {
            if let Some(cells) = self.cells.get(*row) {
                equal.entry(*cells).or_default().1.push(*row);
            }
        }
        for item in items {
            if let Some(cells) = self.record.cells(*item) {
                equal.entry(cells).or_default().0.push(*item);
            }
        }
        let all = items.len() <= rows.len();
        // The items and rows that their cells do not match with certainty. If the numbers of items and rows with the
        // same cells differ, these cells may have been read differently before.
        let (mut unsure, mut unsure_rows) = (Vec::new(), Vec::new());
        let mut found: HashSet<usize> = HashSet::new();
        for (items, rows) in equal.into_values() {
            if items.len() != rows.len() {
                unsure.extend(&items);
                unsure_rows.extend(&rows);
            }
            let (kept, _) = self.keep(items, &rows, all);
            pairs.extend(kept.into_iter().zip(rows));
        }
        let mut has_row: HashSet<usize> = HashSet::new();
        for (item, row) in &pairs {
            found.insert(*item);
            has_row.insert(*row);
        }
        let items: Vec<usize> =
            items.iter().copied().filter(|item| !found.contains(item)).collect();
        let rows: Vec<usize> = rows.iter().copied().filter(|row| !has_row.contains(row)).collect();
        unsure.extend(items.iter().filter(|item| self.record.cells(**item).is_none()));
        unsure_rows.extend(rows.iter().filter(|row| self.cells.get(**row).is_none()));
        let is_confused =
            !(items.is_empty() || rows.is_empty()) && self.is_confused(&unsure, &unsure_rows);
        let (kept, out) = self.keep(items, &rows, all);
        pairs.extend(kept.into_iter().zip(rows));
        (pairs, out, is_confused)
    }

    /// Selects the items to match with `rows`: labelled or skipped items first, then items of the current pool. If
    /// `all` is true, every item ends up matched with some row, so items that are already in one of these rows take
    /// precedence. Returns the selected items in order, and the other items.
    fn keep(&self, mut items: Vec<usize>, rows: &[usize], all: bool) -> (Vec<usize>, Vec<usize>) {
        if items.len() <= rows.len() {
            return (items, Vec::new());
        }
        let is_elsewhere = |item: usize| {
            let row = self.record.row_of(item);
            all && row.is_none_or(|row| rows.binary_search(&row).is_err())
        };
        items.sort_by_key(|item| {
            let is_untouched = !self.touched.contains(item);
            (is_elsewhere(*item), is_untouched, place(self.record, *item))
        });
        let out = items.split_off(rows.len());
        items.sort_by_key(|item| place(self.record, *item));
        (items, out)
    }

    /// Whether the labels of these items differ and a person may have seen the items as different although their keys
    /// are equal.
    fn is_confused(&self, items: &[usize], rows: &[usize]) -> bool {
        let is_there =
            |item: &&usize| self.touched.contains(*item) || self.record.row_of(**item).is_some();
        let items: Vec<usize> = items.iter().filter(is_there).copied().collect();
        let state =
            |item: usize| (self.record.class_of_item(item), self.record.is_item_aside(item));
        let Some(first) = items.first().copied() else { return false };
        let is_untouched = !items.iter().any(|item| self.touched.contains(item));
        let has_one_label = items.iter().all(|item| state(*item) == state(first));
        if is_untouched || has_one_label && items.len() >= rows.len() {
            return false;
        }
        let rows_differ = rows.iter().any(|row| self.cells.get(*row) != self.cells.get(rows[0]));
        match self.record.cells(first) {
            cells if items.iter().any(|item| self.record.cells(*item) != cells) => true,
            // Exact copies. The rows of the new pool may have been told apart only now.
            Some(_) => rows_differ && items.len() < rows.len(),
            None => rows_differ,
        }
    }
}

impl Anchoring {
    /// Matches the items of a session with the rows of a new pool. Returns `None` if the session or the pool has no
    /// keys.
    #[must_use]
    pub fn find(record: &Record, pool: &PoolId) -> Option<Anchoring> {
        let ItemIds { keys, cells, .. } = pool.items.as_ref()?;
        let cells = cells.as_ref().map_or(&[][..], |cells| cells.rows.as_slice());
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
            reordered: false,
            confused: Vec::new(),
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
            items.sort_by_key(|item| place(record, *item));
            let copies = Copies { record, touched: &touched, cells };
            let (pairs, out, is_confused) = copies.find(&items, rows);
            let kept: Vec<usize> = pairs.iter().map(|(item, _)| *item).collect();
            anchoring.leave_out(record, &kept, &out, &touched);
            pairs.into_iter().for_each(|(item, row)| anchoring.items[row] = item);
            if is_confused {
                anchoring.confused.push(rows.to_vec());
            }
        }
        anchoring.confused.sort_unstable();
        anchoring.find_by_contents(record, pool);
        let mut next = record.items();
        for (row, item) in anchoring.items.iter_mut().enumerate() {
            if *item == usize::MAX {
                *item = next;
                next += 1;
                anchoring.added += 1;
                continue;
            }
            anchoring.reordered |= record.row_of(*item).is_some_and(|before| before != row);
            if touched.contains(item) {
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

    /// Records that the items `out`, which are copies of the items `kept`, were left out. The new pool has no rows for
    /// these copies.
    fn leave_out(
        &mut self,
        record: &Record,
        kept: &[usize],
        out: &[usize],
        touched: &HashSet<usize>,
    ) {
        for item in out {
            let Some(row) = record.row_of(*item) else { continue };
            self.removed += 1;
            if !touched.contains(item) {
                continue;
            }
            let class = record.class_of_item(*item);
            // If all matched exact copies have the same label as this copy, no label is lost.
            let copies = kept.iter().filter(|other| record.cells(**other) == record.cells(*item));
            let labels: Vec<Option<usize>> =
                copies.map(|other| record.class_of_item(*other)).collect();
            let is_ambiguous = labels.iter().any(|label| *label != class);
            if labels.is_empty() || is_ambiguous {
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
