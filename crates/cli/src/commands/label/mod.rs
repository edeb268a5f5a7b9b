//! `label`: a person labels a pool by confirming or correcting predictions, in the terminal or in a browser.

mod advice;
mod args;
mod classes;
mod export;
mod exported;
mod images;
mod items;
mod label_studio;
mod merge;
mod new_labels;
mod pool;
mod review;
mod session_labels;
mod simulate;
mod task_file;
mod task_rows;
mod terminal;
mod web;
mod worker;

use crate::error::CliError;
use crate::input::{check_no_pipe, is_pipe};
use crate::interrupt::set_stop_message;
use crate::output::{check_target, check_targets, counted, note, write_file};
use crate::progress::Progress;
pub(crate) use args::LabelArgs;
use args::Order;
use classes::{check_classes, classes, named, sought};
use export::{ExportFormat, Replaceable};
use exported::{ExportedRow, Source};
use halfspaces_frame::visible;
use halfspaces_labelling::{
    Annotators, ApplyError, Asking, Consensus, Event, Header, NewSession, Opening, Record,
    SessionAccess, SessionError, SessionFile, SessionLog,
};
use halfspaces_linalg::{Params, Threads};
use halfspaces_online::{Labelling, LabellingSession};
use halfspaces_pipeline::{Design, Pipeline};
use items::Items;
use pool::{Pool, SessionInfo};
pub(crate) use session_labels::{label_args, session_labels, session_table};
use simulate::Settings;
use std::path::{Path, PathBuf};
use worker::{Controller, Worker};

/// Runs `label`.
pub(crate) fn run(args: &LabelArgs) -> Result<(), CliError> {
    let args = &LabelArgs { classes: named(&args.classes), ..args.clone() };
    let resumes = !args.simulate && session_path(args).is_ok_and(|path| path.exists());
    check_files(args, resumes)?;
    if args.input.data == Path::new("-") && !(args.web || args.simulate || args.export) {
        return Err(CliError::user(
            "standard input cannot be both the table and the answers; pass the table as a file, or use --web",
        ));
    }
    if !args.merge.is_empty() {
        [&args.input.data].into_iter().chain(&args.merge).try_for_each(|p| check_no_pipe(p, ""))?;
    }
    if args.order == Order::Given && !args.simulate {
        return Err(CliError::user(
            "--order given is only for --simulate; in a session, pass --order recommended, rare or random",
        ));
    }
    let model = advice::load(args)?;
    if let Some(name) = &args.annotator
        && (name.trim().is_empty()
            || name.contains(|c: char| matches!(c, '/' | '\\') || c.is_control()))
    {
        return Err(CliError::user(format!(
            "--annotator {name:?}: the name is part of a file name; it must not be empty or contain slashes or control \
             characters"
        )));
    }
    if args.simulate {
        return simulate(args, model.as_ref(), read_pool(args, &SessionInfo::default())?);
    }
    let path = session_path(args)?;
    let sessions = merge::open(args)?;
    let annotator = args.annotator.clone().or_else(|| merge::merged(&sessions));
    if !sessions.is_empty() && args.export && !path.exists() {
        return merge_only(args, sessions);
    }
    let opening = open(args, &path)?;
    let named = args.classes.iter().map(|class| class.trim().to_owned()).collect::<Vec<_>>();
    let session = match &opening {
        Opening::Existing(log) => {
            check_classes(&named, log.record().classes(), &path)?;
            check_annotator(annotator.as_deref(), log.header(), &path)?;
            check_known(args.known.as_deref(), log.header(), &path)?;
            check_seed(args.seed, log.header(), &path)?;
            SessionInfo::of(log)
        }
        Opening::New(_) => info_of_sessions(&sessions, &named),
    };
    let mut pool = read_pool(args, &session)?;
    let annotators = merge_into(args, sessions, &mut pool)?;
    let class_names = match &opening {
        Opening::Existing(log) => log.record().classes().to_vec(),
        Opening::New(_) => match &annotators {
            Some(annotators) if args.classes.is_empty() => annotators.classes().to_vec(),
            // The notes say which words of the known labels count as missing.
            _ => classes(args, model.as_ref(), &pool.known)
                .inspect_err(|_| pool.notes.iter().for_each(|text| note(&visible(text))))?,
        },
    };
    let predictions = advice::predictions(args, model.as_ref(), &class_names)?;
    let (log, mut notes) = match opening {
        Opening::New(session) => begin_session(args, (class_names, annotator), session, &pool)?,
        Opening::Existing(log) => resume_session(args, *log, &pool, &path)?,
    };
    notes.splice(0..0, pool.notes.iter().cloned());
    notes.iter().for_each(|text| note(&visible(text)));
    let rows = |record: &Record, session: Option<&LabellingSession>| match &annotators {
        Some(annotators) => merge::exported_rows(record, annotators),
        None => exported::exported_rows(record, session.filter(|_| args.with_predictions)),
    };
    let (log, items, session, existing) = if args.export {
        let session = if args.with_predictions {
            let mut session = resume_model(args, &log, &pool, Threads::all())?;
            advice::advise(&mut session, predictions.as_deref())?;
            Some(session)
        } else {
            None
        };
        let existing = replaceable(args, &rows(log.record(), session.as_ref()), &pool.items)?;
        (log, pool.items, session, existing)
    } else {
        let progress = Progress::start("learning");
        // One core is left for the browser and the page's server, which replies while the model is updated.
        let threads = if args.web { all_but_one() } else { Threads::all() };
        let mut session = resume_model(args, &log, &pool, threads)?;
        advice::advise(&mut session, predictions.as_deref())?;
        note_capacity(&session);
        drop((pool.points, pool.cells, progress));
        let existing = replaceable(args, &rows(log.record(), Some(&session)), &pool.items)?;
        let rare = args.order == Order::Rare;
        let seek = sought(args, log.record().classes())?;
        let shuffled = (args.order == Order::Random).then_some(log.header().seed);
        let asking =
            Asking { rare, seek, shuffled, weights: args.web, first: pool.reviewed.places };
        let controller = Controller::new(log, Worker::start(session, asking))?;
        note(&format!("answers are saved in {}", path.display()));
        set_stop_message(stop_message(args));
        let (controller, items) = if args.web {
            let ending = args.ending.clone().unwrap_or_else(|| labels_are_where(args, &path));
            let page = web::PageText { pool: file_name(&args.input.data), ending };
            web::run(controller, pool.items, page, args.port)?
        } else {
            terminal(controller, pool.items)?
        };
        let (log, session) = controller.finish(args.with_predictions)?;
        set_stop_message(None);
        (log, items, session, existing)
    };
    if args.output.is_none() && args.ending.is_none() {
        note(&labels_are_where(args, &path));
    }
    write_labels(args, &rows(log.record(), session.as_ref()), &items, existing)
}

