//! The events of a session and the state derived from them.

use crate::event::{Event, Header, PoolId};
use crate::keys::ItemKey;
use crate::row_label::{Action, ActionKind, Prediction, RowLabel, Rows};
use halfspaces_online::{Answer, LabellingQuestion, Source};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The position of a label among the events. It consists of an event and, if the event is a list of known labels, an
/// index in this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    event: usize,
    slot: usize,
}

/// The label of an item.
#[derive(Debug, Clone, Copy)]
struct Labelled {
    /// The position of the event that first labelled the item. It determines the position of the item in the order of
    /// labels.
    first: Place,
    class: usize,
    asked: Option<Prediction>,
    changed: bool,
}

impl Labelled {
    fn at_row(self, row: usize) -> RowLabel {
        RowLabel { row, class: self.class, asked: self.asked, changed: self.changed }
    }
}

/// All events of a session, and the state that is derived from them: the labels, the skipped and uncertain rows, the
/// counts, and the actions that can be undone.
///
/// Rows refer to the current pool. A label belongs to an item: it is kept while the pool does not contain the item, and
/// applies again when a later pool contains it.
///
/// ```
/// use halfspaces_labelling::{Event, Header, PoolId, Record};
/// let pool = PoolId::without_keys("pool.csv", 3, 1, "00");
/// let mut record = Record::new(&Header::new(pool, vec!["cat".into(), "dog".into()], 0));
/// record.take(Event::Known { labels: vec![(1, "dog".into())] })?;
/// assert_eq!((record.label(1), record.label(0)), (Some(1), None));
/// // The label of a row cannot be changed before the row has one.
/// assert!(record.check(&Event::Change { row: 0, class: "cat".into() }).is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone)]
pub struct Record {
    classes: Vec<String>,
    class_of: HashMap<String, usize>,
    events: Vec<Event>,
    // Everything below is derived from the events and the first pool.
    pool: PoolId,
    rows: Rows,
    /// The number of items that have ever been in a pool.
    items: usize,
    keys: HashMap<usize, ItemKey>,
    /// The hash of the cells of each item, as they were when the item was last in the pool.
    cells: HashMap<usize, ItemKey>,
    labelled: HashMap<usize, Labelled>,
    /// Labelled items in the order in which they were first labelled.
    order: BTreeMap<Place, usize>,
    /// The map from the event that skipped an item, or marked it as uncertain, to the item, and the reverse map.
    aside: BTreeMap<usize, usize>,
    aside_of: HashMap<usize, usize>,
    /// The events that can be undone, each with its item.
    actions: Vec<(usize, usize)>,
}

/// The hashes of the cells of each row, if there are any.
fn cells_of(pool: &PoolId) -> impl Iterator<Item = &ItemKey> {
    let cells = pool.items.as_ref().and_then(|items| items.cells.as_ref());
    cells.into_iter().flat_map(|cells| &cells.rows)
}

impl Record {
    /// A session without events.
    #[must_use]
    pub fn new(header: &Header) -> Record {
        let pool = header.pool.clone();
        let keys = pool.items.as_ref().map(|items| items.keys.iter().copied().enumerate());
        Record {
            class_of: header.classes.iter().cloned().zip(0..).collect(),
            classes: header.classes.clone(),
            events: Vec::new(),
            rows: Rows::First(pool.rows),
            items: pool.rows,
            keys: keys.into_iter().flatten().collect(),
            cells: cells_of(&pool).copied().enumerate().collect(),
            pool,
            labelled: HashMap::new(),
            order: BTreeMap::new(),
            aside: BTreeMap::new(),
            aside_of: HashMap::new(),
            actions: Vec::new(),
        }
    }

