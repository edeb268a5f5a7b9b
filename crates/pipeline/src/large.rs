//! Fits a pipeline to a table that is read in chunks.

use crate::design::Design;
use crate::fit::{FitOptions, Target, check_enough};
use crate::holdout::SplitBy;
use crate::late::LateValues;
use crate::model::{Batch, Model};
use crate::pipeline::{LabelPart, Pipeline};
use crate::plan::Method;
use crate::recipe::{Recipe, Unseen};
use crate::report::Report;
use crate::tally::Tally;
use crate::validation::measure;
use halfspaces_frame::{Classes, ColumnRecord, DataError, Frame, Labels, LargeTable};
use halfspaces_linalg::{RngStream, rng_for};

/// The number of sampled rows from which the columns and the classes are determined. In a one-pass fit, these are the
/// first rows; otherwise they are random rows.
const SAMPLE: usize = 60_000;
/// The number of rows in a chunk.
const CHUNK: usize = 4096;
/// The default share of held-out rows for a table that is longer than the sample.
pub(crate) const SHARE: f64 = 0.1;
/// The maximum number of held-out rows, unless a share is given. If more rows are held out, about half of them become
/// training rows instead.
pub(crate) const MAX_HELD_OUT: usize = 40_000;
/// What to do about values that occur only in later rows.
const ADVICE: &str = "shuffle the file, or fit without --stream";

impl Pipeline {
    /// Fits a pipeline to a table that is read in chunks.
    ///
    /// The columns and the classes are determined from the first 60 000 rows. Then the learners `perceptron` and
    /// `massart` learn in one pass: `perceptron` from all rows except the held-out ones, and `massart` from as many
    /// rows as it needs. The default learner also learns in one pass if the coordinates are sparse (as those of
    /// texts are), all rows have equal weights, and there are at least 60 000 rows. In this case, the default learner
    /// is [`Arow`](halfspaces_online::Arow). Otherwise, the model is fitted to a random sample of at most 60 000 rows.
    /// In a one-pass fit, `progress` is called for each chunk with the number of rows in the chunk.
    ///
    /// # Errors
    /// Returns the same errors as [`Pipeline::fit`].
    pub fn fit_large(
        table: &LargeTable,
        options: &FitOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Pipeline, Vec<String>), DataError> {
        options.check()?;
        if !options.split.is_random() || options.skip_unlabelled {
            return Err(DataError::user(
                "rows can be held out by group or time, or left out, only if the table is read into memory; do not use --stream",
            ));
        }
        let method = options.plan.method;
        let is_weighted = options.weights.is_some() || options.balanced;
        if matches!(method, Method::Perceptron | Method::Massart | Method::Auto)
            && !is_weighted
            && let Some(fitted) = one_pass(table, options, progress)?
        {
            return Ok(fitted);
        }
        let rows = table.count()?;
        let mut rng = rng_for(RngStream::CALLER, options.plan.seed);
        let size = rows.min(SAMPLE as u64) as usize;
        let drawn = halfspaces_linalg::rand::seq::index::sample(&mut rng, rows as usize, size);
        let mut sampled: Vec<u64> = drawn.into_iter().map(|row| row as u64).collect();
        sampled.sort_unstable();
        let frame = table.rows(&sampled)?;
        let (mut pipeline, mut notes) = Pipeline::fit(frame, options)?;
        if (size as u64) < rows {
            (pipeline.report.rows, pipeline.report.sampled) = (rows, Some(size as u64));
            notes.push(format!(
                "{}: {} learns from a random sample of {size} of {rows} rows",
                table.name(),
                options.plan.method.name()
            ));
        }
        Ok((pipeline, notes))
    }
}

