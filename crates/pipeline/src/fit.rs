//! Fits a pipeline to a table.

use crate::holdout::{SplitBy, take_with_notes};
use crate::model::Model;
use crate::pipeline::{LabelPart, Pipeline};
use crate::plan::{Method, Plan};
use crate::recipe::{Recipe, RecipeOptions, Unseen};
use crate::repeated_values::note_groups;
use crate::report::{ClassCount, Report};
use crate::validation::{FOLDS, WeightsOf, cross_validated, error, measure, row_hashes};
use halfspaces_frame::{ColumnRule, DataError, Frame, Hints, Labels, Ragged, Values};
use halfspaces_tables::{MIN_TABLE_ROWS, has_many_classes};
use std::collections::{BTreeMap, HashSet};

/// The number of held-out rows below which the error is also measured by cross-validation.
const ENOUGH_HELD_OUT: usize = 300;
/// The maximum number of training rows for which the error is cross-validated.
const MAX_CROSS_VALIDATED: usize = 5000;
/// A note is written if at least this share of the held-out rows have the same values as a training row.
const COPIES: f64 = 0.1;

/// The options of a fit.
///
/// ```
/// use halfspaces_pipeline::{FitOptions, Method, Plan};
/// let options = FitOptions { holdout: Some(0.2), plan: Plan::new(Method::Svm), ..FitOptions::new("class") };
/// assert!(options.check().is_ok());
/// assert!(FitOptions { weights: Some("class".into()), ..FitOptions::new("class") }.check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// The column of labels.
    pub label: String,
    /// The positive class. If there are more than two classes, the positive class is learned against all others.
    pub positive: Option<String>,
    /// The learner.
    pub plan: Plan,
    /// The column that contains a weight for each row: 0, or a number from 1e-100 to 1e100. By default, all rows have
    /// weight 1.
    pub weights: Option<String>,
    /// Whether the rows are reweighted so that each class has the same total weight. The cost of an error on a row is
    /// then inversely proportional to the total weight of its class. The default is false.
    pub balanced: bool,
    /// The share of rows held out to measure the error, in [0, 1). The default share of a random split is described at
    /// [`split`](crate::split). The default share of a split by group or time is a fifth of the rows.
    pub holdout: Option<f64>,
    /// The rule by which held-out rows are chosen. By default, they are chosen at random.
    pub split: SplitBy,
    /// Whether rows without a label are left out. If this is false, which is the default, such rows are an error.
    pub skip_unlabelled: bool,
    /// The options for the treatment of columns.
    pub recipe: RecipeOptions,
    /// The treatment of ragged rows when new tables are read for the model. Pass the value with which this table was
    /// read.
    pub ragged: Ragged,
}

/// The labels of the training rows and of the held-out rows. Only classes with training rows are numbered.
pub(crate) struct Target {
    pub(crate) classes: Vec<String>,
    /// For each class of the table, its index in `classes`, or `None` if the class has no training row.
    numbers: Vec<Option<usize>>,
    labels: Labels,
    pub(crate) against_rest: Option<String>,
    pub(crate) counts: Vec<ClassCount>,
    rule: Option<ColumnRule>,
}

impl FitOptions {
    /// The default options, for labels in the column `label`.
    #[must_use]
    pub fn new(label: impl Into<String>) -> FitOptions {
        FitOptions {
            label: label.into(),
            positive: None,
            plan: Plan::new(Method::Auto),
            weights: None,
            balanced: false,
            holdout: None,
            split: SplitBy::Random,
            skip_unlabelled: false,
            recipe: RecipeOptions::default(),
            ragged: Ragged::default(),
        }
    }

    /// The hints for reading the table to which a model will be fitted. They ensure that labels are not converted: `0`,
    /// `01` and `True` stay unchanged. The cells of dropped columns are not checked. Columns that an option names are
    /// read even if they are the index of a pandas table.
    #[must_use]
    pub fn hints(&self) -> Hints {
        let mut hints = self.recipe.with_texts(Hints::texts([&self.label]));
        let named = self.split.column().into_iter().chain(self.weights.as_deref());
        hints.expected.extend(named.map(str::to_owned));
        let RecipeOptions { drop, text, use_columns, .. } = &self.recipe;
        hints.expected.extend([drop, text, use_columns].into_iter().flatten().cloned());
        hints
    }

