//! The data of the experiments: synthetic pools, and real pools with their own labels or relabelled by a known
//! halfspace.

use crate::Failure;
use halfspaces_data::{
    Builtin, Clusters, Dataset, MarginBall, Marginal, Realizable, StudentT, UnitSphere,
    centroid_target, margin_perceptron_tight, modified_perceptron_tight, perceptron_tight,
    random_target_with_rng,
};
use halfspaces_eval::{Scale, fnv1a};
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_frame::{Hints, ReadOptions, read};
use halfspaces_linalg::{
    FitSample, Halfspace, Label, Params, PointSet, Points, SparsePoints, margins,
};
use halfspaces_online::{MarginPerceptron, bounds};
use halfspaces_pipeline::{Design, LabelledTable, RecipeOptions};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use strum::Display;

/// Optional data sets in the folder given by `--data`, each with its positive class.
const FOLDER_SETS: [(&str, &str); 2] = [("magic", "g"), ("spambase", "1")];

/// The name of the census data. Only experiments that request it by name use it, because most of its columns contain
/// words and some describe people.
pub(crate) const ADULT: &str = "adult";

/// Path of the census data in the folder given by `--data`.
pub(crate) const ADULT_FILE: &str = "adult/adult.data";

/// Number of updates after which real data with their own labels count as not separable.
const WITNESS_UPDATES: u64 = 200_000;

/// The source of a pool.
#[derive(Debug, Clone, PartialEq, Serialize, Display)]
#[serde(tag = "data", rename_all = "lowercase")]
pub(crate) enum Workload {
    /// Points on the unit sphere; points closer than `margin` to the boundary are dropped.
    #[strum(to_string = "sphere d={dim} γ={margin}")]
    Sphere { dim: usize, points: usize, margin: f64 },
    /// Points in the unit ball, conditioned on the margin.
    #[strum(to_string = "ball d={dim} γ={margin}")]
    Ball { dim: usize, points: usize, margin: f64 },
    /// Ten Gaussian clusters, normalised; points closer than `margin` to the boundary are dropped.
    #[strum(to_string = "clusters d={dim} γ={margin}")]
    Clusters { dim: usize, points: usize, margin: f64 },
    /// Points from a Student-t distribution with one degree of freedom; no point is dropped.
    #[serde(rename = "student-t")]
    #[strum(to_string = "student-t d={dim} condition {condition:e}")]
    StudentT { dim: usize, points: usize, condition: f64 },
    /// The instance on which the perceptron attains its bound.
    #[strum(to_string = "tight d={dim}")]
    Tight { dim: usize },
    /// The instance on which the margin perceptron with the cyclic rule nearly attains its bounds.
    #[serde(rename = "tight-margin")]
    #[strum(to_string = "tight for the margin perceptron, γ={margin}")]
    TightMargin { margin: f64 },
    /// The instance on which the modified perceptron nearly attains its bound if it starts from (α, √(1-α²), 0).
    #[serde(rename = "tight-modified")]
    #[strum(to_string = "tight for the modified perceptron, α={alpha}")]
    TightModified { alpha: f64, sigma: f64 },
    /// Real points relabelled by a random halfspace; points closer than `margin` to its boundary are dropped.
    #[strum(to_string = "{name} relabelled γ={margin}")]
    Relabelled { name: String, margin: f64 },
    /// Real points relabelled by the halfspace between the class means; points closer than `margin` to its boundary are
    /// dropped.
    #[strum(to_string = "{name} centroid γ={margin}")]
    Centroid { name: String, margin: f64 },
    /// Real points with their own labels.
    #[strum(to_string = "{name} own labels")]
    Own { name: String },
}

impl Workload {
    /// Synthetic workloads: balls with these margins, spheres and clusters in several dimensions, and tight instances.
    pub(crate) fn synthetic(points: usize, margins: &[f64], scale: Scale) -> Vec<Workload> {
        let mut all: Vec<Workload> = margins
            .iter()
            .map(|margin| Workload::Ball { dim: 20, points, margin: *margin })
            .collect();
        for dim in scale.pick(vec![10], vec![3, 10, 30], vec![3, 10, 30, 100]) {
            all.push(Workload::Sphere { dim, points, margin: 0.05 });
            all.push(Workload::Clusters { dim, points, margin: 0.05 });
        }
        let tight = scale.pick(vec![25], vec![10, 100], vec![10, 100, 1000]);
        all.extend(tight.into_iter().map(|dim| Workload::Tight { dim }));
        all
    }

