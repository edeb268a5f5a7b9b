//! What the page is told.

use super::super::desk::Desk;
use super::super::items::{Item, Items};
use super::super::keys::keys;
use serde::Serialize;

/// Points of the curve at most.
const MAX_CURVE: usize = 200;
/// Answers that can be changed on the page.
const RECENT: usize = 30;
/// Images fetched ahead.
const AHEAD: usize = 3;

#[derive(Debug, Serialize)]
pub(super) struct View<'a> {
    pool: &'a str,
    classes: &'a [String],
    keys: Vec<Option<char>>,
    question: Option<QuestionView>,
    progress: ProgressView,
    outlook: OutlookView,
    /// Answers to questions, corrections among them, corrections expected then.
    curve: Vec<(usize, usize, Option<f64>)>,
    recent: Vec<RecentView>,
    /// Rows whose images may be asked for next.
    ahead: Vec<usize>,
    can_undo: bool,
    /// What an undo takes back now.
    undo: Option<UndoView>,
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
    probability: f64,
    skipped: bool,
    item: Item,
}

#[derive(Debug, Serialize)]
struct ProgressView {
    points: usize,
    answered: usize,
    asked: usize,
    skipped: usize,
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

pub(super) fn view<'a>(desk: &'a Desk, items: &Items, pool: &'a str) -> View<'a> {
    let (record, outlook) = (desk.record(), desk.outlook());
    let question = desk.question().map(|question| QuestionView {
        row: question.index,
        class: question.class,
        probability: question.probability,
        skipped: record.is_skipped(question.index),
        item: items.item(question.index),
    });
    let undo = record
        .last_action()
        .map(|action| UndoView { row: action.question.index, sequence: action.sequence });
    let recent = record.given().rev().take(RECENT).map(|given| RecentView {
        row: given.row,
        class: given.class,
        corrected: given.is_correction(),
        text: items.short(given.row),
    });
    View {
        pool,
        classes: record.classes(),
        keys: keys(record.classes()),
        question,
        progress: ProgressView {
            points: record.rows(),
            answered: record.answered(),
            asked: record.asked(),
            skipped: record.skipped().count(),
            corrections: record.corrections(),
        },
        outlook: OutlookView { expected: outlook.expected, low: outlook.low, high: outlook.high },
        curve: curve(desk),
        recent: recent.collect(),
        ahead: if items.has_images() { desk.ahead(AHEAD) } else { Vec::new() },
        can_undo: undo.is_some(),
        undo,
        settled: desk.is_settled(),
    }
}

fn curve(desk: &Desk) -> Vec<(usize, usize, Option<f64>)> {
    let record = desk.record();
    let every = record.asked().div_ceil(MAX_CURVE).max(1);
    let (mut asked, mut corrections, mut curve) = (0, 0, Vec::new());
    for given in record.given() {
        let Some(question) = given.asked else { continue };
        if asked % every == 0 {
            curve.push((asked, corrections, question.to_come));
        }
        asked += 1;
        corrections += usize::from(given.is_correction());
    }
    curve.push((asked, corrections, Some(desk.outlook().expected)));
    curve
}
