//! Labels a part of a small pool, then sorts and extends the pool, and continues. Every answer is kept.
//!
//! ```text
//! cargo run -p halfspaces-labelling --example label_pool
//! ```

#![allow(clippy::print_stdout, reason = "an example")]

use halfspaces_labelling::{
    Anchoring, Event, Header, ItemIds, ItemSpec, KeyBuilder, Opening, PoolId, SessionAccess,
    SessionFile,
};
use halfspaces_linalg::{Points, Threads};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("session.jsonl");
    let mut values: Vec<f64> = (0..40).map(|i| f64::from((i * 17) % 41)).collect();
    answer_questions(&path, &values, 15)?;
    values.sort_by(f64::total_cmp);
    values.push(50.0);
    answer_questions(&path, &values, usize::MAX)
}

/// Answers up to `questions` questions. A value is large if it is at least 20.
fn answer_questions(path: &Path, values: &[f64], questions: usize) -> Result<(), Box<dyn Error>> {
    let pool = pool(values);
    let mut log = match SessionFile::open(path, SessionAccess::Write)? {
        Opening::New(session) => {
            session.begin(Header::new(pool, vec!["small".into(), "large".into()], 0))?
        }
        Opening::Existing(mut log) => {
            let anchoring = Anchoring::find(log.record(), &pool).ok_or("both have keys")?;
            println!("{} answers moved, {} new items", anchoring.moved, anchoring.added);
            log.apply(&anchoring.event(pool))?;
            *log
        }
    };
    let points = Points::new(values.to_vec(), 1)?;
    let mut model = log.model(&points, Threads::ONE)?;
    for _ in 0..questions {
        let Some(question) = model.next() else { break };
        let class = usize::from(values[question.index] >= 20.0);
        let name = |class: usize| log.record().classes()[class].clone();
        let event = Event::Answer {
            row: question.index,
            class: name(class),
            predicted: name(question.class),
            probability: question.probability,
            to_come: None,
        };
        // Write to the file before updating the model.
        log.apply(&event)?;
        model.answer(class)?;
    }
    let record = log.record();
    println!(
        "{} of {} labelled, {} corrections",
        record.answered(),
        record.rows(),
        record.corrections()
    );
    Ok(())
}

fn pool(values: &[f64]) -> PoolId {
    let mut keys = KeyBuilder::new(values.len());
    keys.numbers(values);
    let keys = keys.finish();
    let by = ItemSpec { columns: vec!["x".into()], ..ItemSpec::default() };
    let table = KeyBuilder::fingerprint(&keys);
    PoolId::new("numbers", 1, ItemIds { by, table, keys, contents: Vec::new(), cells: None })
}
