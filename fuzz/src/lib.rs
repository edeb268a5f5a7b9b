//! The fuzz targets: all code that reads data which a user or a broken disk may have changed.
//!
//! A target takes bytes and may refuse them; it fails if it panics. Targets check that there is no panic, no endless
//! loop and no excessive use of memory. They also check the guarantees of the readers: both forms of a file agree, data
//! that were written are read back bit for bit, and a loaded value can be used and is the same after it is saved and
//! loaded again.
//!
//! The input of the JSON targets (`session`, `saved`, `trials`) begins with a line that names the kind of value in the
//! rest, so that the files of the corpus are readable. [`mutate_json`] changes one value at a time and keeps the rest
//! valid. Its outputs reach the checks behind the parser, which random bytes rarely do.

pub mod seeds;
pub mod tables;

use halfspaces_data::{Link, StandardLink};
use halfspaces_eval::{Claim, RunInfo, StoreError, TrialStore};
use halfspaces_features::{FeatureMap, KernelValues, Ranks, ZScore};
use halfspaces_forster::ForsterTransform;
use halfspaces_labelling::{
    Anchoring, CellIds, Event, ItemIds, ItemKey, PoolId, Record, Tail, journal_text, parse_journal,
};
use halfspaces_linalg::{
    AffineHalfspace, Classifier, Halfspace, Label, PointSet, Points, SparsePoints,
};
use halfspaces_online::{
    AveragedPerceptron, ChainLength, Ellipsoid, Greedy, HardMargin, KernelPerceptron,
    LabellingFile, LabellingSession, OnlineLearner, PassiveAggressive, Perceptron, SampledGreedy,
    SelfDirectedLearner, SelfDirectedSession, StrongLearner, Transcript, TwoChains,
    VersionSpaceGreedy, VolumetricCentre,
};
use halfspaces_pac::{
    Calibration, ErrorCount, Fit, Fitting, LogisticFit, OneVsRestModel, PositionedDecisionList,
    PositionedFit, ProjectedFit, RandomProjection, SampleFit, SignLink, Stage, SvmFit,
};
use halfspaces_tables::{BinaryTableModel, MulticlassTableModel};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Debug;

/// Maximum number of coordinates of a loaded value that is used. Larger values are only saved and loaded again.
const MAX_DIM: usize = 64;
/// Maximum number of rounds, and of points, in a session.
const MAX_POINTS: usize = 24;

/// Reads LIBSVM text. The first byte of the input is ignored, because older files of the corpus begin with an
/// additional byte.
pub fn libsvm(bytes: &[u8]) {
    if let Some((_, text)) = bytes.split_first() {
        tables::libsvm(text);
    }
}

#[derive(Deserialize)]
struct Sitting {
    points: Points,
    answers: Vec<(usize, Label)>,
    seed: u64,
    length: ChainLength,
}

/// Resumes a session. The input is a line with the name of the learner, and then, as JSON, the pool, the seed and the
/// answers so far.
pub fn session(bytes: &[u8]) {
    let Some((name, text)) = headed(bytes) else { return };
    if let Ok(sitting) = serde_json::from_slice::<Sitting>(text) {
        sitting.plays(name);
    }
}

impl Sitting {
    /// Resumes the session with the learner of this name. Returns whether this succeeded.
    fn plays(self, name: &str) -> bool {
        let Sitting { points, answers, seed, length } = self;
        if points.len() > MAX_POINTS || points.dim() > 4 {
            return false;
        }
        let d = points.dim();
        match name {
            "Greedy" => resume(Greedy::new(d).unwrap(), &points, &answers),
            "TwoChains" => TwoChains::new(d, length, seed)
                .is_ok_and(|learner| resume(learner, &points, &answers)),
            "StrongLearner" => {
                resume(StrongLearner::recommended(d, seed).unwrap(), &points, &answers)
            }
            "SampledGreedy" => resume(SampledGreedy::new(d, seed).unwrap(), &points, &answers),
            "Ellipsoid" => {
                let centre = Ellipsoid::new(d).unwrap();
                resume(VersionSpaceGreedy::new(centre), &points, &answers)
            }
            "VolumetricCentre" => {
                let centre = VolumetricCentre::new(d).unwrap();
                resume(VersionSpaceGreedy::new(centre), &points, &answers)
            }
            "HardMargin" => {
                let centre = HardMargin::new(d).unwrap();
                resume(VersionSpaceGreedy::new(centre), &points, &answers)
            }
            _ => false,
        }
    }
}

