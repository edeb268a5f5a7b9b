//! `halfspaces label`: a person confirms or corrects, in the terminal or in a browser.

mod args;
mod desk;
mod export;
mod images;
mod items;
mod journal;
mod keys;
mod label_studio;
mod lines;
mod pool;
mod record;
mod simulate;
mod terminal;
mod web;
mod worker;

use crate::error::CliError;
use crate::interrupt::say_when_stopped;
use crate::output::{check_targets, note, write_file};
use crate::progress::Progress;
pub(crate) use args::LabelArgs;
use desk::Desk;
use export::ExportFormat;
use halfspaces_linalg::{Params, PointSet, Points, Threads};
use halfspaces_online::{LabellingFile, LabellingParams, LabellingSession};
use items::Items;
use journal::{Header, Journal};
use pool::Pool;
use record::{Event, Record};
use simulate::Play;
use std::path::{Path, PathBuf};

/// Runs `label`.
pub(crate) fn run(args: &LabelArgs) -> Result<(), CliError> {
    check_files(args)?;
    if args.input.data == Path::new("-") && !(args.web || args.simulate || args.export) {
        return Err(CliError::user(
            "standard input cannot be both the table and the answers; name a file, or say --web",
        ));
    }
    let progress = Progress::start("reading");
    let pool = Pool::read(args)?;
    drop(progress);
    if args.simulate {
        return simulate(args, pool);
    }
    let path = session_path(args)?;
    let tells_labels = args.known.is_some() || args.import_labelstudio.is_some();
    if args.export && !tells_labels && !path.exists() {
        return Err(CliError::user(format!(
            "{}: there is no such session; name its file by --session",
            path.display()
        )));
    }
    let (mut journal, past) = Journal::open(&path)?;
    if past.cut {
        note(&format!("note: {}: the last line was cut off and is left out", path.display()));
    }
    let (header, is_new) = match past.header {
        Some(header) => {
            header.check_pool(&pool.id, &path)?;
            check_classes(&args.classes, &header.classes, &path)?;
            (header, false)
        }
        None => (Header::new(pool.id.clone(), classes(args, &pool.known)?, args.seed), true),
    };
    let mut record = Record::new(pool.id.rows, header.classes.clone());
    for (line, event) in &past.events {
        let at = |why: String| CliError::user(format!("{}: line {line}: {why}", path.display()));
        let step = record.check(event).map_err(at)?;
        record.take(step);
    }
    let told = told(args, &pool, &record)?;
    // Nothing is written before everything that was told is known to fit.
    if is_new {
        journal.begin(&header)?;
    }
    for event in &told {
        let step = record.check(event).map_err(CliError::user)?;
        journal.append(event)?;
        record.take(step);
    }
    let (record, items, session) = if args.export {
        let session = if args.with_predictions {
            Some(resume(&header, &record, &pool.points, Threads::all())?)
        } else {
            None
        };
        (record, pool.items, session)
    } else {
        let progress = Progress::start("learning");
        // One core is left to the browser and to the page's server, which answers while the model learns.
        let threads = if args.web { all_but_one() } else { Threads::all() };
        let session = resume(&header, &record, &pool.points, threads)?;
        drop((pool.points, progress));
        let desk = Desk::new(record, journal, session)?;
        note(&format!("every answer is kept in {}", path.display()));
        say_when_stopped(args.output.as_ref().map(|output| {
            let output = output.display();
            format!("\nstopped; {output} is not written: the same command with --export writes it")
        }));
        let (desk, items) = if args.web {
            web::run(desk, pool.items, file_name(&args.input.data), args.port)?
        } else {
            terminal(desk, pool.items)?
        };
        let (record, session) = desk.finish(args.with_predictions)?;
        say_when_stopped(None);
        (record, items, session)
    };
    let Some(target) = &args.output else { return Ok(()) };
    let predictions = session.as_ref().filter(|_| args.with_predictions);
    let labelled = lines::lines(&record, predictions);
    let format = args.export_format.unwrap_or_else(|| ExportFormat::of(target));
    write_file(target, args.force, |out| export::write(out, format, &labelled, &items))?;
    note(&format!("{} labels written to {}", labelled.len(), target.display()));
    Ok(())
}

/// Fails early where a file cannot be written at the end, or would be written over one that is read.
fn check_files(args: &LabelArgs) -> Result<(), CliError> {
    // A session without a name is told of when it is opened; a simulation has none.
    let session = session_path(args).ok();
    let read = [&args.items, &args.import_labelstudio, &session];
    let mut inputs: Vec<&Path> = read.into_iter().flatten().map(PathBuf::as_path).collect();
    inputs.push(&args.input.data);
    let outputs: Vec<&Path> = args.output.iter().map(PathBuf::as_path).collect();
    check_targets(&outputs, &inputs, args.force)
}

fn terminal(mut desk: Desk, items: Items) -> Result<(Desk, Items), CliError> {
    let mut input = std::io::stdin().lock();
    terminal::run(&mut desk, &items, &mut input)?;
    Ok((desk, items))
}

