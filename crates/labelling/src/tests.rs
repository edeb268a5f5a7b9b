//! Tests of records, journals and files together.

use crate::*;
use halfspaces_linalg::{Params, Points};
use halfspaces_online::{Answer, Labelling, Source};
use std::path::Path;

fn ids(keys: &[&str], contents: &[&str]) -> PoolId {
    let by = ItemSpec { columns: vec!["x".into()], ..ItemSpec::default() };
    let keys_of = |texts: &[&str]| texts.iter().map(|text| ItemKey::of_text(text)).collect();
    let table = "00".to_owned();
    PoolId::new(
        "pool.csv",
        1,
        ItemIds { by, table, keys: keys_of(keys), contents: keys_of(contents), cells: None },
    )
}

fn pool(keys: &[&str]) -> PoolId {
    ids(keys, &[])
}

fn header() -> Header {
    Header::new(pool(&["p", "q", "r", "s", "t"]), vec!["a".into(), "b".into()], 7)
}

fn answer(row: usize, class: &str, predicted: &str) -> Event {
    let (class, predicted) = (class.to_owned(), predicted.to_owned());
    Event::Answer { row, class, predicted, probability: 0.75, to_come: Some(3.5) }
}

fn skip(row: usize) -> Event {
    Event::Skip { row, predicted: "a".into(), probability: 0.5 }
}

fn uncertain(row: usize) -> Event {
    Event::Uncertain { row, predicted: "a".into(), probability: 0.5 }
}

fn change(row: usize, class: &str) -> Event {
    Event::Change { row, class: class.into() }
}

fn known(labels: &[(usize, &str)]) -> Event {
    Event::Known { labels: labels.iter().map(|(row, class)| (*row, (*class).to_owned())).collect() }
}

fn take(record: &mut Record, event: &Event) {
    record.take(event.clone()).unwrap();
}

fn labels(record: &Record) -> Vec<Option<usize>> {
    (0..record.rows()).map(|row| record.label(row)).collect()
}

fn existing(path: &Path, access: SessionAccess) -> SessionLog {
    match SessionFile::open(path, access).unwrap() {
        Opening::Existing(log) => *log,
        Opening::New(_) => panic!("the session is there"),
    }
}

fn begin(path: &Path) -> SessionLog {
    match SessionFile::open(path, SessionAccess::Write).unwrap() {
        Opening::New(session) => session.begin(header()).unwrap(),
        Opening::Existing(_) => panic!("the session is new"),
    }
}

#[test]
fn events_add_up() {
    let mut record = Record::new(&header());
    for event in
        [known(&[(4, "b")]), answer(0, "a", "a"), skip(1), answer(2, "a", "b"), change(0, "b")]
    {
        take(&mut record, &event);
    }
    assert_eq!((record.answered(), record.asked(), record.corrections()), (3, 2, 2));
    assert_eq!(labels(&record), [Some(1), None, Some(0), None, Some(1)]);
    assert_eq!(record.skipped().collect::<Vec<_>>(), [1]);
    assert_eq!(record.answers()[0], Answer { index: 4, class: 1, source: Source::Known });
    assert!(record.row_label(0).unwrap().changed);
    // Actions are undone in reverse order: the answer about row 2, the skip of row 1, the answer about row 0. Known
    // labels are not undone.
    for (row, sequence) in [(2, 4), (1, 3), (0, 2)] {
        let action = record.last_action().unwrap();
        assert_eq!((action.question.index, action.sequence), (row, sequence));
        take(&mut record, &Event::Undo { row });
    }
    assert_eq!((record.answered(), record.skipped().count()), (1, 0));
    assert_eq!((record.last_action(), record.events().len()), (None, 8));
    // Replay all events.
    let mut again = Record::new(&header());
    record.events().iter().for_each(|event| take(&mut again, event));
    assert_eq!(again.answers(), record.answers());
}

