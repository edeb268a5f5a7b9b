//! What must be known of LIBSVM text before it is read, found in one scan.

use super::classes::{NumberRule, same};
use super::csv_options::MAX_LINE_BYTES;
use super::error::{Location, ReadError};
use super::libsvm_example::Example;
use super::lines::Lines;
use halfspaces_linalg::{MAX_SPARSE_DIM, getters, load_checked, setters};
use std::io::BufRead;

/// How many classes are remembered for a message, at most.
const MAX_CLASSES: usize = 16;

/// How a LIBSVM file is to be understood.
///
/// ```
/// use halfspaces_data::read::{LibsvmOptions, read_libsvm_from};
/// let options = LibsvmOptions::new().positive(3.0).dim(4);
/// let data = read_libsvm_from(&b"3 1:0.5\n1 2:1\n2 2:-1\n"[..], "digits", &options)?;
/// assert_eq!((data.dim(), data.positives()), (4, 1));
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct LibsvmOptions {
    positive: Option<f64>,
    dim: Option<usize>,
    max_line: usize,
}

impl Default for LibsvmOptions {
    fn default() -> LibsvmOptions {
        LibsvmOptions { positive: None, dim: None, max_line: MAX_LINE_BYTES }
    }
}

impl LibsvmOptions {
    /// The default options: nothing declared, all found by a scan.
    #[must_use]
    pub fn new() -> LibsvmOptions {
        LibsvmOptions::default()
    }

    setters! {
        /// The class labelled +1; every other is -1. Without it there may be at most two classes and
        /// the larger is +1 (so +1/-1, 1/0 and 2/1 all work); an only class is +1 iff above 0.
        positive: Some(f64),

        /// The number of coordinates; without it, the largest index of the file.
        dim: Some(usize),

        /// The length in bytes that no line may exceed; it bounds the memory for an input without line ends.
        /// Default: [`MAX_LINE_BYTES`].
        max_line: usize,
    }

    /// The dimension that is declared, checked.
    fn checked_dim(&self) -> Result<Option<usize>, ReadError> {
        match self.dim {
            Some(dim) if dim == 0 || dim > MAX_SPARSE_DIM => Err(ReadError::BadDimension { dim }),
            dim => Ok(dim),
        }
    }
}

/// What must be known of LIBSVM text before its examples can be read one by one: the dimension and
/// which labels are positive.
///
/// ```
/// use halfspaces_data::read::{LibsvmOptions, LibsvmSchema};
/// let text = b"2 1:0.5 7:1\n1 3:2\n";
/// let schema = LibsvmSchema::scan(&text[..], "tiny", &LibsvmOptions::new())?;
/// assert_eq!((schema.dim(), schema.rows()), (7, Some(2)));
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LibsvmSchema {
    pub(super) dim: usize,
    pub(super) rule: NumberRule,
    rows: Option<u64>,
    pub(super) max_line: usize,
}

load_checked!(LibsvmSchema { dim: usize, rule: NumberRule, rows: Option<u64>, max_line: usize });

#[cfg(feature = "serde")]
impl LibsvmSchema {
    fn check_saved(&self) -> Result<(), ReadError> {
        LibsvmOptions::new().dim(self.dim).checked_dim()?;
        if self.rule.is_consistent() {
            return Ok(());
        }
        Err(ReadError::BadSchema { what: "the classes must be finite and in order" })
    }
}

impl LibsvmSchema {
    /// Reads an input called `name` (for messages) once, from where it stands to its end.
    ///
    /// # Errors
    /// Any [`ReadError`] about LIBSVM text, labels or options.
    pub fn scan<R: BufRead>(
        reader: R,
        name: &str,
        options: &LibsvmOptions,
    ) -> Result<LibsvmSchema, ReadError> {
        LibsvmSchema::scan_with(reader, name, options, |_, _| {})
    }

    /// [`LibsvmSchema::scan`], which shows every example with its label as written.
    pub(super) fn scan_with<R: BufRead>(
        reader: R,
        name: &str,
        options: &LibsvmOptions,
        mut show: impl FnMut(&Example, f64),
    ) -> Result<LibsvmSchema, ReadError> {
        let declared = options.checked_dim()?;
        let mut lines = Lines::new(reader, name, options.max_line, false);
        let mut example = Example::default();
        let (mut rows, mut largest) = (0, 0);
        let mut classes = Classes::new(options.positive);
        while lines.advance()? {
            let Some(value) = example.read(&lines, declared.unwrap_or(MAX_SPARSE_DIM))? else {
                continue;
            };
            rows += 1;
            largest = largest.max(example.last);
            classes.see(value, || lines.at(Some(1)))?;
            show(&example, value);
        }
        if rows == 0 {
            return Err(ReadError::NoRows { name: name.to_owned() });
        }
        let dim = declared.unwrap_or(largest as usize); // No index is above the largest dimension.
        if dim == 0 {
            return Err(ReadError::NoFeatures { name: name.to_owned() });
        }
        let rule = classes.rule()?;
        Ok(LibsvmSchema { dim, rule, rows: Some(rows), max_line: options.max_line })
    }

    /// The schema that the options declare, for input that can be read only once. If no positive
    /// class is named, the labels must be 1 (positive), -1 and 0 (negative).
    ///
    /// # Errors
    /// [`ReadError::BadDimension`] if the options have no dimension.
    pub fn declared(options: &LibsvmOptions) -> Result<LibsvmSchema, ReadError> {
        let dim = options.checked_dim()?.ok_or(ReadError::BadDimension { dim: 0 })?;
        let rule = options.positive.map_or(NumberRule::Signs, NumberRule::Only);
        Ok(LibsvmSchema { dim, rule, rows: None, max_line: options.max_line })
    }

    getters! {
        /// Number of coordinates.
        dim: usize,

        /// Number of examples in the file that was scanned; `None` if there was none.
        rows: Option<u64>,
    }
}

/// The classes a scan has seen.
struct Classes {
    positive: Option<f64>,
    seen_positive: bool,
    seen: Vec<f64>,
    /// Where the last class to appear appeared first.
    latest: Option<Location>,
}

impl Classes {
    fn new(positive: Option<f64>) -> Classes {
        Classes { positive, seen_positive: false, seen: Vec::new(), latest: None }
    }

    /// Notes a class; a fault if its sign cannot be told.
    fn see(&mut self, value: f64, at: impl Fn() -> Location) -> Result<(), ReadError> {
        self.seen_positive |= self.positive.is_some_and(|p| same(p, value));
        if self.seen.len() < MAX_CLASSES && !self.seen.iter().any(|&v| same(v, value)) {
            self.seen.push(value);
            self.latest = Some(at());
            if self.positive.is_none() && self.seen.len() > 2 {
                return Err(ReadError::UnclearPositive { at: at(), classes: self.names() });
            }
        }
        Ok(())
    }

    fn rule(self) -> Result<NumberRule, ReadError> {
        match (self.positive, &self.latest) {
            (Some(positive), Some(at)) if !self.seen_positive && self.seen.len() > 1 => {
                let (at, classes) = (at.clone(), self.names());
                Err(ReadError::AbsentPositive { at, positive: positive.to_string(), classes })
            }
            (Some(positive), _) => Ok(NumberRule::Only(positive)),
            (None, _) => match NumberRule::of(self.seen.iter().copied()) {
                Some(rule) => Ok(rule),
                None => {
                    unreachable!("there are rows, and a third class is refused when it is seen")
                }
            },
        }
    }

    fn names(&self) -> Vec<String> {
        self.seen.iter().map(f64::to_string).collect()
    }
}