    /// Whether the points and labels of the workload are deterministic.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(
            self,
            Workload::Tight { .. }
                | Workload::TightMargin { .. }
                | Workload::TightModified { .. }
                | Workload::Own { .. }
                | Workload::Centroid { .. }
        )
    }

    /// The requested margin, if there is one.
    pub(crate) fn margin(&self) -> Option<f64> {
        match self {
            Workload::Sphere { margin, .. }
            | Workload::Ball { margin, .. }
            | Workload::Clusters { margin, .. }
            | Workload::Relabelled { margin, .. }
            | Workload::Centroid { margin, .. }
            | Workload::TightMargin { margin } => Some(*margin),
            Workload::StudentT { .. }
            | Workload::Tight { .. }
            | Workload::TightModified { .. }
            | Workload::Own { .. } => None,
        }
    }
}

/// A dense or a sparse value.
#[derive(Debug, Clone)]
pub(crate) enum Either<D, S> {
    Dense(D),
    Sparse(S),
}

/// A labelled pool.
pub(crate) type Pool = Either<Sample<Points>, Sample<SparsePoints>>;

/// Evaluates the same expression for dense and for sparse values.
macro_rules! of_either {
    ($either:expr, $inner:ident => $result:expr) => {
        match $either {
            $crate::workload::Either::Dense($inner) => $result,
            $crate::workload::Either::Sparse($inner) => $result,
        }
    };
}
pub(crate) use of_either;

/// Labelled points, with their target and margin if known.
#[derive(Debug, Clone)]
pub(crate) struct Sample<P> {
    pub(crate) points: P,
    pub(crate) labels: Vec<Label>,
    /// The unit halfspace by which the points are labelled, if there is one.
    pub(crate) target: Option<Halfspace>,
    /// γ of a known unit separator; `None` if no separator is known.
    pub(crate) margin: Option<f64>,
    /// R, the largest norm of a point.
    pub(crate) radius: f64,
    /// The perceptron's mistake bound for points that need not be separable, for the best of the candidate directions;
    /// `None` if the bound uses `margin`.
    pub(crate) deviation_bound: Option<f64>,
}

impl<P: PointSet> Sample<P> {
    /// Repeats the pool until it has at least `rounds` points. A bound that holds for every sequence also holds for
    /// repetitions.
    pub(crate) fn repeated(&self, rounds: usize) -> Result<Sample<P>, Failure> {
        let n = self.points.len();
        let indices: Vec<usize> = (0..rounds.max(n)).map(|i| i % n).collect();
        Ok(Sample {
            points: self.points.select(&indices)?,
            labels: indices.iter().map(|i| self.labels[*i]).collect(),
            target: self.target.clone(),
            margin: self.margin,
            radius: self.radius,
            deviation_bound: self.deviation_bound,
        })
    }

    /// The points with the labels of `target`; points closer than `margin` to its boundary are dropped.
    fn kept(points: P, target: Halfspace, margin: f64) -> Result<Sample<P>, Failure> {
        Ok(Sample::realizable(Realizable::with_margin(points, target, margin)?))
    }

    fn realizable(pool: Realizable<P>) -> Sample<P> {
        let (margin, radius) = (pool.margin(), pool.points().max_norm());
        let (points, labels, target) = pool.into_parts();
        let target = Some(target);
        Sample { points, labels, target, margin: Some(margin), radius, deviation_bound: None }
    }

