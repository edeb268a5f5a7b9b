//! Builds tables from the Arrow record batches of Arrow and Parquet files.

use crate::array_column::{Builder, Shape};
use crate::array_values::{Fault, too_late};
use crate::block::Block;
use crate::error::DataError;
use crate::frame::{Column, Frame, Places, Remark};
use crate::options::{Hints, ReadOptions};
use crate::pandas::Declared;
use crate::source::Source;
use crate::text_column::{declared, typed_frame};
use crate::typing::{Cells, ColumnRule, Expected, RawColumn, Reading, is_nameless_index};
use crate::values::Values;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};
use std::collections::HashMap;

/// Builds a table from its batches. `rows` is the number of rows, if it is known, and `first` the number of the first
/// row in messages.
pub(crate) fn from_batches(
    source: &Source,
    options: &ReadOptions,
    hints: &Hints,
    schema: &Schema,
    (first, rows): (u64, Option<usize>),
    batches: impl Iterator<Item = Result<RecordBatch, DataError>>,
) -> Result<Frame, DataError> {
    let plan = Plan::new(source, options, hints, schema);
    let mut assembler = Assembler::new(source, &plan, rows.unwrap_or(0))?;
    let mut next = first;
    for batch in batches {
        let batch = batch?;
        assembler.append(&batch, next)?;
        next += batch.num_rows() as u64;
    }
    let frame = assembler.finish(Places::rows_from(first))?;
    let notes = [plan.notes, frame.notes].concat();
    Ok(Frame { notes, ..frame })
}

/// The plan for reading the columns of a file, derived from its schema.
pub(crate) struct Plan {
    options: ReadOptions,
    hints: Hints,
    /// For each column, its index in a batch, its name and its shape.
    columns: Vec<(usize, String, Shape)>,
    /// The name of the column that becomes the index of the table, if there is one.
    index: Option<String>,
    remarks: Vec<(String, Remark)>,
    /// For each column with a time zone, the number of microseconds to add to its times to convert them to the UTC
    /// offset of the column's rule.
    shifts: HashMap<String, i64>,
    /// Notes on decisions that could be wrong.
    pub(crate) notes: Vec<String>,
}

impl Plan {
    pub(crate) fn new(
        source: &Source,
        options: &ReadOptions,
        hints: &Hints,
        schema: &Schema,
    ) -> Plan {
        let pandas = Declared::of(schema);
        let file = source.name();
        let mut plan = Plan {
            options: options.clone(),
            hints: hints.clone(),
            columns: Vec::new(),
            index: None,
            remarks: Vec::new(),
            shifts: HashMap::new(),
            notes: Vec::new(),
        };
        let mut indices = Vec::new();
        for (at, field) in schema.fields().iter().enumerate() {
            let (name, of) = (field.name(), field.data_type());
            // A caller that reads all columns as texts, and has no model, copies all of them, including index columns.
            let copies_all = hints.others_are_texts && hints.rules.is_empty();
            let is_wanted = hints.expected.contains(name) || copies_all;
            if pandas.indices.contains(name) && !is_wanted {
                indices.push((at, name));
                continue;
            }
            let is_category =
                pandas.categories.contains(name) || matches!(of, DataType::Dictionary(..));
            let expected = Expected::of(name, hints);
            let is_text = match of {
                DataType::FixedSizeList(..) | DataType::List(_) | DataType::LargeList(_)
                    if expects_parts(hints, name) =>
                {
                    false
                }
                _ => expected.is_text() || (expected == Expected::Anything && is_category),
            };
            let shape = Shape::of(of, is_text);
            let Some(shape) = shape else {
                plan.remarks.push((name.clone(), Remark::Unread { kind: of.to_string() }));
                continue;
            };
            if let Some(unit) = unit(of) {
                plan.notes.push(format!("{file}: column `{name}` is read as {unit}"));
            }
            if let (Shape::Moments, DataType::Timestamp(_, Some(zone))) = (shape, of) {
                let minutes = match expected {
                    Expected::Rule(ColumnRule { reading: Reading::Date(format), .. }) => {
                        format.offset
                    }
                    _ => 0,
                };
                plan.shifts.insert(name.clone(), i64::from(minutes) * MICROS_OF_A_MINUTE);
                if !is_utc(zone) {
                    let (sign, size) = (if minutes < 0 { '-' } else { '+' }, minutes.abs());
                    plan.notes.push(format!(
                        "{file}: column `{name}` has the time zone {zone}; its times are converted to UTC{sign}{:02}:{:02}",
                        size / 60,
                        size % 60
                    ));
                }
            }
            plan.columns.push((at, name.clone(), shape));
        }
        // The cells of the index are kept, because they show whether the rows of two files are in the same order.
        if let [(at, name)] = indices[..] {
            let of = schema.field(at).data_type();
            let is_name = of.is_integer()
                || matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
            if let Some(shape) = Shape::of(of, false).filter(|_| is_name) {
                plan.columns.push((at, name.clone(), shape));
                plan.index = Some(name.clone());
            }
        }
        // A model does not use the index, so there is nothing to decide.
        let has_nameless = indices.first().is_some_and(|(_, name)| name.is_empty());
        if has_nameless && hints.rules.is_empty() {
            plan.notes.push(format!(
                "{file}: the first column has no name, so it is taken for an index and left out"
            ));
            indices.remove(0);
        }
        if !indices.is_empty() && hints.rules.is_empty() {
            let names: Vec<String> = indices.iter().map(|(_, name)| format!("`{name}`")).collect();
            let what = if indices.len() == 1 { "index" } else { "indices" };
            let verb = if indices.len() == 1 { "is" } else { "are" };
            plan.notes.push(format!(
                "{file}: the {what} that pandas wrote {verb} left out: {}",
                names.join(", ")
            ));
        }
        plan
    }
}

