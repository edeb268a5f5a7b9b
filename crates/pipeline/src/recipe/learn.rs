//! Fits a recipe to a table.

use super::encode::{Encoder, Found};
use super::ngrams::Ngrams;
use super::{ColumnRecipe, Kind, Recipe, RecipeOptions};
use arrow_array::{Array, TimestampMicrosecondArray};
use halfspaces_frame::{
    Block, ColumnRecord, DataError, Frame, MomentParts, Remark, TextKind, Texts, Values, first_of,
    unread_spelling,
};
use halfspaces_linalg::{InputError, PointSet, RowView, SparsePoints};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The number of distinct texts above which varied but short texts are refused. Up to this number, they are used as
/// categories.
pub(super) const MAX_VARIED: usize = 30;
/// The number of coordinates above which points can be stored as sparse entries. They are stored this way if fewer than
/// one in `SPARSE_SHARE` coordinates is non-zero.
const MIN_SPARSE_DIM: usize = 300;
/// The denominator of the share of non-zero coordinates below which points are stored as sparse entries. See
/// `MIN_SPARSE_DIM`. A sparse entry takes 12 bytes, and a dense coordinate takes 8 bytes.
const SPARSE_SHARE: usize = 3;
/// The permitted numbers of hash bits for n-grams.
const HASH_BITS: std::ops::RangeInclusive<u32> = 1..=28;
/// The range of a column is stored if the column has at least this many numbers. At most 2 % of later numbers from the
/// same distribution are expected to lie outside the range of 100 numbers.
const MIN_RANGE: usize = 100;
/// The maximum number of columns that have separate notes if all of these notes say the same.
const MOST_ALIKE: usize = 5;
/// The maximum number of names that are listed in a message.
const MAX_NAMES: usize = 20;

impl Recipe {
    /// Fits a recipe to the columns of a table. Returns the recipe, and notes on decisions that could be wrong. The
    /// label column must have been removed from the table.
    ///
    /// # Errors
    /// Returns an error if a column named in `options` does not exist, if a text column is neither categorical nor
    /// declared as text, or if all columns are constant.
    pub fn fit(frame: &Frame, options: &RecipeOptions) -> Result<(Recipe, Vec<String>), DataError> {
        recipe(frame, options)
    }
}

