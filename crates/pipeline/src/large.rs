//! Fitting a pipeline to a table that is read in parts.

use crate::design::Design;
use crate::fit::{FitOptions, Target, check_enough, measure};
use crate::model::{Batch, Model};
use crate::pipeline::Pipeline;
use crate::recipe::{Recipe, Unseen};
use crate::report::Report;
use halfspaces_frame::{Classes, DataError, Frame, Labels, LargeTable};
use halfspaces_linalg::{RngStream, rng_for};
use std::collections::HashMap;

/// Rows on which columns and classes are found: the first ones, or a random sample for learners of samples.
const SAMPLE: usize = 60_000;
/// Rows read at a time.
const CHUNK: usize = 4096;
/// Share of the rows held out of a table that is longer than the sample, unless a share was given.
const SHARE: f64 = 0.1;
/// Half of the rows held out are learned from after all when there are more than this many.
const MAX_HELD_OUT: usize = 40_000;

impl Pipeline {
    /// Fits a pipeline to a table that is read in parts.
    ///
    /// The perceptron learns from every row but those held out, and massart from as many as it needs; both in one pass, after
    /// columns and classes were found in the first 60 000 rows. The other learners learn from a random sample of 60 000 rows.
    /// `progress` is called with numbers of rows that were read.
    ///
    /// # Errors
    /// As [`Pipeline::fit`].
    pub fn fit_large(
        table: &LargeTable,
        options: &FitOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Pipeline, Vec<String>), DataError> {
        options.check()?;
        if Model::streams(options.plan.method) {
            return one_pass(table, options, progress);
        }
        let rows = table.count()?;
        let mut rng = rng_for(RngStream::Caller, options.plan.seed);
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

/// Learns from the first rows what columns and classes there are, then from all rows, each seen once.
fn one_pass(
    table: &LargeTable,
    options: &FitOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<(Pipeline, Vec<String>), DataError> {
    let first: Vec<u64> = (0..SAMPLE as u64).collect();
    let mut head = table.rows(&first)?;
    let source = head.source.clone();
    let is_whole = head.rows < SAMPLE;
    let size = head.rows;
    let seed = options.plan.seed;
    let share = options.holdout.unwrap_or(SHARE);
    let (mut target, learn_rows, held_rows) = Target::take(&mut head, options, |rows| {
        if is_whole {
            return crate::holdout::split(rows, options.holdout, seed);
        }
        (0..rows).partition(|row| place_in_unit(seed, *row as u64) >= share)
    })?;
    let training = head.into_rows(&learn_rows);
    let (recipe, mut notes) = Recipe::fit(&training, &options.recipe)?;
    notes.splice(0..0, training.notes.iter().cloned());
    let design = recipe.apply_to(training, Unseen::Error)?;
    check_enough(options, &source, learn_rows.len())?;
    let classes: Vec<usize> = learn_rows.iter().filter_map(|row| target.class(*row)).collect();
    let hints = recipe.hints(std::slice::from_ref(&options.label));
    let mut hints = hints;
    if let Some(rule) = target.rule() {
        hints.rules.insert(options.label.clone(), rule);
    }
    let held_out = if is_whole {
        HeldOut::Rows(held_rows.iter().map(|row| *row as u64).collect())
    } else {
        HeldOut::Below(share)
    };
    let (model, findings, held_out, counts) = table.in_chunks(&hints, CHUNK, |chunks| {
        let known = Classes::new(target.classes.iter().cloned());
        let mut pass = Pass {
            chunks,
            progress,
            options,
            target: &target,
            recipe: &recipe,
            known,
            held_out,
            held: Vec::new(),
            waiting: None,
            rows: 0,
            left_out: 0,
            by_label: HashMap::new(),
        };
        let fitted = Model::fit_stream(&options.plan, &design, &classes, &mut pass);
        let (model, findings, _) = fitted.map_err(|fault| fault.within(&source))?;
        // The rows that a learner did not ask for are counted, and some of them held out.
        for batch in &mut pass {
            batch?;
        }
        let counts = (pass.rows, pass.left_out, std::mem::take(&mut pass.by_label));
        Ok::<_, DataError>((model, findings, pass.finish()?, counts))
    })?;
    drop(design);
    let mut model = model;
    let (rows, left_out, by_label) = counts;
    if left_out > 0 {
        notes.push(format!(
            "{source}: {left_out} rows have labels that the first {size} rows do not have; they are not learned from"
        ));
    }
    target.count(&by_label);
    let held_out = match held_out {
        Some((held, truth)) => measure(&mut model, &held, &truth, &options.plan)?,
        None => None,
    };
    let report = Report {
        rows,
        sampled: (!is_whole).then_some(size as u64),
        learned_from: findings.learned_from,
        classes: target.counts.clone(),
        commonest_error: target.commonest_error(),
        held_out,
        seed,
        findings,
    };
    let label = target.label_part(&options.label);
    Ok((Pipeline { label, recipe, model, report, ragged: options.ragged }, notes))
}

/// Which rows are held out.
enum HeldOut {
    /// These, rising.
    Rows(Vec<u64>),
    /// Those whose place in the unit interval is below this share.
    Below(f64),
}

/// A place in [0, 1) for each row, as good as random (SplitMix64, Steele, Lea and Flood 2014).
fn place_in_unit(seed: u64, row: u64) -> f64 {
    let mut z = seed.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(row).wrapping_add(1);
    z = z.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Points held out, and the class of each; `None` for a label that is no class of the model.
type Truth = (Design, Vec<Option<usize>>);

/// Rows held out, with their classes and numbers.
struct Held {
    design: Design,
    classes: Vec<Option<usize>>,
    rows: Vec<u64>,
}

impl Held {
    fn select(&self, keep: &[usize]) -> Result<Held, DataError> {
        Ok(Held {
            design: self.design.select(keep)?,
            classes: keep.iter().map(|at| self.classes[*at]).collect(),
            rows: keep.iter().map(|at| self.rows[*at]).collect(),
        })
    }
}

/// All rows of a table, in parts: those to learn from are handed out, the others kept.
struct Pass<'p> {
    chunks: &'p mut dyn Iterator<Item = Result<Frame, DataError>>,
    progress: &'p mut dyn FnMut(u64),
    options: &'p FitOptions,
    target: &'p Target,
    recipe: &'p Recipe,
    known: Classes,
    held_out: HeldOut,
    held: Vec<Held>,
    /// Rows that are no longer held out, to be learned from next.
    waiting: Option<Batch>,
    /// Rows read.
    rows: u64,
    /// Rows with labels that are no class.
    left_out: u64,
    by_label: HashMap<usize, usize>,
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
    /// The rows of a chunk that are learned from.
    fn take(&mut self, mut chunk: Frame) -> Result<Batch, DataError> {
        let labels = Labels::take_part(&mut chunk, &self.options.label)?;
        let first = self.rows;
        self.rows += chunk.rows as u64;
        (self.progress)(chunk.rows as u64);
        let class: Vec<Option<usize>> =
            labels.classes.iter().map(|label| self.target.class_of(label, &self.known)).collect();
        let (mut learn, mut classes) = (Vec::new(), Vec::new());
        let mut held = Vec::new();
        for (at, label) in labels.of_row.iter().enumerate() {
            let row = first + at as u64;
            match class[*label] {
                Some(class) => *self.by_label.entry(class).or_default() += 1,
                None => self.left_out += 1,
            }
            if self.is_held_out(row) {
                held.push(at);
            } else if let Some(class) = class[*label] {
                learn.push(at);
                classes.push(class);
            }
        }
        if !held.is_empty() {
            let design = self.recipe.apply(&chunk.select_rows(&held), Unseen::Zero)?;
            let classes = held.iter().map(|at| class[labels.of_row[*at]]).collect();
            let rows = held.iter().map(|at| first + *at as u64).collect();
            self.held.push(Held { design, classes, rows });
            self.thin()?;
        }
        let design = self.recipe.apply_to(chunk.into_rows(&learn), Unseen::Zero)?;
        Ok((design, classes))
    }

    fn is_held_out(&self, row: u64) -> bool {
        match &self.held_out {
            HeldOut::Rows(rows) => rows.binary_search(&row).is_ok(),
            HeldOut::Below(share) => place_in_unit(self.options.plan.seed, row) < *share,
        }
    }

    /// Holds out half as many rows where there are too many.
    fn thin(&mut self) -> Result<(), DataError> {
        let count: usize = self.held.iter().map(|held| held.rows.len()).sum();
        let HeldOut::Below(share) = &mut self.held_out else { return Ok(()) };
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

    /// All rows held out; `None` if there are none.
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

    /// The share below p is p, rows halve when p does, and the kept half is a part of the whole.
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
