//! `reproduce` and `report`: trials in, ledger, tables, figures and page out.

use crate::cli::{ReportOptions, ReproduceOptions};
use crate::progress::{Part, Progress};
use crate::workload::Inputs;
use crate::{Failure, suite, theory};
use halfspaces_eval::{
    AnyExperiment, ExperimentTime, FolderLock, Host, Report, RunInfo, SCHEMA, Shard, TrialStore,
    output_names, remove_output, write_atomically, write_outputs,
};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

const TITLE: &str = "Learning halfspaces: every claim, measured";
/// The program: its version and a hash of its sources, so that trials of two programs never mix.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("HALFSPACES_SOURCES"));
const RUN: &str = "run.json";
const TRIALS: &str = "trials.jsonl";
/// What a run writes besides tables and figures, run.json last: without it the rest has no owner.
const FILES: [&str; 4] = [TRIALS, "claims.json", "index.html", RUN];

/// Runs experiments, then writes and prints what they found.
pub(crate) fn reproduce(options: &ReproduceOptions) -> Result<ExitCode, Failure> {
    let inputs = Arc::new(Inputs::with_folder(options.data.as_deref())?);
    let experiments = suite::chosen(&inputs, &options.only)?;
    let shard = options.shard.unwrap_or(Shard::WHOLE);
    let folder = options.out.clone().unwrap_or_else(|| {
        let of_shard = |s: Shard| format!("-shard-{}", s.to_string().replace('/', "-of-"));
        let suffix = options.shard.map(of_shard).unwrap_or_default();
        default_folder(&format!("{}{suffix}", options.scale))
    });
    let _lock = take(&folder)?;
    let (run_path, trials_path) = (folder.join(RUN), folder.join(TRIALS));
    if options.fresh {
        forget(&folder)?;
    }
    let mut run = RunInfo {
        schema: SCHEMA,
        version: VERSION.into(),
        scale: options.scale,
        seed: options.seed,
        data_sets: inputs.names(),
        options: std::env::args_os().skip(2).map(|a| a.to_string_lossy().into_owned()).collect(),
        host: host(),
        experiments: Vec::new(),
        outputs: Vec::new(),
    };
    if run_path.exists() {
        let earlier = RunInfo::read(&run_path)?;
        run.check_continues(&earlier, &run_path)?;
        run.experiments = earlier.experiments;
        run.outputs = earlier.outputs;
    }
    if options.repair && trials_path.exists() {
        let dropped = TrialStore::repair(&trials_path)?;
        note(&format!("{}: dropped {dropped} bytes of an unfinished line", trials_path.display()));
    }
    let store = Mutex::new(TrialStore::open(&trials_path)?);
    write_atomically(&run_path, &run.to_json())?;

    let jobs = options.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    let progress = Progress::start(parts(&experiments, options, shard, &store)?);
    for experiment in &experiments {
        // Recorded on the way, too: a run that is killed has cost what it has.
        let record = |seconds: f64| {
            let mut so_far = run.clone();
            add_time(&mut so_far.experiments, experiment.id(), seconds);
            write_atomically(&run_path, &so_far.to_json())
        };
        let ran = pool.install(|| {
            experiment.run(options.scale, options.seed, shard, &store, &|| {
                if let Some(Err(error)) = progress.tick().map(record) {
                    tracing::warn!("{error}");
                }
            })
        });
        add_time(&mut run.experiments, experiment.id(), progress.next());
        write_atomically(&run_path, &run.to_json())?;
        ran?;
    }
    let store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ids = experiments.iter().map(|e| e.id()).collect();
    publish(&folder, run, &inputs, &store, &ids)
}

/// What each experiment has to run.
fn parts(
    experiments: &[Box<dyn AnyExperiment>],
    options: &ReproduceOptions,
    shard: Shard,
    store: &Mutex<TrialStore>,
) -> Result<Vec<Part>, Failure> {
    let store = store.lock().unwrap_or_else(PoisonError::into_inner);
    let part = |experiment: &dyn AnyExperiment| {
        let keys = experiment.keys(options.scale, options.seed)?;
        let mine: Vec<_> = keys.iter().enumerate().filter(|(at, _)| shard.owns(*at)).collect();
        let known = mine.iter().filter(|(_, key)| store.get(key).is_some()).count();
        let missing = (mine.len() - known) as f64 / keys.len().max(1) as f64;
        Ok(Part {
            id: experiment.id(),
            title: experiment.title(),
            known,
            total: mine.len(),
            cost: missing * suite::cost(experiment.id(), options.scale),
        })
    };
    experiments.iter().map(|experiment| part(experiment.as_ref())).collect()
}

