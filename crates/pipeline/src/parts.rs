//! Fits a pipeline to a table whose rows are divided into parts that several processes hold.
//!
//! The columns and the classes are determined from the first rows ([`PartsPlan::new`]), as in
//! [`Pipeline::fit_large`]. The plan is then sent to the processes. A first pass counts the rows of each part and
//! collects the notes on later rows ([`PartsPlan::survey`]). The later passes turn parts into points
//! ([`PartsPlan::points`]), to which a learner is fitted that works by blocks of rows. Which rows are held out depends
//! only on their numbers, so no result depends on the division into parts.

use crate::design::Design;
use crate::fit::FitOptions;
use crate::holdout::{SplitBy, split};
use crate::large::{FirstRows, MAX_HELD_OUT, SHARE, place_in_unit};
use crate::late::LateValues;
use crate::model::{Model, lead};
use crate::pipeline::{LabelPart, Pipeline};
use crate::plan::Findings;
use crate::recipe::{Recipe, Unseen};
use crate::report::{ClassCount, Report};
use crate::tally::Tally;
use crate::validation::measure_values;
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_frame::{Classes, DataError, Frame, Hints, Labels, Ragged};
use halfspaces_linalg::{InputError, Points, Threads, deciding_class, zeros};
use halfspaces_pac::LogisticFit;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The maximum number of times that the share of held-out rows is halved.
const MAX_HALVINGS: usize = 48;

/// The rule that assigns each row to a group, by which the rows are selected for a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Grouping {
    /// The rows with these numbers, which are in ascending order, are in group 1, the others in group 0.
    Rows(Vec<u64>),
    /// The group of a row is the number of shares `share`, `share`/2, `share`/4, .. that exceed the pseudorandom number
    /// of the row. The first `most` of these shares count.
    Shares { share: f64, most: usize },
    /// A pseudorandom fold.
    Folds(usize),
}

/// The recipe, the classes and the rule for held-out rows, which are determined from the first rows of a table. Other
/// processes apply the plan to the parts of the table.
///
/// ```
/// use halfspaces_frame::{Column, DataError, Frame, Hints, Values};
/// use halfspaces_pipeline::{FitOptions, PartsPlan};
/// let column = |name: &str, values| Column { name: name.into(), values };
/// let read = |_: &Hints| {
///     let size = Values::numbers((0..60).map(f64::from).collect());
///     let kind = Values::texts((0..60).map(|i| u32::from(i >= 30)).collect(), &["small", "large"]);
///     Ok::<Frame, DataError>(Frame::new("t", vec![column("size", size), column("kind", kind)]))
/// };
/// let plan = PartsPlan::new(100, 60, None, &FitOptions::new("kind"), read)?;
/// let survey = plan.survey(read(&plan.hints())?, 0)?;
/// let (points, keys) = plan.points(read(&plan.hints())?, 0, &plan.training(&survey))?;
/// assert_eq!((points.dim(), points.len(), keys.len()), (1, 57, 57));
/// # use halfspaces_linalg::PointSet;
/// # Ok::<(), DataError>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PartsPlan {
    label: LabelPart,
    recipe: Recipe,
    scale: ZScore,
    grouping: Grouping,
    seed: u64,
    late: LateValues,
    /// The number of first rows.
    size: usize,
    is_whole: bool,
    source: String,
    notes: Vec<String>,
    ragged: Ragged,
}

/// The counts of some consecutive rows, and the facts about them that notes need.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Survey {
    tally: Tally,
    /// For each group, the number of rows of each class; the last number counts the rows with an unknown label.
    groups: Vec<Vec<u64>>,
}

