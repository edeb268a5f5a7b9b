//! Decides which labels denote the same class. The same rule applies to files, options, streams and imports.

use crate::csv_columns::{has_leading_zero, is_code};
use std::collections::{HashMap, HashSet};

/// The key that identifies a class. Two labels denote the same class if their keys are equal.
///
/// | labels | same class |
/// |---|---|
/// | `1`, `+1`, `1.0`, `1.0e0`, `10e-1` | yes: equal numbers |
/// | `0`, `-0.0` | yes |
/// | `True`, `true`, `TRUE` | yes: truth values |
/// | `b'pos'`, `pos` | yes: bytes literals of Python |
/// | `pos`, ` pos ` | yes: surrounding blanks are ignored |
/// | `01`, `1` | no: a leading zero belongs to a code |
/// | `12E3`, `12000` | no: two integers joined by an E are a code |
/// | `Spam`, `spam` | no |
/// | `true`, `1` | no within a column; [`Classes::find`] and [`same_class`] match them |
///
/// Integers of any size are compared exactly. Programs that write a number with an exponent also write a decimal point
/// or a sign, so labels such as `1.2E4` and `1e+05` are numbers.
///
/// ```
/// use halfspaces_frame::ClassKey;
/// assert_eq!(ClassKey::of("+1"), ClassKey::of("1.0"));
/// assert_ne!(ClassKey::of("01"), ClassKey::of("1"));
/// assert_ne!(ClassKey::of("12E3"), ClassKey::of("12000"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassKey(Key);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Truth(bool),
    Integer(i128),
    /// The bits of a finite number that is not an integer or that is too large to be exact.
    Number(u64),
    Text(String),
}

/// The maximum length of a label that is read as a number.
const MAX_NUMBER: usize = 64;

impl ClassKey {
    /// The key of a label.
    #[must_use]
    pub fn of(label: &str) -> ClassKey {
        let label = without_bytes_mark(label.trim());
        if label.eq_ignore_ascii_case("true") || label.eq_ignore_ascii_case("false") {
            return ClassKey(Key::Truth(label.eq_ignore_ascii_case("true")));
        }
        ClassKey(number(label).unwrap_or_else(|| Key::Text(label.to_owned())))
    }

    /// The number that the label denotes, or `None` if the label is not a number.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match &self.0 {
            Key::Integer(value) => Some(*value as f64),
            Key::Number(bits) => Some(f64::from_bits(*bits)),
            Key::Truth(_) | Key::Text(_) => None,
        }
    }

    /// The key of the other kind that has the same truth value: `true` for 1, 0 for `false`, and so on.
    fn counterpart(&self) -> Option<ClassKey> {
        Some(ClassKey(match &self.0 {
            Key::Truth(truth) => Key::Integer(i128::from(*truth)),
            Key::Integer(0) => Key::Truth(false),
            Key::Integer(1) => Key::Truth(true),
            _ => return None,
        }))
    }

    fn is_truth(&self) -> bool {
        matches!(self.0, Key::Truth(_))
    }

    /// The text that is used to sort the class alphabetically. It does not depend on the spelling of the label.
    fn text(&self) -> String {
        match &self.0 {
            Key::Truth(truth) => truth.to_string(),
            Key::Integer(value) => value.to_string(),
            Key::Number(bits) => f64::from_bits(*bits).to_string(),
            Key::Text(text) => text.clone(),
        }
    }
}

/// Whether two labels of different files denote the same class: their keys are equal, or one of them is a truth value and
/// the other is the number 1 or 0 with the same meaning.
///
/// ```
/// use halfspaces_frame::same_class;
/// assert!(same_class("1.0", "+1") && same_class("1", "true") && same_class("true", "1"));
/// assert!(!same_class("01", "1") && !same_class("true", "0"));
/// ```
#[must_use]
pub fn same_class(a: &str, b: &str) -> bool {
    let (a, b) = (ClassKey::of(a), ClassKey::of(b));
    a == b || a.counterpart().is_some_and(|a| a == b)
}

/// The text inside `b'..'`, or the whole text if it does not have this form.
fn without_bytes_mark(label: &str) -> &str {
    let inside = |quote: char| {
        label.strip_prefix('b')?.strip_prefix(quote)?.strip_suffix(quote).filter(|s| !s.is_empty())
    };
    inside('\'').or_else(|| inside('"')).unwrap_or(label)
}

