//! The state of the session as the page receives it.

use super::super::items::{Item, Items};
use super::super::review::ReviewProgress;
use super::super::worker::Controller;
use halfspaces_frame::Classes;
use halfspaces_labelling::class_keys;
use serde::Serialize;

/// Maximum number of points on the curve.
const MAX_CURVE: usize = 200;
/// Maximum number of recent answers, which can be changed on the page.
const RECENT: usize = 30;
/// Number of images that the page loads in advance.
const AHEAD: usize = 3;

/// Texts of the page.
#[derive(Debug)]
pub(in super::super) struct PageText {
    /// The name of the pool.
    pub(in super::super) pool: String,
    /// A text that says where the labels are when the session ends.
    pub(in super::super) ending: String,
}

#[derive(Debug, Serialize)]
pub(super) struct View<'a> {
    pool: &'a str,
    /// Where the labels are when the session ends.
    ending: &'a str,
    /// Whether rows have images.
    images: bool,
    classes: &'a [String],
    keys: Vec<Option<char>>,
    question: Option<QuestionView>,
    progress: ProgressView,
    /// The progress of a review of known labels.
    review: Option<ReviewProgress>,
    outlook: OutlookView,
    /// Whether the predictions are suggestions, which have no probabilities.
    suggested: bool,
    /// The advice to show if the model suggests stopping.
    stop_advice: Option<String>,
    /// Points on the curve: the number of answers, the number of corrections among them, and the number of further
    /// corrections that the model expected at that time.
    curve: Vec<(usize, usize, Option<f64>)>,
    recent: Vec<RecentView>,
    /// The answers that are least consistent with the others.
    doubts: Vec<DoubtView>,
    /// The last uncertain rows.
    uncertain: Vec<UncertainView>,
    /// Rows that are likely to be asked about next. Their images are loaded in advance.
    ahead: Vec<usize>,
    can_undo: bool,
    /// The action that an undo would revert.
    undo: Option<UndoView>,
    /// A description of this action.
    undo_text: Option<String>,
    /// Whether the model has learned from every answer.
    settled: bool,
}

#[derive(Debug, Serialize)]
struct UndoView {
    row: usize,
    sequence: usize,
}

#[derive(Debug, Serialize)]
struct QuestionView {
    row: usize,
    class: usize,
    /// The probability of the class; `None` if a class has no labelled row yet.
    probability: Option<f64>,
    skipped: bool,
    /// The known label, if it is reviewed.
    known: Option<usize>,
    item: Item,
}

#[derive(Debug, Serialize)]
struct ProgressView {
    points: usize,
    answered: usize,
    asked: usize,
    skipped: usize,
    uncertain: usize,
    corrections: usize,
}

#[derive(Debug, Serialize)]
struct OutlookView {
    expected: f64,
    low: f64,
    high: f64,
}

#[derive(Debug, Serialize)]
struct RecentView {
    row: usize,
    class: usize,
    corrected: bool,
    text: String,
}

#[derive(Debug, Serialize)]
struct DoubtView {
    row: usize,
    class: usize,
    predicted: usize,
    probability: f64,
    text: String,
}

#[derive(Debug, Serialize)]
struct UncertainView {
    row: usize,
    text: String,
}

/// A row with an answer.
#[derive(Debug, Serialize)]
pub(super) struct LookedAt {
    row: usize,
    /// The class in the answer; `None` if the person could not tell it.
    class: Option<usize>,
    item: Item,
}

/// A row with its answer; `None` if it has none.
pub(super) fn looked_at(controller: &Controller, items: &Items, row: usize) -> Option<LookedAt> {
    let record = controller.record();
    let class = record.label(row);
    let is_answered = class.is_some() || record.is_uncertain(row);
    is_answered.then(|| LookedAt { row, class, item: items.item(row, None) })
}

pub(super) fn view<'a>(controller: &'a Controller, items: &Items, text: &'a PageText) -> View<'a> {
    let (record, outlook) = (controller.record(), controller.outlook());
    let classes = Classes::new(record.classes().iter().cloned());
    let question = controller.question().map(|question| QuestionView {
        row: question.index,
        class: question.class,
        probability: controller.probability(),
        skipped: record.is_skipped(question.index),
        known: items.known_label(question.index).and_then(|label| classes.find(label)),
        item: items.item(question.index, controller.weights()),
    });
    let undo = record
        .last_action()
        .map(|action| UndoView { row: action.question.index, sequence: action.sequence });
    let recent = record.row_labels().rev().take(RECENT).map(|given| RecentView {
        row: given.row,
        class: given.class,
        corrected: given.is_correction(),
        text: items.short(given.row),
    });
    let doubts = controller.doubts().map(|doubt| DoubtView {
        row: doubt.index,
        class: doubt.class,
        predicted: doubt.predicted,
        probability: doubt.probability,
        text: items.short(doubt.index),
    });
    let mut uncertain: Vec<usize> = record.uncertain().collect();
    let uncertain_count = uncertain.len();
    uncertain.reverse();
    uncertain.truncate(RECENT);
    let uncertain = uncertain.into_iter().map(|row| UncertainView { row, text: items.short(row) });
    View {
        pool: &text.pool,
        ending: &text.ending,
        images: items.has_images(),
        classes: record.classes(),
        keys: class_keys(record.classes()),
        question,
        progress: ProgressView {
            points: record.rows(),
            answered: record.answered(),
            asked: record.asked(),
            skipped: record.skipped().count(),
            uncertain: uncertain_count,
            corrections: record.corrections(),
        },
        review: ReviewProgress::of(record, items),
        suggested: controller.is_suggested(),
        outlook: OutlookView { expected: outlook.expected, low: outlook.low, high: outlook.high },
        stop_advice: controller.stop_advice().filter(|_| !items.is_review()),
        curve: curve(controller),
        recent: recent.collect(),
        doubts: doubts.collect(),
        uncertain: uncertain.collect(),
        ahead: if items.has_images() { controller.ahead(AHEAD) } else { Vec::new() },
        can_undo: undo.is_some(),
        undo,
        undo_text: controller.undo_text(),
        settled: controller.is_settled(),
    }
}

fn curve(controller: &Controller) -> Vec<(usize, usize, Option<f64>)> {
    let record = controller.record();
    let every = record.asked().div_ceil(MAX_CURVE).max(1);
    let (mut asked, mut corrections, mut curve) = (0, 0, Vec::new());
    for given in record.row_labels() {
        let Some(question) = given.asked else { continue };
        if asked % every == 0 {
            curve.push((asked, corrections, question.to_come));
        }
        asked += 1;
        corrections += usize::from(given.is_correction());
    }
    curve.push((asked, corrections, Some(controller.outlook().expected)));
    curve
}