/// Determines the columns and the classes from the first rows, then learns from all rows in one pass. Returns `None` if
/// the learner cannot learn from a stream of such points. For the default learner, also returns `None` if there are
/// fewer than 60 000 rows.
fn one_pass(
    table: &LargeTable,
    options: &FitOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<Option<(Pipeline, Vec<String>)>, DataError> {
    let method = options.plan.method;
    let head = table.head(SAMPLE)?;
    let source = head.source.clone();
    let is_whole = head.rows < SAMPLE;
    if is_whole && method == Method::Auto {
        return Ok(None);
    }
    let size = head.rows;
    let seed = options.plan.seed;
    let share = options.holdout.unwrap_or(SHARE);
    let first = FirstRows::learn(head, options, |rows| {
        if is_whole {
            return crate::holdout::split(rows, options.holdout, seed);
        }
        (0..rows).partition(|row| place_in_unit(seed, *row as u64) >= share)
    })?;
    let FirstRows { mut target, learn_rows, held_rows, recipe, records, design, mut notes } = first;
    if !Model::streams(method, &design) {
        return Ok(None);
    }
    if method == Method::Auto {
        notes.push(format!(
            "{source}: auto learns from all rows in one pass, because the coordinates are sparse"
        ));
    }
    check_enough(options, &source, learn_rows.len(), size)?;
    let classes: Vec<usize> = learn_rows.iter().filter_map(|row| target.class(*row)).collect();
    let label = target.label_part(&options.label);
    let hints = label.hints(&recipe);
    let held_out = if is_whole {
        HoldoutRule::Rows(held_rows.iter().map(|row| *row as u64).collect())
    } else {
        HoldoutRule::Below(share)
    };
    let ((model, findings, held_out, tally), of_lines) =
        table.in_chunks(&hints, CHUNK, |chunks| {
            let known = Classes::new(target.classes.iter().cloned());
            let mut pass = Pass {
                chunks,
                progress,
                options,
                label: &label,
                recipe: &recipe,
                known,
                held_out,
                held: Vec::new(),
                waiting: None,
                tally: Tally::new(LateValues::new(&recipe, &records, &options.recipe.drop, size)),
            };
            let fitted = Model::fit_stream(&options.plan, &design, &classes, &mut pass);
            let (model, findings, _) = fitted.map_err(|fault| fault.within(&source))?;
            // The rows that the learner did not consume must still be counted, and some of them are held out.
            for batch in &mut pass {
                batch?;
            }
            let tally = pass.tally.clone();
            Ok::<_, DataError>((model, findings, pass.finish()?, tally))
        })?;
    drop(design);
    notes.splice(0..0, of_lines);
    let mut model = model;
    let rows = tally.rows;
    target.count(&tally.by_class);
    tally.add_notes(&source, size, ADVICE, &mut notes);
    let held_out = match held_out {
        Some((held, truth)) => {
            let measured = measure(&mut model, &held, &truth, &options.plan, Some(&|_, _| None))?;
            notes.extend(measured.note(&source, &target.classes));
            Some(measured.errors)
        }
        None => None,
    };
    let report = Report {
        rows,
        sampled: (!is_whole).then_some(size as u64),
        learned_from: findings.learned_from,
        classes: target.counts.clone(),
        commonest_error: target.commonest_error(),
        split: SplitBy::Random,
        held_out,
        seed,
        findings,
    };
    Ok(Some((Pipeline { label, recipe, model, report, ragged: options.ragged }, notes)))
}

/// The facts that are learned from the first rows of a table that is read in parts.
pub(crate) struct FirstRows {
    pub(crate) target: Target,
    pub(crate) learn_rows: Vec<usize>,
    pub(crate) held_rows: Vec<usize>,
    pub(crate) recipe: Recipe,
    /// How the columns were read.
    pub(crate) records: Vec<ColumnRecord>,
    /// The points of the training rows.
    pub(crate) design: Design,
    pub(crate) notes: Vec<String>,
}

impl FirstRows {
    /// Determines the classes and the recipe from the training rows of `head`, which `split` selects.
    pub(crate) fn learn(
        mut head: Frame,
        options: &FitOptions,
        split: impl FnOnce(usize) -> (Vec<usize>, Vec<usize>),
    ) -> Result<FirstRows, DataError> {
        let (target, learn_rows, held_rows) = Target::take(&mut head, options, split)?;
        let training = head.into_rows(&learn_rows);
        let records = training.records.clone();
        let (recipe, mut notes) = Recipe::fit(&training, &options.recipe)?;
        notes.splice(0..0, training.notes.iter().cloned());
        recipe.check_sizes(&training)?;
        let design = recipe.apply_to(training, Unseen::Error)?;
        Ok(FirstRows { target, learn_rows, held_rows, recipe, records, design, notes })
    }
}

/// The rule that selects held-out rows.
enum HoldoutRule {
    /// Holds out the rows with these numbers, which are in ascending order.
    Rows(Vec<u64>),
    /// Holds out the rows whose pseudorandom number in [0, 1) is below this share.
    Below(f64),
}

/// A pseudorandom number in [0, 1) for each row (SplitMix64, Steele, Lea and Flood 2014).
pub(crate) fn place_in_unit(seed: u64, row: u64) -> f64 {
    let mut z = seed.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(row).wrapping_add(1);
    z = z.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Held-out points with their classes. The class is `None` if the label is not a class of the model.
type Truth = (Design, Vec<Option<usize>>);

/// Held-out rows with their classes and row numbers.
struct HeldOutRows {
    design: Design,
    classes: Vec<Option<usize>>,
    rows: Vec<u64>,
}

impl HeldOutRows {
    fn select(&self, keep: &[usize]) -> Result<HeldOutRows, DataError> {
        Ok(HeldOutRows {
            design: self.design.select(keep)?,
            classes: keep.iter().map(|at| self.classes[*at]).collect(),
            rows: keep.iter().map(|at| self.rows[*at]).collect(),
        })
    }
}

/// One pass over a table in chunks. The pass yields the training rows and collects the held-out rows.
struct Pass<'p> {
    chunks: &'p mut dyn Iterator<Item = Result<Frame, DataError>>,
    progress: &'p mut dyn FnMut(u64),
    options: &'p FitOptions,
    label: &'p LabelPart,
    recipe: &'p Recipe,
    known: Classes,
    held_out: HoldoutRule,
    held: Vec<HeldOutRows>,
    /// Rows that are no longer held out and that are yielded next.
    waiting: Option<Batch>,
    tally: Tally,
}

impl Iterator for Pass<'_> {
    type Item = Result<Batch, DataError>;

    fn next(&mut self) -> Option<Result<Batch, DataError>> {
        if let Some(batch) = self.waiting.take() {
            return Some(Ok(batch));
        }
        let chunk = self.chunks.next()?;
        Some(chunk.and_then(|chunk| self.take(chunk)))
    }
}

