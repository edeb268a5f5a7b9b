//! The events of a session and the state derived from them.

use crate::event::{Event, Header, PoolId};
use crate::keys::ItemKey;
use crate::step::{Action, ActionKind, Prediction, RowLabel, Rows, Step};
use halfspaces_online::{Answer, LabellingQuestion, Source};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The position of a label among the steps. It consists of a step and, if the step is a list of known labels, an index
/// in this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    step: usize,
    slot: usize,
}

/// The positions of the steps that determine an item's label.
#[derive(Debug, Clone, Copy)]
struct Labelled {
    /// The position of the step that first labelled the item. It determines the position of the item in the order of
    /// labels.
    first: Place,
    given: Place,
    changed: Option<Place>,
}

/// All events of a session, and the state that is derived from them: the labels, the skipped and uncertain rows, the
/// counts, and the steps that can be undone.
///
/// Rows refer to the current pool. A label belongs to an item: it is kept while the pool does not contain the item, and
/// applies again when a later pool contains it.
///
/// ```
/// use halfspaces_labelling::{Event, Header, PoolId, Record};
/// let pool = PoolId::without_keys("pool.csv", 3, 1, "00");
/// let mut record = Record::new(&Header::new(pool, vec!["cat".into(), "dog".into()], 0));
/// let step = record.check(&Event::Known { labels: vec![(1, "dog".into())] })?;
/// record.take(step);
/// assert_eq!((record.label(1), record.label(0)), (Some(1), None));
/// // The label of a row cannot be changed before the row has one.
/// assert!(record.check(&Event::Change { row: 0, class: "cat".into() }).is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone)]
pub struct Record {
    classes: Vec<String>,
    class_of: HashMap<String, usize>,
    steps: Vec<Step>,
    // Everything below is derived from the steps and the first pool.
    pool: PoolId,
    rows: Rows,
    /// The number of items that have ever been in a pool.
    items: usize,
    keys: HashMap<usize, ItemKey>,
    /// The hash of the cells of each item, as they were when an item was last in the pool.
    cells: HashMap<usize, ItemKey>,
    labelled: HashMap<usize, Labelled>,
    /// Labelled items in the order in which they were first labelled.
    order: BTreeMap<Place, usize>,
    /// The skipped and uncertain items, by the step in which they were skipped or marked as uncertain, and the reverse
    /// map.
    aside: BTreeMap<usize, usize>,
    aside_of: HashMap<usize, usize>,
    /// Steps that can be undone.
    actions: Vec<usize>,
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
            steps: Vec::new(),
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

    /// Checks an event and converts it to a step.
    ///
    /// # Errors
    /// Returns the reason if the event is not possible in the current state.
    pub fn check(&self, event: &Event) -> Result<Step, String> {
        match event {
            Event::Known { labels } => {
                let mut seen = HashSet::with_capacity(labels.len());
                let known = labels.iter().map(|(row, class)| {
                    let known = (self.known_item(*row)?, self.class(class)?);
                    let is_new = seen.insert(*row);
                    if is_new { Ok(known) } else { Err(format!("row {row} has two labels")) }
                });
                Ok(Step::Known(known.collect::<Result<_, String>>()?))
            }
            Event::Answer { row, class, predicted, probability, to_come } => {
                let (class, predicted) = (self.class(class)?, self.class(predicted)?);
                let (probability, to_come) = (*probability, *to_come);
                let asked = Prediction { predicted, probability, to_come };
                Ok(Step::Answer { item: self.open_item(*row)?, class, asked })
            }
            Event::Skip { row, predicted, probability } => {
                let (predicted, probability) = (self.class(predicted)?, *probability);
                Ok(Step::Skip { item: self.open_item(*row)?, predicted, probability })
            }
            Event::Uncertain { row, predicted, probability } => {
                let (predicted, probability) = (self.class(predicted)?, *probability);
                Ok(Step::Uncertain { item: self.open_item(*row)?, predicted, probability })
            }
            Event::Undo { row } => match self.last_action() {
                Some(action) if action.question.index == *row => {
                    Ok(Step::Undo { item: self.item(*row)? })
                }
                _ => Err(format!("the last answer is not about row {row}")),
            },
            Event::Change { row, class } => {
                let (item, class) = (self.item(*row)?, self.class(class)?);
                match self.labelled.get(&item) {
                    Some(_) => Ok(Step::Change { item, class }),
                    None => Err(format!("row {row} has no label to change")),
                }
            }
            Event::Pool { pool, items } => self.check_pool(pool, items),
        }
    }