#[test]
fn undo_restores_an_earlier_skip() {
    for second in [skip(1), answer(1, "b", "a")] {
        let mut record = Record::new(&header());
        for event in [skip(1), skip(3), second, Event::Undo { row: 1 }] {
            take(&mut record, &event);
        }
        assert_eq!(record.skipped().collect::<Vec<_>>(), [1, 3]);
        assert_eq!(record.label(1), None);
        for row in [3, 1] {
            take(&mut record, &Event::Undo { row });
        }
        assert_eq!(record.skipped().count(), 0);
    }
    // A known label ends a skip permanently.
    let mut record = Record::new(&header());
    for event in [skip(1), skip(1), known(&[(1, "b")]), Event::Undo { row: 1 }] {
        take(&mut record, &event);
    }
    assert_eq!((record.skipped().count(), record.label(1)), (0, Some(1)));
}

/// An uncertain row has no label and is not a skipped row. It may be labelled later. If the label is undone, the row is
/// uncertain again.
#[test]
fn uncertain_rows_are_neither_labelled_nor_skipped() {
    let mut record = Record::new(&header());
    let state = |record: &Record| {
        let rows = |of: &dyn Fn(usize) -> bool| (0..5).filter(|row| of(*row)).collect::<Vec<_>>();
        assert_eq!(rows(&|row| record.is_skipped(row)).len(), record.skipped().count());
        assert_eq!(rows(&|row| record.is_uncertain(row)).len(), record.uncertain().count());
        (record.skipped().collect::<Vec<_>>(), record.uncertain().collect::<Vec<_>>())
    };
    for event in [uncertain(3), skip(1), uncertain(1), skip(0)] {
        take(&mut record, &event);
    }
    assert_eq!(state(&record), (vec![0], vec![3, 1]));
    assert_eq!((record.answered(), record.label(3), record.answers().len()), (0, None, 0));
    take(&mut record, &answer(1, "b", "a"));
    assert_eq!(state(&record), (vec![0], vec![3]));
    // Each undo restores the previous state of the row.
    take(&mut record, &Event::Undo { row: 1 });
    take(&mut record, &Event::Undo { row: 0 });
    assert_eq!(record.last_action().map(|action| action.kind), Some(ActionKind::Uncertain));
    assert_eq!(state(&record), (vec![], vec![3, 1]));
    take(&mut record, &Event::Undo { row: 1 });
    assert_eq!(state(&record), (vec![1], vec![3]));
    assert_eq!(record.check(&change(3, "a")).unwrap_err(), "row 3 has no label to change");
    take(&mut record, &known(&[(3, "b")]));
    assert_eq!(record.check(&uncertain(3)).unwrap_err(), "row 3 already has a label");
    assert_eq!(state(&record), (vec![1], vec![]));
    // The uncertain answer moves with its item and is kept in the journal.
    take(&mut record, &uncertain(4));
    move_to(&mut record, &["t", "q"]);
    assert_eq!((record.is_uncertain(0), record.is_skipped(1)), (true, true));
    let parsed = parse_journal(journal_text(&header(), &record).as_bytes()).unwrap();
    let mut again = Record::new(&header());
    parsed.events.iter().for_each(|(_, event)| take(&mut again, event));
    assert_eq!((again.is_uncertain(0), again.is_skipped(1)), (true, true));
}

#[test]
fn impossible_events_are_refused() {
    let mut record = Record::new(&header());
    take(&mut record, &answer(0, "a", "a"));
    for (event, said) in [
        (answer(0, "a", "a"), "row 0 already has a label"),
        (answer(5, "a", "a"), "row 5 is out of range: the pool has 5 rows, counted from 0"),
        (answer(1, "c", "a"), "there is no class \"c\""),
        (answer(1, "a", "c"), "there is no class \"c\""),
        (skip(0), "row 0 already has a label"),
        (Event::Undo { row: 1 }, "the last answer is not about row 1"),
        (change(1, "a"), "row 1 has no label to change"),
        (known(&[(1, "a"), (0, "a")]), "row 0 already has a label"),
        (known(&[(1, "a"), (1, "b")]), "row 1 has two labels"),
        (
            Event::Pool { pool: pool(&["p"]), items: vec![6] },
            "row 0 of the new pool is item 6, not 5",
        ),
        (
            Event::Pool { pool: pool(&["p", "p"]), items: vec![0, 0] },
            "item 0 has two rows in the new pool",
        ),
        (Event::Pool { pool: pool(&["p"]), items: vec![] }, "the new pool has 1 rows and 0 items"),
        (
            Event::Pool { pool: ids(&["p"], &["x", "y"]), items: vec![0] },
            "the pool has 1 rows, but 1 keys, 2 keys of contents and 0 hashes of cells",
        ),
    ] {
        assert_eq!(record.check(&event).unwrap_err(), said);
    }
}

