//! The answers of several annotators about the rows of one pool, and the agreement of the annotators.

use crate::record::Record;
use halfspaces_frame::Classes;

/// The answer of an annotator about a row.
///
/// ```
/// use halfspaces_labelling::Vote;
/// assert_eq!((Vote::Class(2).class(), Vote::Uncertain.class()), (Some(2), None));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vote {
    /// The annotator has not answered.
    None,
    /// The annotator could not tell the class.
    Uncertain,
    /// A class, as an index into [`Annotators::classes`].
    Class(usize),
}

impl Vote {
    /// The class, if the annotator named one.
    #[must_use]
    pub fn class(self) -> Option<usize> {
        match self {
            Vote::Class(class) => Some(class),
            Vote::None | Vote::Uncertain => None,
        }
    }
}

/// The common label of a row.
///
/// ```
/// use halfspaces_labelling::Consensus;
/// assert!(Consensus::Most(1).is_disputed() && !Consensus::Agreed(1).is_disputed());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consensus {
    /// No annotator has answered.
    None,
    /// Only one annotator has answered.
    Single(usize),
    /// At least two annotators answered, and all who answered gave this class.
    Agreed(usize),
    /// More annotators gave this class than any other class, but some gave another class or were uncertain.
    Most(usize),
    /// Several classes are tied for the largest number of annotators.
    Tied,
    /// All annotators who answered were uncertain.
    Uncertain,
}

impl Consensus {
    /// The class, if there is one.
    #[must_use]
    pub fn class(self) -> Option<usize> {
        match self {
            Consensus::Single(class) | Consensus::Agreed(class) | Consensus::Most(class) => {
                Some(class)
            }
            Consensus::None | Consensus::Tied | Consensus::Uncertain => None,
        }
    }

    /// Whether a person should decide, because the annotators disagree or at least one of them was uncertain.
    #[must_use]
    pub fn is_disputed(self) -> bool {
        matches!(self, Consensus::Most(_) | Consensus::Tied | Consensus::Uncertain)
    }
}

/// The answers of several annotators about the rows of one pool.
///
/// ```
/// use halfspaces_labelling::{Annotators, Consensus, Event, Header, PoolId, Record};
/// let header = |classes: [&str; 2]| {
///     let pool = PoolId::without_keys("pool.csv", 3, 1, "00");
///     Header::new(pool, classes.map(str::to_owned).to_vec(), 0)
/// };
/// let session = |classes, labels: &[(usize, &str)]| {
///     let mut record = Record::new(&header(classes));
///     let labels = labels.iter().map(|(row, class)| (*row, class.to_string())).collect();
///     record.take(Event::Known { labels })?;
///     Ok::<Record, String>(record)
/// };
/// let mut annotators = Annotators::new(3);
/// annotators.add("ann", &session(["cat", "dog"], &[(0, "cat"), (1, "cat"), (2, "dog")])?)?;
/// // The order of the classes may differ.
/// annotators.add("bob", &session(["dog", "cat"], &[(0, "cat"), (1, "dog")])?)?;
/// assert_eq!(annotators.consensus(0), Consensus::Agreed(0));
/// assert_eq!(annotators.consensus(1), Consensus::Tied);
/// assert_eq!(annotators.consensus(2), Consensus::Single(1));
/// assert_eq!(annotators.cohen_kappa(), Some(0.0));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotators {
    rows: usize,
    names: Vec<String>,
    classes: Vec<String>,
    /// The answers of each annotator, by row.
    votes: Vec<Vec<Vote>>,
}

impl Annotators {
    /// An empty set of annotators for a pool of `rows` rows.
    #[must_use]
    pub fn new(rows: usize) -> Annotators {
        Annotators { rows, names: Vec::new(), classes: Vec::new(), votes: Vec::new() }
    }