/// Resumes a session and, if this succeeds, plays it to its end. Returns whether the session could be resumed.
fn resume<L: SelfDirectedLearner>(learner: L, points: &Points, answers: &[(usize, Label)]) -> bool {
    let resumed = SelfDirectedSession::resume(learner, points, answers);
    let Ok(mut session) = resumed else { return false };
    assert_eq!(session.progress().labelled, answers.len());
    for _ in 0..=MAX_POINTS {
        let Ok(Some(question)) = session.next() else { break };
        let value = points.row(question.index).unwrap().as_slice()[0];
        if session.answer(Label::from_sign(value)).is_err() {
            break;
        }
    }
    if let Ok(Some(witness)) = session.contradiction() {
        assert!(witness.len() <= points.dim() + 1 && !witness.is_empty());
    }
    let transcript = session.transcript();
    let text = serde_json::to_string(transcript).unwrap();
    assert_eq!(&serde_json::from_str::<Transcript>(&text).unwrap(), transcript);
    true
}

/// Loads a saved value. The input is a line with the name of a type, and then a value of this type as JSON.
pub fn saved(bytes: &[u8]) {
    let Some((name, text)) = headed(bytes) else { return };
    if let Some((_, load)) = SAVED.iter().find(|(known, _)| *known == name) {
        load(text);
    }
}

/// Whether a file of the corpus of this target is valid and of the kind that its first line names.
pub fn is_accepted(target: &str, bytes: &[u8]) -> bool {
    let Some((name, text)) = headed(bytes) else { return false };
    match target {
        "saved" => SAVED.iter().any(|(known, load)| *known == name && load(text)),
        "session" => {
            serde_json::from_slice::<Sitting>(text).is_ok_and(|sitting| sitting.plays(name))
        }
        _ => has_trials(name, text),
    }
}