    fn check_pool(&self, pool: &PoolId, items: &[usize]) -> Result<Step, String> {
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
        Ok(Step::Pool { pool: Box::new(pool.clone()), items: items.to_vec() })
    }

    /// Applies a step.
    ///
    /// # Panics
    /// May panic if the step was not returned by [`Record::check`] for the current state of this record.
    pub fn take(&mut self, step: Step) {
        let place = Place { step: self.steps.len(), slot: 0 };
        match &step {
            Step::Known(known) => {
                for (slot, (item, _)) in known.iter().enumerate() {
                    self.set_label(*item, Place { slot, ..place });
                }
            }
            Step::Answer { item, .. } => {
                self.set_label(*item, place);
                self.actions.push(place.step);
            }
            Step::Skip { item, .. } | Step::Uncertain { item, .. } => {
                self.take_back(*item);
                self.set_aside(*item, place.step);
                self.actions.push(place.step);
            }
            Step::Undo { item } => self.undo(*item),
            Step::Change { item, .. } => {
                if let Some(labelled) = self.labelled.get_mut(item) {
                    labelled.changed = Some(place);
                }
            }
            Step::Pool { pool, items } => {
                if let Some(ids) = &pool.items {
                    self.keys.extend(items.iter().copied().zip(ids.keys.iter().copied()));
                }
                self.cells.extend(items.iter().copied().zip(cells_of(pool).copied()));
                self.items = items.iter().fold(self.items, |count, item| count.max(item + 1));
                self.rows = Rows::later(items.clone());
                self.pool = PoolId::clone(pool);
            }
        }
        self.steps.push(step);
    }

    fn undo(&mut self, item: usize) {
        let at = self.actions.iter().rposition(|step| self.item_of_action(*step) == Some(item));
        let Some(at) = at else { unreachable!("`check` found the action") };
        let step = self.actions.remove(at);
        if matches!(self.steps[step], Step::Answer { .. }) {
            if let Some(labelled) = self.labelled.remove(&item) {
                self.order.remove(&labelled.first);
            }
        } else {
            self.take_back(item);
        }
        // An earlier skip or uncertain answer about the item applies again.
        let earlier =
            self.actions.iter().rev().find(|step| self.item_of_action(**step) == Some(item));
        if let Some(step) = earlier.copied()
            && !matches!(self.steps[step], Step::Answer { .. })
            && !self.labelled.contains_key(&item)
        {
            self.set_aside(item, step);
        }
    }

    fn set_aside(&mut self, item: usize, step: usize) {
        self.aside.insert(step, item);
        self.aside_of.insert(item, step);
    }

    /// Marks an item as no longer skipped or uncertain.
    fn take_back(&mut self, item: usize) {
        if let Some(step) = self.aside_of.remove(&item) {
            self.aside.remove(&step);
        }
    }

