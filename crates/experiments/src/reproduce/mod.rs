//! The commands `reproduce` and `report`: from trials to ledger, tables, figures and page.

mod folder;
mod publish;

use crate::cli::{ReportOptions, ReproduceOptions};
use crate::console::note;
use crate::failure::Failure;
use crate::interrupt::on_signal;
use crate::progress::{Part, Progress};
use crate::suite;
use crate::workload::Inputs;
use folder::{RUN, TRIALS, default_folder, forget, take};
use halfspaces_eval::{
    AnyExperiment, Description, ExperimentTime, Host, RunInfo, SCHEMA, Shard, TrialStore,
    write_atomically,
};
use publish::{locked, publish};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

/// The version and a hash of the sources of this program, so that trials of two programs never mix.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("HALFSPACES_SOURCES"));

/// Runs experiments, then writes and prints the results.
pub(crate) fn reproduce(options: &ReproduceOptions) -> Result<ExitCode, Failure> {
    let inputs = Arc::new(Inputs::with_folder(options.data.as_deref())?);
    let experiments = suite::chosen(&inputs, &options.only)?;
    let shard = options.shard.unwrap_or(Shard::WHOLE);
    let folder = options.out.clone().unwrap_or_else(|| {
        let of_shard = |s: Shard| format!("-shard-{}", s.to_string().replace('/', "-of-"));
        let suffix = options.shard.map(of_shard).unwrap_or_default();
        default_folder(&format!("{}{suffix}", options.scale))
    });
    let (run_path, trials_path) = (folder.join(RUN), folder.join(TRIALS));
    let mut run = RunInfo {
        schema: SCHEMA,
        version: VERSION.into(),
        scale: options.scale,
        seed: options.seed,
        data_sets: inputs.names(),
        options: std::env::args_os().skip(2).map(|a| a.to_string_lossy().into_owned()).collect(),
        host: Host::detect(),
        experiments: Vec::new(),
        outputs: Vec::new(),
    };
    let earlier = || match run_path.exists() && !options.fresh {
        true => {
            let earlier = RunInfo::read(&run_path)?;
            run.check_continues(&earlier, &run_path)?;
            Ok(Some(earlier))
        }
        false => Ok(None),
    };
    let (_lock, earlier) = take(&folder, earlier)?;
    if options.fresh {
        forget(&folder)?;
    }
    if let Some(earlier) = earlier {
        run.experiments = earlier.experiments;
        run.outputs = earlier.outputs;
    }
    if options.repair && trials_path.exists() {
        let dropped = TrialStore::repair(&trials_path)?;
        note(&format!("{}: dropped {dropped} bytes of an incomplete line", trials_path.display()));
    }
    let store = Arc::new(Mutex::new(TrialStore::open(&trials_path)?));
    write_atomically(&run_path, &run.to_json())?;

    let (written, shown) = (Arc::clone(&store), folder.display().to_string());
    on_signal(move || {
        let store = locked(&written);
        let kept = store.len();
        // The lock is held until the program has ended, so no write is interrupted, and none follows the count.
        std::mem::forget(store);
        format!(
            "interrupted: {kept} trials are kept in {shown}; to resume, run the same command again (without --fresh)"
        )
    })?;

    let jobs = options.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    let progress = Progress::start(parts(&experiments, options, shard, &store)?);
    for experiment in &experiments {
        let id = experiment.describe().id;
        // The time is recorded during the experiment, so that a killed run keeps it.
        let record = |seconds: f64| {
            let mut so_far = run.clone();
            add_time(&mut so_far.experiments, id, seconds);
            write_atomically(&run_path, &so_far.to_json())
        };
        let ran = pool.install(|| {
            experiment.run(options.scale, options.seed, shard, &store, &|| {
                if let Some(Err(error)) = progress.tick().map(record) {
                    tracing::warn!("{error}");
                }
            })
        });
        add_time(&mut run.experiments, id, progress.next());
        write_atomically(&run_path, &run.to_json())?;
        ran?;
    }
    let ids = experiments.iter().map(|e| e.describe().id).collect();
    publish(&folder, run, &inputs, &store, &ids)
}

