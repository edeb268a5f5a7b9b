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
    AnyExperiment, Costs, Description, Division, ExperimentTime, Host, RunInfo, SCHEMA, Shard,
    Share, TrialKey, TrialStore, write_atomically,
};
use publish::{locked, publish};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

/// The version of this program and a hash of its sources, so that trials of two versions are never mixed.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("HALFSPACES_SOURCES"));

/// Runs experiments, then writes and prints the results.
pub(crate) fn reproduce(options: &ReproduceOptions) -> Result<ExitCode, Failure> {
    let inputs = Arc::new(Inputs::with_folder(options.data.as_deref())?);
    let experiments = suite::chosen(&inputs, &options.only)?;
    let folder = options.out.clone().unwrap_or_else(|| {
        let of_shard = |s: Shard| format!("-shard-{}", s.to_string().replace('/', "-of-"));
        let suffix = options.shard.map(of_shard).unwrap_or_default();
        default_folder(&format!("{}{suffix}", options.scale))
    });
    let (run_path, trials_path) = (folder.join(RUN), folder.join(TRIALS));
    let plan = Plan::new(&experiments, options)?;
    let mut run = RunInfo {
        schema: SCHEMA,
        version: VERSION.into(),
        scale: options.scale,
        seed: options.seed,
        data_sets: inputs.names(),
        options: options_given(),
        host: Host::detect(),
        shares: options.shard.map(|shard| plan.division.share(shard)).into_iter().collect(),
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
    // A report of a killed run then also lists the experiments that the run had not started.
    for experiment in &experiments {
        add_time(&mut run.experiments, &ExperimentTime::new(experiment.describe().id));
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
        // The lock is held until the program exits. Therefore no write is interrupted, and no trial is written after
        // the count.
        std::mem::forget(store);
        format!(
            "interrupted: {kept} trials are kept in {shown}; to resume, run the same command again (without --fresh)"
        )
    })?;

    let jobs = options.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    if let Some(shard) = options.shard {
        note(&plan.predicted(shard));
    }
    let progress = Progress::start(plan.parts(&store, pool.current_num_threads()));
    for (at, experiment) in experiments.iter().enumerate() {
        let id = experiment.describe().id;
        let times = Mutex::new(ExperimentTime::new(id));
        // The time is recorded during the experiment, so that a killed run keeps it.
        let record = |seconds: f64| {
            let mut so_far = run.clone();
            add_time(&mut so_far.experiments, &timed(&times, seconds));
            write_atomically(&run_path, &so_far.to_json())
        };
        let ran = pool.install(|| {
            let owned = |ordinal: usize| plan.owns(at, ordinal);
            experiment.run(options.scale, options.seed, &owned, &store, &|key| {
                let (of_trial, so_far) = progress.tick();
                times_of(&times).add_trials(&key.configuration_text(), of_trial, 1);
                if let Some(Err(error)) = so_far.map(record) {
                    tracing::warn!("{error}");
                }
            })
        });
        add_time(&mut run.experiments, &timed(&times, progress.next()));
        write_atomically(&run_path, &run.to_json())?;
        ran?;
    }
    for share in &mut run.shares {
        share.finished = true;
    }
    publish(&folder, run, &inputs, &store)
}

fn options_given() -> Vec<String> {
    std::env::args_os().skip(2).map(|a| a.to_string_lossy().into_owned()).collect()
}

/// Number of cores of the machine on which the costs of the suite were measured.
const CORES: f64 = 2.0;

/// The trials of the chosen experiments, and the part of them that this process runs.
struct Plan {
    experiments: Vec<Description>,
    /// Keys of trials and their predicted seconds on one core, in the order of the experiments.
    trials: Vec<(TrialKey, f64)>,
    /// The ordinal of each experiment's first trial, followed by the total number of trials.
    bounds: Vec<usize>,
    division: Division,
    shard: Shard,
}

impl Plan {
    fn new(
        experiments: &[Box<dyn AnyExperiment>],
        options: &ReproduceOptions,
    ) -> Result<Plan, Failure> {
        let costs = match &options.times {
            Some(path) => Costs::of_run(&RunInfo::read(path)?),
            None => Costs::default(),
        };
        let (mut trials, mut bounds) = (Vec::new(), vec![0]);
        for experiment in experiments {
            let keys = experiment.keys(options.scale, options.seed)?;
            let all = CORES * suite::cost(experiment.describe().id, options.scale);
            let even = all / keys.len().max(1) as f64;
            trials.extend(keys.into_iter().map(|key| {
                let cost = costs.of(&key, even);
                (key, cost)
            }));
            bounds.push(trials.len());
        }
        let shard = options.shard.unwrap_or(Shard::WHOLE);
        let division = Division::balanced(&trials, shard.of());
        let experiments = experiments.iter().map(|e| e.describe()).collect();
        Ok(Plan { experiments, trials, bounds, division, shard })
    }

    /// Whether this process runs the trial with the given ordinal of the given experiment.
    fn owns(&self, experiment: usize, ordinal: usize) -> bool {
        self.division.owns(self.shard, self.bounds[experiment] + ordinal)
    }

    /// A line with the predicted times of a shard, of the longest shard and of all shards.
    fn predicted(&self, shard: Shard) -> String {
        let costs = self.division.costs();
        let (all, longest) = (costs.iter().sum::<f64>(), costs.iter().copied().fold(0.0, f64::max));
        let own = costs[shard.part() - 1];
        format!(
            "shard {shard}: predicted to take {own:.1} s on one core; the longest shard takes {longest:.1} s, all shards together {all:.1} s"
        )
    }