/// An import can replace labels that were known beforehand, but not labels that a person gave.
#[test]
fn known_labels_give_way_and_answers_do_not() {
    let mut record = Record::new(&header());
    take(&mut record, &known(&[(0, "a"), (1, "a")]));
    take(&mut record, &known(&[(0, "b")]));
    assert_eq!((record.label(0), record.row_label(0).unwrap().is_by_person()), (Some(1), false));
    take(&mut record, &change(1, "b"));
    assert_eq!(record.check(&known(&[(1, "a")])).unwrap_err(), "row 1 already has a label");
    assert_eq!(record.answered(), 2);
}

#[test]
fn a_row_skipped_again_is_skipped_once() {
    let mut record = Record::new(&header());
    [1, 3, 1].iter().for_each(|row| take(&mut record, &skip(*row)));
    assert_eq!(record.skipped().collect::<Vec<_>>(), [3, 1]);
}

fn find(record: &Record, keys: &[&str]) -> Anchoring {
    Anchoring::find(record, &pool(keys)).unwrap()
}

fn move_to(record: &mut Record, keys: &[&str]) {
    let event = find(record, keys).event(pool(keys));
    take(record, &event);
}

#[test]
fn answers_follow_their_items() {
    let mut record = Record::new(&header());
    for event in [answer(0, "a", "b"), skip(3), answer(4, "b", "b")] {
        take(&mut record, &event);
    }
    let anchoring = find(&record, &["t", "u", "s", "r", "q", "p"]);
    assert_eq!((anchoring.found, anchoring.moved, anchoring.added), (3, 3, 1));
    assert_eq!((anchoring.removed, anchoring.missing.len()), (0, 0));
    move_to(&mut record, &["t", "u", "s", "r", "q", "p"]);
    assert_eq!(labels(&record), [Some(1), None, None, None, None, Some(0)]);
    assert_eq!(record.skipped().collect::<Vec<_>>(), [2]);
    // The most recent action is undone at its new row; past events keep the row numbers that were valid at the time.
    assert_eq!(record.last_action().unwrap().question.index, 0);
    take(&mut record, &Event::Undo { row: 0 });
    take(&mut record, &answer(1, "b", "b"));
    let events = record.events();
    assert_eq!((&events[2], &events[4]), (&answer(4, "b", "b"), &Event::Undo { row: 0 }));
    let mut again = Record::new(&header());
    events.iter().for_each(|event| take(&mut again, event));
    assert_eq!(labels(&again), labels(&record));
}

/// The label of an item that left the pool is kept and applies again when the item returns.
#[test]
fn labels_of_items_that_are_gone_come_back() {
    let mut record = Record::new(&header());
    take(&mut record, &answer(0, "a", "b"));
    take(&mut record, &answer(1, "b", "b"));
    let anchoring = find(&record, &["q", "r"]);
    assert_eq!(anchoring.missing, [MissingItem { row: 0, class: Some(0), is_ambiguous: false }]);
    assert_eq!((anchoring.removed, anchoring.is_foreign()), (3, false));
    move_to(&mut record, &["q", "r"]);
    assert_eq!((labels(&record), record.answered()), (vec![Some(1), None], 1));
    assert!(find(&record, &["x", "y"]).is_foreign());
    let anchoring = find(&record, &["r", "p"]);
    assert_eq!((anchoring.returned, anchoring.missing.len(), anchoring.added), (1, 1, 0));
    move_to(&mut record, &["p", "q", "r"]);
    assert_eq!(labels(&record), [Some(0), Some(1), None]);
}