    /// Adds an annotator with the answers of a session. The rows of the session's current pool must be those of the
    /// common pool, in the same order; [`Anchoring`](crate::Anchoring) moves a session to another order. Classes are
    /// matched as in [`Classes::find`], so `1.0` is the class `1` of an earlier session and keeps that name.
    ///
    /// # Errors
    /// Returns an error if the name is already used, if the session has a different number of rows, or if two of its
    /// classes match the same class of the earlier sessions.
    pub fn add(&mut self, name: &str, record: &Record) -> Result<(), String> {
        if self.names.iter().any(|other| other == name) {
            return Err(format!(
                "there are two annotators with the name {name:?}; name the annotator of each session with --annotator \
                 when you start it"
            ));
        }
        if record.rows() != self.rows {
            return Err(format!(
                "the session of {name} has {} rows, but the pool has {}",
                record.rows(),
                self.rows
            ));
        }
        let (common, mut classes) =
            (Classes::new(self.classes.iter().cloned()), self.classes.clone());
        let mut places: Vec<usize> = Vec::with_capacity(record.classes().len());
        for class in record.classes() {
            let place = common.find(class).unwrap_or(classes.len());
            if let Some(other) = places.iter().position(|other| *other == place) {
                return Err(format!(
                    "`{}` and `{class}` are different classes in the session of {name}, but both match the class `{}` of \
                     the other sessions; merge sessions with the same classes",
                    record.classes()[other],
                    classes[place]
                ));
            }
            if place == classes.len() {
                classes.push(class.clone());
            }
            places.push(place);
        }
        self.classes = classes;
        let vote = |row: usize| match record.label(row) {
            Some(class) => Vote::Class(places[class]),
            None if record.is_uncertain(row) => Vote::Uncertain,
            None => Vote::None,
        };
        self.votes.push((0..self.rows).map(vote).collect());
        self.names.push(name.to_owned());
        Ok(())
    }

    /// The names of the annotators, in the order in which they were added.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names of the classes of all annotators, in the order in which they were first named.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The number of rows of the pool.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The answers about a row, one for each annotator.
    ///
    /// # Panics
    /// Panics if the row is out of range.
    pub fn votes(&self, row: usize) -> impl Iterator<Item = Vote> {
        self.votes.iter().map(move |votes| votes[row])
    }

    /// The common label of a row.
    ///
    /// # Panics
    /// Panics if the row is out of range.
    #[must_use]
    pub fn consensus(&self, row: usize) -> Consensus {
        let counts = self.counts(row);
        let given: usize = counts.iter().sum();
        let uncertain = self.votes(row).filter(|vote| *vote == Vote::Uncertain).count();
        let most = counts.iter().copied().max().unwrap_or(0);
        let mut first = counts.iter().enumerate().filter(|(_, count)| **count == most);
        match (first.next(), first.next()) {
            _ if given + uncertain == 0 => Consensus::None,
            _ if given == 0 => Consensus::Uncertain,
            (Some((class, _)), None) => match (given, uncertain) {
                (1, 0) => Consensus::Single(class),
                (_, 0) if most == given => Consensus::Agreed(class),
                _ => Consensus::Most(class),
            },
            _ => Consensus::Tied,
        }
    }

