//! The points of a table of numbers, kept while it is scanned, and blocks of its lines read side by side.

use super::blocks::{Taken, take_blocks};
use super::csv_options::CsvOptions;
use super::csv_schema::{ColumnKind, CsvSchema, Layout};
use super::error::ReadError;
use super::number::parse;
use super::records::Records;
use halfspaces_linalg::{InputError, Label, Points, Threads, reserve};
use memchr::{memchr, memchr_iter};
use std::io::Read;

/// The points of a table of numbers, kept while it is scanned in the hope that it is one.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    values: Vec<f64>,
    /// The classes in the order in which they appear, and that of every row.
    classes: Vec<Box<[u8]>>,
    class_of: Vec<u8>,
    /// A field was not a finite number, or there are too many classes or values.
    failed: bool,
}

impl Numbers {
    /// The points and labels, if the schema says that every column but the labels' is numeric.
    pub(super) fn under(
        &mut self,
        schema: &CsvSchema,
    ) -> Result<Option<(Points, Vec<Label>)>, InputError> {
        let Layout { kinds, classes, .. } = &schema.layout;
        let numeric = |kind: &ColumnKind| matches!(kind, ColumnKind::Numeric | ColumnKind::Label);
        let complete = self.class_of.len() as u64 == schema.rows();
        if self.failed || !complete || !kinds.iter().all(numeric) {
            return Ok(None);
        }
        let label = |text: &[u8]| match classes.binary_search_by(|(class, _)| (**class).cmp(text)) {
            Ok(place) => classes[place].1,
            Err(_) => unreachable!("the scan has seen the label of every row"),
        };
        let labels: Vec<Label> = self.classes.iter().map(|text| label(text)).collect();
        let labels = self.class_of.iter().map(|class| labels[usize::from(*class)]).collect();
        self.values.shrink_to_fit();
        Ok(Some((Points::new(std::mem::take(&mut self.values), schema.dim())?, labels)))
    }

    /// Whether it still takes rows.
    pub(super) fn is_active(&self) -> bool {
        !self.failed
    }

    /// Takes the fields of the next row, of which `label` is the label.
    pub(super) fn observe<'f>(&mut self, fields: impl Iterator<Item = &'f [u8]>, label: usize) {
        if !self.failed && self.keep(fields, label).is_none() {
            self.fail();
        }
    }

    /// Takes the rows of a block, which come next.
    pub(super) fn append(&mut self, block: &Block) {
        if !self.failed && self.join(&block.numbers).is_none() {
            self.fail();
        }
    }

    fn fail(&mut self) {
        *self = Numbers { failed: true, ..Numbers::default() };
    }

    /// Keeps a row; `None` if it is not one of numbers.
    fn keep<'f>(&mut self, fields: impl Iterator<Item = &'f [u8]>, label: usize) -> Option<()> {
        for (i, field) in fields.enumerate() {
            if i == label {
                let place = self.place(field)?;
                self.class_of.push(place);
            } else {
                let value = parse(field).filter(|value| value.is_finite())?;
                if self.values.len() == self.values.capacity() {
                    reserve(&mut self.values, 1).ok()?;
                }
                self.values.push(value);
            }
        }
        Some(())
    }

    /// Adds rows; `None` if there are too many classes or values.
    fn join(&mut self, rows: &Numbers) -> Option<()> {
        let places = rows.classes.iter().map(|class| self.place(class));
        let places: Vec<u8> = places.collect::<Option<_>>()?;
        self.class_of.extend(rows.class_of.iter().map(|class| places[usize::from(*class)]));
        reserve(&mut self.values, rows.values.len()).ok()?;
        self.values.extend_from_slice(&rows.values);
        Some(())
    }

    /// The place of a class, a new one if it has not appeared; `None` if there are too many.
    fn place(&mut self, field: &[u8]) -> Option<u8> {
        let known = self.classes.iter().position(|class| class[..] == *field);
        let place = known.unwrap_or_else(|| {
            self.classes.push(field.into());
            self.classes.len() - 1
        });
        u8::try_from(place).ok()
    }
}