impl Pass<'_> {
    /// Splits a chunk, stores its held-out rows, and returns its training rows.
    fn take(&mut self, mut chunk: Frame) -> Result<Batch, DataError> {
        let labels = Labels::take_part(&mut chunk, &self.options.label)?;
        let first = self.tally.rows;
        (self.progress)(chunk.rows as u64);
        let class = self.label.classes_of(&labels, &self.known);
        self.tally.add(&chunk, self.recipe, &class)?;
        let (mut learn, mut classes) = (Vec::new(), Vec::new());
        let mut held = Vec::new();
        for (at, class) in class.iter().enumerate() {
            let row = first + at as u64;
            if self.is_held_out(row) {
                held.push(at);
            } else if let Some(class) = *class {
                learn.push(at);
                classes.push(class);
            }
        }
        let all = chunk.rows;
        let design = self.recipe.apply_to(chunk, Unseen::Zero)?;
        if !held.is_empty() {
            let design = design.select(&held)?;
            let classes = held.iter().map(|at| class[*at]).collect();
            let rows = held.iter().map(|at| first + *at as u64).collect();
            self.held.push(HeldOutRows { design, classes, rows });
            self.thin()?;
        }
        let design = if learn.len() == all { design } else { design.select(&learn)? };
        Ok((design, classes))
    }

    fn is_held_out(&self, row: u64) -> bool {
        match &self.held_out {
            HoldoutRule::Rows(rows) => rows.binary_search(&row).is_ok(),
            HoldoutRule::Below(share) => place_in_unit(self.options.plan.seed, row) < *share,
        }
    }

    /// Halves the share of held-out rows if there are too many of them.
    fn thin(&mut self) -> Result<(), DataError> {
        let count: usize = self.held.iter().map(|held| held.rows.len()).sum();
        let HoldoutRule::Below(share) = &mut self.held_out else { return Ok(()) };
        if count <= MAX_HELD_OUT || self.options.holdout.is_some() {
            return Ok(());
        }
        *share /= 2.0;
        let (seed, share) = (self.options.plan.seed, *share);
        let mut batch: Option<Batch> = None;
        for held in &mut self.held {
            let (keep, learn): (Vec<usize>, Vec<usize>) =
                (0..held.rows.len()).partition(|at| place_in_unit(seed, held.rows[*at]) < share);
            let learn: Vec<usize> =
                learn.into_iter().filter(|at| held.classes[*at].is_some()).collect();
            let classes: Vec<usize> = learn.iter().filter_map(|at| held.classes[*at]).collect();
            let design = held.design.select(&learn)?;
            *held = held.select(&keep)?;
            match &mut batch {
                None => batch = Some((design, classes)),
                Some((all, of_all)) => {
                    all.append(&design)?;
                    of_all.extend(classes);
                }
            }
        }
        self.waiting = batch;
        Ok(())
    }

    /// All held-out rows, or `None` if there are none.
    fn finish(self) -> Result<Option<Truth>, DataError> {
        let mut all: Option<Truth> = None;
        for held in self.held.into_iter().filter(|held| !held.rows.is_empty()) {
            match &mut all {
                None => all = Some((held.design, held.classes)),
                Some((design, classes)) => {
                    design.append(&held.design)?;
                    classes.extend(held.classes);
                }
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share p of the rows has a pseudorandom number below p. If p is halved, the selected rows are a subset of those
    /// selected before.
    #[test]
    fn places_are_uniform_and_nested() {
        for seed in [0, 1, 99] {
            let below = |p: f64| (0..100_000).filter(|row| place_in_unit(seed, *row) < p).count();
            for p in [0.5, 0.1, 0.05] {
                let expected = 1e5 * p;
                assert!((below(p) as f64 - expected).abs() < 5.0 * expected.sqrt(), "{seed} {p}");
            }
        }
        assert_ne!(place_in_unit(0, 5).to_bits(), place_in_unit(1, 5).to_bits());
    }
}