    /// Checks that the options are consistent.
    ///
    /// # Errors
    /// Returns an error if a parameter does not apply to the learner or if a column has two roles.
    pub fn check(&self) -> Result<(), DataError> {
        let has_weights = [("--weights", self.weights.is_some()), ("--balanced", self.balanced)];
        for (option, _) in has_weights.into_iter().filter(|(_, given)| *given) {
            self.plan.check_weights(option)?;
        }
        self.plan.check_options()?;
        self.recipe.check_apart(&self.label, "the column of labels")?;
        if let Some(column) = self.split.column() {
            self.recipe.check_apart(column, "the column by which rows are held out")?;
            if column == self.label || self.weights.as_deref() == Some(column) {
                return Err(DataError::user(format!(
                    "the column `{column}` by which rows are held out also has another role; choose another column"
                )));
            }
        }
        if let Some(weights) = &self.weights {
            self.recipe.check_apart(weights, "the column of weights")?;
            if *weights == self.label {
                return Err(DataError::user(format!(
                    "--weights {weights}: it is the column of labels; choose another column"
                )));
            }
        }
        if let Some(share) = self.holdout
            && !(0.0..1.0).contains(&share)
        {
            return Err(DataError::user(format!(
                "--holdout {share}: must be at least 0 and below 1"
            )));
        }
        Ok(())
    }
}

impl Target {
    /// Removes the labels from a table and splits the table into training rows and held-out rows.
    pub(crate) fn take(
        frame: &mut Frame,
        options: &FitOptions,
        split: impl FnOnce(usize) -> (Vec<usize>, Vec<usize>),
    ) -> Result<(Target, Vec<usize>, Vec<usize>), DataError> {
        let rule = frame.record(&options.label).map(|record| record.rule.clone());
        let mut labels = Labels::take(frame, &options.label)?;
        let several = labels.classes.len() > 2;
        if let Some(positive) = &options.positive {
            labels = labels.with_positive(positive)?;
        }
        let (learn_rows, held_rows) = split(frame.rows);
        let mut rows_of = vec![0usize; labels.classes.len()];
        labels.of_row.iter().for_each(|class| rows_of[*class] += 1);
        let count =
            |(name, rows): (&String, &usize)| ClassCount { name: name.clone(), rows: *rows };
        let counts = labels.classes.iter().zip(&rows_of).map(count).collect();
        let (classes, numbers) = classes_of(&labels, &learn_rows, frame, &options.label)?;
        // The name in the table, which can differ from the option: `--positive 1` finds the class `true`.
        let against_rest =
            options.positive.as_ref().filter(|_| several).map(|_| labels.classes[1].clone());
        Ok((Target { classes, numbers, labels, against_rest, counts, rule }, learn_rows, held_rows))
    }

    /// The class number of a row, or `None` if its class has no training row.
    pub(crate) fn class(&self, row: usize) -> Option<usize> {
        self.numbers[self.labels.of_row[row]]
    }

    /// Sets the number of training rows of each class.
    pub(crate) fn count(&mut self, rows: &BTreeMap<usize, usize>) {
        let name = |(class, name): (usize, &String)| ClassCount {
            name: name.clone(),
            rows: rows.get(&class).copied().unwrap_or(0),
        };
        self.counts = self.classes.iter().enumerate().map(name).collect();
    }

    /// The error rate of always predicting the most common class.
    pub(crate) fn commonest_error(&self) -> f64 {
        ClassCount::commonest_error(&self.counts)
    }

    pub(crate) fn label_part(&self, column: &str) -> LabelPart {
        LabelPart {
            column: column.to_owned(),
            classes: self.classes.clone(),
            against_rest: self.against_rest.clone(),
            rule: self.rule.clone(),
        }
    }
}

