//! Fitting a pipeline to a table that is read in parts.

use crate::fit::{FitOptions, Target, check_enough, measure};
use crate::model::{Batch, Model};
use crate::pipeline::Pipeline;
use crate::recipe::{Recipe, Unseen};
use crate::report::Report;
use halfspaces_frame::{DataError, Frame, Labels, LargeTable, find_class};
use halfspaces_linalg::{RngStream, rng_for};
use std::collections::BTreeSet;

/// Rows on which columns, classes and error are measured.
const SAMPLE: usize = 60_000;
/// Rows read at a time.
const CHUNK: usize = 4096;

impl Pipeline {
    /// Fits a pipeline to a table that is read in parts. The perceptron learns from every row, massart from as many as it
    /// needs, the others from a random sample of 60 000. `progress` is called with numbers of rows that were read.
    ///
    /// # Errors
    /// As [`Pipeline::fit`].
    pub fn fit_large(
        table: &LargeTable,
        options: &FitOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Pipeline, Vec<String>), DataError> {
        options.check()?;
        let rows = table.count()?;
        let mut rng = rng_for(RngStream::Caller, options.plan.seed);
        let size = rows.min(SAMPLE as u64) as usize;
        let drawn = halfspaces_linalg::rand::seq::index::sample(&mut rng, rows as usize, size);
        let mut sampled: Vec<u64> = drawn.into_iter().map(|row| row as u64).collect();
        sampled.sort_unstable();
        let mut frame = table.rows(&sampled)?;
        let source = frame.source.clone();
        let (target, learn_rows, held_rows) = Target::take(&mut frame, options)?;
        let held_out = frame.select_rows(&held_rows);
        let training = frame.into_rows(&learn_rows);
        let (recipe, mut notes) = Recipe::fit(&training, &options.recipe)?;
        notes.splice(0..0, training.notes.iter().cloned());
        let design = recipe.apply(&training, Unseen::Error)?;
        drop(training);
        check_enough(options, &source, learn_rows.len())?;
        let classes: Vec<usize> = learn_rows.iter().filter_map(|row| target.class(*row)).collect();
        let fitted = if Model::streams(options.plan.method) {
            let held_out: BTreeSet<u64> = held_rows.iter().map(|row| sampled[*row]).collect();
            let hints = recipe.hints(std::slice::from_ref(&options.label));
            let mut left_out = 0;
            let fitted = table.in_chunks(&hints, CHUNK, |chunks| {
                let mut first = 0;
                let mut batches = chunks.map(|chunk| {
                    let chunk = chunk?;
                    let number = first;
                    first += chunk.rows as u64;
                    progress(chunk.rows as u64);
                    let is_held_out = |row: usize| held_out.contains(&(number + row as u64));
                    batch(chunk, options, &target, &recipe, is_held_out, &mut left_out)
                });
                Model::fit_stream(&options.plan, &design, &classes, &mut batches)
            });
            if left_out > 0 {
                notes.push(format!(
                    "{source}: {left_out} rows have labels that the sample of {size} rows does not have; they are not learned from"
                ));
            }
            fitted.map(|(model, findings, _)| (model, findings))
        } else {
            Model::fit(&options.plan, &design, &classes, None)
        };
        let (mut model, findings) = fitted.map_err(|fault| fault.within(&source))?;
        drop(design);
        let truth: Vec<Option<usize>> = held_rows.iter().map(|row| target.class(*row)).collect();
        let held_out = measure(&mut model, &recipe, &held_out, &truth, &options.plan)?;
        let report = Report {
            rows,
            sampled: Some(size as u64),
            learned_from: findings.learned_from,
            classes: target.counts.clone(),
            commonest_error: target.commonest_error(),
            held_out,
            seed: options.plan.seed,
            findings,
        };
        let label = target.label_part(&options.label);
        Ok((Pipeline { label, recipe, model, report }, notes))
    }
}

/// The rows of a chunk that are learned from, as points and classes. Rows with a label that the sample does not have are
/// counted in `left_out`.
fn batch(
    mut chunk: Frame,
    options: &FitOptions,
    target: &Target,
    recipe: &Recipe,
    is_held_out: impl Fn(usize) -> bool,
    left_out: &mut u64,
) -> Result<Batch, DataError> {
    let labels = Labels::take_part(&mut chunk, &options.label)?;
    let class = |label: &String| match &target.against_rest {
        Some(positive) => {
            Some(usize::from(find_class(label, std::slice::from_ref(positive)).is_some()))
        }
        None => find_class(label, &target.classes),
    };
    let class: Vec<Option<usize>> = labels.classes.iter().map(class).collect();
    let (mut rows, mut classes) = (Vec::new(), Vec::new());
    for (row, label) in labels.of_row.iter().enumerate() {
        match class[*label] {
            None => *left_out += 1,
            Some(_) if is_held_out(row) => {}
            Some(class) => {
                rows.push(row);
                classes.push(class);
            }
        }
    }
    let design = recipe.apply(&chunk.into_rows(&rows), Unseen::Zero)?;
    Ok((design, classes))
}