/// Whether a column of lists is expected. A model that learned from such a column expects the columns `name.0`, `name.1`,
/// ...
fn expects_parts(hints: &Hints, name: &str) -> bool {
    let is_part = |of: &String| of.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    hints.expected.iter().any(is_part)
}

const MICROS_OF_A_MINUTE: i64 = 60_000_000;

fn is_utc(zone: &str) -> bool {
    ["UTC", "Etc/UTC", "GMT", "Z", "+00:00", "+0000", "+00"].contains(&zone)
}

/// Describes what the numbers in a column of durations mean. Returns `None` for other types.
fn unit(of: &DataType) -> Option<&'static str> {
    matches!(of, DataType::Duration(_)).then_some("a number of seconds")
}

/// The minimum number of bytes that a row takes, including its number, its class and its prediction.
const ROW_COST: u64 = 32;

/// The columns of a table that is assembled batch by batch.
pub(crate) struct Assembler<'s> {
    source: &'s Source,
    plan: &'s Plan,
    builders: Vec<Builder>,
    remarks: Vec<(String, Remark)>,
    rows: usize,
}

impl<'s> Assembler<'s> {
    /// Creates empty columns with capacity for `rows` rows.
    pub(crate) fn new(source: &'s Source, plan: &'s Plan, rows: usize) -> Result<Self, DataError> {
        let builder =
            |(_, _, shape): &(usize, String, Shape)| Builder::new(*shape, rows, source.budget());
        let builders = plan.columns.iter().map(builder).collect::<Result<_, _>>();
        let builders = builders.map_err(|e: DataError| e.at(source.name()))?;
        Ok(Assembler { source, plan, builders, remarks: plan.remarks.clone(), rows: 0 })
    }

    /// The lengths of the lists in each column, as far as they are known.
    pub(crate) fn widths(&self) -> Vec<Option<usize>> {
        let width = |builder: &Builder| match builder {
            Builder::Lists { width, .. } => *width,
            _ => None,
        };
        self.builders.iter().map(width).collect()
    }

    /// Sets the lengths of the lists to those of the earlier rows, as returned by [`Assembler::widths`].
    pub(crate) fn continue_with(&mut self, widths: &[Option<usize>]) {
        for (builder, known) in self.builders.iter_mut().zip(widths) {
            if let Builder::Lists { width, .. } = builder {
                *width = *known;
            }
        }
    }