    /// Real data with their own labels. Searches for a separator, and for the best mistake bound that also holds for
    /// data that are not separable.
    fn own(points: P, labels: Vec<Label>) -> Result<Sample<P>, Failure> {
        let radius = points.max_norm();
        let fit = MarginPerceptron::params().max_updates(WITNESS_UPDATES).check()?;
        let fit = fit.fit(&points, &labels)?;
        let direction = fit.halfspace().clone().normalised()?;
        let converged = fit.termination().is_converged();
        let margin = converged.then(|| direction.margin_on(&points, &labels)).transpose()?;
        let mut bound = f64::INFINITY;
        for unit in [&direction, &centroid_target(&points, &labels)?] {
            bound = bound.min(deviation_bound(&points, &labels, unit, radius)?);
        }
        Ok(Sample { points, labels, target: None, margin, radius, deviation_bound: Some(bound) })
    }
}

/// The minimum of `bounds::perceptron_mistakes_with_deviation` over a grid of values of γ, for one direction.
fn deviation_bound<P: PointSet>(
    points: &P,
    labels: &[Label],
    unit: &Halfspace,
    radius: f64,
) -> Result<f64, Failure> {
    let signed: Vec<f64> = margins(points, unit.normal())?
        .into_iter()
        .zip(labels)
        .map(|(value, y)| y.as_f64() * value)
        .collect();
    let of = |gamma: f64| {
        let squares = signed.iter().map(|s| (gamma - s).max(0.0).powi(2));
        let deviation = squares.sum::<f64>().sqrt();
        bounds::perceptron_mistakes_with_deviation(radius, deviation, gamma)
    };
    Ok((0..60).map(|i| of(radius * 0.85f64.powi(i))).fold(f64::INFINITY, f64::min))
}

/// The path of a data set in the folder given by `--data`.
fn file_of(name: &str) -> String {
    if name == ADULT { ADULT_FILE.into() } else { format!("{name}.csv") }
}

/// A real data set, standardised, lifted and normalised.
#[derive(Debug)]
struct Real {
    points: Either<Points, SparsePoints>,
    labels: Vec<Label>,
}

impl Real {
    fn dim(&self) -> usize {
        of_either!(&self.points, points => points.dim())
    }

    /// The halfspace between the class means.
    fn centroid(&self) -> Result<Halfspace, Failure> {
        Ok(of_either!(&self.points, points => centroid_target(points, &self.labels)?))
    }

    /// The points with the labels of `target`; points closer than `margin` to its boundary are dropped.
    fn labelled_by(&self, target: Halfspace, margin: f64) -> Result<Pool, Failure> {
        Ok(match &self.points {
            Either::Dense(points) => Pool::Dense(Sample::kept(points.clone(), target, margin)?),
            Either::Sparse(points) => Pool::Sparse(Sample::kept(points.clone(), target, margin)?),
        })
    }

    /// The points with their own labels.
    fn own(&self) -> Result<Pool, Failure> {
        let labels = self.labels.clone();
        Ok(match &self.points {
            Either::Dense(points) => Pool::Dense(Sample::own(points.clone(), labels)?),
            Either::Sparse(points) => Pool::Sparse(Sample::own(points.clone(), labels)?),
        })
    }
}

/// Values that are computed once per name.
#[derive(Debug)]
pub(crate) struct Memo<T>(Mutex<HashMap<String, Arc<T>>>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Memo(Mutex::default())
    }
}

impl<T> Memo<T> {
    pub(crate) fn get(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Arc<T>, Failure> {
        // A value is inserted only when it is complete, so a panic in another thread leaves the map valid.
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(name) {
            return Ok(known.clone());
        }
        let new = Arc::new(make()?);
        made.insert(name.into(), new.clone());
        Ok(new)
    }
}

fn builtin(name: &str) -> Option<Builtin> {
    Builtin::ALL.into_iter().find(|set| set.name() == name)
}

/// The available real data, loaded once.
#[derive(Debug)]
pub(crate) struct Inputs {
    folder: Option<PathBuf>,
    /// Names of the data sets in the folder, each with a hash of its file.
    extra: Vec<(String, String)>,
    loaded: Memo<Real>,
    own: Memo<Pool>,
}

impl Inputs {
    /// The built-in data sets.
    pub(crate) fn builtin() -> Inputs {
        Inputs { folder: None, extra: Vec::new(), loaded: Memo::default(), own: Memo::default() }
    }