    /// Checks whether an event is possible in the current state.
    ///
    /// # Errors
    /// Returns the reason if the event is not possible.
    pub fn check(&self, event: &Event) -> Result<(), String> {
        match event {
            Event::Known { labels } => {
                let mut seen = HashSet::with_capacity(labels.len());
                for (row, class) in labels {
                    let item = self.item(*row)?;
                    let labelled = self.labelled.get(&item).map(|labelled| labelled.at_row(*row));
                    if labelled.is_some_and(|label| label.is_by_person()) {
                        return Err(format!("row {row} already has a label"));
                    }
                    self.class(class)?;
                    if !seen.insert(*row) {
                        return Err(format!("row {row} has two labels"));
                    }
                }
                Ok(())
            }
            Event::Answer { row, class, predicted, .. } => {
                self.class(class)?;
                self.check_open(*row, predicted)
            }
            Event::Skip { row, predicted, .. } | Event::Uncertain { row, predicted, .. } => {
                self.check_open(*row, predicted)
            }
            Event::Undo { row } => match self.last_action() {
                Some(action) if action.question.index == *row => Ok(()),
                _ => Err(format!("the last answer is not about row {row}")),
            },
            Event::Change { row, class } => {
                let item = self.item(*row)?;
                self.class(class)?;
                match self.labelled.get(&item) {
                    Some(_) => Ok(()),
                    None => Err(format!("row {row} has no label to change")),
                }
            }
            Event::Pool { pool, items } => self.check_pool(pool, items),
        }
    }

    /// Checks a question about a row without a label.
    fn check_open(&self, row: usize, predicted: &str) -> Result<(), String> {
        self.class(predicted)?;
        match self.labelled.get(&self.item(row)?) {
            Some(_) => Err(format!("row {row} already has a label")),
            None => Ok(()),
        }
    }

    fn check_pool(&self, pool: &PoolId, items: &[usize]) -> Result<(), String> {
        pool.check()?;
        if items.len() != pool.rows || pool.items.is_none() {
            return Err(format!("the new pool has {} rows and {} items", pool.rows, items.len()));
        }
        let (mut next, mut seen) = (self.items, HashSet::with_capacity(items.len()));
        for (row, item) in items.iter().enumerate() {
            if !seen.insert(*item) {
                return Err(format!("item {item} has two rows in the new pool"));
            }
            if *item == next {
                next += 1;
            } else if *item > next {
                return Err(format!("row {row} of the new pool is item {item}, not {next}"));
            }
        }
        Ok(())
    }

    /// Applies an event.
    ///
    /// # Errors
    /// Returns the reason if the event is not possible in the current state ([`Record::check`]). The record is then
    /// unchanged.
    pub fn take(&mut self, event: Event) -> Result<(), String> {
        self.check(&event)?;
        self.apply(event);
        Ok(())
    }

    /// Applies an event that [`Record::check`] has accepted.
    pub(crate) fn apply(&mut self, event: Event) {
        let at = self.events.len();
        match &event {
            Event::Known { labels } => {
                for (slot, (row, class)) in labels.iter().enumerate() {
                    self.set_label(Place { event: at, slot }, *row, class, None);
                }
            }
            Event::Answer { row, class, predicted, probability, to_come } => {
                let (predicted, probability) = (self.class_of[predicted], *probability);
                let asked = Prediction { predicted, probability, to_come: *to_come };
                let item = self.set_label(Place { event: at, slot: 0 }, *row, class, Some(asked));
                self.actions.push((at, item));
            }
            Event::Skip { row, .. } | Event::Uncertain { row, .. } => {
                let item = self.checked_item(*row);
                self.take_back(item);
                self.set_aside(item, at);
                self.actions.push((at, item));
            }
            Event::Undo { row } => self.undo(self.checked_item(*row)),
            Event::Change { row, class } => {
                let (item, class) = (self.checked_item(*row), self.class_of[class]);
                if let Some(labelled) = self.labelled.get_mut(&item) {
                    (labelled.class, labelled.changed) = (class, true);
                }
            }
            Event::Pool { pool, items } => {
                if let Some(ids) = &pool.items {
                    self.keys.extend(items.iter().copied().zip(ids.keys.iter().copied()));
                }
                self.cells.extend(items.iter().copied().zip(cells_of(pool).copied()));
                self.items = items.iter().fold(self.items, |count, item| count.max(item + 1));
                self.rows = Rows::later(items.clone());
                self.pool = pool.clone();
            }
        }
        self.events.push(event);
    }