#[test]
fn copies_of_an_item_keep_their_labels_unless_they_differ() {
    let copies = ["p", "p", "p", "q"];
    let start = Header::new(pool(&copies), vec!["a".into(), "b".into()], 0);
    let mut record = Record::new(&start);
    take(&mut record, &answer(1, "a", "a"));
    take(&mut record, &answer(2, "b", "b"));
    // The number of copies is unchanged, so each copy keeps its label.
    let anchoring = find(&record, &["q", "p", "p", "p"]);
    assert_eq!((anchoring.found, anchoring.missing.len()), (2, 0));
    // If there is one copy fewer, the copy without a label is dropped.
    assert!(find(&record, &["q", "p", "p"]).missing.is_empty());
    let anchoring = find(&record, &["q", "p"]);
    assert!(anchoring.missing.len() == 1 && anchoring.missing[0].is_ambiguous);
    take(&mut record, &change(2, "a"));
    assert!(find(&record, &["q", "p"]).missing.is_empty(), "both copies have the same label");
}

/// A pool whose rows have these keys and cells.
fn pool_of(rows: &[(&str, &str)]) -> PoolId {
    let mut pool = pool(&rows.iter().map(|(key, _)| *key).collect::<Vec<_>>());
    let rows = rows.iter().map(|(_, cells)| ItemKey::of_text(cells)).collect();
    pool.items.as_mut().unwrap().cells = Some(Box::new(CellIds { rows, ..CellIds::default() }));
    pool
}

/// Items whose keys are equal are told apart by their cells. If these are unknown or have changed, labels that may have
/// been exchanged are reported.
#[test]
fn look_alikes_keep_their_labels_or_are_refused() {
    let (a, b, c, d) = (("p", "1.10"), ("p", "1.1"), ("p", "1.100"), ("p", "+1.1"));
    let other = ("q", "q");
    let two = |of: &[(&str, &str)], labels: &[(usize, &str)]| {
        let mut record = Record::new(&Header::new(pool_of(of), vec!["A".into(), "B".into()], 0));
        labels.iter().for_each(|(row, class)| take(&mut record, &known(&[(*row, class)])));
        record
    };
    let find = |record: &Record, of: &[(&str, &str)]| {
        let anchoring = Anchoring::find(record, &pool_of(of)).unwrap();
        let mut after = record.clone();
        take(&mut after, &anchoring.clone().event(pool_of(of)));
        (labels(&after), anchoring.confused, anchoring.missing.len())
    };
    let both = two(&[a, b, other], &[(0, "A"), (1, "B")]);
    assert_eq!(find(&both, &[b, other, a]), (vec![Some(1), None, Some(0)], vec![], 0));
    assert_eq!(find(&both, &[c, b, a]), (vec![None, Some(1), Some(0)], vec![], 0));
    assert_eq!(find(&both, &[b, other]), (vec![Some(1), None], vec![], 1), "a label is missing");
    // The form of one row has changed.
    assert_eq!(find(&both, &[b, c]), (vec![Some(1), Some(0)], vec![], 0));
    // Both have changed, or the table was read in another way, in which both look the same.
    for rows in [[c, d], [b, b], [c, c]] {
        assert_eq!(find(&both, &rows).1, [vec![0, 1]], "{rows:?}");
    }
    let same = two(&[a, b, other], &[(0, "A"), (1, "A")]);
    assert_eq!(find(&same, &[c, other, d]), (vec![Some(0), None, Some(0)], vec![], 0));
    // It is unknown which of both rows has the label.
    let one = two(&[a, b, other], &[(0, "A")]);
    assert_eq!(find(&one, &[b, a]), (vec![None, Some(0)], vec![], 0));
    assert_eq!(find(&one, &[c, d]).1, [vec![0, 1]]);
    let single = two(&[a, other], &[(0, "A")]);
    assert_eq!(find(&single, &[c]), (vec![Some(0)], vec![], 0));
    assert_eq!(find(&single, &[b, a]), (vec![None, Some(0)], vec![], 0));
    assert_eq!(find(&single, &[b, c]).1, [vec![0, 1]]);
    // Exact copies looked the same when they were labelled.
    let copies = two(&[a, a], &[(0, "A")]);
    assert_eq!(find(&copies, &[a, a]), (vec![Some(0), None], vec![], 0));
    assert_eq!(find(&copies, &[b, a]), (vec![Some(0), None], vec![], 0));
    // In a session of an earlier version, the cells are unknown.
    let start = Header::new(pool(&["p", "p", "q"]), vec!["A".into(), "B".into()], 0);
    let mut old = Record::new(&start);
    take(&mut old, &known(&[(0, "A"), (1, "B")]));
    assert_eq!(find(&old, &[a, b, other]).1, [vec![0, 1]]);
    assert_eq!(find(&old, &[a, other, a]), (vec![Some(0), None, Some(1)], vec![], 0));
}