/// Rows of numbers from lines of their own.
#[derive(Debug)]
pub(super) struct Block {
    numbers: Numbers,
    /// The line, counted from 1 in the block, on which each class appears first.
    first_lines: Vec<u64>,
    lines: u64,
}

impl Block {
    /// Reads whole lines; `None` if there is anything in them that is not rows of finite numbers and a field for the
    /// label, or that means something else where the block begins in the middle of a file.
    fn read(
        bytes: &[u8],
        name: &str,
        options: &CsvOptions,
        width: usize,
        label: usize,
    ) -> Option<Block> {
        // A quote may hold line ends, and a byte-order mark is skipped at the start of a file only.
        if memchr(b'"', bytes).is_some() || bytes.starts_with(b"\xef\xbb\xbf") {
            return None;
        }
        let CsvOptions { delimiter, max_line, .. } = *options;
        let mut records = Records::new(bytes, name, delimiter, Some(width), max_line);
        let (mut numbers, mut first_lines) = (Numbers::default(), Vec::new());
        // One number for each delimiter, as one field of a row is its label.
        numbers.values.try_reserve_exact(memchr_iter(delimiter, bytes).count()).ok()?;
        while records.advance().ok()? {
            numbers.keep(records.fields(), label)?;
            if numbers.classes.len() > first_lines.len() {
                first_lines.push(records.line());
            }
        }
        Some(Block { numbers, first_lines, lines: records.last_line() })
    }

    pub(super) fn rows(&self) -> usize {
        self.numbers.class_of.len()
    }

    /// The classes and the line on which each appears first, counted from 1 in the block.
    pub(super) fn classes(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let lines = self.first_lines.iter().copied();
        self.numbers.classes.iter().map(|class| &class[..]).zip(lines)
    }
}