    fn undo(&mut self, item: usize) {
        let at = self.actions.iter().rposition(|(_, of)| *of == item);
        let Some(at) = at else { unreachable!("`check` found the action") };
        let (event, _) = self.actions.remove(at);
        if self.is_answer(event) {
            if let Some(labelled) = self.labelled.remove(&item) {
                self.order.remove(&labelled.first);
            }
        } else {
            self.take_back(item);
        }
        // An earlier skip or uncertain answer about the item applies again.
        let earlier = self.actions.iter().rev().find(|(_, of)| *of == item);
        if let Some((event, _)) = earlier.copied()
            && !self.is_answer(event)
            && !self.labelled.contains_key(&item)
        {
            self.set_aside(item, event);
        }
    }

    fn is_answer(&self, event: usize) -> bool {
        matches!(self.events[event], Event::Answer { .. })
    }

    fn set_aside(&mut self, item: usize, event: usize) {
        self.aside.insert(event, item);
        self.aside_of.insert(item, event);
    }

    /// Marks an item as no longer skipped or uncertain.
    fn take_back(&mut self, item: usize) {
        if let Some(event) = self.aside_of.remove(&item) {
            self.aside.remove(&event);
        }
    }

    /// Labels the item of a row. Returns the item.
    fn set_label(
        &mut self,
        given: Place,
        row: usize,
        class: &str,
        asked: Option<Prediction>,
    ) -> usize {
        let (item, class) = (self.checked_item(row), self.class_of[class]);
        let first = self.labelled.get(&item).map_or(given, |before| before.first);
        self.labelled.insert(item, Labelled { first, class, asked, changed: false });
        self.order.insert(first, item);
        self.take_back(item);
        item
    }

    fn class(&self, name: &str) -> Result<usize, String> {
        let class = self.class_of.get(name).copied();
        class.ok_or_else(|| format!("there is no class {name:?}"))
    }

    fn item(&self, row: usize) -> Result<usize, String> {
        let rows = self.rows.len();
        let item = self.rows.item(row);
        item.ok_or_else(|| {
            format!("row {row} is out of range: the pool has {rows} rows, counted from 0")
        })
    }

    /// The item of a row in an event that has been checked.
    fn checked_item(&self, row: usize) -> usize {
        match self.item(row) {
            Ok(item) => item,
            Err(why) => unreachable!("`check` found the row: {why}"),
        }
    }

    /// The current pool.
    #[must_use]
    pub fn pool(&self) -> &PoolId {
        &self.pool
    }

    /// The number of rows of the current pool.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The names of the classes.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The class of a row, if it has a label.
    #[must_use]
    pub fn label(&self, row: usize) -> Option<usize> {
        self.row_label(row).map(|given| given.class)
    }

    /// The label of a row with its origin.
    #[must_use]
    pub fn row_label(&self, row: usize) -> Option<RowLabel> {
        self.labelled.get(&self.rows.item(row)?).map(|labelled| labelled.at_row(row))
    }

    /// All labels of rows of the current pool, in the order in which the items were first labelled.
    pub fn row_labels(&self) -> impl DoubleEndedIterator<Item = RowLabel> {
        self.order
            .values()
            .filter_map(|item| Some(self.labelled.get(item)?.at_row(self.rows.row(*item)?)))
    }

    /// Whether each class has at least one labelled row. Until this is the case, a model gives no probabilities for the
    /// classes without a row.
    #[must_use]
    pub fn has_every_class(&self) -> bool {
        let mut is_missing = vec![true; self.classes.len()];
        self.row_labels().for_each(|given| is_missing[given.class] = false);
        !is_missing.contains(&true)
    }

    /// The number of rows with a label.
    #[must_use]
    pub fn answered(&self) -> usize {
        match self.rows {
            Rows::First(_) => self.order.len(),
            Rows::Later { .. } => {
                self.order.values().filter(|item| self.rows.row(**item).is_some()).count()
            }
        }
    }