impl Pipeline {
    /// Fits a pipeline to a table and measures its error on held-out rows. Also returns notes on decisions that could
    /// be wrong.
    ///
    /// # Errors
    /// Returns an error if the options are inconsistent, a column named in the options does not exist, there are too
    /// few rows, or the labels are not classes.
    pub fn fit(
        mut frame: Frame,
        options: &FitOptions,
    ) -> Result<(Pipeline, Vec<String>), DataError> {
        options.check()?;
        let source = frame.source.clone();
        if options.skip_unlabelled {
            frame = labelled(frame, &options.label)?;
        }
        let parts = options.split.rows(&mut frame, options.holdout, options.plan.seed)?;
        let (target, learn_rows, held_rows) =
            Target::take(&mut frame, options, |_| (parts.learn, parts.held_out))?;
        let weights = options.weights.as_deref().map(|name| take_weights(&mut frame, name));
        let weights = Weights { of_row: weights.transpose()?, of_class: None };
        let groups_note = match &options.split {
            SplitBy::Random => note_groups(&frame, &target.labels.of_row),
            _ => None,
        };
        let rows = frame.rows;
        let held_out = frame.select_rows(&held_rows);
        let training = if held_rows.is_empty() { frame } else { frame.into_rows(&learn_rows) };
        let (recipe, mut notes) = Recipe::fit(&training, &options.recipe)?;
        notes.splice(0..0, training.notes.iter().cloned());
        notes.extend(groups_note);
        recipe.check_sizes(&training)?;
        let design = recipe.apply_to(training, Unseen::Error)?;
        check_enough(options, &source, learn_rows.len(), rows)?;
        let groups = fitted_groups(options, &source, &learn_rows, &parts.groups)?;
        let classes: Vec<usize> = learn_rows.iter().filter_map(|row| target.class(*row)).collect();
        let weights =
            if options.balanced { weights.balanced(&learn_rows, &classes)? } else { weights };
        let of_fitted = weights.of(&learn_rows, &classes);
        let groups = groups.as_deref();
        let (rows_learned, class_count) = (classes.len(), target.classes.len());
        let plan = options.plan;
        let is_auto = plan.method == Method::Auto && !recipe.is_sparse();
        if is_auto && has_many_classes(rows_learned, class_count) {
            notes.push(format!(
                "{source}: with {class_count} classes and {rows_learned} rows, the default learner compares discriminants, which learn all \
                 classes together, instead of learning each class against the rest"
            ));
        }
        let fitted = Model::fit(&plan, &design, &classes, of_fitted.as_deref(), groups);
        let (mut model, mut findings) = fitted.map_err(|fault| fault.within(&source))?;
        if let Some(left_out) = &findings.left_out {
            let name = |class: usize| &target.classes[class];
            notes.push(format!(
                "{source}: {} rows labelled `{}` are left out of the fit, because they look like `{}` and the cross-validated \
                 error is smaller without such rows; `audit` lists them",
                left_out.rows,
                name(left_out.label),
                name(left_out.class),
            ));
        }
        if !options.split.is_random() {
            // If the split is by time, the error on the learner's folds does not estimate the error on later rows. If
            // there are few groups, the error on the folds is too small, because the candidates were chosen by this
            // error.
            findings.cross_validated = None;
        }
        let is_unsure = held_rows.len() < ENOUGH_HELD_OUT && classes.len() <= MAX_CROSS_VALIDATED;
        let is_by_time = matches!(options.split, SplitBy::Time(_));
        let mut is_calibrated = false;
        if findings.cross_validated.is_none() && is_unsure && !is_by_time {
            let weights = of_fitted.as_deref();
            let values = cross_validated(&plan, &design, &classes, weights, groups)?;
            if let Some(values) = values {
                findings.cross_validated = Some(error(&values, &classes, weights));
                is_calibrated = model.calibrate(&values, &classes, weights)?;
            } else if let SplitBy::Group(column) = &options.split {
                notes.push(format!(
                    "{source}: the error is not cross-validated, because fewer than {FOLDS} groups of column \
                    `{column}` are left for fitting, or because one of {FOLDS} folds of groups contains all rows of a \
                    class"
                ));
            }
        }
        let learned: HashSet<u64> =
            if held_rows.is_empty() { HashSet::new() } else { row_hashes(&design).collect() };
        drop(design);
        let truth: Vec<Option<usize>> = held_rows.iter().map(|row| target.class(*row)).collect();
        let held_out = match truth.is_empty() {
            true => None,
            false => {
                let design = recipe.apply_to(held_out, Unseen::Zero)?;
                let copies = row_hashes(&design).filter(|hash| learned.contains(hash)).count();
                if copies as f64 >= COPIES * truth.len() as f64 {
                    let advice = match &options.split {
                        SplitBy::Group(_) => "",
                        _ => "; if rows belong to groups, hold out whole groups (--group)",
                    };
                    notes.push(format!(
                        "{source}: {copies} of {} held-out rows have the same values as a training row, so the error on new rows \
                        can be larger{advice}",
                        truth.len()
                    ));
                }
                let weights_of = |of: &[usize], classes: &[usize]| {
                    let rows: Vec<usize> = of.iter().map(|place| held_rows[*place]).collect();
                    weights.of(&rows, classes)
                };
                let weights_of: Option<WeightsOf<'_>> =
                    if is_calibrated { None } else { Some(&weights_of) };
                let measured = measure(&mut model, &design, &truth, &plan, weights_of)
                    .map_err(|fault| fault.within(&source))?;
                notes.extend(measured.note(&source, &target.classes));
                Some(measured.errors)
            }
        };
        let report = Report {
            rows: rows as u64,
            sampled: None,
            learned_from: findings.learned_from,
            classes: target.counts.clone(),
            commonest_error: target.commonest_error(),
            split: options.split.clone(),
            held_out,
            seed: options.plan.seed,
            findings,
        };
        let label = target.label_part(&options.label);
        Ok((Pipeline { label, recipe, model, report, ragged: options.ragged }, notes))
    }
}