/// Reads blocks of lines side by side and hands them to `take` in order, each with the number of the line before
/// it, until `take` answers that it needs no more or a block is not all rows of numbers. What comes then is left
/// to be read as if nothing had been.
pub(super) fn read_blocks<R: Read>(
    records: &mut Records<R>,
    options: &CsvOptions,
    width: usize,
    label: usize,
    mut take: impl FnMut(Block, u64) -> Result<bool, ReadError>,
) -> Result<(), ReadError> {
    if options.threads == Threads::ONE {
        return Ok(());
    }
    let name = records.name().to_owned();
    let unread = take_blocks(
        records,
        options.threads,
        |records, texts| records.take_blocks(texts),
        |text| Block::read(text, &name, options, width, label),
        |records, block, _| {
            let Some(block) = block else { return Ok(Taken::Refused) };
            let (before, lines) = (records.last_line(), block.lines);
            let more = take(block, before)?;
            records.skip(lines);
            Ok(if more { Taken::More } else { Taken::Last })
        },
    )?;
    records.give_back(unread);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Categorical, Dataset, Header, read_csv_from};
    use halfspaces_linalg::PointSet;
    use proptest::prelude::*;
    use std::io;

    /// A few bytes at a time.
    struct Slow<'b>(&'b [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }

    fn with(options: &CsvOptions, threads: usize) -> CsvOptions {
        options.clone().threads(Threads::new(threads).unwrap())
    }

    type Scanned = (CsvSchema, Option<(Points, Vec<Label>)>);

    /// The schema, and the rows if the scan has kept them; or the message.
    fn scan(text: &[u8], bytes: usize, options: &CsvOptions) -> Result<Scanned, String> {
        let mut numbers = Numbers::default();
        let schema = CsvSchema::scan_with(Slow(text, bytes), "t", options, Some(&mut numbers));
        let schema = schema.map_err(|fault| fault.to_string())?;
        let kept = numbers.under(&schema).map_err(|fault| fault.to_string())?;
        Ok((schema, kept))
    }

    fn read(text: &[u8], options: &CsvOptions) -> Result<Dataset<Points>, String> {
        read_csv_from(text, "t", options).map_err(|fault| fault.to_string())
    }

    /// Lines of numbers, and of everything that may stand among them.
    fn lines() -> impl Strategy<Value = Vec<String>> {
        let line = prop_oneof![
            400 => (any::<i16>(), -1e3..1e3, 0..2).prop_map(|(a, b, y)| format!("{a},{b},{y}")),
            5 => Just(String::new()),
            5 => Just(" 1 ,\t2,0 \r".to_owned()),
            2 => Just("1,\"2\",0".to_owned()),
            1 => Just("\"1\n\",2,0".to_owned()),
            1 => Just("1,2,\"".to_owned()),
            1 => Just("1,x,0".to_owned()),
            1 => Just("1,inf,0".to_owned()),
            1 => Just("1,,0".to_owned()),
            1 => Just("1,2,".to_owned()),
            1 => Just("1,2,2".to_owned()),
            1 => Just("1,2".to_owned()),
            1 => Just("1\r2,0,0".to_owned()),
            1 => Just("1,\0,0".to_owned()),
            1 => Just("\u{feff}1,2,0".to_owned()),
            1 => Just(format!("1,{:0>300},0", 5)),
        ];
        prop::collection::vec(line, 1..200)
    }

    proptest! {
        /// The same points and the same messages, whatever is in the file and wherever blocks begin.
        #[test]
        fn blocks_read_as_rows_one_by_one(
            lines in lines(),
            end in any::<bool>(),
            short in any::<bool>(),
            classes in 2usize..4,
            bytes in 1usize..100,
        ) {
            let text = lines.join("\n") + if end { "\n" } else { "" };
            let options = CsvOptions::new().header(Header::Absent).categorical(Categorical::None);
            let options = options.max_categories(classes).positive("1");
            let options = if short { options.max_line(200) } else { options };
            let one = scan(text.as_bytes(), bytes, &options);
            for threads in [2, 3] {
                prop_assert_eq!(&scan(text.as_bytes(), bytes, &with(&options, threads)), &one);
            }
            let data = read(text.as_bytes(), &options);
            prop_assert_eq!(read(text.as_bytes(), &with(&options, 2)), data);
        }
    }

    /// A line as long as is allowed where the block could end is not taken for a whole one if it is longer.
    #[test]
    fn long_lines_are_not_cut() {
        // Blocks begin behind the 64th row.
        let first = format!("{}{:0>61},0\n", "1,0\n".repeat(64), 1);
        assert_eq!(first.len(), 64 * 4 + 64);
        let options = CsvOptions::new().header(Header::Absent).categorical(Categorical::None);
        for (limit, ones) in (64..66).flat_map(|limit| (20..90).map(move |ones| (limit, ones))) {
            let options = options.clone().max_line(limit);
            let text = format!("{first}{:0>20},{:1>ones$}\n3,1\n", 2, 1);
            let one = scan(text.as_bytes(), 1, &options);
            assert_eq!(scan(text.as_bytes(), 1, &with(&options, 2)), one, "{limit} {ones}");
        }
    }

    /// What is not needed any more is left.
    #[test]
    fn the_rest_is_left() {
        let rows: String = (0..100).map(|i| format!("{i},{}\n", i % 2)).collect();
        let options = CsvOptions::new().threads(Threads::new(2).unwrap());
        let mut records = Records::new(rows.as_bytes(), "t", b',', Some(2), 100);
        let (mut blocks, mut rows) = (0, 0);
        let take = |block: Block, _: u64| {
            blocks += 1;
            rows += block.rows();
            Ok(blocks < 3)
        };
        read_blocks(&mut records, &options, 2, 1, take).unwrap();
        assert!(blocks == 3 && records.advance().unwrap());
        assert_eq!(records.fields().next().unwrap(), rows.to_string().as_bytes());
    }

    /// More classes than a byte tells apart end the attempt, not the reading.
    #[test]
    fn many_classes_are_read_one_by_one() {
        let rows: String = (0..1000).map(|i| format!("{i},c{}\n", i % 300)).collect();
        let options = CsvOptions::new().positive("c7").categorical(Categorical::None);
        let data = read(rows.as_bytes(), &with(&options, 2)).unwrap();
        assert_eq!(data.points().len(), 1000);
        assert_eq!(Ok(data), read(rows.as_bytes(), &options));
    }
}