    /// The number of rows whose label answers a question.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.row_labels().filter(|given| given.asked.is_some()).count()
    }

    /// The number of answers that differ from the prediction.
    #[must_use]
    pub fn corrections(&self) -> usize {
        self.row_labels().filter(RowLabel::is_correction).count()
    }

    /// Skipped rows without a label, in the order in which they were skipped.
    pub fn skipped(&self) -> impl Iterator<Item = usize> {
        self.aside(false)
    }

    /// Rows whose class the person could not tell, in the order in which the person said so.
    pub fn uncertain(&self) -> impl Iterator<Item = usize> {
        self.aside(true)
    }

    fn aside(&self, uncertain: bool) -> impl Iterator<Item = usize> {
        let items =
            self.aside.iter().filter(move |(event, _)| self.is_uncertain_at(**event) == uncertain);
        items.filter_map(|(_, item)| self.rows.row(*item))
    }

    fn is_uncertain_at(&self, event: usize) -> bool {
        matches!(self.events[event], Event::Uncertain { .. })
    }

    /// Whether a row was skipped and has no label.
    #[must_use]
    pub fn is_skipped(&self, row: usize) -> bool {
        self.aside_event(row).is_some_and(|event| !self.is_uncertain_at(event))
    }

    /// Whether the person could not tell the class of a row.
    #[must_use]
    pub fn is_uncertain(&self, row: usize) -> bool {
        self.aside_event(row).is_some_and(|event| self.is_uncertain_at(event))
    }

    fn aside_event(&self, row: usize) -> Option<usize> {
        self.aside_of.get(&self.rows.item(row)?).copied()
    }

    /// The most recent response (an answer, a skip or an uncertain answer) for a row of the current pool.
    #[must_use]
    pub fn last_action(&self) -> Option<Action> {
        self.actions.iter().rev().find_map(|(event, item)| {
            let index = self.rows.row(*item)?;
            let (kind, predicted, probability) = match &self.events[*event] {
                Event::Answer { predicted, probability, .. } => {
                    (ActionKind::Answer, predicted, probability)
                }
                Event::Skip { predicted, probability, .. } => {
                    (ActionKind::Skip, predicted, probability)
                }
                Event::Uncertain { predicted, probability, .. } => {
                    (ActionKind::Uncertain, predicted, probability)
                }
                _ => return None,
            };
            let (class, probability) = (self.class_of[predicted], *probability);
            let question = LabellingQuestion { index, class, probability };
            Some(Action { kind, question, sequence: event + 1 })
        })
    }

    /// The labels in the form required by [`halfspaces_online::LabellingSession::resume`].
    #[must_use]
    pub fn answers(&self) -> Vec<Answer> {
        let source = |asked: Option<Prediction>| match asked {
            Some(Prediction { predicted, .. }) => Source::Asked { predicted },
            None => Source::Known,
        };
        let answer = |given: RowLabel| {
            let RowLabel { row: index, class, asked, .. } = given;
            Answer { index, class, source: source(asked) }
        };
        self.row_labels().map(answer).collect()
    }

    /// The events, in the order in which they were applied.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The number of items that have ever been in a pool.
    pub(crate) fn items(&self) -> usize {
        self.items
    }

    /// The key of an item; `None` in version 1.
    pub(crate) fn key(&self, item: usize) -> Option<ItemKey> {
        self.keys.get(&item).copied()
    }

    /// The hash of the cells of an item; `None` if it is unknown or the items have ids.
    pub(crate) fn cells(&self, item: usize) -> Option<ItemKey> {
        self.cells.get(&item).copied()
    }

    pub(crate) fn row_of(&self, item: usize) -> Option<usize> {
        self.rows.row(item)
    }

    /// The class of a labelled item.
    pub(crate) fn class_of_item(&self, item: usize) -> Option<usize> {
        self.labelled.get(&item).map(|labelled| labelled.class)
    }

    /// Whether an item is skipped or uncertain.
    pub(crate) fn is_item_aside(&self, item: usize) -> bool {
        self.aside_of.contains_key(&item)
    }
}