/// Keeps the rows with a label and adds a note that states the number of the other rows.
fn labelled(mut frame: Frame, label: &str) -> Result<Frame, DataError> {
    let values = frame.column(label).ok_or_else(|| frame.no_column(label))?;
    let rows: Vec<usize> = (0..frame.rows).filter(|row| !values.is_missing(*row)).collect();
    drop(values);
    let without = frame.rows - rows.len();
    if without > 0 {
        let all = frame.rows;
        frame.notes.push(format!(
            "{}, column `{label}`: {without} of {all} rows have no label and are left out",
            frame.source
        ));
    }
    Ok(frame.into_rows(&rows))
}

pub(crate) fn check_enough(
    options: &FitOptions,
    source: &str,
    rows: usize,
    all: usize,
) -> Result<(), DataError> {
    if options.plan.method == Method::Auto && rows < MIN_TABLE_ROWS {
        let advice = match all < MIN_TABLE_ROWS {
            true => "add rows, or use --learner logistic",
            false => "hold out fewer rows (--holdout 0 holds out none)",
        };
        return Err(DataError::user(format!(
            "{source}: {rows} rows are too few to learn from: auto needs at least {MIN_TABLE_ROWS}; {advice}"
        )));
    }
    Ok(())
}

/// The group of each training row, or `None` if rows are not held out by group. `group_of` contains the groups of all
/// rows.
fn fitted_groups(
    options: &FitOptions,
    source: &str,
    rows: &[usize],
    group_of: &[usize],
) -> Result<Option<Vec<usize>>, DataError> {
    let SplitBy::Group(column) = &options.split else { return Ok(None) };
    let groups: Vec<usize> = rows.iter().map(|row| group_of[*row]).collect();
    let is_one = groups.iter().all(|group| *group == groups[0]);
    if options.plan.method == Method::Auto && is_one {
        return Err(DataError::user(format!(
            "{source}, column `{column}`: only one group is left to learn from, but auto must compare candidates on groups \
             that they were not fitted to; hold out no rows (--holdout 0), choose a column with more groups, or use --learner \
             logistic"
        )));
    }
    Ok(Some(groups))
}