    /// Appends the rows of a batch, the first of which is row `first` of the file.
    pub(crate) fn append(&mut self, batch: &RecordBatch, first: u64) -> Result<(), DataError> {
        let file = self.source.name();
        // A batch can have rows without columns, or with values of no length.
        let more = ROW_COST.saturating_sub(8 * self.builders.len() as u64);
        let bytes = more.saturating_mul(batch.num_rows() as u64);
        self.source.budget().take(bytes).map_err(|e| e.at(file))?;
        for ((at, name, _), builder) in self.plan.columns.iter().zip(&mut self.builders) {
            let array = batch.column(*at).as_ref();
            match builder.append(array, self.source.budget()) {
                Ok(rounded) => {
                    let is_new = !self.remarks.iter().any(|(column, _)| column == name);
                    if let Some((row, cell)) = rounded.filter(|_| is_new) {
                        let number = first + row as u64;
                        self.remarks.push((name.clone(), Remark::Rounded { number, cell }));
                    }
                }
                Err(Fault::Infinite { row }) => {
                    return Err(DataError::user(format!(
                        "{file}, row {}, column `{name}`: the value is infinite; write a finite number or null",
                        first + row as u64
                    )));
                }
                Err(Fault::Memory(error)) => return Err(error.at(file)),
                Err(Fault::Length { row, expected, found })
                    if expects_parts(&self.plan.hints, name) =>
                {
                    return Err(DataError::user(format!(
                        "{file}, row {}, column `{name}`: the list has length {found}, unlike the lists before it, which have length \
                         {expected}; give all lists the same length, or leave the column out of the fit with --drop '{name}'",
                        first + row as u64
                    )));
                }
                Err(Fault::Length { row, expected, found }) => {
                    *builder = Builder::Unread;
                    let row = first + row as u64;
                    let kind = format!(
                        "lists of different lengths (row {row}: length {found} instead of {expected})"
                    );
                    self.remarks.push((name.clone(), Remark::Unread { kind }));
                }
                Err(Fault::Unread(kind)) => {
                    *builder = Builder::Unread;
                    self.remarks.push((name.clone(), Remark::Unread { kind }));
                }
            }
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    /// Returns the table. `places` gives the origin of its rows.
    pub(crate) fn finish(self, places: Places) -> Result<Frame, DataError> {
        let file = self.source.name();
        let mut remarks = self.remarks;
        let (mut columns, mut lists, mut notes, mut block) =
            (Vec::new(), Vec::new(), Vec::new(), None);
        for ((_, name, _), builder) in self.plan.columns.iter().zip(self.builders) {
            let (values, width) = match builder {
                Builder::Unread => continue,
                Builder::Lists { values, width: Some(width), .. } => (values, width),
                Builder::Lists { width: None, .. } => {
                    let kind = "lists, all missing".to_owned();
                    remarks.push((name.clone(), Remark::Unread { kind }));
                    continue;
                }
                builder => {
                    let (mut cells, kind) = builder.finish();
                    if let (Cells::Moments { moments, has_zone }, Some(shift)) =
                        (&mut cells, self.plan.shifts.get(name))
                    {
                        let shifted = moments.iter().map(|at| match at {
                            Some(at) => at.checked_add(*shift).map(Some),
                            None => Some(None),
                        });
                        let Some(shifted) = shifted.collect() else {
                            remarks.push((name.clone(), Remark::Unread { kind: too_late() }));
                            continue;
                        };
                        (*moments, *has_zone) = (shifted, true);
                    }
                    let expected = declared(name, kind, &self.plan.hints);
                    columns.push(RawColumn { name: name.clone(), cells, expected });
                    continue;
                }
            };
            notes.push(format!(
                "{file}: column `{name}` contains lists of {width} numbers, which are read as columns {name}.0 .. {name}.{}",
                width - 1
            ));
            let numbers: Vec<u32> = (0..width as u32).collect();
            let matrix = Block::dense(format!("{name}."), values, numbers);
            if block.is_none() {
                block = Some(matrix);
            } else {
                lists.extend((0..width).map(|column| Column {
                    name: matrix.name(column),
                    values: Values::numbers(matrix.column(column)),
                }));
            }
        }
        let mut frame = typed_frame(file, columns, self.rows, places, &self.plan.options)?;
        let is_index = |name: &String| self.plan.index.as_ref() == Some(name);
        remarks.retain(|(name, _)| !is_index(name));
        frame.records.retain(|record| !is_index(&record.name));
        let at = frame.columns.iter().position(|column| is_index(&column.name));
        let index = at.map(|at| frame.columns.remove(at));
        let index = index.map(|Column { name, values }| match is_nameless_index(&name) {
            true => Column { name: String::new(), values },
            false => Column { name, values },
        });
        frame.columns.append(&mut lists);
        Ok(Frame { remarks, notes, block, index, ..frame })
    }
}

#[cfg(test)]
#[cfg(feature = "arrow")]
mod tests {
    use crate::{ColumnRule, Frame, Hints, ReadOptions, Remark, Values, read_batches, read_bytes};
    use arrow_array::types::{Float64Type, Int8Type};
    use arrow_array::{
        Array, BooleanArray, Date32Array, Decimal128Array, Decimal256Array, DictionaryArray,
        DurationSecondArray, Float64Array, Int8Array, Int64Array, ListArray, RecordBatch,
        Time32SecondArray, Time64NanosecondArray, TimestampMicrosecondArray,
        TimestampNanosecondArray, record_batch,
    };
    use arrow_buffer::i256;
    use arrow_schema::{DataType, Field, Schema, TimeUnit};
    use std::collections::HashMap;
    use std::sync::Arc;

    /// 08:00 and 20:00 UTC on two days of June 2024, in seconds since 1970-01-01.
    const SECONDS: [i64; 2] = [1_717_228_800, 1_717_358_400];

    /// Creates a column with a time zone and the values [`SECONDS`].
    fn zoned(zone: &str, hints: &Hints) -> Frame {
        zoned_micros(SECONDS.map(|second| second * 1_000_000), zone, hints)
    }

    fn zoned_micros(micros: [i64; 2], zone: &str, hints: &Hints) -> Frame {
        let of = DataType::Timestamp(TimeUnit::Microsecond, Some(zone.into()));
        let schema = Schema::new(vec![Field::new("at", of, true)]);
        let values = TimestampMicrosecondArray::from_iter_values(micros);
        let array = Arc::new(values.with_timezone(zone));
        let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![array]).unwrap();
        read_batches("t", &schema, [batch], &ReadOptions::default(), hints).unwrap()
    }

    fn times(frame: &Frame) -> Vec<String> {
        (0..frame.rows).map(|row| frame.column("at").unwrap().text(row)).collect()
    }

    /// The texts of times keep the instant and the nanoseconds; `correct` writes these texts.
    #[test]
    fn texts_of_times_with_a_zone_are_in_utc() {
        assert_eq!(
            times(&zoned("Europe/Berlin", &Hints::verbatim(["at"]))),
            ["2024-06-01T08:00:00Z", "2024-06-02T20:00:00Z"]
        );
        let of = DataType::Timestamp(TimeUnit::Nanosecond, None);
        let schema = Schema::new(vec![Field::new("at", of, true)]);
        let array = Arc::new(TimestampNanosecondArray::from(vec![Some(-1), None, Some(1_000)]));
        let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![array]).unwrap();
        let hints = Hints::verbatim(["at"]);
        let frame = read_batches("t", &schema, [batch], &ReadOptions::default(), &hints).unwrap();
        assert_eq!(
            times(&frame),
            ["1969-12-31T23:59:59.999999999", "", "1970-01-01T00:00:00.000001"]
        );
    }