    /// Inputs with the names that [`Inputs::names`] returned, for reports. Their data sets cannot be loaded.
    pub(crate) fn of_names(names: &[String]) -> Result<Inputs, Failure> {
        let mut extra = Vec::new();
        for text in names {
            let (name, hash) = text.split_once(' ').ok_or_else(|| {
                format!("run.json: expected a data set and its hash, found \"{text}\"; start over with --fresh")
            })?;
            extra.push((name.into(), hash.into()));
        }
        Ok(Inputs { extra, ..Inputs::builtin() })
    }

    /// The built-in data sets and those in `folder`.
    pub(crate) fn with_folder(folder: Option<&Path>) -> Result<Inputs, Failure> {
        let Some(folder) = folder else { return Ok(Inputs::builtin()) };
        if !folder.is_dir() {
            let place = folder.display();
            return Err(format!(
                "--data {place}: no such folder; give an existing folder or omit --data"
            )
            .into());
        }
        let mut extra = Vec::new();
        for name in FOLDER_SETS.map(|(name, _)| name).into_iter().chain([ADULT]) {
            let path = folder.join(file_of(name));
            if path.is_file() {
                let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
                extra.push((name.to_owned(), format!("{:016x}", fnv1a(&bytes))));
            }
        }
        if extra.is_empty() {
            let known = FOLDER_SETS.map(|(name, _)| file_of(name)).join(", ");
            let place = folder.display();
            return Err(format!(
                "--data {place}: found none of {known}, {ADULT_FILE}; add a file or omit --data"
            )
            .into());
        }
        let inputs = Inputs { folder: Some(folder.into()), extra, ..Inputs::builtin() };
        // Errors in the files are reported before anything runs.
        for (name, _) in &inputs.extra {
            let named = |e: Failure| -> Failure {
                // An error of the reader already names the file and the line.
                let path = folder.join(file_of(name)).display().to_string();
                let text = e.to_string();
                if text.starts_with(&path) { e } else { format!("{path}: {text}").into() }
            };
            if name == ADULT {
                inputs.as_given(name).map_err(named)?;
                continue;
            }
            let real = inputs.load(name).map_err(named)?;
            real.centroid()
                .map_err(|_| named("expected two classes with different means".into()))?;
        }
        Ok(inputs)
    }

    /// Name and hash of each data set that is not built in.
    pub(crate) fn names(&self) -> Vec<String> {
        self.extra.iter().map(|(name, hash)| format!("{name} {hash}")).collect()
    }

    /// Names of all data sets except [`ADULT`].
    pub(crate) fn real(&self) -> Vec<String> {
        let builtin = Builtin::ALL.iter().map(|set| set.name().to_owned());
        let extra = self.extra.iter().map(|(name, _)| name.clone()).filter(|name| name != ADULT);
        builtin.chain(extra).collect()
    }

    /// Whether a data set that is not built in is available.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.extra.iter().any(|(extra, _)| extra == name)
    }

    /// A data set in the form of its file, with words one-hot encoded and numbers unscaled.
    pub(crate) fn as_given(&self, name: &str) -> Result<Dataset<SparsePoints>, Failure> {
        if let Some(set) = builtin(name) {
            return Ok(set.load_sparse()?);
        }
        let table = self.table(name)?;
        let points = match table.points {
            Design::Dense(points) => SparsePoints::from_dense(&points)?,
            Design::Sparse(points) => points,
        };
        Ok(Dataset::new(points, table.labels, table.recipe.coordinates())?)
    }

    /// A data set in the folder, whose last column contains the classes.
    fn table(&self, name: &str) -> Result<LabelledTable, Failure> {
        let known = FOLDER_SETS.iter().find(|(set, _)| *set == name);
        let (named, positive) = known.map_or((true, ">50K"), |(_, positive)| (false, positive));
        let folder = self.folder.as_ref().filter(|_| self.has(name));
        let folder = folder
            .ok_or_else(|| format!("{name}: data set not found; pass its folder with --data"))?;
        let reading = ReadOptions { header: Some(named), ..ReadOptions::default() };
        let frame = read(&folder.join(file_of(name)), &reading, &Hints::default())?;
        for column in frame.columns.iter().filter(|_| known.is_some()) {
            // Replacing a missing value by the median would change the data set.
            if let Some(row) = (0..frame.rows).find(|row| column.values.is_missing(*row)) {
                let (place, name) = (frame.place(row), &column.name);
                return Err(
                    format!("{place}, column `{name}`: missing value; expected a number").into()
                );
            }
        }
        let label = frame.last_column()?.name.clone();
        let options = RecipeOptions { keep_constant: true, ..RecipeOptions::default() };
        Ok(LabelledTable::new(frame, &label, Some(positive), &options)?)
    }