fn recipe(frame: &Frame, options: &RecipeOptions) -> Result<(Recipe, Vec<String>), DataError> {
    let mut notes = Vec::new();
    if let Some(bits) = options.hash_bits {
        let holds = HASH_BITS.contains(&bits);
        InputError::check_parameter("hash_bits", f64::from(bits), holds, "from 1 to 28")?;
    }
    check_names(frame, options, &mut notes)?;
    let dropped: HashSet<&str> = options.drop.iter().map(String::as_str).collect();
    let texts: HashSet<&str> = options.text.iter().map(String::as_str).collect();
    let used: HashSet<&str> = options.use_columns.iter().map(String::as_str).collect();
    let records: HashMap<&str, &ColumnRecord> =
        frame.records.iter().map(|record| (record.name.as_str(), record)).collect();
    let (mut names_only, mut rules) = (Vec::new(), BTreeMap::new());
    let (mut columns, mut constant, mut wordless) = (Vec::new(), Vec::new(), Vec::new());
    let mut take = |name: &str, kind: Option<Kind>| match kind {
        Some(kind) => columns.push(ColumnRecipe { name: name.to_owned(), kind, deviation: None }),
        None if texts.contains(name) => wordless.push(name.to_owned()),
        None => constant.push(name.to_owned()),
    };
    for column in frame.columns.iter().filter(|c| !dropped.contains(c.name.as_str())) {
        let name = column.name.as_str();
        if let Some(record) = records.get(name) {
            if !used.contains(name) {
                notes.extend(record.notes.iter().cloned());
            }
            let is_named = used.contains(name) || texts.contains(name);
            if record.rule.kind.is_left_out() && !is_named {
                names_only.push(name.to_owned());
                continue;
            }
            rules.insert(name.to_owned(), record.rule.clone());
        }
        let kind = match &column.values {
            values if texts.contains(name) => text(values, options.hash_bits),
            Values::Numbers(values) => numbers(values.values(), options),
            Values::Texts(texts) => texts_of(texts, frame, name, options, &mut notes)?,
            Values::Moments(moments) => moments_of(moments, options),
        };
        take(name, kind);
    }
    let (mut entries, mut prefix) = (Vec::new(), String::new());
    match &frame.block {
        Some(Block::Sparse(block)) => {
            let points = block.points();
            let named = dropped.iter().filter_map(|name| frame.block.as_ref()?.place(name));
            let dropped: HashSet<usize> = named.collect();
            let mut kept = changing(points);
            kept.retain(|column| !dropped.contains(&(*column as usize)));
            entries = kept.into_iter().map(|column| column + block.first()).collect();
            block.prefix().clone_into(&mut prefix);
        }
        Some(block) => {
            for place in 0..block.dim() {
                let name = block.name(place);
                if !dropped.contains(name.as_str()) {
                    if let Some(record) = records.get(name.as_str()) {
                        rules.insert(name.clone(), record.rule.clone());
                    }
                    take(&name, numbers(&block.column(place), options));
                }
            }
        }
        None => {}
    }
    if columns.is_empty() && entries.is_empty() {
        return Err(nothing_to_learn(frame, options, &constant, &names_only, &wordless));
    }
    if !wordless.is_empty() {
        notes.push(format!("{}: {}, so it is left out", frame.source, without_words(&wordless)));
    }
    let sparse = frame.is_sparse();
    let columns_used: HashSet<&String> = columns.iter().map(|column| &column.name).collect();
    rules.retain(|name, _| columns_used.contains(name));
    let mut recipe =
        Recipe { columns, entries, prefix, constant, names_only, rules, sparse, by_entries: false };
    if recipe.columns.iter().any(|column| matches!(column.kind, Kind::Text { .. })) {
        recipe.by_entries = true;
    } else {
        if options.hash_bits.is_some() {
            notes.push(format!(
                "{}: --hash-bits has no effect, because no column is learned as text",
                frame.source
            ));
        }
        let stored = recipe.stored(frame);
        recipe.by_entries = recipe.dim() > MIN_SPARSE_DIM
            && stored.saturating_mul(SPARSE_SHARE) < frame.rows.saturating_mul(recipe.dim());
    }
    if recipe.by_entries {
        // Learners do not standardise sparse points, so numbers are standardised here. Otherwise, incomes would hide the
        // coordinates of categories, which are 0 or 1.
        let found = Found::new(frame);
        for column in &mut recipe.columns {
            column.deviation = Encoder::deviation(column, &found)?;
        }
    }
    Ok((recipe, merged(&notes)))
}

/// Merges notes that say the same about more than [`MOST_ALIKE`] columns. The first note stays and lists the other
/// columns.
fn merged(notes: &[String]) -> Vec<String> {
    // The note without the name of the column and without examples, which are in parentheses.
    let subject = |note: &str| {
        let (file, rest) = note.split_once(", column `")?;
        let (name, what) = rest.split_once("`: ")?;
        let what = what.split('(').map(|part| part.rsplit_once(')').map_or(part, |(_, end)| end));
        Some((format!("{file}: {}", what.collect::<String>()), format!("`{name}`")))
    };
    let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (subject, name) in notes.iter().filter_map(|note| subject(note)) {
        alike.entry(subject).or_default().push(name);
    }
    let merge = |note: &String| {
        let Some((subject, name)) = subject(note) else { return Some(note.clone()) };
        match &alike[&subject][..] {
            names if names.len() <= MOST_ALIKE => Some(note.clone()),
            [first, others @ ..] if *first == name => {
                let others = first_of(others.iter(), MAX_NAMES);
                Some(format!("{note}; the same for the columns {others}"))
            }
            _ => None,
        }
    };
    notes.iter().filter_map(merge).collect()
}

impl Recipe {
    /// Estimates the number of non-zero coordinates of a table, for a recipe without columns of text.
    fn stored(&self, frame: &Frame) -> usize {
        let rows = frame.rows;
        let of_column = |column: &ColumnRecipe| match &column.kind {
            Kind::Moment { parts, .. } => rows.saturating_mul(parts.width()),
            _ => rows,
        };
        let of_block = match &frame.block {
            Some(block @ Block::Sparse(_)) => block.stored(),
            _ => 0,
        };
        self.columns.iter().map(of_column).sum::<usize>() + of_block
    }
}