    /// The trials of each experiment that this process runs, and the expected time of the missing ones on `threads`
    /// threads.
    fn parts(&self, store: &Mutex<TrialStore>, threads: usize) -> Vec<Part> {
        let store = locked(store);
        let part = |(about, bounds): (&Description, &[usize])| {
            let mine = (bounds[0]..bounds[1]).filter(|at| self.division.owns(self.shard, *at));
            let mine: Vec<_> = mine.map(|at| &self.trials[at]).collect();
            let missing: Vec<_> = mine.iter().filter(|(key, _)| store.get(key).is_none()).collect();
            let (known, total) = (mine.len() - missing.len(), mine.len());
            let cost = missing.iter().map(|(_, cost)| cost).sum::<f64>() / threads as f64;
            Part { id: about.id, title: about.title, known, total, cost }
        };
        self.experiments.iter().zip(self.bounds.windows(2)).map(part).collect()
    }
}

fn times_of(times: &Mutex<ExperimentTime>) -> std::sync::MutexGuard<'_, ExperimentTime> {
    times.lock().unwrap_or_else(|_| unreachable!("no thread panics while it records a time"))
}

/// The measured times of an experiment, if it has been running for `seconds`.
fn timed(times: &Mutex<ExperimentTime>, seconds: f64) -> ExperimentTime {
    ExperimentTime { seconds, ..times_of(times).clone() }
}

/// The folders of a report, and the run that they belong to.
struct Parts {
    run: RunInfo,
    /// Canonical paths without duplicates. The output folder is among them if it contains a `run.json`.
    folders: Vec<PathBuf>,
}

impl Parts {
    /// Reads the `run.json` of all `folders`, and that of `out` if it exists.
    fn read(folders: &[PathBuf], out: &Path) -> Result<Parts, Failure> {
        let mut real_folders: Vec<PathBuf> = Vec::new();
        let old = out.join(RUN).exists().then(|| out.to_path_buf());
        for folder in folders.iter().chain(&old) {
            // A folder that is given by two paths counts once.
            let real = folder.canonicalize().map_err(|e| format!("{}: {e}", folder.display()))?;
            if !real_folders.contains(&real) {
                real_folders.push(real);
            }
        }
        let mut run: Option<RunInfo> = None;
        // The output folder comes last, so that it contributes only records that the other folders lack.
        let is_out = |folder: &PathBuf| out.canonicalize().is_ok_and(|out| out == *folder);
        real_folders.sort_by_key(is_out);
        let (mut given, mut earlier) = (Vec::new(), Vec::new());
        for folder in &real_folders {
            let path = folder.join(RUN);
            let part = RunInfo::read(&path)?;
            let run = run.get_or_insert_with(|| RunInfo {
                version: VERSION.into(),
                schema: SCHEMA,
                experiments: Vec::new(),
                shares: Vec::new(),
                outputs: Vec::new(),
                ..part.clone()
            });
            run.check_continues(&part, &path)?;
            // If a report into the same folder is repeated, the times of its shards are not counted twice.
            let again = is_out(folder) && part.shares.iter().all(|s| held(&given, s));
            for time in &part.experiments {
                let known = run.experiments.iter().any(|known| known.id == time.id);
                if !(again && known) {
                    add_time(&mut run.experiments, time);
                }
            }
            if is_out(folder) {
                run.outputs = part.outputs;
            }
            let shares = if is_out(folder) { &mut earlier } else { &mut given };
            shares.push((folder.clone(), part.shares));
        }
        let Some(mut run) = run else {
            unreachable!("the command line requires at least one folder")
        };
        run.shares = Share::merged(&given, &earlier)?;
        if real_folders.len() > 1 {
            (run.host, run.options) = (Host::detect(), options_given());
        }
        Ok(Parts { run, folders: real_folders })
    }
}

/// Whether one of the folders contains the shard of `share`.
fn held(folders: &[(PathBuf, Vec<Share>)], share: &Share) -> bool {
    folders.iter().any(|(_, shares)| shares.iter().any(|known| known.shard == share.shard))
}

/// Rebuilds the results from the trials of one output folder or of several shards. An output folder that already
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
    tell_missing(&run, &inputs, &store)?;
    publish(&out, run, &inputs, &Mutex::new(store))
}

/// Prints how many trials of each experiment are missing, and which shards may contain them.
fn tell_missing(run: &RunInfo, inputs: &Arc<Inputs>, store: &TrialStore) -> Result<(), Failure> {
    let mut complete = true;
    for experiment in suite::all(inputs) {
        let id = experiment.describe().id;
        if !run.experiments.iter().any(|time| time.id == id) {
            continue;
        }
        let keys = experiment.keys(run.scale, run.seed)?;
        let lacks = keys.iter().filter(|key| store.get(key).is_none()).count();
        if lacks > 0 {
            note(&format!("{id}: {lacks} of {} trials are missing", keys.len()));
            complete = false;
        }
    }
    if complete {
        return Ok(());
    }
    for shard in Share::missing(&run.shares) {
        note(&format!("shard {shard} is missing: pass its folder, or run it"));
    }
    for share in run.shares.iter().filter(|share| !share.finished) {
        note(&format!("shard {} is not finished: run its command again", share.shard));
    }
    Ok(())
}

fn add_time(times: &mut Vec<ExperimentTime>, time: &ExperimentTime) {
    match times.iter_mut().find(|known| known.id == time.id) {
        Some(known) => known.add(time),
        None => times.push(time.clone()),
    }
}
