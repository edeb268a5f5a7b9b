//! The events of a session, and what follows from them.

use crate::event::{Event, Header, PoolId};
use crate::keys::ItemKey;
use crate::step::{Action, ActionKind, Asked, Given, Rows, Step};
use halfspaces_online::{Answer, LabellingQuestion, Source};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The place of a label among the steps: a step, and a place in the list if it is one of known labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    step: usize,
    slot: usize,
}

/// The steps that gave an item its label: the first one, and a later change.
#[derive(Debug, Clone, Copy)]
struct Labelled {
    /// Its place in the order of labels.
    first: Place,
    given: Place,
    changed: Option<Place>,
}

/// All events of a session. Labels, skipped rows, counts and what can be undone are derived from them.
///
/// Rows are those of the current pool. A label belongs to an item: it is kept while its item has no row, and is there
/// again once the item is.
///
/// ```
/// use halfspaces_labelling::{Event, Header, PoolId, Record};
/// let pool = PoolId::without_keys("pool.csv", 3, 1, "00");
/// let mut record = Record::new(&Header::new(pool, vec!["cat".into(), "dog".into()], 0));
/// let step = record.check(&Event::Known { labels: vec![(1, "dog".into())] })?;
/// record.take(step);
/// assert_eq!((record.label(1), record.label(0)), (Some(1), None));
/// // An item without a label cannot be changed.
/// assert!(record.check(&Event::Change { row: 0, class: "cat".into() }).is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone)]
pub struct Record {
    classes: Vec<String>,
    class_of: HashMap<String, usize>,
    steps: Vec<Step>,
    // All that follows is derived from these two and the first pool.
    pool: PoolId,
    rows: Rows,
    /// The number of items that have ever been in the pool.
    items: usize,
    keys: HashMap<usize, ItemKey>,
    labelled: HashMap<usize, Labelled>,
    /// Labelled items in the order in which they got their labels.
    order: BTreeMap<Place, usize>,
    /// Skipped items by the step that skipped them, and the other way round.
    skipped: BTreeMap<usize, usize>,
    skip_of: HashMap<usize, usize>,
    /// Steps that can be taken back.
    actions: Vec<usize>,
}