    /// The index of a data frame is not a column, but its cells are kept. An index of several levels is left out.
    #[test]
    fn the_index_of_pandas_is_kept_apart() {
        let frame = |names: [&str; 3], more: &str, hints: &Hints| {
            let of_pandas = [("pandas".to_owned(), format!(r#"{{"index_columns": [{more}]}}"#))];
            let fields = names.map(|name| Field::new(name, DataType::Int64, true)).to_vec();
            let schema = Schema::new(fields).with_metadata(HashMap::from(of_pandas));
            let array: Arc<dyn Array> = Arc::new(Int64Array::from(vec![2, 0, 1]));
            let arrays = vec![array; 3];
            let batch = RecordBatch::try_new(Arc::new(schema.clone()), arrays).unwrap();
            read_batches("t", &schema, [batch], &ReadOptions::default(), hints).unwrap()
        };
        for (names, more) in [
            (["a", "b", "__index_level_0__"], ""),
            (["id", "a", "b"], r#""id""#),
            (["", "a", "b"], ""),
        ] {
            let found = frame(names, more, &Hints::default());
            assert_eq!(found.names(), ["a", "b"]);
            let index = found.index.unwrap();
            assert_eq!(index.values, Values::numbers(vec![2.0, 0.0, 1.0]));
            assert_eq!(index.name, if names[0] == "id" { "id" } else { "" });
            assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
            let is_named = !found.notes[0].contains("the first column has no name");
            assert_eq!(is_named, !names[0].is_empty(), "{:?}", found.notes);
        }
        let named = frame(["id", "a", "b"], r#""id""#, &Hints::texts(["id"]));
        assert_eq!((named.names().len(), named.index), (3, None));
        let several = frame(["id", "a", "b"], r#""id", "a""#, &Hints::default());
        assert_eq!((several.names().len(), several.index), (1, None));
        // A copy of the whole table contains the index, and a table for a model does not.
        let mut hints = Hints { others_are_texts: true, ..Hints::default() };
        let copied = frame(["a", "b", "__index_level_0__"], "", &hints);
        assert_eq!((copied.names().len(), copied.index), (3, None));
        hints.rules.insert("a".into(), ColumnRule::default());
        let for_a_model = frame(["a", "b", "__index_level_0__"], "", &hints);
        assert!(for_a_model.index.is_some() && for_a_model.names() == ["a", "b"]);
    }

    /// The text of a duration is a number of seconds, so a model that learned from texts such as `0 days 20:48:14`
    /// cannot recognise it.
    #[test]
    fn durations_are_noted_as_numbers_and_as_texts() {
        let of = DataType::Duration(TimeUnit::Second);
        let schema = Schema::new(vec![Field::new("t", of, true)]);
        let array = Arc::new(DurationSecondArray::from(vec![74_894, 5]));
        let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![array]).unwrap();
        for hints in [Hints::default(), Hints::verbatim(["t"])] {
            let batches = [batch.clone()];
            let frame = read_batches("f", &schema, batches, &ReadOptions::default(), &hints);
            let frame = frame.unwrap();
            assert_eq!(frame.column("t").unwrap().text(0), "74894");
            assert_eq!(frame.notes, ["f: column `t` is read as a number of seconds"]);
        }
    }

    /// A column of times is read as times of day, as in a text file, so a model that was fitted to one file can read
    /// the other.
    #[test]
    fn times_of_day_are_read_as_in_a_text_file() {
        let seconds = Time32SecondArray::from(vec![Some(20_700), None, Some(0)]);
        let nanos = Time64NanosecondArray::from(vec![Some(20_700_000_000_000), None, Some(0)]);
        let frame = |array: Arc<dyn Array>, hints: &Hints| {
            let schema = Schema::new(vec![Field::new("at", array.data_type().clone(), true)]);
            let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![array]).unwrap();
            read_batches("t", &schema, [batch], &ReadOptions::default(), hints)
        };
        let text = b"at,x\n05:45,1\n,2\n00:00,3\n".to_vec();
        let of_text =
            |hints: &Hints| read_bytes("t.csv", text.clone(), &ReadOptions::default(), hints);
        let rule = |frame: &Frame| {
            let mut hints = Hints::default();
            hints.rules.insert("at".into(), frame.record("at").unwrap().rule.clone());
            hints
        };
        let csv = of_text(&Hints::default()).unwrap();
        let arrays: [Arc<dyn Array>; 2] = [Arc::new(seconds), Arc::new(nanos)];
        for array in arrays {
            let typed = frame(array.clone(), &Hints::default()).unwrap();
            assert_eq!(typed.record("at").unwrap().rule, csv.record("at").unwrap().rule);
            let again = [frame(array.clone(), &rule(&csv)), of_text(&rule(&typed))];
            for found in again.into_iter().map(Result::unwrap).chain([typed]) {
                assert_eq!(found.column("at").unwrap(), csv.column("at").unwrap());
            }
            let copied = frame(array.clone(), &Hints::verbatim(["at"])).unwrap();
            assert_eq!(copied.column("at").unwrap().text(0), "05:45:00");
            // A time of day is not a date.
            let dates = b"at\n2024-01-01\n2024-01-02\n".to_vec();
            let dates = read_bytes("d", dates, &ReadOptions::default(), &Hints::default()).unwrap();
            let error = frame(array, &rule(&dates)).unwrap_err().to_string();
            assert!(error.contains("`05:45:00` is not one of the dates"), "{error}");
        }
    }

    /// If a column of lists cannot be read, the errors for its parts state the reason why the column cannot be read.
    #[test]
    fn lists_of_different_lengths_are_named_for_their_parts() {
        let lists = [Some(vec![Some(1.0), Some(2.0)]), Some(vec![Some(3.0)])];
        let array = Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(lists));
        let schema = Schema::new(vec![Field::new("e", array.data_type().clone(), true)]);
        let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![array]).unwrap();
        let (options, hints) = (ReadOptions::default(), Hints::default());
        let batches = [batch.slice(0, 1), batch.slice(0, 1), batch];
        let frame = read_batches("t", &schema, batches, &options, &hints).unwrap();
        for name in ["e", "e.0", "e.17"] {
            let error = frame.no_column(name).to_string();
            let expected = "column `e`: values of type lists of different lengths (row 3: length 1 instead of 2)";
            assert!(error.contains(expected), "{error}");
        }
        assert!(frame.no_column("e.x").to_string().contains("no column `e.x`"));
    }

    /// Integers that need more than 53 bits are rounded, even if they are stored as decimals.
    #[test]
    fn rounded_decimals_are_noted() {
        let integer = (1i128 << 60) + 1;
        let small = Decimal128Array::from(vec![7, integer, 8]);
        let large: Vec<i256> = [7, integer, 8].map(i256::from_i128).to_vec();
        let large = Decimal256Array::from(large);
        let arrays: [(Arc<dyn Array>, bool); 3] = [
            (Arc::new(small.clone().with_precision_and_scale(38, 0).unwrap()), true),
            (Arc::new(large.with_precision_and_scale(60, 0).unwrap()), true),
            (Arc::new(small.with_precision_and_scale(38, 2).unwrap()), false),
        ];
        for (array, is_noted) in arrays {
            let field = Field::new("c", array.data_type().clone(), true);
            let schema = Schema::new(vec![field]);
            let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![array]).unwrap();
            let (options, hints) = (ReadOptions::default(), Hints::default());
            let frame = read_batches("t", &schema, [batch], &options, &hints).unwrap();
            let cell = integer.to_string();
            let expected = is_noted.then_some(Remark::Rounded { number: 1, cell });
            assert_eq!(frame.remark("c"), expected.as_ref());
        }
    }

    /// A categorical column is written by pandas as a dictionary. A model that learned from numbers, truth values or
    /// dates reads them from a dictionary in the same way as from a plain column.
    #[test]
    fn dictionaries_are_read_by_the_rule_of_the_plain_column() {
        let keys = Int8Array::from(vec![Some(1), None, Some(0), Some(1), Some(2), Some(0)]);
        let row_of_key = [1, 3, 0, 1, 2, 0];
        let all: [Arc<dyn Array>; 4] = [
            Arc::new(Int64Array::from(vec![Some(70), Some(5), Some(-3), None])),
            Arc::new(Float64Array::from(vec![Some(0.5), Some(-1.0), Some(2.5), None])),
            Arc::new(BooleanArray::from(vec![Some(true), Some(false), Some(true), None])),
            Arc::new(Date32Array::from(vec![Some(19_000), Some(19_500), Some(0), None])),
        ];
        let frame = |array: Arc<dyn Array>, hints: &Hints| {
            let field = Field::new("c", array.data_type().clone(), true);
            let schema = Schema::new(vec![field]);
            let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![array]).unwrap();
            read_batches("t", &schema, [batch], &ReadOptions::default(), hints).unwrap()
        };
        for levels in all {
            let plain = frame(levels.clone(), &Hints::default());
            let mut hints = Hints::default();
            hints.rules.insert("c".into(), plain.record("c").unwrap().rule.clone());
            let dictionary = DictionaryArray::<Int8Type>::try_new(keys.clone(), levels).unwrap();
            let read = frame(Arc::new(dictionary), &hints);
            let text = |of: &Frame, row| of.column("c").unwrap().text(row);
            for (row, key) in row_of_key.into_iter().enumerate() {
                assert_eq!(text(&read, row), text(&plain, key), "{:?}", plain.record("c"));
            }
            assert!(read.column("c").unwrap().is_missing(1));
        }
        // The message names the first row with the rounded level.
        let levels = Arc::new(Int64Array::from(vec![1, (1 << 60) + 1, 2]));
        let rule = frame(Arc::new(Int64Array::from(vec![1, 2])), &Hints::default());
        let mut hints = Hints::default();
        hints.rules.insert("c".into(), rule.record("c").unwrap().rule.clone());
        let dictionary = DictionaryArray::<Int8Type>::try_new(keys, levels).unwrap();
        let remark = frame(Arc::new(dictionary), &hints).remark("c").cloned();
        let cell = "1152921504606846977".to_owned();
        assert_eq!(remark, Some(Remark::Rounded { number: 0, cell }));
    }