/// Rebuilds everything but the trials from one output folder or several shards. An output folder
/// that already holds trials of the same run keeps them.
pub(crate) fn report(options: &ReportOptions) -> Result<ExitCode, Failure> {
    let mut inputs: Vec<PathBuf> = Vec::new();
    for folder in &options.folders {
        // Two names of one folder are one folder.
        let real = folder.canonicalize().map_err(|e| format!("{}: {e}", folder.display()))?;
        if !inputs.contains(&real) {
            inputs.push(real);
        }
    }
    let first = inputs.first().ok_or("name an output folder")?;
    let mut run = RunInfo::read(&first.join(RUN))?;
    let out = match (&options.out, inputs.len()) {
        (Some(out), _) => out.clone(),
        (None, 1) => options.folders.first().unwrap_or(first).clone(),
        (None, _) => default_folder(&format!("{}-merged", run.scale)),
    };
    let _lock = take(&out)?;
    let in_place = out.canonicalize().is_ok_and(|real| inputs == [real]);
    if !in_place && out.join(RUN).exists() {
        let real = out.canonicalize().map_err(|e| format!("{}: {e}", out.display()))?;
        run.outputs = RunInfo::read(&real.join(RUN))?.outputs;
        if !inputs.contains(&real) {
            inputs.push(real);
        }
    }
    let program = RunInfo { version: VERSION.into(), schema: SCHEMA, ..run.clone() };
    run.experiments.clear();
    for folder in &inputs {
        let path = folder.join(RUN);
        let part = RunInfo::read(&path)?;
        program.check_continues(&part, &path)?;
        for time in part.experiments {
            add_time(&mut run.experiments, &time.id, time.seconds);
        }
    }
    let trials: Vec<PathBuf> = inputs.iter().map(|f| f.join(TRIALS)).collect();
    let store = TrialStore::read(&trials)?;
    if !in_place {
        write_atomically(&out.join(RUN), &run.to_json())?;
        write_atomically(&out.join(TRIALS), &store.to_canonical_lines())?;
    }
    let inputs = Arc::new(Inputs::of_names(&run.data_sets));
    publish(&out, run, &inputs, &store, &BTreeSet::new())
}

/// Evaluates the experiments in `ids` and those the store knows, writes the results and prints the
/// ledger.
fn publish(
    folder: &Path,
    mut run: RunInfo,
    inputs: &Arc<Inputs>,
    store: &TrialStore,
    ids: &BTreeSet<&str>,
) -> Result<ExitCode, Failure> {
    let mut sections = Vec::new();
    for experiment in suite::all(inputs) {
        let keys = experiment.keys(run.scale, run.seed)?;
        let known = keys.iter().filter(|key| store.get(key).is_some()).count();
        if let Some(time) = run.experiments.iter_mut().find(|time| time.id == experiment.id()) {
            time.trials = known;
        }
        if known > 0 || ids.contains(experiment.id()) {
            sections.push(experiment.section(run.scale, run.seed, store)?);
        }
    }
    let claims = sections.iter().flat_map(|s| s.claims.iter().map(|c| c.id.clone())).collect();
    let report = Report::new(TITLE, &run, &rerun(&run), sections, &theory::appendices(&claims))?;

    // Recorded before they are written: whatever happens, no file of ours is forgotten.
    let before = run.outputs.clone();
    let now = output_names(&report);
    run.outputs.extend(now.iter().filter(|name| !before.contains(name)).cloned());
    write_atomically(&folder.join(RUN), &run.to_json())?;
    write_outputs(folder, &report)?;
    for name in before.iter().filter(|name| !now.contains(name)) {
        remove_output(folder, name)?;
    }
    run.outputs = now;
    write_atomically(&folder.join(RUN), &run.to_json())?;

    say(&format!("{}{}\n", report.ledger_text(), folder.join("index.html").display()))?;
    Ok(if report.any_violated() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Creates an output folder if there is none, takes it for this process, and makes sure that it is
/// new or the output of a run.
fn take(folder: &Path) -> Result<FolderLock, Failure> {
    let failed = |e| at(folder, "cannot use the output folder", &e);
    fs::create_dir_all(folder).map_err(failed)?;
    let lock = FolderLock::take(folder)?;
    if folder.join(RUN).exists() {
        return Ok(lock);
    }
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // What a run killed in its first moments leaves.
        let blank_trials = name == TRIALS && fs::metadata(&path).is_ok_and(|m| m.len() == 0);
        if name != FolderLock::NAME && name != format!(".{RUN}.tmp") && !blank_trials {
            return Err(format!(
                "{}: stands there without a run.json, so the folder is not the output of a run; choose another with --out",
                path.display()
            )
            .into());
        }
    }
    Ok(lock)
}

/// Writes results to stdout. A reader that has gone away is no error.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("stdout: {e}").into()),
        _ => Ok(()),
    }
}

/// Writes progress to stderr, if anyone listens.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn rerun(run: &RunInfo) -> String {
    let data = if run.data_sets.is_empty() { "" } else { " --data DIR" };
    format!("cargo xtask reproduce --scale {} --seed {}{data}", run.scale, run.seed)
}

fn add_time(times: &mut Vec<ExperimentTime>, id: &str, seconds: f64) {
    match times.iter_mut().find(|time| time.id == id) {
        Some(time) => time.seconds += seconds,
        None => times.push(ExperimentTime { id: id.into(), seconds, trials: 0 }),
    }
}

/// `target/reproduce/<name>` of the workspace, as short as the current folder allows.
fn default_folder(name: &str) -> PathBuf {
    let root = workspace_root();
    let folder = root.join("target").join("reproduce").join(name);
    let here = std::env::current_dir().unwrap_or_default();
    folder.strip_prefix(&here).map(Path::to_path_buf).unwrap_or(folder)
}

/// The workspace this program was built from.
pub(crate) fn workspace_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// Deletes what an earlier run wrote and recorded, and nothing else.
fn forget(folder: &Path) -> Result<(), Failure> {
    // A run.json that cannot be read has recorded nothing that can be told from the user's files.
    let outputs = RunInfo::read(&folder.join(RUN)).map(|run| run.outputs).unwrap_or_default();
    for name in &outputs {
        remove_output(folder, name)?;
    }
    for name in FILES {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(at(&path, "cannot delete earlier results", &e));
            }
            _ => {}
        }
    }
    Ok(())
}

fn at(path: &Path, what: &str, error: &std::io::Error) -> Failure {
    format!("{}: {what}: {error}; choose another with --out", path.display()).into()
}

pub(crate) fn host() -> Host {
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    Host {
        os: std::env::consts::OS.into(),
        arch: std::env::consts::ARCH.into(),
        processor: processor.unwrap_or_else(|| "unknown".into()),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
    }
}