/// The name of a type, and a function that loads a value of this type and uses it. The function returns whether the
/// text was such a value.
pub type Kind = (&'static str, fn(&[u8]) -> bool);

/// All types whose values are saved and loaded.
pub const SAVED: &[Kind] = &[
    ("Points", |t| load(t, |_: Points| ())),
    ("SparsePoints", |t| {
        load(t, |points: SparsePoints| {
            if points.dim() <= MAX_DIM {
                assert_eq!(points.to_dense().unwrap().len(), points.len());
            }
        })
    }),
    ("Halfspace", classifier::<Halfspace>),
    ("AffineHalfspace", classifier::<AffineHalfspace>),
    ("ZScore", features::<ZScore>),
    ("Ranks", features::<Ranks>),
    ("KernelValues", features::<KernelValues>),
    ("BinaryTableModel", classifier::<BinaryTableModel>),
    ("MulticlassTableModel", |t| {
        load(t, |model: MulticlassTableModel<u8>| {
            if model.dim() <= MAX_DIM {
                let rows = rows(model.dim());
                rows.rows().for_each(|x| drop(model.class(x).cloned()));
            }
        })
    }),
    ("OneVsRestModel", |t| {
        load(t, |model: OneVsRestModel<SvmFit>| {
            if model.dim() <= MAX_DIM {
                rows(model.dim()).rows().for_each(|x| drop(model.class(x)));
            }
        })
    }),
    ("PositionedDecisionList", classifier::<PositionedDecisionList>),
    ("PositionedFit", classifier::<PositionedFit>),
    ("StandardLink", |t| {
        load(t, |link: StandardLink| {
            assert!([-1.0, -0.1, 0.0, 1e-300, 1.0].iter().all(|v| link.value(*v).abs() <= 1.0));
        })
    }),
    ("Perceptron", online::<Perceptron>),
    ("AveragedPerceptron", online::<AveragedPerceptron>),
    ("PassiveAggressive", online::<PassiveAggressive>),
    ("KernelPerceptron", online::<KernelPerceptron>),
    ("LabellingFile", |t| {
        load(t, |file: LabellingFile| {
            if let Ok(mut session) = LabellingSession::resume(&file, &rows(2)) {
                assert_eq!(session.answers(), file.answers);
                while session.next().is_some() {
                    session.confirm().unwrap();
                }
                assert_eq!(session.progress().answered, file.points);
            }
        })
    }),
    ("Transcript", |t| {
        load(t, |transcript: Transcript| {
            let _ = transcript.replay(Perceptron::new(2).unwrap(), &rows(2));
        })
    }),
    ("ForsterTransform", |t| load(t, |transform| used_transform(&transform))),
    ("Fitting", |t| load(t, used_fitting::<SignLink>)),
    ("FittingThatChooses", |t| load(t, used_fitting::<SignLink>)),
    ("GlmFitting", |t| load(t, used_fitting::<StandardLink>)),
    ("Fit", classifier::<Fit>),
    ("SampleFit", |t| {
        load(t, |fit: SampleFit| {
            used_classifier(&fit);
            let _ = fit.error_bound(0.05);
        })
    }),
    ("RandomProjection", |t| {
        load(t, |projection: RandomProjection| {
            if projection.from_dim().max(projection.to_dim()) <= MAX_DIM {
                let _ = projection.apply(&rows(projection.from_dim()));
            }
        })
    }),
    ("ProjectedFit", classifier::<ProjectedFit<SvmFit>>),
    ("Calibration", |t| {
        load(t, |scaling: Calibration| {
            let shares = scaling.probabilities(&[1.0, -2.0, 0.5]);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        })
    }),
    ("ErrorCount", |t| load(t, |n: ErrorCount| assert!((0.0..=1.0).contains(&n.rate())))),
    ("LogisticFit", classifier::<LogisticFit>),
    ("SvmFit", |t| {
        load(t, |fit: SvmFit| {
            used_classifier(&fit);
            assert!(fit.gap() >= 0.0 && fit.distance_to_optimum() >= 0.0);
            assert!(fit.support() <= fit.alphas().len());
        })
    }),
];

/// Reads a file from the folder of a run. The input is a line with its kind, which is `trials`, `claims` or `run`, and
/// then the file.
pub fn trials(bytes: &[u8]) {
    if let Some((name, text)) = headed(bytes) {
        has_trials(name, text);
    }
}

/// Maximum number of bytes in memory for each byte of a session file.
const JOURNAL_MEMORY: usize = 64;

/// Reads the text of a session file. The use of memory must stay within its limit. If the session can be replayed,
/// writing it and reading it again must give the same session. Files of version 1 have no checksums, so changes to
/// their lines reach the record.
pub fn journal(bytes: &[u8]) {
    is_session(bytes);
}

/// Whether the text is a session whose events are consistent.
pub fn is_session(bytes: &[u8]) -> bool {
    let Ok(parsed) = parse_journal(bytes) else { return false };
    assert!(parsed.len <= bytes.len());
    assert!(parsed.tail != Tail::Complete || parsed.len == bytes.len());
    let Some(header) = parsed.header else { return false };
    let events = parsed.events;
    let held = events.capacity() * size_of::<(usize, Event)>()
        + header.classes.capacity() * size_of::<String>()
        + pool_size(&header.pool)
        + events.iter().map(|(_, event)| event_size(event)).sum::<usize>();
    assert!(held <= JOURNAL_MEMORY * bytes.len(), "{held} bytes for {}", bytes.len());
    let mut record = Record::new(&header);
    for (_, event) in events {
        if record.take(event).is_err() {
            return false;
        }
    }
    let used = record.answers();
    assert_eq!((used.len(), record.row_labels().count()), (record.answered(), used.len()));
    assert!(record.skipped().all(|row| record.label(row).is_none()));
    let text = journal_text(&header, &record);
    let again = parse_journal(text.as_bytes()).unwrap();
    let mut replayed = Record::new(again.header.as_ref().unwrap());
    for (_, event) in again.events {
        replayed.take(event).unwrap();
    }
    assert_eq!(replayed.answers(), used);
    assert_eq!(journal_text(&header, &replayed), text);
    // Every answer is found again in a pool that has the same rows in reverse order.
    if let Some(items) = record.pool().items.clone() {
        let backwards = |keys: &[ItemKey]| keys.iter().rev().copied().collect();
        let (keys, contents) = (backwards(&items.keys), backwards(&items.contents));
        let of_cells =
            |cells: Box<CellIds>| Box::new(CellIds { rows: backwards(&cells.rows), ..*cells });
        let cells = items.cells.clone().map(of_cells);
        let pool = PoolId::new("backwards", 1, ItemIds { keys, contents, cells, ..items });
        let anchoring = Anchoring::find(&record, &pool).unwrap();
        assert!(anchoring.missing.is_empty() && anchoring.found >= record.answered());
        record.take(anchoring.event(pool)).unwrap();
        assert!(record.answered() >= used.len());
    }
    true
}

fn pool_size(pool: &PoolId) -> usize {
    let keys = |items: &ItemIds| {
        let names = items.by.columns.capacity() + items.by.shown.capacity();
        (items.keys.capacity() + items.contents.capacity()) * size_of::<ItemKey>()
            + names * size_of::<String>()
    };
    pool.items.as_ref().map_or(0, keys)
}

fn event_size(event: &Event) -> usize {
    match event {
        Event::Known { labels } => labels.capacity() * size_of::<(usize, String)>(),
        Event::Pool { pool, items } => pool_size(pool) + items.capacity() * size_of::<usize>(),
        _ => 0,
    }
}

/// The lines of a session, converted to version 1. The lines then have no numbers and no checksums, so every change
/// reaches the record.
pub fn unsigned(text: &str) -> String {
    let plain = |line: &str| match line.rfind(",\"n\":") {
        Some(at) => format!("{}}}\n", &line[..at]),
        None => format!("{line}\n"),
    };
    let version = format!("\"version\":{}", halfspaces_labelling::Header::VERSION);
    text.lines().map(plain).collect::<String>().replacen(&version, "\"version\":1", 1)
}

/// Whether the file can be read. If the last line of a file of trials is truncated, the file is repaired first.
fn has_trials(name: &str, text: &[u8]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
    match name {
        "trials" => {
            std::fs::write(&path, text).unwrap();
            let mut opened = TrialStore::open(&path);
            if let Err(StoreError::Truncated { bytes, .. }) = opened {
                assert_eq!(TrialStore::repair(&path).unwrap(), bytes as u64);
                opened = TrialStore::open(&path);
                assert!(!matches!(opened, Err(StoreError::Truncated { .. })));
            }
            let Ok(store) = opened else { return false };
            let lines = store.to_canonical_lines();
            let again = folder.path().join("again");
            std::fs::write(&again, &lines).unwrap();
            let read = TrialStore::read(&[again, path]).unwrap();
            assert_eq!((read.len(), read.to_canonical_lines()), (store.len(), lines));
            true
        }
        "claims" => load(text, |_: Vec<Claim>| ()),
        "run" => {
            std::fs::write(&path, text).unwrap();
            RunInfo::read(&path).is_ok()
        }
        _ => false,
    }
}

/// Splits the input into its first line and the rest.
fn headed(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.iter().position(|b| *b == b'\n')?;
    Some((std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..]))
}