/// Checks that every column named in the options exists and can be read.
fn check_names(
    frame: &Frame,
    options: &RecipeOptions,
    notes: &mut Vec<String>,
) -> Result<(), DataError> {
    let is_dropped = |name: &String| options.drop.contains(name);
    for name in options.drop.iter().chain(&options.text).chain(&options.use_columns) {
        let is_unread = is_dropped(name) && frame.remark(name).is_some();
        if !frame.has(name) && !is_unread {
            return Err(frame.no_column(name));
        }
    }
    for (name, remark) in &frame.remarks {
        match remark {
            _ if is_dropped(name) => {}
            Remark::Unread { .. } => return Err(frame.no_column(name)),
            Remark::Rounded { .. } => notes.push(frame.about(name, remark)),
            Remark::Code { .. } | Remark::Sign { .. } => {
                let is_used = |record: &ColumnRecord| !record.rule.kind.is_left_out();
                if frame.has(name) && frame.record(name).is_some_and(is_used) {
                    notes.push(frame.about(name, remark));
                }
            }
        }
    }
    Ok(())
}

fn without_words(names: &[String]) -> String {
    format!(
        "every word or part of a word of {} occurs in only one row or in all rows",
        first_of(names, MAX_NAMES)
    )
}

fn nothing_to_learn(
    frame: &Frame,
    options: &RecipeOptions,
    constant: &[String],
    names_only: &[String],
    wordless: &[String],
) -> DataError {
    let mut why = Vec::new();
    if !options.drop.is_empty() {
        why.push(format!("left out by --drop: {}", first_of(&options.drop, MAX_NAMES)));
    }
    if !constant.is_empty() {
        why.push(format!("the same in all rows: {}", first_of(constant, MAX_NAMES)));
    }
    if !names_only.is_empty() {
        let names = first_of(names_only, MAX_NAMES);
        why.push(format!(
            "apparently only row identifiers (pass --use to learn from one): {names}"
        ));
    }
    if !wordless.is_empty() {
        why.push(without_words(wordless));
    }
    if frame.is_sparse() {
        why.push("every column is constant".to_owned());
    }
    let why = if why.is_empty() { "there is no other column".to_owned() } else { why.join("; ") };
    DataError::user(format!("{}: no column to learn from: {why}", frame.source))
}

/// The non-constant columns of sparse points.
fn changing(points: &SparsePoints) -> Vec<u32> {
    let dim = points.dim();
    let mut stored = vec![0u32; dim];
    let mut first = vec![0.0f64; dim];
    let mut differs = vec![false; dim];
    for (column, value) in points.rows().flat_map(RowView::entries) {
        if stored[column] == 0 {
            first[column] = value;
        }
        differs[column] |= (first[column] - value).abs() > 0.0;
        stored[column] += 1;
    }
    let changes = |column: &usize| {
        differs[*column] || stored[*column] > 0 && (stored[*column] as usize) < points.len()
    };
    (0..dim).filter(changes).map(|column| column as u32).collect()
}

/// The recipe of a column of numbers, or `None` if the column is constant and need not be kept.
pub(super) fn numbers(values: &[f64], options: &RecipeOptions) -> Option<Kind> {
    let mut present: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    let some_missing = present.len() < values.len();
    let missing = some_missing && !options.median_only;
    let first = *present.first()?;
    let is_constant = !present.iter().any(|v| (*v - first).abs() > 0.0);
    if is_constant && !missing {
        return (options.keep_constant && first.abs() > 0.0).then_some(Kind::Number {
            median: first,
            missing,
            range: None,
        });
    }
    let (count, middle) = (present.len(), present.len() / 2);
    let (below, median, _) = present.select_nth_unstable_by(middle, f64::total_cmp);
    let mut median = *median;
    if count % 2 == 0 {
        // The median of an even number of values is the mean of the two middle values.
        let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        median = lower / 2.0 + median / 2.0;
    }
    let range = (count >= MIN_RANGE).then(|| {
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        present.iter().fold((low, high), |(low, high), v| (low.min(*v), high.max(*v)))
    });
    Some(Kind::Number { median, missing, range })
}