impl Record {
    /// A session in which nothing has happened.
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
            pool,
            labelled: HashMap::new(),
            order: BTreeMap::new(),
            skipped: BTreeMap::new(),
            skip_of: HashMap::new(),
            actions: Vec::new(),
        }
    }

    /// What an event comes to.
    ///
    /// # Errors
    /// Says why the event cannot happen now.
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
                let asked = Asked { predicted, probability, to_come };
                Ok(Step::Answer { item: self.open_item(*row)?, class, asked })
            }
            Event::Skip { row, predicted, probability } => {
                let (predicted, probability) = (self.class(predicted)?, *probability);
                Ok(Step::Skip { item: self.open_item(*row)?, predicted, probability })
            }
            Event::Undo { row } => match self.last_action() {
                Some(action) if action.question.index == *row => {
                    Ok(Step::Undo { item: self.item(*row)? })
                }
                _ => Err(format!("the last answer is not that of row {row}")),
            },
            Event::Change { row, class } => {
                let (item, class) = (self.item(*row)?, self.class(class)?);
                match self.labelled.get(&item) {
                    Some(_) => Ok(Step::Change { item, class }),
                    None => Err(format!("row {row} has no answer to change")),
                }
            }
            Event::Pool { pool, items } => self.check_pool(pool, items),
        }
    }

    fn check_pool(&self, pool: &PoolId, items: &[usize]) -> Result<Step, String> {
        if items.len() != pool.rows || pool.items.as_ref().is_none_or(|i| i.keys.len() != pool.rows)
        {
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

    /// Adds what an event came to.
    ///
    /// # Panics
    /// May panic if the step is not one that [`Record::check`] returned for this record as it is now.
    pub fn take(&mut self, step: Step) {
        let place = Place { step: self.steps.len(), slot: 0 };
        match &step {
            Step::Known(known) => {
                for (slot, (item, _)) in known.iter().enumerate() {
                    self.give(*item, Place { slot, ..place });
                }
            }
            Step::Answer { item, .. } => {
                self.give(*item, place);
                self.actions.push(place.step);
            }
            Step::Skip { item, .. } => {
                self.unskip(*item);
                self.skipped.insert(place.step, *item);
                self.skip_of.insert(*item, place.step);
                self.actions.push(place.step);
            }
            Step::Undo { item } => self.take_back(*item),
            Step::Change { item, .. } => {
                if let Some(labelled) = self.labelled.get_mut(item) {
                    labelled.changed = Some(place);
                }
            }
            Step::Pool { pool, items } => {
                if let Some(ids) = &pool.items {
                    self.keys.extend(items.iter().copied().zip(ids.keys.iter().copied()));
                }
                self.items = items.iter().fold(self.items, |count, item| count.max(item + 1));
                self.rows = Rows::later(items.clone());
                self.pool = PoolId::clone(pool);
            }
        }
        self.steps.push(step);
    }

    fn take_back(&mut self, item: usize) {
        let at = self.actions.iter().rposition(|step| self.item_of_action(*step) == Some(item));
        let Some(at) = at else { unreachable!("the caller has seen the action") };
        let step = self.actions.remove(at);
        if matches!(self.steps[step], Step::Answer { .. }) {
            if let Some(labelled) = self.labelled.remove(&item) {
                self.order.remove(&labelled.first);
            }
        } else {
            self.unskip(item);
        }
    }

    fn unskip(&mut self, item: usize) {
        if let Some(step) = self.skip_of.remove(&item) {
            self.skipped.remove(&step);
        }
    }

    fn give(&mut self, item: usize, given: Place) {
        let first = self.labelled.get(&item).map_or(given, |before| before.first);
        self.labelled.insert(item, Labelled { first, given, changed: None });
        self.order.insert(first, item);
        self.unskip(item);
    }

    fn class(&self, name: &str) -> Result<usize, String> {
        let class = self.class_of.get(name).copied();
        class.ok_or_else(|| format!("there is no class {name:?}"))
    }

    fn item(&self, row: usize) -> Result<usize, String> {
        let rows = self.rows.len();
        let item = self.rows.item(row);
        item.ok_or_else(|| format!("row {row} of {rows} rows, which count from 0"))
    }

    /// The item of a row without a label.
    fn open_item(&self, row: usize) -> Result<usize, String> {
        let item = self.item(row)?;
        match self.labelled.get(&item) {
            Some(_) => Err(format!("row {row} has a label already")),
            None => Ok(item),
        }
    }

    /// The item of a row that no person has labelled.
    fn known_item(&self, row: usize) -> Result<usize, String> {
        let item = self.item(row)?;
        match self.labelled.get(&item) {
            Some(labelled) if self.given_of(row, *labelled).is_by_person() => {
                Err(format!("row {row} has a label already"))
            }
            _ => Ok(item),
        }
    }

    fn given_of(&self, row: usize, labelled: Labelled) -> Given {
        let class_at = |place: Place| match &self.steps[place.step] {
            Step::Known(known) => known[place.slot].1,
            Step::Answer { class, .. } | Step::Change { class, .. } => *class,
            _ => unreachable!("a step that gives a label"),
        };
        let asked = match &self.steps[labelled.given.step] {
            Step::Answer { asked, .. } => Some(*asked),
            _ => None,
        };
        let class = class_at(labelled.changed.unwrap_or(labelled.given));
        Given { row, class, asked, changed: labelled.changed.is_some() }
    }

    fn item_of_action(&self, step: usize) -> Option<usize> {
        match &self.steps[step] {
            Step::Answer { item, .. } | Step::Skip { item, .. } => Some(*item),
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

    /// Whether nothing has happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The class of a row, if it has a label.
    #[must_use]
    pub fn label(&self, row: usize) -> Option<usize> {
        self.given_at(row).map(|given| given.class)
    }

    /// The label of a row, and how it came about.
    #[must_use]
    pub fn given_at(&self, row: usize) -> Option<Given> {
        let labelled = self.labelled.get(&self.rows.item(row)?)?;
        Some(self.given_of(row, *labelled))
    }

    /// All labels of rows of the current pool, in the order in which they were given.
    pub fn given(&self) -> impl DoubleEndedIterator<Item = Given> {
        self.order.values().filter_map(|item| {
            let labelled = self.labelled.get(item)?;
            Some(self.given_of(self.rows.row(*item)?, *labelled))
        })
    }

    /// The labels of items that the current pool does not have: their classes, by name.
    #[must_use]
    pub fn set_aside(&self) -> Vec<&str> {
        let away = self.order.values().filter(|item| self.rows.row(**item).is_none());
        let class = |item| self.given_of(0, self.labelled[item]).class;
        away.map(|item| self.classes[class(item)].as_str()).collect()
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

    /// The number of rows whose label is the answer to a question.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.given().filter(|given| given.asked.is_some()).count()
    }

    /// The number of answers that are not what was predicted.
    #[must_use]
    pub fn corrections(&self) -> usize {
        self.given().filter(Given::is_correction).count()
    }

    /// Rows that were skipped and have no label, in the order in which they were skipped.
    pub fn skipped(&self) -> impl Iterator<Item = usize> {
        self.skipped.values().filter_map(|item| self.rows.row(*item))
    }

    /// Whether a row was skipped and has no label.
    #[must_use]
    pub fn is_skipped(&self, row: usize) -> bool {
        self.rows.item(row).is_some_and(|item| self.skip_of.contains_key(&item))
    }

    /// The last answer or skip about a row of the current pool.
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
                _ => return None,
            };
            Some(Action { kind, question, sequence: step + 1 })
        })
    }

    /// The labels in the form from which [`halfspaces_online::LabellingSession::resume`] learns.
    #[must_use]
    pub fn answers(&self) -> Vec<Answer> {
        let source = |asked: Option<Asked>| match asked {
            Some(Asked { predicted, .. }) => Source::Asked { predicted },
            None => Source::Known,
        };
        let answer = |given: Given| {
            let Given { row: index, class, asked, .. } = given;
            Answer { index, class, source: source(asked) }
        };
        self.given().map(answer).collect()
    }

    /// The number of items that have ever been in the pool.
    pub(crate) fn items(&self) -> usize {
        self.items
    }

    /// The key of an item; `None` in sessions of version 1.
    pub(crate) fn key(&self, item: usize) -> Option<ItemKey> {
        self.keys.get(&item).copied()
    }

    pub(crate) fn row_of(&self, item: usize) -> Option<usize> {
        self.rows.row(item)
    }

    /// The class of an item that has a label.
    pub(crate) fn class_of_item(&self, item: usize) -> Option<usize> {
        self.labelled.get(&item).map(|labelled| self.given_of(0, *labelled).class)
    }

    pub(crate) fn is_item_skipped(&self, item: usize) -> bool {
        self.skip_of.contains_key(&item)
    }

    /// All events again, as they were applied.
    pub(crate) fn events<'a>(&'a self, header: &'a Header) -> impl Iterator<Item = Event> + 'a {
        let mut rows = Rows::First(header.pool.rows);
        self.steps.iter().map(move |step| {
            let row = |item: usize| match rows.row(item) {
                Some(row) => row,
                None => unreachable!("an event is about a row of its pool"),
            };
            let name = |class: usize| self.classes[class].clone();
            match step {
                Step::Known(known) => Event::Known {
                    labels: known.iter().map(|(item, class)| (row(*item), name(*class))).collect(),
                },
                Step::Answer { item, class, asked } => Event::Answer {
                    row: row(*item),
                    class: name(*class),
                    predicted: name(asked.predicted),
                    probability: asked.probability,
                    to_come: asked.to_come,
                },
                Step::Skip { item, predicted, probability } => Event::Skip {
                    row: row(*item),
                    predicted: name(*predicted),
                    probability: *probability,
                },
                Step::Undo { item } => Event::Undo { row: row(*item) },
                Step::Change { item, class } => {
                    Event::Change { row: row(*item), class: name(*class) }
                }
                Step::Pool { pool, items } => {
                    rows = Rows::later(items.clone());
                    Event::Pool { pool: PoolId::clone(pool), items: items.clone() }
                }
            }
        })
    }
}