    fn set_label(&mut self, item: usize, given: Place) {
        let first = self.labelled.get(&item).map_or(given, |before| before.first);
        self.labelled.insert(item, Labelled { first, given, changed: None });
        self.order.insert(first, item);
        self.take_back(item);
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

    /// The item of a row, or an error if the row has a label.
    fn open_item(&self, row: usize) -> Result<usize, String> {
        let item = self.item(row)?;
        match self.labelled.get(&item) {
            Some(_) => Err(format!("row {row} already has a label")),
            None => Ok(item),
        }
    }

    /// The item of a row, or an error if a person gave the row a label.
    fn known_item(&self, row: usize) -> Result<usize, String> {
        let item = self.item(row)?;
        match self.labelled.get(&item) {
            Some(labelled) if self.row_label_of(row, *labelled).is_by_person() => {
                Err(format!("row {row} already has a label"))
            }
            _ => Ok(item),
        }
    }

    fn row_label_of(&self, row: usize, labelled: Labelled) -> RowLabel {
        let class_at = |place: Place| match &self.steps[place.step] {
            Step::Known(known) => known[place.slot].1,
            Step::Answer { class, .. } | Step::Change { class, .. } => *class,
            _ => unreachable!("this step gives a label"),
        };
        let asked = match &self.steps[labelled.given.step] {
            Step::Answer { asked, .. } => Some(*asked),
            _ => None,
        };
        let class = class_at(labelled.changed.unwrap_or(labelled.given));
        RowLabel { row, class, asked, changed: labelled.changed.is_some() }
    }

    fn item_of_action(&self, step: usize) -> Option<usize> {
        match &self.steps[step] {
            Step::Answer { item, .. } | Step::Skip { item, .. } | Step::Uncertain { item, .. } => {
                Some(*item)
            }
            _ => None,
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

    /// The number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The class of a row, if it has a label.
    #[must_use]
    pub fn label(&self, row: usize) -> Option<usize> {
        self.row_label(row).map(|given| given.class)
    }

    /// The label of a row with its origin.
    #[must_use]
    pub fn row_label(&self, row: usize) -> Option<RowLabel> {
        let labelled = self.labelled.get(&self.rows.item(row)?)?;
        Some(self.row_label_of(row, *labelled))
    }

    /// All labels of rows of the current pool, in the order in which the items were first labelled.
    pub fn row_labels(&self) -> impl DoubleEndedIterator<Item = RowLabel> {
        self.order.values().filter_map(|item| {
            let labelled = self.labelled.get(item)?;
            Some(self.row_label_of(self.rows.row(*item)?, *labelled))
        })
    }

    /// Whether each class has at least one row. Until then, a model gives no probabilities for the classes without a
    /// row.
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
        let wanted = move |step: &usize| self.is_uncertain_step(*step) == uncertain;
        let items = self.aside.iter().filter(move |(step, _)| wanted(step));
        items.filter_map(|(_, item)| self.rows.row(*item))
    }

    fn is_uncertain_step(&self, step: usize) -> bool {
        matches!(self.steps[step], Step::Uncertain { .. })
    }

    /// Whether a row was skipped and has no label.
    #[must_use]
    pub fn is_skipped(&self, row: usize) -> bool {
        self.aside_step(row).is_some_and(|step| !self.is_uncertain_step(step))
    }

    /// Whether the person could not tell the class of a row.
    #[must_use]
    pub fn is_uncertain(&self, row: usize) -> bool {
        self.aside_step(row).is_some_and(|step| self.is_uncertain_step(step))
    }

    fn aside_step(&self, row: usize) -> Option<usize> {
        self.aside_of.get(&self.rows.item(row)?).copied()
    }

    /// The most recent response (an answer, a skip or an uncertain answer) for a row of the current pool.
    #[must_use]
    pub fn last_action(&self) -> Option<Action> {
        self.actions.iter().rev().find_map(|step| {
            let row = self.rows.row(self.item_of_action(*step)?)?;
            let question =
                |class, probability| LabellingQuestion { index: row, class, probability };
            let (kind, question) = match &self.steps[*step] {
                Step::Answer { asked, .. } => {
                    (ActionKind::Answer, question(asked.predicted, asked.probability))
                }
                Step::Skip { predicted, probability, .. } => {
                    (ActionKind::Skip, question(*predicted, *probability))
                }
                Step::Uncertain { predicted, probability, .. } => {
                    (ActionKind::Uncertain, question(*predicted, *probability))
                }
                _ => return None,
            };
            Some(Action { kind, question, sequence: step + 1 })
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

    /// The events in terms of items, in the order in which they were applied.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
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
        self.labelled.get(&item).map(|labelled| self.row_label_of(0, *labelled).class)
    }

    /// Whether an item is skipped or uncertain.
    pub(crate) fn is_item_aside(&self, item: usize) -> bool {
        self.aside_of.contains_key(&item)
    }
}