impl Survey {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.tally.rows
    }

    /// The number of rows with a known label in the groups that `keep` selects.
    #[must_use]
    pub fn known(&self, keep: &[bool]) -> u64 {
        let kept = self.groups.iter().zip(keep).filter(|(_, keep)| **keep);
        kept.map(|(rows, _)| rows[..rows.len() - 1].iter().sum::<u64>()).sum()
    }

    /// The numbers of rows of each class in the groups that `keep` selects.
    fn by_class(&self, keep: &[bool]) -> Vec<u64> {
        let mut sums = vec![0; self.groups[0].len() - 1];
        for (rows, _) in self.groups.iter().zip(keep).filter(|(_, keep)| **keep) {
            sums.iter_mut().zip(rows).for_each(|(sum, rows)| *sum += rows);
        }
        sums
    }

    /// Adds the counts of the rows that follow.
    pub fn merge(&mut self, later: Survey) {
        self.tally.merge(later.tally);
        for (rows, more) in self.groups.iter_mut().zip(later.groups) {
            rows.iter_mut().zip(more).for_each(|(rows, more)| *rows += more);
        }
    }
}

impl PartsPlan {
    /// Determines the columns and the classes from the first `size` rows of a table of `rows` rows. `read` reads these
    /// rows with the given hints. With `folds`, no row is held out, and rows are assigned to this number of folds.
    ///
    /// # Errors
    /// Returns an error if `size` is 0, the options do not fit this method, `read` fails, the recipe has a column of
    /// text, or for the reasons of [`Pipeline::fit`].
    pub fn new(
        size: usize,
        rows: u64,
        folds: Option<usize>,
        options: &FitOptions,
        read: impl Fn(&Hints) -> Result<Frame, DataError>,
    ) -> Result<PartsPlan, DataError> {
        options.check()?;
        let head = read(&options.hints())?;
        let source = head.source.clone();
        let is_whole = rows < size as u64;
        let (size, seed) = (head.rows, options.plan.seed);
        let share = options.holdout.unwrap_or(SHARE);
        let first = FirstRows::learn(head, options, |rows| match folds {
            Some(_) => ((0..rows).collect(), Vec::new()),
            None if is_whole => split(rows, options.holdout, seed),
            None => (0..rows).partition(|row| place_in_unit(seed, *row as u64) >= share),
        })?;
        let FirstRows { target, held_rows, recipe, records, design, notes, .. } = first;
        let Design::Dense(points) = design else {
            let texts = recipe.text_columns();
            let name = texts.first().copied().unwrap_or_default();
            return Err(DataError::user(format!(
                "{source}, column `{name}`: a table in parts must have dense coordinates, but those of this column are sparse \
                 because it is a text; leave it out with --drop '{name}'"
            )));
        };
        let grouping = match folds {
            Some(folds) => {
                let in_range = (2..=1000).contains(&folds);
                InputError::check_parameter("folds", folds as f64, in_range, "from 2 to 1000")?;
                Grouping::Folds(folds)
            }
            None if is_whole => {
                Grouping::Rows(held_rows.into_iter().map(|row| row as u64).collect())
            }
            None => {
                let most = if options.holdout.is_some() { 1 } else { MAX_HALVINGS };
                Grouping::Shares { share, most }
            }
        };
        let label = target.label_part(&options.label);
        let mut late = LateValues::new(&recipe, &records, &options.recipe.drop, size);
        let mut again = read(&label.hints(&recipe))?;
        Labels::take_part(&mut again, &label.column)?;
        late.add(&again);
        let (scale, ragged) = (ZScore::fit(&points)?, options.ragged);
        Ok(PartsPlan {
            label,
            recipe,
            scale,
            grouping,
            seed,
            late,
            size,
            is_whole,
            source,
            notes,
            ragged,
        })
    }

    /// The hints with which a part must be read.
    #[must_use]
    pub fn hints(&self) -> Hints {
        self.label.hints(&self.recipe)
    }

