//! What must be known of LIBSVM text before it is read, found in one scan.

use super::blocks::{Taken, take_blocks};
use super::classes::{NumberRule, same};
use super::csv_options::MAX_LINE_BYTES;
use super::error::{Location, ReadError};
use super::libsvm_example::Example;
use super::lines::Lines;
use halfspaces_linalg::{
    InputError, MAX_SPARSE_DIM, Threads, getters, load_checked, reserve, setters,
};
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
    threads: Threads,
}

impl Default for LibsvmOptions {
    fn default() -> LibsvmOptions {
        let threads = Threads::ONE;
        LibsvmOptions { positive: None, dim: None, max_line: MAX_LINE_BYTES, threads }
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

        /// How many threads scan a file, or read it into points; no result and no message depends on it. Lines are
        /// taken apart side by side, a few MB for each thread at a time. Default: one.
        threads: Threads,
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
        LibsvmSchema::scan_with(reader, name, options, None)
    }

    /// [`LibsvmSchema::scan`] that keeps the examples in `kept`.
    pub(super) fn scan_with<R: BufRead>(
        reader: R,
        name: &str,
        options: &LibsvmOptions,
        kept: Option<&mut Examples>,
    ) -> Result<LibsvmSchema, ReadError> {
        let declared = options.checked_dim()?;
        let dim = declared.unwrap_or(MAX_SPARSE_DIM);
        let mut lines = Lines::new(reader, name, options.max_line, false);
        let (rows, largest) = (0, 0);
        let classes = Classes::new(options.positive);
        let mut scan = Scan { rows, largest, classes, kept, example: Example::default() };
        if options.threads == Threads::ONE {
            scan.read(&mut lines, dim)?;
        } else {
            scan.read_blocks(&mut lines, dim, options)?;
        }
        if scan.rows == 0 {
            return Err(ReadError::NoRows { name: name.to_owned() });
        }
        let dim = declared.unwrap_or(scan.largest as usize); // No index is above the largest dimension.
        if dim == 0 {
            return Err(ReadError::NoFeatures { name: name.to_owned() });
        }
        let rule = scan.classes.rule()?;
        Ok(LibsvmSchema { dim, rule, rows: Some(scan.rows), max_line: options.max_line })
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

/// A scan in progress.
struct Scan<'k> {
    rows: u64,
    largest: u64,
    classes: Classes,
    kept: Option<&'k mut Examples>,
    example: Example,
}

impl Scan<'_> {
    /// Takes all lines that are left.
    fn read<R: BufRead>(&mut self, lines: &mut Lines<R>, dim: usize) -> Result<(), ReadError> {
        while lines.advance()? {
            self.take_line(lines, dim)?;
        }
        Ok(())
    }

    fn take_line<R: BufRead>(&mut self, lines: &Lines<R>, dim: usize) -> Result<(), ReadError> {
        let Some(value) = self.example.read(lines, dim)? else { return Ok(()) };
        self.rows += 1;
        self.largest = self.largest.max(self.example.last);
        self.classes.see(value, || lines.at(Some(1)))?;
        if let Some(kept) = &mut self.kept {
            kept.reserve(self.example.values.len())?;
            kept.push(&self.example, value);
        }
        Ok(())
    }

    /// [`Scan::read`], with blocks of lines taken apart side by side.
    fn read_blocks<R: BufRead>(
        &mut self,
        lines: &mut Lines<R>,
        dim: usize,
        options: &LibsvmOptions,
    ) -> Result<(), ReadError> {
        // The first line is looked at for what is no text, and may begin with a byte-order mark.
        if !lines.advance()? {
            return Ok(());
        }
        self.take_line(lines, dim)?;
        let (name, threads) = (lines.name().to_owned(), options.threads);
        let keep = self.kept.is_some();
        let fill = |lines: &mut Lines<R>, texts: &mut [Vec<u8>]| lines.take_blocks(texts);
        let read = |text: &[u8]| Block::read(lines_after(1, text, &name, options), dim, keep);
        take_blocks(lines, threads, fill, read, |lines, block, text| {
            let before = lines.number();
            let Some(block) = block else {
                // Once more line by line, for what is wrong where, after what was seen before.
                let mut lines = lines_after(before, text, &name, options);
                return match self.read(&mut lines, dim) {
                    Err(fault) => Err(fault),
                    Ok(()) => unreachable!("a line of this block could not be taken apart"),
                };
            };
            self.rows += block.rows;
            self.largest = self.largest.max(block.largest);
            for (value, line) in block.classes {
                let at = || Location::new(&name, before + line, Some(1));
                self.classes.see(value, at)?;
            }
            if let Some(kept) = &mut self.kept {
                kept.reserve(block.examples.values.len())?;
                kept.append(block.examples);
            }
            lines.skip(block.lines);
            Ok(Taken::More)
        })?;
        Ok(())
    }
}

/// The lines of `text`, so many of which come before it in the file.
fn lines_after<'t>(
    before: u64,
    text: &'t [u8],
    name: &str,
    options: &LibsvmOptions,
) -> Lines<&'t [u8]> {
    let mut lines = Lines::new(text, name, options.max_line, false);
    lines.skip(before);
    lines
}

/// Examples as they are written, one after the other.
#[derive(Debug, Default)]
pub(super) struct Examples {
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<f64>,
    /// Where each ends among them.
    pub(super) ends: Vec<usize>,
    pub(super) labels: Vec<f64>,
}

impl Examples {
    /// Room for as many more entries.
    fn reserve(&mut self, entries: usize) -> Result<(), InputError> {
        reserve(&mut self.columns, entries)?;
        reserve(&mut self.values, entries)
    }

    fn push(&mut self, example: &Example, label: f64) {
        self.columns.extend_from_slice(&example.columns);
        self.values.extend_from_slice(&example.values);
        self.ends.push(self.values.len());
        self.labels.push(label);
    }

    fn append(&mut self, mut others: Examples) {
        let before = self.values.len();
        self.columns.append(&mut others.columns);
        self.values.append(&mut others.values);
        self.ends.extend(others.ends.iter().map(|end| before + end));
        self.labels.append(&mut others.labels);
    }
}

/// Some lines, taken apart by themselves.
struct Block {
    lines: u64,
    rows: u64,
    largest: u64,
    /// The classes, and the line on which each appears first, counted from 1.
    classes: Vec<(f64, u64)>,
    examples: Examples,
}

impl Block {
    /// Takes lines apart that stand behind one other; `None` if something is wrong with one of them.
    fn read(mut lines: Lines<&[u8]>, dim: usize, keep: bool) -> Option<Block> {
        let before = lines.number();
        let (mut example, mut examples) = (Example::default(), Examples::default());
        let (mut rows, mut largest, mut classes) = (0, 0, Vec::<(f64, u64)>::new());
        while lines.advance().ok()? {
            let Some(label) = example.read(&lines, dim).ok()? else { continue };
            rows += 1;
            largest = largest.max(example.last);
            if classes.len() < MAX_CLASSES && !classes.iter().any(|(seen, _)| same(*seen, label)) {
                classes.push((label, lines.number() - before));
            }
            if keep {
                examples.push(&example, label);
            }
        }
        Some(Block { lines: lines.number() - before, rows, largest, classes, examples })
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