/// Loads the value that the text contains, checks that the value is the same after it is saved and loaded again, and
/// uses it. Returns whether the text contains such a value.
fn load<T>(text: &[u8], used: impl FnOnce(T)) -> bool
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let Ok(value) = serde_json::from_slice::<T>(text) else { return false };
    let saved = serde_json::to_string(&value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&saved).unwrap(), value);
    used(value);
    true
}

/// Points of very different sizes, on and off the axes, including a corner of the cube.
pub(crate) fn rows(dim: usize) -> Points {
    let mut values = vec![1.0; dim];
    for (scale, shift) in [(1.0, 0), (-0.5, 1), (1e150, 2), (-1e-150, 3), (0.0, 0)] {
        values.extend((0..dim).map(|j| scale * ((j + shift) % 3) as f64));
    }
    Points::new(values, dim).unwrap()
}

fn online<L>(text: &[u8]) -> bool
where
    L: OnlineLearner + Serialize + DeserializeOwned + PartialEq + Debug,
{
    load(text, |mut learner: L| {
        if learner.dim() > MAX_DIM {
            return;
        }
        let points = rows(learner.dim());
        for (x, label) in points.rows().chain(points.rows()).zip(both_labels()) {
            if let Ok(prediction) = learner.observe(x, label) {
                assert!(!prediction.value.is_nan());
            }
        }
    })
}