/// The trials and the expected cost of each experiment.
fn parts(
    experiments: &[Box<dyn AnyExperiment>],
    options: &ReproduceOptions,
    shard: Shard,
    store: &Mutex<TrialStore>,
) -> Result<Vec<Part>, Failure> {
    let store = locked(store);
    let part = |experiment: &dyn AnyExperiment| {
        let keys = experiment.keys(options.scale, options.seed)?;
        let mine: Vec<_> = keys.iter().enumerate().filter(|(at, _)| shard.owns(*at)).collect();
        let known = mine.iter().filter(|(_, key)| store.get(key).is_some()).count();
        let missing = (mine.len() - known) as f64 / keys.len().max(1) as f64;
        let Description { id, title, .. } = experiment.describe();
        Ok(Part {
            id,
            title,
            known,
            total: mine.len(),
            cost: missing * suite::cost(id, options.scale),
        })
    };
    experiments.iter().map(|experiment| part(experiment.as_ref())).collect()
}

/// The folders of a report, and the run that they belong to.
struct Parts {
    run: RunInfo,
    /// Canonical paths without duplicates. The output folder is among them if it contains trials.
    folders: Vec<PathBuf>,
}

impl Parts {
    /// Reads the `run.json` of all `folders`, and that of `out` if it exists.
    fn read(folders: &[PathBuf], out: &Path) -> Result<Parts, Failure> {
        let mut real_folders: Vec<PathBuf> = Vec::new();
        let old = out.join(RUN).exists().then(|| out.to_path_buf());
        for folder in folders.iter().chain(&old) {
            // A folder given by two names counts once.
            let real = folder.canonicalize().map_err(|e| format!("{}: {e}", folder.display()))?;
            if !real_folders.contains(&real) {
                real_folders.push(real);
            }
        }
        let mut run: Option<RunInfo> = None;
        for folder in &real_folders {
            let path = folder.join(RUN);
            let part = RunInfo::read(&path)?;
            let run = run.get_or_insert_with(|| RunInfo {
                version: VERSION.into(),
                schema: SCHEMA,
                experiments: Vec::new(),
                ..part.clone()
            });
            run.check_continues(&part, &path)?;
            for time in part.experiments {
                add_time(&mut run.experiments, &time.id, time.seconds);
            }
            if old.as_ref().is_some_and(|out| out.canonicalize().is_ok_and(|out| out == *folder)) {
                run.outputs = part.outputs;
            }
        }
        let Some(run) = run else { unreachable!("the command line requires at least one folder") };
        Ok(Parts { run, folders: real_folders })
    }
}

/// Rebuilds everything except the trials from one output folder or several shards. An output folder that already
/// contains trials of the same run keeps them.
pub(crate) fn report(options: &ReportOptions) -> Result<ExitCode, Failure> {
    let out = match (&options.out, options.folders.as_slice()) {
        (Some(out), _) => out.clone(),
        (None, [folder]) => folder.clone(),
        (None, folders) => {
            let Some(first) = folders.first() else {
                unreachable!("the command line requires at least one folder")
            };
            default_folder(&format!("{}-merged", RunInfo::read(&first.join(RUN))?.scale))
        }
    };
    let (_lock, parts) = take(&out, || Parts::read(&options.folders, &out))?;
    let in_place = out.canonicalize().is_ok_and(|real| parts.folders == [real]);
    let trials: Vec<PathBuf> = parts.folders.iter().map(|f| f.join(TRIALS)).collect();
    let store = TrialStore::read(&trials)?;
    let run = parts.run;
    if !in_place {
        write_atomically(&out.join(RUN), &run.to_json())?;
        write_atomically(&out.join(TRIALS), &store.to_canonical_lines())?;
    }
    let inputs = Arc::new(Inputs::of_names(&run.data_sets)?);
    publish(&out, run, &inputs, &Mutex::new(store), &BTreeSet::new())
}

fn add_time(times: &mut Vec<ExperimentTime>, id: &str, seconds: f64) {
    match times.iter_mut().find(|time| time.id == id) {
        Some(time) => time.seconds += seconds,
        None => times.push(ExperimentTime { id: id.into(), seconds, trials: 0 }),
    }
}