    /// The names of the classes.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.label.classes
    }

    /// The number of coordinates of a point.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.recipe.dim()
    }

    /// The columns that become coordinates, and the column of labels.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        let used = self.recipe.places().into_iter().map(|(name, _)| name);
        used.chain([self.label.column.clone()]).collect()
    }

    fn group_count(&self) -> usize {
        match &self.grouping {
            Grouping::Rows(_) => 2,
            Grouping::Shares { most, .. } => most + 1,
            Grouping::Folds(folds) => *folds,
        }
    }

    fn group(&self, row: u64) -> usize {
        match &self.grouping {
            Grouping::Rows(rows) => usize::from(rows.binary_search(&row).is_ok()),
            Grouping::Shares { share, most } => {
                let (place, mut share) = (place_in_unit(self.seed, row), *share);
                (0..*most)
                    .take_while(|_| {
                        let is_below = place < share;
                        share /= 2.0;
                        is_below
                    })
                    .count()
            }
            // The product can round up to the number of folds.
            Grouping::Folds(folds) => {
                let fold = place_in_unit(self.seed, row) * *folds as f64;
                (fold as usize).min(folds - 1)
            }
        }
    }

    /// The groups of the training rows of a fit, given the counts of all rows. The other groups are held out. As in
    /// [`Pipeline::fit_large`], the default share of held-out rows is halved until at most 40 000 rows are held out.
    #[must_use]
    pub fn training(&self, all: &Survey) -> Vec<bool> {
        let groups = self.group_count();
        let mut first_held = 1;
        if let Grouping::Shares { most, .. } = self.grouping
            && most > 1
        {
            let rows = |from: usize| all.groups[from..].iter().flatten().sum::<u64>();
            while first_held + 1 < groups && rows(first_held) > MAX_HELD_OUT as u64 {
                first_held += 1;
            }
        }
        (0..groups).map(|group| group < first_held).collect()
    }

    /// Counts the rows of a part, whose first row is row `first` of the table.
    ///
    /// # Errors
    /// Returns an error if a label is missing, a column does not exist, or a cell does not match the recipe.
    pub fn survey(&self, mut part: Frame, first: u64) -> Result<Survey, DataError> {
        let classes = self.take_classes(&mut part)?;
        self.recipe.check_sizes(&part)?;
        let mut groups = vec![vec![0; self.label.classes.len() + 1]; self.group_count()];
        for (row, class) in (first..).zip(&classes) {
            groups[self.group(row)][class.unwrap_or(self.label.classes.len())] += 1;
        }
        let mut tally = Tally::new(self.late.at(first as usize));
        tally.add(&part, &self.recipe, &classes)?;
        Ok(Survey { tally, groups })
    }

    fn take_classes(&self, part: &mut Frame) -> Result<Vec<Option<usize>>, DataError> {
        let labels = Labels::take_part(part, &self.label.column)?;
        let known = Classes::new(self.label.classes.iter().cloned());
        Ok(self.label.classes_of(&labels, &known))
    }

    /// The points of the rows of a part whose group `keep` selects, without standardisation, and the indices of these
    /// rows in the part.
    fn design(
        &self,
        part: Frame,
        first: u64,
        keep: impl Fn(usize, usize) -> bool,
    ) -> Result<(Design, Vec<usize>), DataError> {
        let rows: Vec<usize> =
            (0..part.rows).filter(|at| keep(*at, self.group(first + *at as u64))).collect();
        let all = part.rows;
        let design = self.recipe.apply_to(part, Unseen::Zero)?;
        Ok((if rows.len() == all { design } else { design.select(&rows)? }, rows))
    }

    /// The standardised points of the rows of a part that have a known label and whose group `keep` selects, and their
    /// classes and groups.
    ///
    /// # Errors
    /// Returns the errors of [`PartsPlan::survey`].
    pub fn points(
        &self,
        mut part: Frame,
        first: u64,
        keep: &[bool],
    ) -> Result<(Points, Vec<(usize, usize)>), DataError> {
        let classes = self.take_classes(&mut part)?;
        let (design, rows) =
            self.design(part, first, |at, group| classes[at].is_some() && keep[group])?;
        let points = self.scale.apply(&design.into_dense()?)?;
        let keys =
            rows.into_iter().filter_map(|at| Some((classes[at]?, self.group(first + at as u64))));
        Ok((points, keys.collect()))
    }

    /// The model of logistic fits to all points: one fit for two classes, otherwise one for each class.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`] if the fits have different numbers of coordinates.
    pub fn model(&self, fits: &[LogisticFit]) -> Result<(Model, Findings), DataError> {
        Ok(Model::of_logistic(self.scale.clone(), fits)?)
    }

    /// The decision values of a model for the rows of a part whose group `keep` does not select, and their classes. An
    /// unknown label is `None`.
    ///
    /// # Errors
    /// Returns the errors of [`PartsPlan::survey`] and of [`Model::values`].
    #[expect(clippy::type_complexity, reason = "one value for each row and its class")]
    pub fn held_out(
        &self,
        model: &Model,
        mut part: Frame,
        first: u64,
        keep: &[bool],
    ) -> Result<(Vec<Vec<f64>>, Vec<Option<usize>>), DataError> {
        let classes = self.take_classes(&mut part)?;
        let (design, rows) = self.design(part, first, |_, group| !keep[group])?;
        let values = model.values(&design, Threads::ONE)?;
        Ok((values, rows.into_iter().map(|at| classes[at]).collect()))
    }

    /// The number of columns of the rows that [`PartsPlan::judged`] returns.
    pub const JUDGED: usize = 5;

    /// Applies the model of each fold, which was fitted to the other folds, to the rows of the fold that have a known
    /// label. For each row, returns the number of the row, its class, its fold, the predicted class, and how far the
    /// value of this class is from that of the next one, as input of an [`AuditPass`](crate::AuditPass).
    ///
    /// # Errors
    /// Returns the errors of [`PartsPlan::survey`] and of [`Model::values`].
    pub fn judged(
        &self,
        models: &[Model],
        mut part: Frame,
        first: u64,
    ) -> Result<Points, DataError> {
        let classes = self.take_classes(&mut part)?;
        let (design, rows) = self.design(part, first, |at, _| classes[at].is_some())?;
        let fold_of: Vec<usize> = rows.iter().map(|at| self.group(first + *at as u64)).collect();
        let mut judged = zeros(rows.len(), PartsPlan::JUDGED)?;
        for (fold, model) in models.iter().enumerate() {
            let of_fold: Vec<usize> = (0..rows.len()).filter(|at| fold_of[*at] == fold).collect();
            let values = model.values(&design.select(&of_fold)?, Threads::ONE)?;
            for (at, values) in of_fold.into_iter().zip(values) {
                let row = (first + rows[at] as u64) as f64;
                let class = classes[rows[at]].unwrap_or_default();
                let found = [class, fold, deciding_class(&values)].map(|number| number as f64);
                let all = [row, found[0], found[1], found[2], lead(&values).abs()];
                judged[at * PartsPlan::JUDGED..][..PartsPlan::JUDGED].copy_from_slice(&all);
            }
        }
        Ok(Points::new(judged, PartsPlan::JUDGED)?)
    }

    /// Checks that each class has a row among the rows that `keep` selects. `remedy` says what to do otherwise.
    ///
    /// # Errors
    /// Returns an error that names the first class without a row.
    pub fn check_classes(
        &self,
        all: &Survey,
        keep: &[bool],
        remedy: &str,
    ) -> Result<(), DataError> {
        let rows = all.by_class(keep);
        match rows.iter().position(|rows| *rows == 0) {
            None => Ok(()),
            Some(class) => Err(DataError::user(format!(
                "{}, column `{}`: no row labelled `{}` is left to learn from; {remedy}",
                self.source, self.label.column, self.label.classes[class]
            ))),
        }
    }

    /// The notes on the first rows and on all rows.
    #[must_use]
    pub fn notes(&self, all: &Survey, advice: &str) -> Vec<String> {
        let mut notes = self.notes.clone();
        all.tally.clone().add_notes(&self.source, self.size, advice, &mut notes);
        notes
    }

    /// The folds of an audit; each is given by the groups of the other rows.
    #[must_use]
    pub fn other_folds(&self) -> Vec<Vec<bool>> {
        let folds: Range<usize> = 0..self.group_count();
        folds.clone().map(|fold| folds.clone().map(|other| other != fold).collect()).collect()
    }

    /// Completes the pipeline: measures the error of the model on held-out rows, given by their decision values and
    /// their classes in the order of the rows, and calibrates the model. `keep` are the groups of the training rows.
    ///
    /// # Errors
    /// Returns an error if the values do not match the model.
    pub fn finish(
        self,
        all: &Survey,
        keep: &[bool],
        (mut model, mut findings): (Model, Findings),
        (values, truth): (Vec<Vec<f64>>, &[Option<usize>]),
        advice: &str,
    ) -> Result<(Pipeline, Vec<String>), DataError> {
        let mut notes = self.notes(all, advice);
        let held_out = match truth.is_empty() {
            true => None,
            false => {
                let measured = measure_values(&mut model, values, truth, Some(&|_, _| None))?;
                notes.extend(measured.note(&self.source, &self.label.classes));
                Some(measured.errors)
            }
        };
        findings.learned_from = all.known(keep);
        let rows_of = |class| all.tally.by_class.get(&class).copied().unwrap_or(0);
        let names = self.label.classes.iter().enumerate();
        let classes: Vec<ClassCount> = names
            .map(|(class, name)| ClassCount { name: name.clone(), rows: rows_of(class) })
            .collect();
        let report = Report {
            rows: all.rows(),
            sampled: (!self.is_whole).then_some(self.size as u64),
            learned_from: findings.learned_from,
            commonest_error: ClassCount::commonest_error(&classes),
            classes,
            split: SplitBy::Random,
            held_out,
            seed: self.seed,
            findings,
        };
        let PartsPlan { label, recipe, ragged, .. } = self;
        Ok((Pipeline { label, recipe, model, report, ragged }, notes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_frame::{Column, ReadOptions, Values, read_bytes};
    use halfspaces_linalg::PointSet;

    const ROWS: usize = 300;

    /// The rows `rows` of a table whose later rows have a new category, a new label, a gap, and another value in a
    /// constant column.
    fn part(rows: Range<usize>, hints: &Hints) -> Result<Frame, DataError> {
        let mut text = "size,colour,one,gap,kind\n".to_owned();
        for row in rows {
            let colour = if row == 210 { "grey" } else { ["red", "blue"][row % 2] };
            let kind = match row * 37 % 101 {
                _ if row == 250 => "maybe",
                low if low < 50 => "no",
                _ => "yes",
            };
            let gap = if row == 220 || row == 290 { String::new() } else { format!("{}", row % 7) };
            let one = 1 + usize::from(row == 230);
            text += &format!("{},{colour},{one},{gap},{kind}\n", row * 37 % 101);
        }
        read_bytes("t", text.into_bytes(), &ReadOptions::default(), hints)
    }

    fn plan(size: usize, folds: Option<usize>, holdout: Option<f64>) -> PartsPlan {
        let options = FitOptions { holdout, ..FitOptions::new("kind") };
        PartsPlan::new(size, ROWS as u64, folds, &options, |hints| part(0..size.min(ROWS), hints))
            .unwrap()
    }

    fn survey(plan: &PartsPlan, cuts: &[usize]) -> Survey {
        let survey = |cut: &[usize]| {
            let frame = part(cut[0]..cut[1], &plan.hints()).unwrap();
            plan.survey(frame, cut[0] as u64).unwrap()
        };
        // As between processes, plans and surveys are sent as text.
        let sent = |survey: Survey| {
            serde_json::from_str::<Survey>(&serde_json::to_string(&survey).unwrap()).unwrap()
        };
        cuts.windows(2)
            .map(survey)
            .map(sent)
            .reduce(|mut all, part| {
                all.merge(part);
                all
            })
            .unwrap()
    }

    #[test]
    fn counts_and_notes_do_not_depend_on_the_parts() {
        let plan = plan(200, None, Some(0.1));
        let text = serde_json::to_string(&plan).unwrap();
        let plan: PartsPlan = serde_json::from_str(&text).unwrap();
        // The numbers of lines in the notes are those of the part, so the parts begin before the late values.
        let whole = survey(&plan, &[0, ROWS]);
        let keep = plan.training(&whole);
        assert_eq!((whole.rows(), keep.as_slice()), (300, &[true, false][..]));
        for cuts in [vec![0, 150, 300], vec![0, 1, 199, 205, 300], vec![0, 200, 300]] {
            let parts = survey(&plan, &cuts);
            assert_eq!(parts.groups, whole.groups);
            assert_eq!(parts.tally.by_class, whole.tally.by_class);
            let counts = |survey: &Survey| {
                let notes = plan.notes(survey, "shuffle");
                let place =
                    |note: &String| note.split_once("column").map(|(_, end)| end.to_owned());
                let texts: Vec<_> =
                    notes.iter().map(|note| place(note).unwrap_or(note.clone())).collect();
                texts
            };
            assert_eq!(counts(&parts), counts(&whole), "{cuts:?}");
        }
        let notes = plan.notes(&whole, "shuffle");
        let said = |text: &str| notes.iter().any(|note| note.contains(text));
        assert!(said("line 232, column `one`: its value differs"), "{notes:?}");
        assert!(said("column `gap`: its values are missing in 2 rows"), "{notes:?}");
        assert!(said("column `colour`: 1 rows have categories"), "{notes:?}");
        assert!(said("1 rows have labels that do not occur in the first 200 rows"), "{notes:?}");
        // The late values are not late if the first rows contain them.
        assert!(
            !survey_notes(&self::plan(300, None, Some(0.0)))
                .iter()
                .any(|note| note.contains("first"))
        );
    }

    fn survey_notes(plan: &PartsPlan) -> Vec<String> {
        plan.notes(&survey(plan, &[0, ROWS]), "shuffle")
    }

    #[test]
    fn each_row_with_a_known_label_is_a_training_row_or_is_held_out() {
        for (size, holdout) in [(200, Some(0.1)), (200, None), (301, None), (200, Some(0.0))] {
            let plan = plan(size, None, holdout);
            let all = survey(&plan, &[0, 99, ROWS]);
            let keep = plan.training(&all);
            let (mut learned, mut held) = (0, 0);
            for rows in [0..120, 120..ROWS] {
                let frame = || part(rows.clone(), &plan.hints()).unwrap();
                let (points, keys) = plan.points(frame(), rows.start as u64, &keep).unwrap();
                let classes = plan.classes().len();
                assert!(keys.iter().all(|(class, group)| *class < classes && keep[*group]));
                assert_eq!((points.len(), points.dim()), (keys.len(), plan.dim()));
                learned += keys.len();
                let fits = vec![constant(&plan); if classes == 2 { 1 } else { classes }];
                let (model, _) = plan.model(&fits).unwrap();
                let (values, truth) =
                    plan.held_out(&model, frame(), rows.start as u64, &keep).unwrap();
                assert_eq!(values.len(), truth.len());
                held += truth.len();
            }
            assert_eq!(learned as u64, all.known(&keep));
            let unknown = usize::from(size < 250);
            assert!(learned + held == ROWS || learned + held + unknown == ROWS, "{learned} {held}");
            match (size, holdout) {
                (301, None) => assert_eq!(held, 15),
                (_, Some(0.0)) => assert_eq!(held, 0),
                _ => assert!((10..60).contains(&held), "{held}"),
            }
        }
    }

    /// A fit to two points of the plan's dimension.
    fn constant(plan: &PartsPlan) -> LogisticFit {
        use halfspaces_linalg::{FitSample, Label, Params};
        let rows = [vec![-1.0; plan.dim()], vec![1.0; plan.dim()]];
        let learner = halfspaces_pac::LogisticRegression::params().check().unwrap();
        let points = Points::from_rows(&rows).unwrap();
        learner.fit(&points, &[Label::Negative, Label::Positive]).unwrap()
    }

    /// The default share is halved until at most 40 000 rows are held out; a given share is kept.
    #[test]
    fn the_default_share_is_halved_for_long_tables() {
        let plan = plan(200, None, None);
        let empty = survey(&plan, &[0, ROWS]);
        let held_share = |rows: u64| {
            let mut all = empty.clone();
            for (group, counts) in all.groups.iter_mut().enumerate() {
                // Half of the rows of a group are in the next ones.
                counts[0] = (rows as f64
                    * if group == 0 { 0.9 } else { 0.1 * 0.5f64.powi(group as i32) })
                    as u64;
            }
            plan.training(&all).iter().filter(|keep| !**keep).count()
        };
        assert_eq!([held_share(390_000), held_share(420_000), held_share(1_700_000)], [48, 47, 45]);
        let shares = |row: u64| plan.group(row);
        let places: Vec<u64> = (0..100_000).collect();
        for (group, share) in [(1, 0.1), (2, 0.05), (3, 0.025)] {
            let found = places.iter().filter(|row| shares(**row) >= group).count() as f64;
            let expected = 1e5 * share;
            assert!((found - expected).abs() < 5.0 * f64::sqrt(expected), "{group} {found}");
        }
        let below = |row: u64| place_in_unit(0, row) < 0.1;
        assert!(places.iter().all(|row| (shares(*row) > 0) == below(*row)));
    }

    #[test]
    fn folds_are_balanced_and_every_row_is_judged_by_the_model_of_its_fold() {
        let plan = plan(200, Some(5), None);
        let all = survey(&plan, &[0, 50, ROWS]);
        let folds = plan.other_folds();
        assert_eq!(folds.len(), 5);
        assert_eq!(folds.iter().map(|keep| all.known(keep)).sum::<u64>(), 4 * 299);
        let sizes = (0..5).map(|fold| (0..100_000).filter(|row| plan.group(*row) == fold).count());
        assert!(sizes.into_iter().all(|size| (19_400..20_600).contains(&size)));
        let models = vec![plan.model(&[constant(&plan)]).unwrap().0; 5];
        let judged = plan.judged(&models, part(200..ROWS, &plan.hints()).unwrap(), 200).unwrap();
        assert_eq!(judged.len(), 99, "the row with an unknown label is not judged");
        for row in judged.as_slice().chunks(PartsPlan::JUDGED) {
            assert_eq!(row[2] as usize, plan.group(row[0] as u64));
            assert!(row[4] >= 0.0 && row[0] as usize != 250);
        }
        let alone = |keep: &[bool]| plan.check_classes(&all, keep, "use more folds");
        assert!(alone(&folds[0]).is_ok());
        let error = alone(&[false; 5]).unwrap_err().to_string();
        assert!(
            error.contains("no row labelled `no` is left to learn from; use more folds"),
            "{error}"
        );
    }

    #[test]
    fn texts_and_huge_numbers_are_refused() {
        let texts: Vec<String> =
            (0..80).map(|i| format!("the text number {i} is about {}", i * 7 % 11)).collect();
        let codes: Vec<u32> = (0..80).collect();
        let read = |_: &Hints| {
            let column = |name: &str, values| Column { name: name.into(), values };
            let note = Values::texts(codes.clone(), &texts);
            let kind = Values::texts((0..80).map(|i| i % 2).collect(), &["a", "b"]);
            Ok(Frame::new("t", vec![column("note", note), column("kind", kind)]))
        };
        let options = FitOptions {
            recipe: crate::RecipeOptions { text: vec!["note".into()], ..Default::default() },
            ..FitOptions::new("kind")
        };
        let error = PartsPlan::new(80, 80, None, &options, read).unwrap_err().to_string();
        assert!(error.contains("column `note`") && error.contains("--drop 'note'"), "{error}");
        let plan = plan(200, None, None);
        let text = b"size,colour,one,gap,kind\n1e200,red,1,3,no\n".to_vec();
        let frame = read_bytes("t", text, &ReadOptions::default(), &plan.hints()).unwrap();
        assert!(plan.survey(frame, 4608).unwrap_err().to_string().contains("column `size`: 1e200"));
    }
}