    /// The points of a data set, raw or standardised.
    pub(crate) fn raw(&self, name: &str, standardised: bool) -> Result<Points, Failure> {
        let points = match builtin(name) {
            Some(set) => set.load()?.into_parts().0,
            None => self.read_folder(name)?.0,
        };
        Ok(if standardised { ZScore::fit(&points)?.apply(&points)? } else { points })
    }

    fn load(&self, name: &str) -> Result<Arc<Real>, Failure> {
        self.loaded.get(name, || self.read(name))
    }

    fn read(&self, name: &str) -> Result<Real, Failure> {
        let (points, labels) = match builtin(name) {
            Some(Builtin::Mushroom) => {
                let (points, labels, _) = Builtin::Mushroom.load_sparse()?.into_parts();
                let points = Either::Sparse(points.lifted().normalised()?);
                return Ok(Real { points, labels });
            }
            Some(set) => {
                let (points, labels, _) = set.load()?.into_parts();
                (points, labels)
            }
            None => self.read_folder(name)?,
        };
        let points = ZScore::fit(&points)?.apply(&points)?;
        Ok(Real { points: Either::Dense(points.lifted().normalised()?), labels })
    }

    fn read_folder(&self, name: &str) -> Result<(Points, Vec<Label>), Failure> {
        let table = self.table(name)?;
        Ok((table.points.into_dense()?, table.labels))
    }

    /// Draws the pool of a workload.
    pub(crate) fn pool(&self, workload: &Workload, rng: &mut ChaCha8Rng) -> Result<Pool, Failure> {
        let dense = |pool| Ok(Pool::Dense(Sample::realizable(pool)));
        match workload {
            Workload::Sphere { dim, points, margin } => {
                let target = random_target_with_rng(*dim, rng)?;
                let sphere = UnitSphere::new(*dim)?.sample_with_rng(*points, rng)?;
                dense(Realizable::with_margin(sphere, target, *margin)?)
            }
            Workload::Ball { dim, points, margin } => {
                let target = random_target_with_rng(*dim, rng)?;
                let ball = MarginBall::new(&target, *margin)?.sample_with_rng(*points, rng)?;
                dense(Realizable::new(ball, target)?)
            }
            Workload::Clusters { dim, points, margin } => {
                let target = random_target_with_rng(*dim, rng)?;
                let clusters = Clusters::random(*dim, 10, 0.2, rng.random())?;
                let points = clusters.sample_with_rng(*points, rng)?.normalised()?;
                dense(Realizable::with_margin(points, target, *margin)?)
            }
            Workload::StudentT { dim, points, condition } => {
                let target = random_target_with_rng(*dim, rng)?;
                let points = StudentT::new(*dim, 1.0, *condition)?.sample_with_rng(*points, rng)?;
                dense(Realizable::new(points, target)?)
            }
            Workload::Tight { dim } => dense(perceptron_tight(*dim)?),
            Workload::TightMargin { margin } => dense(margin_perceptron_tight(*margin)?),
            Workload::TightModified { alpha, sigma } => {
                dense(modified_perceptron_tight(*alpha, *sigma)?)
            }
            Workload::Relabelled { name, margin } => {
                let real = self.load(name)?;
                let target = random_target_with_rng(real.dim(), rng)?;
                real.labelled_by(target, *margin)
            }
            Workload::Centroid { name, margin } => {
                let real = self.load(name)?;
                real.labelled_by(real.centroid()?, *margin)
            }
            Workload::Own { name } => {
                let pool = self.own.get(name, || self.load(name)?.own())?;
                Ok(pool.as_ref().clone())
            }
        }
    }
}
