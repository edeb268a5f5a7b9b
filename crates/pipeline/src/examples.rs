//! Points and labels of a two-class table, in the form that the learners of the other crates expect.

use crate::design::Design;
use crate::recipe::{Recipe, RecipeOptions, Unseen};
use halfspaces_frame::{ClassKey, Classes, DataError, Frame, Hints, Labels};
use halfspaces_linalg::{ExampleStream, Label, PointSet};

/// The points and labels of a two-class table, with the recipe that created them.
///
/// ```
/// use halfspaces_frame::{Hints, ReadOptions, read_bytes};
/// use halfspaces_linalg::Label;
/// use halfspaces_pipeline::{LabelledTable, RecipeOptions};
/// let text = b"words,from,class\n310,home,ham\n12,abroad,spam\n40,home,spam\n".to_vec();
/// let frame = read_bytes("mail.csv", text, &ReadOptions::default(), &Hints::default())?;
/// let mail = LabelledTable::new(frame, "class", Some("spam"), &RecipeOptions::default())?;
/// assert_eq!(mail.recipe.coordinates(), ["words", "from=abroad", "from=home"]);
/// assert_eq!(mail.labels, [Label::Negative, Label::Positive, Label::Positive]);
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LabelledTable {
    /// The points, one for each row of the table.
    pub points: Design,
    /// The label of each point.
    pub labels: Vec<Label>,
    /// The recipe that created the points.
    pub recipe: Recipe,
    /// The names of the classes -1 and +1.
    pub classes: [String; 2],
    /// Notes on decisions that could be wrong, one sentence each.
    pub notes: Vec<String>,
    /// The column of labels.
    label: String,
    /// Whether the label -1 represents several classes.
    is_one_of_several: bool,
}

impl LabelledTable {
    /// Creates points from the columns of `frame` and labels from its column `label`. The label is +1 for the class
    /// `positive` and -1 for all other classes. If `positive` is `None`, there must be two classes, and the label +1
    /// stands for the second class. The second class is the one with the larger number or, if classes are names, the
    /// last one in alphabetical order.
    ///
    /// # Errors
    /// Returns an error if the column or the class does not exist, a row has no label, the rows do not have two
    /// classes, or every column is constant.
    pub fn new(
        mut frame: Frame,
        label: &str,
        positive: Option<&str>,
        options: &RecipeOptions,
    ) -> Result<LabelledTable, DataError> {
        let labels = Labels::take(&mut frame, label)?;
        let is_one_of_several = labels.classes.len() > 2;
        let labels = match positive {
            Some(class) => labels.with_positive(class)?,
            None => labels,
        };
        let place = format!("{}, column `{label}`", frame.source);
        let signs = labels.signs().map_err(|e| DataError::user(format!("{place}: {e}")))?;
        let (recipe, more) = Recipe::fit(&frame, options)?;
        let notes = frame.notes.iter().cloned().chain(more).collect();
        let points = recipe.apply_to(frame, Unseen::Error)?;
        let Ok(classes) = <[String; 2]>::try_from(labels.classes) else {
            unreachable!("labels with signs have two classes")
        };
        Ok(LabelledTable {
            points,
            labels: signs,
            recipe,
            classes,
            notes,
            label: label.to_owned(),
            is_one_of_several,
        })
    }

    /// Converts another table with the same columns, or a part of such a table, to points and labels.
    ///
    /// # Errors
    /// Returns an error if a label is missing or is not one of the classes, or if a column does not match the recipe.
    pub fn apply(&self, mut frame: Frame) -> Result<(Design, Vec<Label>), DataError> {
        let labels = Labels::take_part(&mut frame, &self.label)?;
        let known = Classes::new(self.classes.iter().cloned());
        let positive = ClassKey::of(&self.classes[1]);
        let sign = |class: &String| match known.find(class) {
            _ if self.is_one_of_several && ClassKey::of(class) == positive => Ok(Label::Positive),
            _ if self.is_one_of_several => Ok(Label::Negative),
            Some(1) => Ok(Label::Positive),
            Some(_) => Ok(Label::Negative),
            None => {
                let (source, label, [no, yes]) = (&frame.source, &self.label, &self.classes);
                Err(DataError::user(format!(
                    "{source}, column `{label}`: the label `{class}` is neither `{no}` nor `{yes}`"
                )))
            }
        };
        let signs = labels.classes.iter().map(sign).collect::<Result<Vec<Label>, DataError>>()?;
        let of_row = labels.of_row.iter().map(|class| signs[*class]).collect();
        Ok((self.recipe.apply_to(frame, Unseen::Error)?, of_row))
    }

    /// The hints with which other tables must be read.
    #[must_use]
    pub fn hints(&self) -> Hints {
        self.recipe.hints(std::slice::from_ref(&self.label))
    }
}

