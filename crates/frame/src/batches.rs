//! Builds tables from the Arrow record batches of Arrow and Parquet files.

use crate::block::Block;
use crate::column_builder::{Builder, Fault, Shape};
use crate::error::DataError;
use crate::frame::{Column, Frame, Places, Remark};
use crate::options::{Hints, ReadOptions};
use crate::pandas::Declared;
use crate::source::Source;
use crate::texts::{declared, typed_frame};
use crate::typing::{Expected, RawColumn};
use crate::values::Values;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};

/// Builds a table from its batches. `rows` is the number of rows, if known.
pub(crate) fn from_batches(
    source: &Source,
    options: &ReadOptions,
    hints: &Hints,
    schema: &Schema,
    rows: Option<usize>,
    batches: impl Iterator<Item = Result<RecordBatch, DataError>>,
) -> Result<Frame, DataError> {
    let plan = Plan::new(source, options, hints, schema);
    let mut assembler = Assembler::new(source, &plan, rows.unwrap_or(0))?;
    let mut first = 0;
    for batch in batches {
        let batch = batch?;
        assembler.append(&batch, first)?;
        first += batch.num_rows() as u64;
    }
    let frame = assembler.finish(Places::rows())?;
    let notes = [plan.notes, frame.notes].concat();
    Ok(Frame { notes, ..frame })
}

/// The plan for reading the columns of a file, derived from its schema.
pub(crate) struct Plan {
    options: ReadOptions,
    hints: Hints,
    /// For each column: its index in a batch, its name and its shape.
    columns: Vec<(usize, String, Shape)>,
    remarks: Vec<(String, Remark)>,
    /// Decisions that could be wrong.
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
            remarks: Vec::new(),
            notes: Vec::new(),
        };
        let mut indices = Vec::new();
        for (at, field) in schema.fields().iter().enumerate() {
            let (name, of) = (field.name(), field.data_type());
            // A reader that takes all columns as texts copies them.
            let is_wanted = hints.expected.contains(name) || hints.others_are_texts;
            if pandas.indices.contains(name) && !is_wanted {
                indices.push(format!("`{name}`"));
                continue;
            }
            let is_category =
                pandas.categories.contains(name) || matches!(of, DataType::Dictionary(..));
            let expected = Expected::of(name, hints);
            // A model that learned from lists expects the columns `name.0`, `name.1`, ...
            let is_part = |of: &String| {
                of.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'))
            };
            let is_text = match of {
                DataType::FixedSizeList(..) | DataType::List(_) | DataType::LargeList(_)
                    if hints.expected.iter().any(is_part) =>
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
            if let (Shape::Numbers, Some(unit)) = (shape, unit(of)) {
                plan.notes.push(format!("{file}: column `{name}` is read as {unit}"));
            }
            plan.columns.push((at, name.clone(), shape));
        }
        if !indices.is_empty() {
            let what = if indices.len() == 1 { "index" } else { "indices" };
            let verb = if indices.len() == 1 { "is" } else { "are" };
            plan.notes.push(format!(
                "{file}: the {what} that pandas wrote {verb} left out: {}",
                indices.join(", ")
            ));
        }
        plan
    }
}

/// The meaning of the numbers in a column of times or durations.
fn unit(of: &DataType) -> Option<&'static str> {
    match of {
        DataType::Time32(_) | DataType::Time64(_) => Some("the number of seconds since midnight"),
        DataType::Duration(_) => Some("a number of seconds"),
        _ => None,
    }
}

/// Columns that grow batch by batch.
pub(crate) struct Assembler<'s> {
    source: &'s Source,
    plan: &'s Plan,
    builders: Vec<Builder>,
    remarks: Vec<(String, Remark)>,
    rows: usize,
}

impl<'s> Assembler<'s> {
    /// Empty columns with capacity for `rows` rows.
    pub(crate) fn new(source: &'s Source, plan: &'s Plan, rows: usize) -> Result<Self, DataError> {
        let builder =
            |(_, _, shape): &(usize, String, Shape)| Builder::new(*shape, rows, source.budget());
        let builders = plan.columns.iter().map(builder).collect::<Result<_, _>>();
        let builders = builders.map_err(|e: DataError| e.at(source.name()))?;
        Ok(Assembler { source, plan, builders, remarks: plan.remarks.clone(), rows: 0 })
    }

    /// Appends rows, of which the first is row `first` of the file.
    pub(crate) fn append(&mut self, batch: &RecordBatch, first: u64) -> Result<(), DataError> {
        let file = self.source.name();
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
                Err(Fault::Unread(kind)) => {
                    *builder = Builder::Unread;
                    self.remarks.push((name.clone(), Remark::Unread { kind }));
                }
            }
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    /// Returns the table, whose rows are at `places`.
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
                    let (cells, kind) = builder.finish();
                    let expected = declared(name, kind, &self.plan.hints);
                    columns.push(RawColumn { name: name.clone(), cells, expected });
                    continue;
                }
            };
            notes.push(format!(
                "{file}: column `{name}` contains lists of {width} numbers, read as columns {name}.0 .. {name}.{}",
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
        frame.columns.append(&mut lists);
        Ok(Frame { remarks, notes, block, ..frame })
    }
}