/// Writes exported rows to `--output`, if it is given. `existing` is an earlier output of the same session.
fn write_labels(
    args: &LabelArgs,
    rows: &[ExportedRow],
    items: &Items,
    existing: Option<Replaceable>,
) -> Result<(), CliError> {
    let Some(target) = &args.output else { return Ok(()) };
    let is_own = existing.is_some_and(|existing| existing.is_unchanged(target));
    let format = format_of(args, target);
    write_file(target, args.force || is_own, |out| export::write(out, format, rows, items))?;
    let empty = rows.iter().filter(|row| row.label.is_empty()).count();
    let count = counted((rows.len() - empty) as u64, "label");
    let without = match empty {
        0 => String::new(),
        _ => format!(" and {} without a label", counted(empty as u64, "row")),
    };
    let known = rows.iter().filter(|row| row.source == Source::Known).count();
    let known = match known {
        0 => String::new(),
        _ => format!("; {known} of the labels were known before the session"),
    };
    note(&format!("{count}{without} written to {}{known}", target.display()));
    Ok(())
}

/// Writes the common labels of several annotators, without a review.
fn merge_only(args: &LabelArgs, sessions: Vec<(PathBuf, SessionLog)>) -> Result<(), CliError> {
    let mut pool = read_pool(args, &info_of_sessions(&sessions, &[]))?;
    let Some(annotators) = merge_into(args, sessions, &mut pool)? else {
        unreachable!("there are sessions")
    };
    pool.notes.iter().for_each(|text| note(&visible(text)));
    let header = Header::new(pool.id, annotators.classes().to_vec(), args.seed());
    let rows = merge::exported_rows(&Record::new(&header), &annotators);
    let existing = replaceable(args, &rows, &pool.items)?;
    write_labels(args, &rows, &pool.items, existing)
}