/// A session is not resumed if its labels may have been exchanged. If an earlier version wrote it and the keys of the
/// rows are the same, a note says so, and the cells are stored.
#[test]
fn exchanged_labels_are_refused() {
    let before = pool_of(&[("p", "1.10"), ("p", "1.1")]);
    let changed = pool_of(&[("p", "1.100"), ("p", "+1.1")]);
    let resume = |first: &PoolId, id: &PoolId| {
        let start = Header::new(first.clone(), vec!["A".into(), "B".into()], 0);
        let mut record = Record::new(&start);
        take(&mut record, &known(&[(0, "A"), (1, "B")]));
        let mut notes = Vec::new();
        let resumed = ResumedPool { id, first_version: id, cells: None, keep_found: true };
        let event = resumed.event(&record, Path::new("s.jsonl"), &mut notes);
        (event.map_err(|error| error.to_string()), notes)
    };
    assert_eq!(resume(&before, &before), (Ok(None), vec![]));
    // If no key occurs twice, nothing can be exchanged, and the session does not grow.
    let unique = |cells: &str| pool_of(&[("p", cells), ("q", "q")]);
    assert_eq!(resume(&unique("1.10"), &unique("1.1")), (Ok(None), vec![]));
    let why = resume(&before, &changed).0.unwrap_err();
    assert!(why.contains("rows 0, 1 of pool.csv are read as equal"), "{why}");
    assert!(why.contains("--id COLUMN"), "{why}");
    let (event, notes) = resume(&pool(&["p", "p"]), &before);
    assert_eq!(event, Ok(Some(Event::Pool { pool: before, items: vec![0, 1] })));
    assert!(notes.len() == 1 && notes[0].contains("an earlier version wrote"), "{notes:?}");
}

#[test]
fn contents_changed_under_an_id_are_reported() {
    let by_id = |mut pool: PoolId| {
        pool.items.as_mut().unwrap().by.id = Some("id".into());
        pool
    };
    let first = by_id(ids(&["1", "2"], &["x", "y"]));
    let record = Record::new(&Header::new(first, vec!["a".into(), "b".into()], 0));
    let anchoring = Anchoring::find(&record, &by_id(ids(&["2", "1"], &["y", "z"]))).unwrap();
    assert_eq!((anchoring.changed, anchoring.missing.len()), (vec![1], 0));
    // No item has another row number, so the notes say nothing about the order.
    let (now, mut notes) = (by_id(ids(&["1", "2"], &["x", "z"])), Vec::new());
    let resumed = ResumedPool { id: &now, first_version: &now, cells: None, keep_found: false };
    assert!(resumed.event(&record, Path::new("s.jsonl"), &mut notes).unwrap().is_some());
    let part = "items with the same id and changed content: 1 (rows 1)";
    assert!(notes.len() == 1 && notes[0].contains(part), "{notes:?}");
}

/// Keys are comparable only if they are computed from the same columns in the same order.
#[test]
fn keys_of_other_columns_are_refused() {
    let record = Record::new(&header());
    let mut other = pool(&["t", "q", "r", "s", "p"]);
    other.items.as_mut().unwrap().by.columns = vec!["y".into()];
    let event = |id: &PoolId| {
        let resumed = ResumedPool { id, first_version: id, cells: None, keep_found: false };
        resumed.event(&record, Path::new("s.jsonl"), &mut Vec::new())
    };
    let why = event(&other).unwrap_err().to_string();
    assert!(why.contains("s.jsonl: this session identifies its items by other columns"), "{why}");
    assert!(event(&pool(&["t", "q", "r", "s", "p"])).unwrap().is_some());
}