    /// The number of annotators who gave each class to a row.
    fn counts(&self, row: usize) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        self.votes(row).filter_map(Vote::class).for_each(|class| counts[class] += 1);
        counts
    }

    /// Cohen's kappa of two annotators: (p - e) / (1 - e), computed on the rows to which both gave a class. Here, p is
    /// the fraction of rows on which they agree, and e is the fraction expected if each annotator drew classes at
    /// random with the frequencies of their own answers. A kappa of 1 means perfect agreement, and 0 means agreement
    /// by chance. Returns `None` if there are not exactly two annotators, if they have no common rows, or if e is 1.
    /// Source: Cohen 1960, A Coefficient of Agreement for Nominal Scales.
    #[must_use]
    pub fn cohen_kappa(&self) -> Option<f64> {
        let [first, second] = &self.votes[..] else { return None };
        let pairs = first.iter().zip(second).filter_map(|(a, b)| a.class().zip(b.class()));
        let (mut same, mut all) = (0.0, 0.0);
        let mut counts = vec![(0.0, 0.0); self.classes.len()];
        for (a, b) in pairs {
            all += 1.0;
            same += f64::from(u8::from(a == b));
            counts[a].0 += 1.0;
            counts[b].1 += 1.0;
        }
        let by_chance: f64 = counts.iter().map(|(a, b)| a * b).sum::<f64>() / (all * all);
        // If there are no common rows, `by_chance` is NaN, so the comparison is false.
        (by_chance < 1.0).then(|| (same / all - by_chance) / (1.0 - by_chance))
    }

    /// Krippendorff's alpha for nominal data: 1 - observed disagreement / expected disagreement, computed over all
    /// pairs of classes that different annotators gave to the same row. There may be any number of annotators. Answers
    /// may be missing, and an uncertain answer counts as missing. An alpha of 1 means perfect agreement, and 0
    /// means agreement by chance. Returns `None` if no row has classes from two annotators, or if all these classes are
    /// the same. Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C.
    #[must_use]
    pub fn krippendorff_alpha(&self) -> Option<f64> {
        let mut totals = vec![0.0; self.classes.len()];
        let mut observed = 0.0;
        for row in 0..self.rows {
            let counts: Vec<f64> = self.counts(row).into_iter().map(|n| n as f64).collect();
            let given: f64 = counts.iter().sum();
            if given < 2.0 {
                continue;
            }
            for (total, count) in totals.iter_mut().zip(&counts) {
                *total += count;
                observed += count * (given - count) / (given - 1.0);
            }
        }
        let all: f64 = totals.iter().sum();
        let expected: f64 = totals.iter().map(|total| total * (all - total)).sum();
        (expected > 0.0).then(|| 1.0 - (all - 1.0) * observed / expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Header, PoolId};

    /// Each text contains the answers of one annotator, one character per row: a class, `?` for uncertain, `.` for no
    /// answer.
    fn annotators(texts: &[&str]) -> Annotators {
        let mut annotators = Annotators::new(texts[0].len());
        for (number, text) in texts.iter().enumerate() {
            let mut classes: Vec<String> =
                text.chars().filter(|c| !".?".contains(*c)).map(String::from).collect();
            classes.sort_unstable();
            classes.dedup();
            classes.push("other".to_owned());
            let pool = PoolId::without_keys("p", text.len(), 1, "0");
            let header = Header::new(pool, classes.clone(), 0);
            let mut record = Record::new(&header);
            for (row, answer) in text.chars().enumerate() {
                let predicted = classes[0].clone();
                let event = match answer {
                    '.' => continue,
                    '?' => Event::Uncertain { row, predicted, probability: 0.5 },
                    class => Event::Known { labels: vec![(row, class.to_string())] },
                };
                record.take(event).unwrap();
            }
            annotators.add(&format!("annotator {number}"), &record).unwrap();
        }
        annotators
    }

    fn near(found: Option<f64>, expected: f64) {
        assert!(
            found.is_some_and(|found| (found - expected).abs() < 1e-12),
            "{found:?} {expected}"
        );
    }

    /// The examples A (two observers, 0.095) and C (four observers with missing answers, 0.743) of Krippendorff 2011.
    #[test]
    fn alpha_is_that_of_the_examples_of_its_source() {
        near(annotators(&["0100000010", "1110010000"]).krippendorff_alpha(), 2.0 / 21.0);
        let four = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."];
        near(annotators(&four).krippendorff_alpha(), 0.743_421_052_631_578_9);
    }

    /// The expected values were computed with `cohen_kappa_score` of scikit-learn.
    #[test]
    fn kappa_is_that_of_scikit_learn() {
        let both = annotators(&["aabbcabcabacbbca", "abbbcaacabbcbaca"]);
        near(both.cohen_kappa(), 0.619_047_619_047_619);
        near(both.krippendorff_alpha(), 0.630_952_380_952_381);
        // Rows to which only one annotator gave a class do not count.
        let some = annotators(&["aab?bcabc.abacbbca", "aabbbcaa?cabbcb.ca"]);
        near(some.cohen_kappa(), 7.0 / 9.0);
        near(some.krippendorff_alpha(), 11.0 / 14.0);
    }

    #[test]
    fn agreement_needs_two_classes_and_common_rows() {
        for texts in [["aaa", "aaa"], ["a..", ".ab"], ["a??", "?ba"]] {
            let annotators = annotators(&texts);
            let found = (annotators.cohen_kappa(), annotators.krippendorff_alpha());
            assert_eq!(found, (None, None), "{texts:?}");
        }
        // Kappa is defined only for two annotators.
        let three = annotators(&["ab", "ab", "ab"]);
        assert_eq!((three.cohen_kappa(), three.krippendorff_alpha()), (None, Some(1.0)));
    }

    #[test]
    fn the_consensus_is_the_class_that_most_give() {
        let annotators = annotators(&["aabaa?.a.", "aabba??a.", "aacb?..bc"]);
        assert_eq!(annotators.classes(), ["a", "b", "other", "c"]);
        let all: Vec<Consensus> = (0..9).map(|row| annotators.consensus(row)).collect();
        let most_b = Consensus::Most(1);
        let expected = [
            Consensus::Agreed(0),
            Consensus::Agreed(0),
            most_b,
            most_b,
            Consensus::Most(0),
            Consensus::Uncertain,
            Consensus::Uncertain,
            Consensus::Most(0),
            Consensus::Single(3),
        ];
        assert_eq!(all, expected);
        assert_eq!(all.iter().filter(|one| one.is_disputed()).count(), 6);
        assert_eq!(
            all.iter().map(|one| one.class()).collect::<Vec<_>>()[5..],
            [None, None, Some(0), Some(3)]
        );
        let tied = super::tests::annotators(&["ab", "ba", "?a"]);
        assert_eq!([tied.consensus(0), tied.consensus(1)], [Consensus::Tied, Consensus::Most(0)]);
        // One class and one uncertain answer.
        assert_eq!(super::tests::annotators(&["a", "?"]).consensus(0), Consensus::Most(0));
        assert_eq!(super::tests::annotators(&["."]).consensus(0), Consensus::None);
    }

    /// Classes are the same in any spelling, and have the names of the first session. Two classes of one session are not
    /// joined.
    #[test]
    fn spellings_of_a_class_are_one_class() {
        let session = |classes: &[&str]| {
            let names: Vec<String> = classes.iter().map(|class| (*class).to_owned()).collect();
            let pool = PoolId::without_keys("p", 4, 1, "0");
            let mut record = Record::new(&Header::new(pool, names.clone(), 0));
            let labels = (0..4).map(|row| (row, names[row % 2].clone())).collect();
            record.take(Event::Known { labels }).unwrap();
            record
        };
        let mut annotators = Annotators::new(4);
        for (name, classes) in
            [("ann", ["0", "1"]), ("bob", ["0.0", "1.0"]), ("cid", ["False", "TRUE"])]
        {
            annotators.add(name, &session(&classes)).unwrap();
        }
        assert_eq!(annotators.classes(), ["0", "1"]);
        assert!((0..4).all(|row| annotators.consensus(row) == Consensus::Agreed(row % 2)));
        assert_eq!(annotators.krippendorff_alpha(), Some(1.0));
        let before = annotators.clone();
        let error = annotators.add("dan", &session(&["1", "true"])).unwrap_err();
        assert!(
            error.contains("`1` and `true` are different classes in the session of dan"),
            "{error}"
        );
        assert!(error.contains("both match the class `1`"), "{error}");
        assert_eq!(annotators, before);
    }

    #[test]
    fn names_are_unique_and_pools_have_the_same_rows() {
        let mut annotators = annotators(&["ab"]);
        let record = |rows| {
            let pool = PoolId::without_keys("p", rows, 1, "0");
            Record::new(&Header::new(pool, vec!["a".into(), "b".into()], 0))
        };
        let error = annotators.add("annotator 0", &record(2)).unwrap_err();
        assert!(error.contains("two annotators with the name"), "{error}");
        let error = annotators.add("x", &record(3)).unwrap_err();
        assert!(error.contains("has 3 rows, but the pool has 2"), "{error}");
    }
}