/// The facts about the pool, taken from the first of several sessions.
fn info_of_sessions<'a>(
    sessions: &'a [(PathBuf, SessionLog)],
    named: &'a [String],
) -> SessionInfo<'a> {
    let pool = sessions.first().map(|(_, log)| log.record().pool());
    SessionInfo { pool, classes: named, known: None }
}

/// Adds the answers of several annotators to the pool: rows on which they agree have a known label, and disputed rows
/// are reviewed.
fn merge_into(
    args: &LabelArgs,
    sessions: Vec<(PathBuf, SessionLog)>,
    pool: &mut Pool,
) -> Result<Option<Annotators>, CliError> {
    let mut notes = Vec::new();
    let annotators = merge::annotators(args, sessions, pool, &mut notes)?;
    pool.notes.append(&mut notes);
    if let Some(annotators) = &annotators {
        pool.known = merge::labels(annotators);
        pool.reviewed.places = merge::disputed(annotators);
        let given = |row: &usize| {
            let mut answers = merge::answers(annotators, *row);
            answers.retain(|(_, answer)| !answer.is_empty());
            (*row, answers)
        };
        let answers = (0..annotators.rows()).map(|row| given(&row));
        let answers = answers.filter(|(row, answers)| {
            !answers.is_empty() && !matches!(annotators.consensus(*row), Consensus::Agreed(_))
        });
        let items = std::mem::take(&mut pool.items);
        pool.items = items.with_answers(answers.collect());
    }
    Ok(annotators)
}

fn read_pool(args: &LabelArgs, session: &SessionInfo<'_>) -> Result<Pool, CliError> {
    let progress = Progress::start("reading");
    let pool = Pool::read(args, session)?;
    drop(progress);
    Ok(pool)
}

/// The message printed if a signal stops the session.
fn stop_message(args: &LabelArgs) -> Option<String> {
    const AGAIN: &str = "run the same command again and end the session with `Stop and save`";
    if args.ending.is_some() {
        return Some(format!("\nstopped; the corrected table was not written: {AGAIN}"));
    }
    let advice = match args.web {
        true => &format!("{AGAIN}, or run it with --export in place of --web"),
        false => "run the same command with --export to write it",
    };
    let output = args.output.as_ref()?.display();
    Some(format!("\nstopped; {output} was not written: {advice}"))
}

/// Opens the session file. For an export without new labels, the file is opened read-only.
fn open(args: &LabelArgs, path: &Path) -> Result<Opening, CliError> {
    let adds_labels = args.known.is_some() || args.import_labelstudio.is_some();
    let missing = || {
        let name = path.display();
        CliError::user(format!("{name}: there is no such session; pass its file with --session"))
    };
    if args.export && !adds_labels {
        if !path.exists() {
            return Err(missing());
        }
        return match SessionFile::open(path, SessionAccess::Read) {
            Ok(Opening::New(_)) => Err(missing()),
            opening => opening.map_err(CliError::from),
        };
    }
    let opened = SessionFile::open(path, SessionAccess::Write);
    if args.export && path.exists() && matches!(opened, Err(SessionError::Io { input: true, .. })) {
        // The export contains the new labels even if they cannot be added to the session.
        if let Ok(Opening::Existing(log)) = SessionFile::open(path, SessionAccess::Read) {
            let name = path.display();
            note(&format!(
                "note: {name}: cannot be written; new labels are exported but not added to the session"
            ));
            return Ok(Opening::Existing(log));
        }
    }
    opened.map_err(CliError::from)
}

/// Starts a session. All labels given on the command line are checked before the file is written.
fn begin_session(
    args: &LabelArgs,
    (classes, annotator): (Vec<String>, Option<String>),
    session: NewSession,
    pool: &Pool,
) -> Result<(SessionLog, Vec<String>), CliError> {
    let known = args.known.clone();
    let header = Header { annotator, known, ..Header::new(pool.id.clone(), classes, args.seed()) };
    let mut notes: Vec<String> = pool.cells.look_alikes(&pool.id).into_iter().collect();
    let labels = new_labels::new_labels(args, pool, &Record::new(&header), &mut notes)?;
    let mut log = session.begin(header).map_err(CliError::from)?;
    labels.map_or(Ok(()), |event| apply(&mut log, &event))?;
    Ok((log, notes))
}