fn all_but_one() -> Threads {
    match Threads::new(Threads::all().count().saturating_sub(1).max(1)) {
        Ok(threads) => threads,
        Err(error) => unreachable!("at least one: {error}"),
    }
}

/// The name of the pool on its page.
fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn session_path(args: &LabelArgs) -> Result<PathBuf, CliError> {
    let data = &args.input.data;
    match (&args.session, data.file_name()) {
        (Some(path), _) => Ok(path.clone()),
        (None, Some(name)) if data != Path::new("-") => {
            let mut name = name.to_owned();
            name.push(".session.jsonl");
            Ok(PathBuf::from(name))
        }
        _ => Err(CliError::user("name a file for the answers by --session")),
    }
}

/// The classes of a new session: those named, or those of the labels known beforehand.
fn classes(args: &LabelArgs, known: &[(usize, String)]) -> Result<Vec<String>, CliError> {
    let mut classes: Vec<String> =
        args.classes.iter().map(|class| class.trim().to_owned()).collect();
    if classes.is_empty() {
        classes = known.iter().map(|(_, class)| class.clone()).collect();
        classes.sort_unstable();
        classes.dedup();
    }
    if classes.len() < 2 {
        return Err(CliError::user("name the classes, at least two: --classes A,B"));
    }
    for (place, class) in classes.iter().enumerate() {
        if class.is_empty() {
            return Err(CliError::user("--classes: a class has no name"));
        }
        if classes[..place].contains(class) {
            return Err(CliError::user(format!("--classes: {class:?} is named twice")));
        }
    }
    Ok(classes)
}

fn check_classes(named: &[String], of_session: &[String], path: &Path) -> Result<(), CliError> {
    let named: Vec<&str> = named.iter().map(|class| class.trim()).collect();
    if named.is_empty() || named == of_session {
        return Ok(());
    }
    Err(CliError::user(format!(
        "{}: line 1: the classes of this session are {}; leave --classes out, or name another file by --session",
        path.display(),
        of_session.join(",")
    )))
}

/// Labels told beforehand that the session does not have yet. What Label Studio says of rows that were answered
/// otherwise changes their answers.
fn told(args: &LabelArgs, pool: &Pool, record: &Record) -> Result<Vec<Event>, CliError> {
    let classes = record.classes();
    let class = |name: &str, from: &str| {
        let place = classes.iter().position(|class| class == name);
        let unknown = || {
            CliError::user(format!(
                "{from}: there is no class {name:?}; there are {}",
                classes.join(", ")
            ))
        };
        place.ok_or_else(unknown)
    };
    let mut labels: Vec<(usize, String)> = Vec::new();
    for (row, name) in &pool.known {
        class(name, &format!("--known, row {row}"))?;
        if record.label(*row).is_none() {
            labels.push((*row, name.clone()));
        }
    }
    let mut events = Vec::new();
    if let Some(path) = &args.import_labelstudio {
        let imported = label_studio::read(path, record.rows(), &pool.items)?;
        let mut seen = vec![false; record.rows()];
        for (row, name) in imported {
            let place = class(&name, &path.display().to_string())?;
            if std::mem::replace(&mut seen[row], true) {
                return Err(CliError::user(format!(
                    "{}: two tasks are about row {row}",
                    path.display()
                )));
            }
            match record.label(row) {
                None => {
                    labels.retain(|(known, _)| *known != row);
                    labels.push((row, name));
                }
                Some(label) if label != place => events.push(Event::Change { row, class: name }),
                Some(_) => {}
            }
        }
    }
    if !labels.is_empty() {
        events.push(Event::Known { labels });
    }
    Ok(events)
}

fn resume(
    header: &Header,
    record: &Record,
    points: &Points,
    threads: Threads,
) -> Result<LabellingSession, CliError> {
    let labelling = LabellingParams::new(header.classes.len()).seed(header.seed).threads(threads);
    let file = LabellingFile {
        version: LabellingFile::VERSION,
        labelling: labelling.check()?,
        first_points: points.len(),
        points: points.len(),
        answers: record.answers(),
        skipped: record.skipped().to_vec(),
    };
    LabellingSession::resume(&file, points).map_err(|error| CliError::user(error.to_string()))
}

fn simulate(args: &LabelArgs, pool: Pool) -> Result<(), CliError> {
    let Some(truth) = pool.truth else { unreachable!("--simulate requires --label") };
    let progress = Progress::start("playing");
    let labelling =
        LabellingParams::new(truth.classes.len()).seed(args.seed).threads(Threads::all());
    let session = labelling.check()?.session(&pool.points)?;
    drop(pool.points);
    let play = Play { order: args.order, seed: args.seed, max_answers: args.max_answers };
    let played = simulate::play(session, &truth.of_row, truth.classes, play)?;
    drop(progress);
    played.print(args.json)
}