fn number(label: &str) -> Option<Key> {
    let digits = label.strip_prefix(['+', '-']).unwrap_or(label);
    let is_number =
        label.len() <= MAX_NUMBER && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !is_number || has_leading_zero(digits.as_bytes()) || is_code(digits.as_bytes()) {
        return None;
    }
    if let Ok(integer) = label.parse::<i128>() {
        return Some(Key::Integer(integer));
    }
    let value = label.parse::<f64>().ok().filter(|value| value.is_finite())?;
    let is_exact = value.fract().to_bits() << 1 == 0 && value.abs() < (1u64 << 53) as f64;
    Some(if is_exact { Key::Integer(value as i128) } else { Key::Number(value.to_bits()) })
}

/// Class names, with a lookup that finds the class of a label.
///
/// ```
/// use halfspaces_frame::Classes;
/// let classes = Classes::new(["0", "1"]);
/// assert_eq!((classes.find("1.0"), classes.find("True"), classes.find("2")), (Some(1), Some(1), None));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Classes {
    names: Vec<String>,
    /// The index of the class with each exact name.
    exact: HashMap<String, usize>,
    /// The index of the first class with each key.
    places: HashMap<ClassKey, usize>,
    /// The number of classes whose names are truth values.
    truths: usize,
}

impl Classes {
    /// Creates classes with the given names, in this order. If several names have the same key, a label is first
    /// compared with the exact names.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Classes {
        let mut classes = Classes::default();
        for name in names {
            let (name, place) = (name.into(), classes.names.len());
            let key = ClassKey::of(&name);
            classes.truths += usize::from(key.is_truth());
            classes.places.entry(key).or_insert(place);
            classes.exact.entry(name.clone()).or_insert(place);
            classes.names.push(name);
        }
        classes
    }

    /// The classes of labels, named and ordered as they are after a fit. The name of a class is its shortest spelling,
    /// if possible without an exponent. Classes whose names are all numbers are sorted by value.
    ///
    /// ```
    /// use halfspaces_frame::Classes;
    /// assert_eq!(Classes::of_labels(["10", "9.0", "9"]).names(), ["9", "10"]);
    /// ```
    #[must_use]
    pub fn of_labels<'l>(labels: impl IntoIterator<Item = &'l str>) -> Classes {
        let (mut collected, mut seen) = (ClassCollector::default(), HashSet::new());
        for label in labels.into_iter().filter(|label| seen.insert(*label)) {
            collected.add(label);
        }
        Classes::new(collected.sorted().into_iter().map(|class| collected.names()[class].clone()))
    }

    /// The names of the classes, in order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no classes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Finds the class of a label. This is the class with exactly this name, or else the first class with the same key.
    /// If there is no such class, the labels 1 and 0 match the classes `true` and `false`, and vice versa, unless the
    /// classes contain both kinds. Returns `None` if nothing matches.
    #[must_use]
    pub fn find(&self, label: &str) -> Option<usize> {
        if let Some(place) = self.exact.get(label) {
            return Some(*place);
        }
        let key = ClassKey::of(label);
        if let Some(place) = self.places.get(&key) {
            return Some(*place);
        }
        // The label may be `true` where the classes are 0 and 1, or it may be 1 where the classes are `false` and
        // `true`.
        let counterpart = key.counterpart()?;
        let fits =
            if key.is_truth() { self.truths == 0 && self.len() == 2 } else { self.truths > 0 };
        self.places.get(&counterpart).copied().filter(|_| fits)
    }
}

/// Collects the distinct classes among labels, with the spellings of each class.
///
/// The name of a class is its shortest spelling, or the first such spelling if several are equally short. A number with an
/// exponent counts as spelled without it: the class of `1.0e+00` is `1`.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClassCollector {
    names: Vec<String>,
    places: HashMap<ClassKey, usize>,
    /// The spellings of each class, in order of appearance.
    spellings: Vec<Vec<String>>,
}

/// The maximum number of spellings that are stored for each class. The spellings are shown in messages.
const MAX_SPELLINGS: usize = 8;