/// Resumes a session: finds the rows of the pool to which its answers belong, and adds the labels given on the command
/// line.
fn resume_session(
    args: &LabelArgs,
    mut log: SessionLog,
    pool: &Pool,
    path: &Path,
) -> Result<(SessionLog, Vec<String>), CliError> {
    let mut notes = Vec::new();
    // All events are checked before anything is written.
    let (after, anchor) = pool.resumed(args).resume(&log, path, &mut notes)?;
    let labels = new_labels::new_labels(args, pool, &after, &mut notes)?;
    drop(after);
    for event in anchor.iter().chain(&labels) {
        apply(&mut log, event)?;
    }
    Ok((log, notes))
}

fn apply(log: &mut SessionLog, event: &Event) -> Result<(), CliError> {
    log.apply(event).map_err(|error| match error {
        ApplyError::Unfit(why) => CliError::user(why),
        ApplyError::File(error) => error.into(),
    })
}

/// Fails before the work starts if the output cannot be written or is an input file.
///
/// If the session `resumes`, an existing output may come from the same session; [`replaceable`] checks this later.
fn check_files(args: &LabelArgs, resumes: bool) -> Result<(), CliError> {
    // A missing session path is reported later, when the session is opened; a simulation has no session.
    let session = session_path(args).ok();
    let read = [&args.items, &args.import_labelstudio, &session].into_iter().flatten();
    let mut inputs: Vec<&Path> = read.chain(&args.merge).map(PathBuf::as_path).collect();
    inputs.push(&args.input.data);
    let outputs: Vec<&Path> = args.output.iter().map(PathBuf::as_path).collect();
    check_targets(&outputs, &inputs, args.force || resumes)
}

/// The existing output of an earlier run of the session; `None` if there is no such file or --force is given.
fn replaceable(
    args: &LabelArgs,
    rows: &[ExportedRow],
    items: &Items,
) -> Result<Option<Replaceable>, CliError> {
    let Some(target) = args.output.as_ref().filter(|path| !args.force && path.is_file()) else {
        return Ok(None);
    };
    let (mut export, format) = (Vec::new(), format_of(args, target));
    let written = export::write(&mut export, format, rows, items);
    written.map_err(|error| CliError::system(format!("{}: {error}", target.display())))?;
    match Replaceable::read(target, format, &export) {
        Some(found) => Ok(Some(found)),
        None => check_target(target, false).map(|()| None),
    }
}

fn format_of(args: &LabelArgs, target: &Path) -> ExportFormat {
    args.export_format.unwrap_or_else(|| ExportFormat::of(target))
}

fn terminal(mut controller: Controller, items: Items) -> Result<(Controller, Items), CliError> {
    let mut input = std::io::stdin().lock();
    terminal::run(&mut controller, &items, &mut input)?;
    Ok((controller, items))
}

/// A text that says where the labels are at the end of the session.
fn labels_are_where(args: &LabelArgs, session: &Path) -> String {
    let session = session.display();
    match &args.output {
        Some(output) => format!(
            "the labels are in {}, and the answers are in {session}; the same command continues the session",
            output.display()
        ),
        None => format!(
            "the answers are in {session}; the same command continues the session, or writes the labels with --export -o labels.csv"
        ),
    }
}

fn all_but_one() -> Threads {
    match Threads::new(Threads::all().count().saturating_sub(1).max(1)) {
        Ok(threads) => threads,
        Err(error) => unreachable!("the number must be at least 1: {error}"),
    }
}

/// The name of the pool shown on the page.
fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn session_path(args: &LabelArgs) -> Result<PathBuf, CliError> {
    let data = &args.input.data;
    match (&args.session, data.file_name()) {
        (Some(path), _) => Ok(path.clone()),
        (None, Some(name)) if !is_pipe(data) => {
            let mut name = name.to_owned();
            let merged = (!args.merge.is_empty()).then_some("merged");
            if let Some(person) = args.annotator.as_deref().or(merged) {
                name.push(".");
                name.push(person);
            }
            name.push(".session.jsonl");
            Ok(PathBuf::from(name))
        }
        _ => Err(CliError::user("pass a file for the answers with --session")),
    }
}