/// An image whose file was renamed is found by its contents, if no other image has the same contents.
#[test]
fn renamed_images_are_found_by_their_contents() {
    let start =
        Header::new(ids(&["a", "b", "c"], &["x", "y", "z"]), vec!["a".into(), "b".into()], 0);
    let mut record = Record::new(&start);
    take(&mut record, &answer(0, "a", "a"));
    let find =
        |keys: &[&str], contents: &[&str]| Anchoring::find(&record, &ids(keys, contents)).unwrap();
    let anchoring = find(&["b", "c", "n"], &["y", "z", "x"]);
    assert_eq!((anchoring.renamed, anchoring.added, anchoring.removed), (1, 0, 0));
    assert_eq!((anchoring.found, anchoring.moved, anchoring.missing.len()), (1, 1, 0));
    let anchoring = find(&["b", "m", "n"], &["y", "x", "x"]);
    assert_eq!((anchoring.renamed, anchoring.missing.len(), anchoring.added), (0, 1, 2));
}

/// A file that was cut at any byte yields the events of its complete lines, and the session can be continued.
#[test]
fn a_file_cut_anywhere_keeps_its_complete_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut log = begin(&path);
    let events = [answer(0, "a", "b"), skip(1), Event::Undo { row: 1 }];
    events.iter().for_each(|event| log.apply(event).unwrap());
    drop(log);
    let bytes = std::fs::read(&path).unwrap();
    for len in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..len]).unwrap();
        let ends_whole = len < bytes.len() && bytes[len] == b'\n';
        let whole =
            bytes[..len].iter().filter(|byte| **byte == b'\n').count() + usize::from(ends_whole);
        let mut log = match SessionFile::open(&path, SessionAccess::Write).unwrap() {
            Opening::New(session) => {
                assert_eq!(whole, 0);
                session.begin(header()).unwrap()
            }
            Opening::Existing(log) => *log,
        };
        let is_cut = len > 0 && bytes[len - 1] != b'\n' && !ends_whole;
        assert_eq!(log.tail() == Tail::Cut, is_cut && whole > 0);
        assert_eq!(log.record().events(), &events[..whole.saturating_sub(1)]);
        log.apply(&answer(4, "b", "b")).unwrap();
        let count = log.record().events().len();
        drop(log);
        let log = existing(&path, SessionAccess::Read);
        assert_eq!((log.record().events().len(), log.record().label(4)), (count, Some(1)));
    }
}

/// A program may have changed the line ends. The file is refused and left alone.
#[test]
fn a_file_without_its_line_ends_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut log = begin(&path);
    log.apply(&answer(0, "a", "b")).unwrap();
    log.apply(&answer(1, "a", "b")).unwrap();
    drop(log);
    let text = std::fs::read_to_string(&path).unwrap();
    for end in ["\r", "", "\u{2028}", " "] {
        // All line ends, or only the last one.
        let last = format!("{}{end}x", text.trim_end());
        let all = text.replace('\n', end);
        for changed in [all, last] {
            std::fs::write(&path, &changed).unwrap();
            let refused = SessionFile::open(&path, SessionAccess::Write).unwrap_err();
            assert!(matches!(refused, SessionError::Line { .. }), "{end:?}: {refused}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), changed);
        }
    }
}

#[test]
fn removed_repeated_moved_or_changed_lines_are_detected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut log = begin(&path);
    let events = [answer(0, "a", "b"), answer(1, "a", "b"), answer(2, "b", "b"), skip(3), skip(4)];
    events.iter().for_each(|event| log.apply(event).unwrap());
    drop(log);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let with = |order: &[usize]| {
        let lines: Vec<&str> = order.iter().map(|at| lines[*at]).collect();
        parse_journal((lines.join("\n") + "\n").as_bytes()).unwrap_err()
    };
    let order = |found, expected| JournalFaultKind::OutOfOrder { found, expected };
    for (lines, line, kind) in [
        (&[0, 1, 3, 4, 5][..], 3, order(4, 3)),
        (&[0, 1, 2, 2, 3], 4, order(3, 4)),
        (&[0, 2, 1, 3, 4], 2, order(3, 2)),
        (&[1, 2], 1, order(2, 1)),
    ] {
        assert_eq!(with(lines), JournalFault { line, kind });
    }
    let changed = text.replacen("\"row\":1,\"class\":\"a\"", "\"row\":1,\"class\":\"b\"", 1);
    let fault = parse_journal(changed.as_bytes()).unwrap_err();
    assert_eq!((fault.line, fault.kind), (3, JournalFaultKind::Changed));
    let unsigned = format!("{}\n{}\n", lines[0], r#"{"event":"undo","row":0}"#);
    let fault = parse_journal(unsigned.as_bytes()).unwrap_err();
    assert_eq!((fault.line, fault.kind), (2, JournalFaultKind::NoChecksum));
    // Windows line ends are not part of the text.
    assert_eq!(parse_journal(text.replace('\n', "\r\n").as_bytes()).unwrap().events.len(), 5);
    std::fs::write(&path, changed).unwrap();
    let error = SessionFile::open(&path, SessionAccess::Write).unwrap_err();
    assert!(error.to_string().contains("line 3: ") && error.is_input(), "{error}");
}