/// A stream of the examples in a sequence of batches, such as the parts of a table that is too large for memory.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use halfspaces_frame::{Hints, LargeTable, ReadOptions};
/// use halfspaces_online::{OnlineLearner, Perceptron};
/// use halfspaces_pipeline::{Examples, LabelledTable, RecipeOptions};
///
/// let path = std::env::temp_dir().join(format!("halfspaces-examples-{}.csv", std::process::id()));
/// std::fs::write(&path, "a,b,class\n1,0.5,ham\n2,7,spam\n1.5,0,ham\n3,9,spam\n")?;
/// let table = LargeTable::open(&path, &ReadOptions::default(), Hints::default())?;
/// // The first rows determine the columns and classes.
/// let first = table.rows(&[0, 1, 2])?;
/// let first = LabelledTable::new(first, "class", None, &RecipeOptions::default())?;
/// let dim = first.recipe.dim();
/// let mut learner = Perceptron::new(dim)?;
/// // Only two rows are in memory at a time.
/// let (tally, _) = table.in_chunks(&first.hints(), 2, |parts| {
///     let mut batches = parts.map(|part| {
///         let (points, labels) = first.apply(part?)?;
///         Ok((points.into_dense()?, labels))
///     });
///     let mut examples = Examples::new(dim, &mut batches);
///     Ok::<_, Box<dyn std::error::Error>>(learner.partial_fit(&mut examples, u64::MAX)?)
/// })?;
/// assert_eq!(tally.rounds, 4);
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
pub struct Examples<'b, P> {
    batches: &'b mut dyn Iterator<Item = Result<(P, Vec<Label>), DataError>>,
    batch: Option<(P, Vec<Label>)>,
    at: usize,
    dim: usize,
}

impl<P> std::fmt::Debug for Examples<'_, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Examples").field("dim", &self.dim).finish_non_exhaustive()
    }
}

impl<'b, P: PointSet> Examples<'b, P> {
    /// Creates a stream of the examples in `batches`, whose points have `dim` coordinates.
    pub fn new(
        dim: usize,
        batches: &'b mut dyn Iterator<Item = Result<(P, Vec<Label>), DataError>>,
    ) -> Examples<'b, P> {
        Examples { batches, batch: None, at: 0, dim }
    }
}

impl<P: PointSet> ExampleStream for Examples<'_, P> {
    type Row<'a>
        = P::Row<'a>
    where
        Self: 'a;
    type Error = DataError;

    fn dim(&self) -> usize {
        self.dim
    }

    fn next_row(&mut self) -> Result<Option<(P::Row<'_>, Label)>, DataError> {
        while self.batch.as_ref().is_none_or(|(_, labels)| self.at == labels.len()) {
            match self.batches.next() {
                None => return Ok(None),
                Some(batch) => (self.batch, self.at) = (Some(batch?), 0),
            }
        }
        let Some((points, labels)) = &self.batch else { unreachable!("there is a row left") };
        let row = self.at;
        self.at += 1;
        let Some(x) = points.row(row) else { unreachable!("every label has a point") };
        Ok(Some((x, labels[row])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::RecipeOptions;
    use halfspaces_frame::{Column, Values};
    use halfspaces_linalg::{Points, RowView};

    fn part(values: &[f64], labels: &[&str]) -> Frame {
        let texts = Values::texts((0..labels.len() as u32).collect(), labels);
        let columns = vec![
            Column { name: "x".into(), values: Values::numbers(values.to_vec()) },
            Column { name: "y".into(), values: texts },
        ];
        Frame::new("t", columns)
    }

    fn table(labels: &[&str], positive: Option<&str>) -> Result<LabelledTable, DataError> {
        let values: Vec<f64> = (0..labels.len()).map(|i| i as f64).collect();
        LabelledTable::new(part(&values, labels), "y", positive, &RecipeOptions::default())
    }

    #[test]
    fn examples_come_in_order_with_their_labels() {
        let first = table(&["no", "yes", "no"], None).unwrap();
        assert_eq!((&first.classes[..], first.points.len()), (&["no".into(), "yes".into()][..], 3));
        let seen = |parts: &[Frame]| {
            let mut batches = parts.iter().map(|part| {
                let (points, labels) = first.apply(part.clone())?;
                Ok((points.into_dense()?, labels))
            });
            let mut examples = Examples::<Points>::new(1, &mut batches);
            let mut seen = Vec::new();
            while let Some((x, y)) = examples.next_row()? {
                seen.push((x.dot(&[1.0]), y));
            }
            Ok::<_, DataError>(seen)
        };
        let parts = [part(&[4.0, 5.0], &["yes", "no"]), part(&[6.0], &["yes"])];
        let (yes, no) = (Label::Positive, Label::Negative);
        assert_eq!(seen(&parts).unwrap(), [(4.0, yes), (5.0, no), (6.0, yes)]);
        let error = seen(&[part(&[4.0], &["perhaps"])]).unwrap_err().to_string();
        assert_eq!(error, "t, column `y`: the label `perhaps` is neither `no` nor `yes`");
    }

    #[test]
    fn one_class_of_several_against_the_rest() {
        let error = table(&["a", "b", "c"], None).unwrap_err().to_string();
        assert!(
            error.contains("t, column `y`: two classes are needed, but there are 3: `a`, `b`, `c`"),
            "{error}"
        );
        let b = table(&["a", "b", "c"], Some("b")).unwrap();
        assert_eq!(b.labels, [Label::Negative, Label::Positive, Label::Negative]);
        let (_, labels) = b.apply(part(&[1.0, 2.0], &["d", "b"])).unwrap();
        assert_eq!(labels, [Label::Negative, Label::Positive]);
        // Here "not b" and "b" are the names of two classes, so a third label is an error.
        let two = table(&["not b", "b"], Some("b")).unwrap();
        assert!(two.apply(part(&[1.0, 2.0], &["c", "b"])).is_err());
        let turned = table(&["no", "yes"], Some("no")).unwrap();
        assert_eq!(turned.labels, [Label::Positive, Label::Negative]);
    }
}