/// Checks that an existing session belongs to the annotator of this name.
fn check_annotator(name: Option<&str>, header: &Header, path: &Path) -> Result<(), CliError> {
    let Some(name) = name else { return Ok(()) };
    match &header.annotator {
        Some(other) if other == name => Ok(()),
        Some(other) => Err(CliError::user(format!(
            "{}: line 1: this is the session of {other}; pass another file with --session",
            path.display()
        ))),
        None => Err(CliError::user(format!(
            "{}: line 1: this session has no annotator, so it is not that of {name}; pass another file with --session",
            path.display()
        ))),
    }
}

/// Checks that an existing session is about this column of labels.
fn check_known(name: Option<&str>, header: &Header, path: &Path) -> Result<(), CliError> {
    match (name, &header.known) {
        (Some(name), Some(other)) if other != name => Err(CliError::user(format!(
            "{}: line 1: this session is about the labels in column `{other}`, so its answers are not those for `{name}`; \
             pass another file with --session",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Checks that an existing session has this seed.
fn check_seed(seed: Option<u64>, header: &Header, path: &Path) -> Result<(), CliError> {
    match seed {
        Some(seed) if seed != header.seed => Err(CliError::user(format!(
            "{}: line 1: this session has the seed {}; omit --seed, or pass another file with --session",
            path.display(),
            header.seed
        ))),
        _ => Ok(()),
    }
}

/// The labelling model with all labels and skipped rows of the session. A review of rows with suggested labels shows these
/// suggestions and learns nothing, unless other questions or predictions are requested.
fn resume_model(
    args: &LabelArgs,
    log: &SessionLog,
    pool: &Pool,
    threads: Threads,
) -> Result<LabellingSession, CliError> {
    let is_plain = args.model.is_none()
        && args.seek.is_none()
        && args.order != Order::Rare
        && !args.with_predictions;
    let suggested =
        pool.reviewed.classes(log.record()).filter(|_| is_plain && args.review.is_some());
    if let Some(classes) = suggested {
        let record = log.record();
        let is_left = |row: &usize| classes[*row].is_none() && record.label(*row).is_none();
        let left = (0..record.rows()).filter(is_left).count();
        if left > 0 {
            note(&format!(
                "note: {} without a label, which {} not reviewed, {} not asked about; to label {}, omit --review",
                counted(left as u64, "row"),
                if left == 1 { "is" } else { "are" },
                if left == 1 { "is" } else { "are" },
                if left == 1 { "it" } else { "them" }
            ));
        }
        return log.suggested(&classes);
    }
    match &pool.points {
        Design::Dense(points) => log.model(points, threads),
        Design::Sparse(points) => log.model(points, threads),
    }
}

/// Prints a note if the pool may get more answers than the model can learn from.
fn note_capacity(session: &LabellingSession) {
    if let Some(count) = session.capacity() {
        note(&format!(
            "note: for a pool of this size, the model learns only from the first {count} answers; later answers are saved, but \
             do not change its predictions"
        ));
    }
}

fn simulate(args: &LabelArgs, model: Option<&Pipeline>, pool: Pool) -> Result<(), CliError> {
    let Some(truth) = pool.truth else { unreachable!("--simulate requires --label") };
    let labelling =
        Labelling::params(truth.classes.len()).seed(args.seed()).threads(Threads::all());
    let labelling = labelling.check()?;
    let mut session = match &pool.points {
        Design::Dense(points) => labelling.session(points)?,
        Design::Sparse(points) => labelling.session(points)?,
    };
    let predictions = advice::predictions(args, model, &truth.classes)?;
    advice::advise(&mut session, predictions.as_deref())?;
    drop(pool.points);
    note_capacity(&session);
    let (order, seek) = (args.order, sought(args, &truth.classes)?);
    let settings = Settings { order, seek, seed: args.seed(), max_answers: args.max_answers };
    let simulation = simulate::run(session, &truth.of_row, truth.classes, settings)?;
    simulation.print(args.json)
}