#[test]
fn invalid_headers_are_refused() {
    let classes = |classes: &[&str]| {
        let classes = classes.iter().map(|class| (*class).to_owned()).collect();
        Header::new(pool(&["p", "q"]), classes, 0).check().unwrap_err()
    };
    assert_eq!(classes(&["b", "a", "b"]), "the class \"b\" is named twice");
    assert_eq!(classes(&["b", "a", ""]), "class 3 has no name");
    assert_eq!(classes(&["b"]), "the session has 1 classes; at least two are needed");
    let mut header = header();
    header.pool.rows = usize::MAX;
    assert!(header.check().unwrap_err().contains("5 keys"));
    header.version = 3;
    assert!(header.check().unwrap_err().contains("version 3"));
}

/// Files of version 1 have no checksums. Lines that are appended to such a file have checksums, which cover all
/// previous lines.
#[test]
fn sessions_of_version_1_can_be_continued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let old = concat!(
        r#"{"format":"halfspaces labelling session","version":1,"pool":{"source":"p.csv","rows":3,"columns":1,"fingerprint":"00"},"classes":["a","b"],"seed":0}"#,
        "\n",
        r#"{"event":"answer","row":1,"class":"b","predicted":"a","probability":0.5,"to_come":null}"#,
        "\n"
    );
    std::fs::write(&path, old).unwrap();
    let mut log = existing(&path, SessionAccess::Write);
    let record = log.record();
    assert_eq!((record.label(1), record.pool().items.is_none()), (Some(1), true));
    assert_eq!(Anchoring::find(record, &pool(&["p"])), None);
    let keys = ["x", "y", "z"];
    log.apply(&Anchoring::first_keys(pool(&keys))).unwrap();
    log.apply(&answer(0, "a", "a")).unwrap();
    drop(log);
    let log = existing(&path, SessionAccess::Read);
    assert_eq!(labels(log.record()), [Some(0), Some(1), None]);
    assert_eq!(find(log.record(), &["z", "y", "x"]).moved, 1);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(old));
    let changed = text.replacen("\"class\":\"b\",\"pred", "\"class\":\"a\",\"pred", 1);
    assert_eq!(parse_journal(changed.as_bytes()).unwrap_err().kind, JournalFaultKind::Changed);
}

#[test]
fn two_processes_cannot_write_but_one_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut log = begin(&path);
    let second = SessionFile::open(&path, SessionAccess::Write).unwrap_err().to_string();
    assert!(second.contains("another process is using this session"), "{second}");
    log.apply(&answer(0, "a", "a")).unwrap();
    let mut reader = existing(&path, SessionAccess::Read);
    assert_eq!(reader.record().label(0), Some(0));
    let before = std::fs::read(&path).unwrap();
    reader.apply(&answer(1, "a", "a")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before, "nothing is written");
}