impl ClassCollector {
    /// Returns the class of a label. Creates a new class if no class has the key of the label. Call this only once for
    /// each distinct label, because every call hashes the label.
    pub(crate) fn add(&mut self, label: &str) -> usize {
        let label = label.trim();
        let key = ClassKey::of(label);
        // As numpy.savetxt writes them, all numbers have an exponent: 1.000000000000000000e+00.
        let has_exponent = key.number().is_some() && label.contains(['e', 'E']);
        let is_same = |plain: &String| plain.len() < label.len() && ClassKey::of(plain) == key;
        let plain = has_exponent.then(|| key.text()).filter(is_same);
        let short = plain.unwrap_or_else(|| label.to_owned());
        let place = *self.places.entry(key).or_insert(self.names.len());
        let Some(name) = self.names.get_mut(place) else {
            self.names.push(short);
            self.spellings.push(vec![label.to_owned()]);
            return place;
        };
        if short.len() < name.len() {
            *name = short;
        }
        let spellings = &mut self.spellings[place];
        if spellings.len() < MAX_SPELLINGS && !spellings.iter().any(|s| s == label) {
            spellings.push(label.to_owned());
        }
        place
    }

    /// The class names in order of appearance.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The spellings of each class that has more than one spelling.
    pub(crate) fn joined(&self) -> Vec<&[String]> {
        self.spellings.iter().filter(|s| s.len() > 1).map(Vec::as_slice).collect()
    }