/// The recipe of a column of timestamps, or `None` if the column is constant.
fn moments_of(moments: &TimestampMicrosecondArray, options: &RecipeOptions) -> Option<Kind> {
    let parts = MomentParts::of(moments);
    let missing = moments.null_count() > 0 && !options.median_only;
    if parts.width() == 0 && !missing {
        return None;
    }
    let mut present: Vec<i64> = moments.iter().flatten().collect();
    if present.is_empty() {
        return None;
    }
    let ends = present.iter().min().copied().zip(present.iter().max().copied());
    let range = ends.filter(|_| present.len() >= MIN_RANGE);
    let middle = present.len() / 2;
    let median = *present.select_nth_unstable(middle).1;
    Some(Kind::Moment { parts, median, missing, range })
}

/// The recipe of a text column, or `None` if the column is constant.
fn texts_of(
    texts: &Texts,
    frame: &Frame,
    name: &str,
    options: &RecipeOptions,
    notes: &mut Vec<String>,
) -> Result<Option<Kind>, DataError> {
    let place = format!("{}, column `{name}`", frame.source);
    let counted = texts.counted();
    let present: usize = counted.iter().map(|(_, rows)| *rows as usize).sum();
    let missing = present < frame.rows;
    if counted.is_empty() || counted.len() == 1 && !missing {
        return Ok(None);
    }
    let count = counted.len();
    let is_declared = frame.record(name).is_some_and(|record| record.declared);
    let kind = match is_declared {
        true => TextKind::Category,
        false => TextKind::of(counted.iter().map(|(text, rows)| (*text, *rows as usize))),
    };
    let is_varied = kind != TextKind::Category;
    let has_comma = counted.iter().any(|(text, _)| text.contains(','));
    if is_varied && has_comma && counted.iter().all(|(text, _)| has_decimal_comma(text)) {
        return Err(DataError::user(format!(
            "{place}: numbers with a decimal comma are read as text; write them with a point (pandas: to_csv(..., decimal='.'))"
        )));
    }
    if kind == TextKind::Text
        && let Some(ngrams) = Ngrams::fit(&counted, options.hash_bits)
    {
        notes.push(format!(
            "{}: column `{name}` has {count} different texts; it is treated as text, with words and runs of characters as \
             features; use --drop '{name}' to leave it out",
            frame.source
        ));
        return Ok(Some(Kind::Text { ngrams }));
    }
    let advice = format!(
        "use --drop '{name}' to leave the column out, --text '{name}' to learn from its words, or --category '{name}' to \
         use it as categories"
    );
    let is_refused = is_varied && count > MAX_VARIED;
    if is_refused && counted.iter().all(|(text, _)| text.parse::<f64>().is_ok()) {
        return Err(DataError::user(format!(
            "{place}: its cells are numbers that are stored as texts; store them as numbers (pandas: to_numeric), or use \
             --category '{name}' to use them as categories"
        )));
    }
    let rows_of = counted.iter().map(|(text, rows)| (*text, *rows as usize));
    if is_refused && let Some(spelling) = unread_spelling(rows_of) {
        return Err(DataError::user(format!("{place}: {spelling}, or {advice}")));
    }
    if is_refused {
        return Err(DataError::user(format!(
            "{place}: {count} different texts in {present} rows are too many for categories, and too short to be \
             recognised as text; {advice}"
        )));
    }
    if is_varied {
        notes.push(format!(
            "{place}: {count} different texts in {present} rows are used as categories, which say little about other rows; \
             {advice}"
        ));
    }
    let mut levels: Vec<String> = counted.into_iter().map(|(text, _)| text.to_owned()).collect();
    levels.sort_unstable();
    Ok(Some(Kind::Category { levels, missing }))
}

/// Whether a string becomes a number if its comma is replaced by a decimal point.
fn has_decimal_comma(text: &str) -> bool {
    text.matches(',').count() <= 1 && text.replacen(',', ".", 1).trim().parse::<f64>().is_ok()
}

/// The recipe of a column of text, or `None` if no n-gram distinguishes rows.
fn text(values: &Values, hash_bits: Option<u32>) -> Option<Kind> {
    let ngrams = match values {
        Values::Texts(texts) => Ngrams::fit(&texts.counted(), hash_bits),
        values => {
            let texts: Vec<String> = (0..values.len()).map(|row| values.text(row)).collect();
            let texts: Vec<(&str, u32)> = texts.iter().map(|text| (text.as_str(), 1)).collect();
            Ngrams::fit(&texts, hash_bits)
        }
    };
    Some(Kind::Text { ngrams: ngrams? })
}