#[test]
fn other_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    for text in ["a,b\n1,2\n", "no line end", "{\"format\":\"x\"}\n", "{\"format\":\"x\"}"] {
        std::fs::write(&path, text).unwrap();
        let refused = SessionFile::open(&path, SessionAccess::Write).unwrap_err().to_string();
        assert!(refused.contains("line 1") && refused.contains("not a session file"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    for path in ["/dev/null", "/dev/stdout", "/proc/self/mounts"] {
        let refused = SessionFile::open(Path::new(path), SessionAccess::Write).unwrap_err();
        assert!(matches!(refused, SessionError::NotAFile { .. }), "{refused}");
    }
    let refused = SessionFile::open(folder.path(), SessionAccess::Write).unwrap_err().to_string();
    assert!(refused.contains("is a directory"), "{refused}");
    // A session that never began leaves no file behind.
    let new = folder.path().join("new.jsonl");
    drop(SessionFile::open(&new, SessionAccess::Write).unwrap());
    assert!(!new.exists());
}

/// After any change by another program, all events are in a file that the error names.
#[test]
fn a_lost_file_is_rewritten() {
    for how in ["deleted", "replaced", "emptied", "shortened", "written to", "changed"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let mut log = begin(&path);
        log.apply(&answer(0, "a", "b")).unwrap();
        log.apply(&Event::Pool { pool: pool(&["q", "p"]), items: vec![1, 0] }).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        match how {
            "deleted" => std::fs::remove_file(&path).unwrap(),
            "replaced" => {
                let copy = folder.path().join("copy");
                std::fs::write(&copy, &bytes[..bytes.len() - 1]).unwrap();
                std::fs::rename(&copy, &path).unwrap();
            }
            "emptied" => std::fs::write(&path, "").unwrap(),
            "shortened" => std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap(),
            "written to" => std::fs::write(&path, [&bytes[..], b"more"].concat()).unwrap(),
            _ => {
                let text = String::from_utf8(bytes).unwrap();
                let rewrite = |text: &str, later: u64| {
                    std::fs::write(&path, text).unwrap();
                    let file = std::fs::File::options().write(true).open(&path).unwrap();
                    let modified = file.metadata().unwrap().modified().unwrap();
                    file.set_modified(modified + std::time::Duration::from_secs(later)).unwrap();
                };
                // The same text at another time is no damage.
                rewrite(&text, 1);
                log.apply(&skip(0)).unwrap();
                log.apply(&Event::Undo { row: 0 }).unwrap();
                let text = std::fs::read_to_string(&path).unwrap();
                rewrite(&text.replacen("\"class\":\"a\"", "\"class\":\"b\"", 1), 2);
            }
        }
        let error = log.apply(&answer(0, "b", "b")).unwrap_err();
        let ApplyError::File(SessionError::Lost { how: found, saved, .. }) = &error else {
            panic!("{error}")
        };
        assert_eq!(*found, how);
        let saved = saved.clone().unwrap();
        assert!(error.to_string().contains(&saved.display().to_string()), "{error}");
        assert_eq!(saved == path, how == "deleted");
        drop(log);
        let log = existing(&saved, SessionAccess::Write);
        assert_eq!(labels(log.record()), [Some(1), Some(0)], "{how}");
    }
}

/// The answer is in the file that the error names, so the model also learns from it, and another row is asked about.
#[test]
fn a_session_in_a_lost_file_stays_consistent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let log = begin(&path);
    let points = Points::from_rows(&[[1.0], [-2.0], [3.0], [-4.0], [5.0]]).unwrap();
    let session = Labelling::params(2).check().unwrap().session(&points).unwrap();
    let mut controller = Controller::new(log, Direct::new(session, Asking::default())).unwrap();
    let row = controller.question().unwrap().index;
    std::fs::remove_file(&path).unwrap();
    let error = controller.answer(row, 1).unwrap_err();
    assert!(matches!(error, ActionError::Failed(_)), "{error:?}");
    assert_eq!(controller.record().label(row), Some(1));
    assert_eq!(controller.asker().session().class(row), Some(1));
    assert_ne!(controller.question().unwrap().index, row);
}

/// Editors and synchronised folders write a copy and rename it. The session continues in the copy.
#[cfg(unix)]
#[test]
fn writing_continues_in_a_copy_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("s.jsonl"), folder.path().join("copy"));
    let mut log = begin(&path);
    for row in 0..3 {
        std::fs::copy(&path, &copy).unwrap();
        std::fs::rename(&copy, &path).unwrap();
        log.apply(&answer(row, "b", "b")).unwrap();
    }
    assert!(matches!(
        SessionFile::open(&path, SessionAccess::Write),
        Err(SessionError::Locked { .. })
    ));
    drop(log);
    assert_eq!(existing(&path, SessionAccess::Write).record().answered(), 3);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