    /// The indices of the classes in sorted order. If all names are numbers, they are sorted by value. Otherwise, they
    /// are sorted alphabetically; a truth value in any spelling is sorted as `false` or `true`. The order does not
    /// depend on the order of the labels.
    pub(crate) fn sorted(&self) -> Vec<usize> {
        let keys: Vec<ClassKey> = self.names.iter().map(|name| ClassKey::of(name)).collect();
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        match keys.iter().map(ClassKey::number).collect::<Option<Vec<f64>>>() {
            Some(values) => order.sort_by(|a, b| {
                values[*a].total_cmp(&values[*b]).then_with(|| keys[*a].cmp(&keys[*b]))
            }),
            None => order.sort_by_cached_key(|at| (keys[*at].text(), &keys[*at])),
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted_keys(labels: &[String]) -> Vec<ClassKey> {
        let classes = Classes::of_labels(labels.iter().map(String::as_str));
        classes.names().iter().map(|name| ClassKey::of(name)).collect()
    }

    /// Numbers, truth values and words in several spellings. The numbers include integers that are equal as `f64`.
    fn label() -> impl Strategy<Value = String> {
        let number = prop_oneof![
            "[+-]?[0-9]{1,2}([.][0-9]?)?",
            "[+-]?900719925474099[0-9]([.]0)?",
            "[1-9][.]?[0-9]?e[+-]?[0-9]{1,2}",
        ];
        prop_oneof![
            number,
            "[tT][rR][uU][eE]",
            "[fF][aA][lL][sS][eE]",
            "[FTZaeftz]{1,3}",
            "b'[Tt1]'"
        ]
    }

    proptest! {
        /// The order of classes is antisymmetric, transitive and independent of the order of the rows.
        #[test]
        fn the_order_of_classes_is_total(
            (labels, shuffled) in prop::collection::vec(label(), 1..40)
                .prop_flat_map(|labels| (Just(labels.clone()), Just(labels).prop_shuffle())),
            has_word in any::<bool>(),
        ) {
            // A word among numbers decides how they are sorted.
            let with_word = |mut labels: Vec<String>| {
                labels.extend(has_word.then(|| "~".to_owned()));
                labels
            };
            let (labels, shuffled) = (with_word(labels), with_word(shuffled));
            let order = sorted_keys(&labels);
            prop_assert_eq!(&order, &sorted_keys(&shuffled));
            let is_sorted_by_value = order.iter().all(|key| key.number().is_some());
            for pair in labels.windows(2).filter(|_| has_word || is_sorted_by_value) {
                let order_of_pair = sorted_keys(&with_word(pair.to_vec()));
                let place = |key: &ClassKey| order.iter().position(|other| other == key);
                prop_assert!(order_of_pair.iter().map(place).is_sorted(), "{:?} {:?}", pair, order);
            }
        }
    }

    /// Class names have no exponent, as in a file of `numpy.savetxt`. Codes and words with an E stay as they are.
    #[test]
    fn names_of_classes_have_no_exponent() {
        let numbers = ["1.000000000000000000e+00", "-2.500000000000000000e-01", "2E+01", "1e+99"];
        assert_eq!(Classes::of_labels(numbers).names(), ["-0.25", "1", "20", "1e+99"]);
        assert_eq!(
            Classes::of_labels(["1e+00", "01", "5E3", "eel"]).names(),
            ["01", "1", "5E3", "eel"]
        );
        assert_eq!(Classes::of_labels(["2.0e0", "2."]).names(), ["2"]);
        // Without its exponent, this number would be another class.
        let large = Classes::of_labels(["1.000000000000000000e+16", "1"]);
        assert_eq!(large.find(&large.names()[1]), large.find("1.000000000000000000e+16"));
    }

    /// Spellings of truth values have no effect on the order, which would be a cycle if `TRUE` were sorted as a word.
    #[test]
    fn truth_values_are_sorted_among_words() {
        let sorted = |labels: &[&str]| Classes::of_labels(labels.iter().copied()).names().to_vec();
        for labels in
            [["TRUE", "Zeta", "false"], ["false", "TRUE", "Zeta"], ["Zeta", "false", "TRUE"]]
        {
            assert_eq!(sorted(&labels), ["Zeta", "false", "TRUE"]);
        }
        let words: Vec<String> =
            (0..60).map(|i| format!("{}{i}", ["Zeta", "alpha"][i % 2])).collect();
        let labels = words.iter().map(String::as_str).chain(["TRUE", "false"]);
        assert_eq!(Classes::of_labels(labels).names()[60..], ["false", "TRUE"]);
    }

    #[test]
    fn equal_numbers_truths_and_bytes_are_one_class() {
        for same in [
            &["1", "1.0", "+1", "1.0e0", "1e+0", " 1 "][..],
            &["0", "-0", "-0.0", ".0"],
            &["True", "true", "TRUE"],
            &["b'pos'", "pos", "b\"pos\""],
            &["0.5", ".5", "5e-1"],
            &["18446744073709551615", "+18446744073709551615"],
            &["b'1'", "1"],
        ] {
            for pair in same.windows(2) {
                assert_eq!(ClassKey::of(pair[0]), ClassKey::of(pair[1]), "{pair:?}");
            }
        }
        for different in [
            ["01", "1"],
            ["12E3", "12000"],
            ["3e2", "300.0"],
            ["1e0", "1"],
            ["-5E3", "-5000"],
            ["true", "1"],
            ["Spam", "spam"],
            ["9007199254740992", "9007199254740993"],
            ["inf", "infinity"],
            ["nan", "NaN"],
            ["1", "-1"],
            ["b''", ""],
        ] {
            assert_ne!(ClassKey::of(different[0]), ClassKey::of(different[1]), "{different:?}");
        }
    }

    #[test]
    fn the_same_class_does_not_depend_on_the_order() {
        for (a, b, is_same) in [
            ("1", "true", true),
            ("0.0", "FALSE", true),
            ("1.0", "+1", true),
            ("0", "true", false),
            ("2", "true", false),
            ("Spam", "spam", false),
        ] {
            assert_eq!((same_class(a, b), same_class(b, a)), (is_same, is_same), "{a} {b}");
        }
    }

    #[test]
    fn a_label_is_found_by_name_before_key() {
        let classes = Classes::new(["1", "1.0", "x"]);
        assert_eq!(classes.find("1.0"), Some(1));
        assert_eq!(classes.find("1.00"), Some(0));
        assert_eq!(classes.find("y"), None);
    }

    #[test]
    fn truths_and_bits_match_where_unambiguous() {
        assert_eq!(Classes::new(["False", "True"]).find("1"), Some(1));
        assert_eq!(Classes::new(["False", "True"]).find("0.0"), Some(0));
        assert_eq!(Classes::new(["0", "1"]).find("TRUE"), Some(1));
        assert_eq!(Classes::new(["0", "1", "2"]).find("true"), None);
        assert_eq!(Classes::new(["a", "b"]).find("true"), None);
        assert_eq!(Classes::new(["1", "2"]).find("false"), None);
    }

    #[test]
    fn collected_classes_are_in_order() {
        let order = |labels: &[&str]| {
            let mut classes = ClassCollector::default();
            for label in labels {
                classes.add(label);
            }
            let order = classes.sorted();
            order.into_iter().map(|at| classes.names()[at].clone()).collect::<Vec<_>>()
        };
        assert_eq!(order(&["10.0", "9", "10"]), ["9", "10"]);
        assert_eq!(order(&["10", "9", "b"]), ["10", "9", "b"]);
        assert_eq!(order(&["true", "False", "TRUE"]), ["False", "true"]);
        assert_eq!(order(&["2.5", "-1", "1e+1"]), ["-1", "2.5", "10"]);
    }
}