/// The classes of the training rows. Also returns, for each class of the file, its index among these classes, or `None`
/// if the class has no training row.
fn classes_of(
    labels: &Labels,
    rows: &[usize],
    frame: &mut Frame,
    column: &str,
) -> Result<(Vec<String>, Vec<Option<usize>>), DataError> {
    let mut present = vec![false; labels.classes.len()];
    rows.iter().for_each(|row| present[labels.of_row[*row]] = true);
    let mut names = Vec::new();
    let mut numbers = Vec::new();
    for (name, present) in labels.classes.iter().zip(present) {
        numbers.push(present.then_some(names.len()));
        if present {
            names.push(name.clone());
        } else {
            frame.notes.push(format!(
                "all rows labelled `{name}` are held out, so the model does not know the class; try --holdout 0"
            ));
        }
    }
    if names.len() < 2 {
        let only = names.first().map_or("", String::as_str);
        let (source, learned) = (&frame.source, rows.len());
        return Err(DataError::user(if labels.classes.len() < 2 {
            format!(
                "{source}, column `{column}`: every row has the same label, `{only}`; two different labels are needed"
            )
        } else {
            format!(
                "{source}, column `{column}`: the {learned} rows that are not held out all have the same label, `{only}`; hold out \
                 fewer rows (--holdout)"
            )
        }));
    }
    Ok((names, numbers))
}

/// The weights of the rows of a table. The weight of a row is its value in the column of weights times a factor for its
/// class.
struct Weights {
    of_row: Option<Vec<f64>>,
    of_class: Option<Vec<f64>>,
}

impl Weights {
    /// Adds a factor for each class, so that all classes have the same total weight among the given rows. The mean
    /// weight does not change.
    fn balanced(self, rows: &[usize], classes: &[usize]) -> Result<Weights, DataError> {
        let count = classes.iter().max().map_or(0, |last| last + 1);
        let mut totals = vec![0.0; count];
        for (row, class) in rows.iter().zip(classes) {
            totals[*class] += self.of_row.as_ref().map_or(1.0, |weights| weights[*row]);
        }
        if totals.contains(&0.0) {
            return Err(DataError::user(
                "--balanced: every row of a class has weight 0; give one of them a positive weight",
            ));
        }
        let share = totals.iter().sum::<f64>() / count as f64;
        let of_class = totals.into_iter().map(|total| share / total).collect();
        Ok(Weights { of_class: Some(of_class), ..self })
    }

    /// The weights of the given rows with the given classes, or `None` if all weights are 1.
    fn of(&self, rows: &[usize], classes: &[usize]) -> Option<Vec<f64>> {
        let Weights { of_row, of_class } = self;
        (of_row.is_some() || of_class.is_some()).then(|| {
            let of_row = |row: usize| of_row.as_ref().map_or(1.0, |weights| weights[row]);
            let of_class = |class: usize| of_class.as_ref().map_or(1.0, |weights| weights[class]);
            rows.iter().zip(classes).map(|(row, class)| of_row(*row) * of_class(*class)).collect()
        })
    }
}

fn take_weights(frame: &mut Frame, name: &str) -> Result<Vec<f64>, DataError> {
    let column = take_with_notes(frame, name)?;
    let Values::Numbers(weights) = column.values else {
        let source = &frame.source;
        return Err(DataError::user(format!(
            "{source}: the weights in column `{name}` are not numbers"
        )));
    };
    let weights = weights.values().to_vec();
    // Sums, squares and ratios of such weights are finite.
    let is_allowed = |weight: &f64| *weight == 0.0 || (1e-100..=1e100).contains(weight);
    match weights.iter().position(|weight| !is_allowed(weight)) {
        Some(row) => Err(DataError::user(format!(
            "{}, column `{name}`: a weight must be a number that is at least 0{}",
            frame.place(row),
            match weights[row] {
                weight if weight > 0.0 => format!(
                    " and, unless it is 0, from 1e-100 to 1e100, but this one is {weight:e}; multiply the column by a \
                     constant, or use weights that differ less"
                ),
                _ => String::new(),
            }
        ))),
        None => Ok(weights),
    }
}
