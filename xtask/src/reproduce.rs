//! `reproduce` and `report`: trials in, ledger, tables, figures and page out.

use crate::cli::{ReportOptions, ReproduceOptions};
use crate::progress::Progress;
use crate::workload::Inputs;
use crate::{Failure, suite};
use halfspaces_eval::{
    AnyExperiment, ExperimentTime, Host, Report, RunInfo, SCHEMA, Shard, TrialStore,
    write_atomically, write_outputs,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

const TITLE: &str = "Learning halfspaces: every claim, measured";
/// The program: its version and a hash of its sources, so that trials of two programs never mix.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("HALFSPACES_SOURCES"));
const RUN: &str = "run.json";
const TRIALS: &str = "trials.jsonl";
/// Everything a run writes, which is what `--fresh` may delete.
const FILES: [&str; 4] = [RUN, TRIALS, "claims.json", "index.html"];
const FOLDERS: [&str; 2] = ["tables", "figures"];

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
    fs::create_dir_all(&folder).map_err(|e| at(&folder, "cannot create the output folder", &e))?;
    if options.fresh {
        forget(&folder)?;
    }

    let run_path = folder.join(RUN);
    let trials_path = folder.join(TRIALS);
    let mut run = RunInfo {
        schema: SCHEMA,
        version: VERSION.into(),
        scale: options.scale,
        seed: options.seed,
        data_sets: inputs.names(),
        options: std::env::args().skip(2).collect(),
        host: host(),
        experiments: Vec::new(),
    };
    if run_path.exists() {
        let earlier = RunInfo::read(&run_path)?;
        run.check_continues(&earlier, &run_path)?;
        run.experiments = earlier.experiments;
    } else if trials_path.exists() {
        let place = trials_path.display();
        return Err(format!(
            "{place}: trials without a run.json to say whose they are; start over with --fresh or choose another folder with --out"
        )
        .into());
    }
    if options.repair && trials_path.exists() {
        let dropped = TrialStore::repair(&trials_path)?;
        eprintln!("{}: dropped {dropped} bytes of an unfinished line", trials_path.display());
    }
    let store = TrialStore::open(&trials_path)?;
    write_atomically(&run_path, &run.to_json())?;

    let store = Mutex::new(store);
    let jobs = options.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    for experiment in &experiments {
        let keys = experiment.keys(options.scale, options.seed)?;
        let mine = || keys.iter().enumerate().filter(|(at, _)| shard.owns(*at)).map(|(_, key)| key);
        let known = {
            let store = store.lock().unwrap_or_else(PoisonError::into_inner);
            mine().filter(|key| store.get(key).is_some()).count()
        };
        let progress = Progress::start(experiment.id(), experiment.title(), known, mine().count());
        let ran = pool.install(|| {
            experiment.run(options.scale, options.seed, shard, &store, &|| progress.tick())
        });
        let seconds = progress.finish();
        ran?;
        let trials = mine().count();
        add_time(&mut run.experiments, experiment.id(), seconds, trials);
        write_atomically(&run_path, &run.to_json())?;
    }
    let store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ids = experiments.iter().map(|e| e.id()).collect();
    publish(&folder, &run, &inputs, &store, &ids)
}

/// Rebuilds everything but the trials from one output folder or several shards.
pub(crate) fn report(options: &ReportOptions) -> Result<ExitCode, Failure> {
    let Some(first) = options.folders.first() else { return Err("name an output folder".into()) };
    let mut run = RunInfo::read(&first.join(RUN))?;
    let program = RunInfo { version: VERSION.into(), schema: SCHEMA, ..run.clone() };
    for folder in &options.folders {
        let path = folder.join(RUN);
        let part = RunInfo::read(&path)?;
        program.check_continues(&part, &path)?;
        if folder != first {
            for time in part.experiments {
                add_time(&mut run.experiments, &time.id, time.seconds, time.trials);
            }
        }
    }
    let trials: Vec<PathBuf> = options.folders.iter().map(|f| f.join(TRIALS)).collect();
    let store = TrialStore::read(&trials)?;

    let folder = match (&options.out, options.folders.len()) {
        (Some(out), _) => out.clone(),
        (None, 1) => first.clone(),
        (None, _) => default_folder(&format!("{}-merged", run.scale)),
    };
    fs::create_dir_all(&folder).map_err(|e| at(&folder, "cannot create the output folder", &e))?;
    if !options.folders.contains(&folder) {
        write_atomically(&folder.join(TRIALS), &store.to_canonical_lines())?;
        write_atomically(&folder.join(RUN), &run.to_json())?;
    }
    let inputs = Arc::new(Inputs::of_names(&run.data_sets));
    publish(&folder, &run, &inputs, &store, &BTreeSet::new())
}

/// Evaluates the experiments in `ids` and those the store knows, writes the results and prints the
/// ledger.
fn publish(
    folder: &Path,
    run: &RunInfo,
    inputs: &Arc<Inputs>,
    store: &TrialStore,
    ids: &BTreeSet<&str>,
) -> Result<ExitCode, Failure> {
    let known = |experiment: &dyn AnyExperiment| -> Result<bool, Failure> {
        let keys = experiment.keys(run.scale, run.seed)?;
        Ok(ids.contains(experiment.id()) || keys.iter().any(|key| store.get(key).is_some()))
    };
    let mut sections = Vec::new();
    for experiment in suite::all(inputs) {
        if known(experiment.as_ref())? {
            sections.push(experiment.section(run.scale, run.seed, store)?);
        }
    }
    let report = Report::new(TITLE, run, &rerun(run), sections)?;
    write_outputs(folder, &report)?;
    print!("{}", report.ledger_text());
    println!("{}", folder.join("index.html").display());
    Ok(if report.any_violated() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn rerun(run: &RunInfo) -> String {
    let data = if run.data_sets.is_empty() { "" } else { " --data DIR" };
    format!("cargo xtask reproduce --scale {} --seed {}{data}", run.scale, run.seed)
}

fn add_time(times: &mut Vec<ExperimentTime>, id: &str, seconds: f64, trials: usize) {
    match times.iter_mut().find(|time| time.id == id) {
        Some(time) => {
            time.seconds += seconds;
            time.trials = time.trials.max(trials);
        }
        None => times.push(ExperimentTime { id: id.into(), seconds, trials }),
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

/// Deletes what an earlier run wrote, and nothing else.
fn forget(folder: &Path) -> Result<(), Failure> {
    let gone = |path: PathBuf, removed: std::io::Result<()>| match removed {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(at(&path, "cannot delete earlier results", &e))
        }
        _ => Ok(()),
    };
    for name in FILES {
        gone(folder.join(name), fs::remove_file(folder.join(name)))?;
    }
    for name in FOLDERS {
        gone(folder.join(name), fs::remove_dir_all(folder.join(name)))?;
    }
    Ok(())
}

fn at(path: &Path, what: &str, error: &std::io::Error) -> Failure {
    format!("{}: {what}: {error}; choose another with --out", path.display()).into()
}

fn host() -> Host {
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