fn both_labels() -> impl Iterator<Item = Label> {
    [Label::Negative, Label::Positive].into_iter().cycle()
}

fn classifier<C>(text: &[u8]) -> bool
where
    C: Classifier + Serialize + DeserializeOwned + PartialEq + Debug,
{
    load(text, |classifier: C| used_classifier(&classifier))
}

fn features<T>(text: &[u8]) -> bool
where
    T: FeatureMap + Sync + Serialize + DeserializeOwned + PartialEq + Debug,
{
    load(text, |map: T| {
        if map.input_dim() <= MAX_DIM {
            let _ = map.apply(&rows(map.input_dim()));
        }
        let wrong = rows(if map.input_dim() == 2 { 3 } else { 2 });
        assert!(map.apply(&wrong).is_err());
    })
}

fn used_classifier<C: Classifier>(classifier: &C) {
    if classifier.dim() > MAX_DIM {
        return;
    }
    for x in rows(classifier.dim()).rows() {
        let _ = classifier.label(x);
    }
}

fn used_transform(transform: &ForsterTransform) {
    if transform.dim() > MAX_DIM {
        return;
    }
    let _ = transform.apply(&rows(transform.dim()));
    let _ = transform.scatter(halfspaces_forster::Normalisation::Trace);
    if let Ok(halfspace) = Halfspace::new(vec![1.0; transform.dim()]) {
        let inside = transform.halfspace_inside(&halfspace);
        let _ = inside.map(|inside| transform.halfspace_outside(&inside));
    }
}

fn used_fitting<L: Link>(mut fitting: Fitting<L>) {
    if fitting.dim() > MAX_DIM {
        return;
    }
    let points = rows(fitting.dim());
    for (x, label) in points.rows().chain(points.rows()).zip(both_labels()) {
        if fitting.stage() == Stage::Complete {
            break;
        }
        let _ = fitting.observe(x, label);
    }
    let _ = fitting.finish();
}

/// Defines a fuzz target whose input is JSON after a first line. Seven out of eight inputs are made from an earlier one
/// by [`mutate_json`], if the earlier input is JSON and there is enough room. The others are made by the mutations of
/// libFuzzer.
#[macro_export]
macro_rules! json_target {
    ($target:path) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $target(bytes));

        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            match $crate::mutate_json(&data[..size], seed.into()) {
                Some(text) if seed % 8 != 0 && text.len() <= max_size => {
                    data[..text.len()].copy_from_slice(&text);
                    text.len()
                }
                _ => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
            }
        });
    };
}