    /// A model that learned from CSV cells with a UTC offset reads the same times from a column with a time zone.
    #[test]
    fn times_with_a_zone_are_read_at_the_offset_of_the_rule() {
        let utc = zoned("UTC", &Hints::default());
        assert!(!utc.notes.iter().any(|note| note.contains("zone")), "{:?}", utc.notes);
        let berlin = zoned("Europe/Berlin", &Hints::default());
        assert_eq!(times(&berlin), times(&utc));
        let said =
            "t: column `at` has the time zone Europe/Berlin; its times are converted to UTC+00:00";
        assert!(berlin.notes.iter().any(|note| note == said), "{:?}", berlin.notes);
        for (offset, said) in [("+02:00", "UTC+02:00"), ("-04:30", "UTC-04:30")] {
            let of_offset = |utc: &str| match (offset, utc) {
                ("+02:00", "08") => "2024-06-01T10:00:00+02:00",
                ("+02:00", _) => "2024-06-02T22:00:00+02:00",
                (_, "08") => "2024-06-01T03:30:00-04:30",
                _ => "2024-06-02T15:30:00-04:30",
            };
            let csv = format!("at,x\n{},1\n{},2\n", of_offset("08"), of_offset("20")).into_bytes();
            let none = (ReadOptions::default(), Hints::default());
            let csv = read_bytes("t.csv", csv, &none.0, &none.1).unwrap();
            let mut hints = Hints::default();
            hints.rules.insert("at".into(), csv.record("at").unwrap().rule.clone());
            let frame = zoned("Europe/Berlin", &hints);
            assert!(matches!(frame.columns[0].values, Values::Moments(_)));
            assert_eq!(times(&frame), times(&csv));
            assert!(frame.notes.iter().any(|note| note.ends_with(said)), "{:?}", frame.notes);
            // The last time is the latest one that can be represented, so adding two hours is impossible.
            let last = zoned_micros([0, i64::MAX], "UTC", &hints);
            let is_unread = matches!(last.remark("at"), Some(Remark::Unread { .. }));
            assert_eq!((last.has("at"), is_unread), (offset != "+02:00", offset == "+02:00"));
        }
    }

    /// The rows of a part have the numbers of the whole table, also in errors.
    #[test]
    fn a_part_begins_at_its_row() {
        let of = |batch: RecordBatch| {
            let (options, hints) = (ReadOptions::default(), Hints::default());
            crate::read_part("t", &batch.schema(), [batch.clone()], 4608, &options, &hints)
        };
        let frame = of(record_batch!(("x", Int64, [1, 9_007_199_254_740_993])).unwrap()).unwrap();
        assert_eq!(frame.place(1), "t, row 4609");
        let remark = frame.remark("x").map(|remark| frame.about("x", remark)).unwrap();
        assert!(
            remark.starts_with("t, row 4609, column `x`: 9007199254740993 is rounded"),
            "{remark}"
        );
        let error = of(record_batch!(("x", Float64, [1.0, f64::INFINITY])).unwrap()).unwrap_err();
        assert!(error.to_string().starts_with("t, row 4609, column `x`"), "{error}");
    }
}