/// Returns the text with one change to a JSON value that follows the first line: a number becomes an extreme number, an
/// array or an object becomes shorter, longer or empty, or a value becomes `null`. If there are several lines, as in a
/// file of trials, one of them is changed. Returns `None` if the text is not JSON.
pub fn mutate_json(bytes: &[u8], seed: u64) -> Option<Vec<u8>> {
    let mut random = Random(seed);
    let (name, text) = headed(bytes)?;
    let mut changed = format!("{name}\n").into_bytes();
    if let Ok(mut value) = serde_json::from_slice::<Value>(text) {
        mutate_value(&mut value, &mut random);
        changed.extend(value.to_string().bytes());
        return Some(changed);
    }
    let mut lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
    let at = random.below(lines.len().max(1));
    let mut value = serde_json::from_slice::<Value>(lines.get(at)?).ok()?;
    mutate_value(&mut value, &mut random);
    let line = format!("{value}\n").into_bytes();
    lines[at] = &line;
    changed.extend(lines.concat());
    Some(changed)
}

fn mutate_value(value: &mut Value, random: &mut Random) {
    let mut at = random.below(nodes(value));
    if let Some(node) = node(value, &mut at) {
        change(node, random);
    }
}

fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(fields) => fields.values().map(nodes).sum::<usize>(),
        _ => 0,
    }
}

/// The node with the number `at`, in the order in which nodes are written.
fn node<'v>(value: &'v mut Value, at: &mut usize) -> Option<&'v mut Value> {
    if *at == 0 {
        return Some(value);
    }
    *at -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| node(item, at)),
        Value::Object(fields) => fields.values_mut().find_map(|item| node(item, at)),
        _ => None,
    }
}

fn change(value: &mut Value, random: &mut Random) {
    const NUMBERS: [f64; 16] = [
        0.0, -0.0, 0.5, -1.0, 1.0, 2.0, 1e308, -1e308, 1e154, 1e-154, 5e-324, -5e-324, 1e-300,
        0.4999, 1e16, -1e-9,
    ];
    const INTEGERS: [u64; 10] =
        [0, 1, 2, 3, 64, 1 << 31, u32::MAX as u64, 1 << 53, u64::MAX - 1, u64::MAX];
    let choice = random.below(8);
    match value {
        Value::Number(number) => {
            *value = match (choice, number.as_u64(), number.as_f64()) {
                (0 | 1, _, _) => INTEGERS[random.below(INTEGERS.len())].into(),
                (2, Some(n), _) => n.wrapping_add(1).into(),
                (3, Some(n), _) => n.wrapping_sub(1).into(),
                (4, _, Some(v)) => (v * 2.0).into(),
                (5, _, Some(v)) => (-v).into(),
                _ => NUMBERS[random.below(NUMBERS.len())].into(),
            }
        }
        Value::Array(items) => match (choice, items.len()) {
            (_, 0) => items.push(0.into()),
            (0, _) => items.clear(),
            (1 | 2, _) => {
                items.pop();
            }
            (3..=5, n) => {
                let item = items[random.below(n)].clone();
                items.insert(random.below(n + 1), item);
            }
            (_, n) => items.swap(random.below(n), random.below(n)),
        },
        Value::Object(fields) => {
            let name = fields.keys().nth(random.below(fields.len().max(1))).cloned();
            match (name, choice) {
                (Some(name), 0..=2) => {
                    fields.remove(&name);
                }
                (Some(name), 3..=6) => {
                    fields.insert(name, Value::Null);
                }
                _ => *value = Value::Null,
            }
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::String(text) => match choice {
            0..=3 => text.push('x'),
            4 | 5 => text.clear(),
            _ => *value = 1.into(),
        },
        Value::Null => *value = INTEGERS[random.below(INTEGERS.len())].into(),
    }
}

/// The random generator SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }
}
