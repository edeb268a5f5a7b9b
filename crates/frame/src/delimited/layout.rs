//! The layout of delimited text: preamble, header (column names) and rows.

use super::dialect::{self, Found};
use super::header::{self, Row};
use super::kinds::{Kind, kind};
use super::records::Records;
use super::split::{Delimiter, Dialect};
use super::split_cells;
use crate::error::DataError;
use crate::names::short;
use crate::options::{Format, Hints, ReadOptions};
use std::collections::HashSet;

/// If rows have one more cell than the header, the first column may contain row names. This is assumed only if such
/// rows are at least this many times as frequent as rows that fit the header.
const LONGER: usize = 10;
/// The maximum number of names shown in a note.
const SHOWN: usize = 3;
/// Names above texts that are all different cause a note only if there are at least this many rows.
const FEWEST_TEXTS: usize = 10;
/// The maximum number of records in a sample, and the number of cells after which the sample ends.
const RECORDS: usize = 400;
const CELLS: usize = 1 << 20;

/// The layout of a text.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) dialect: Dialect,
    pub(crate) trusts_quotes: bool,
    /// The number of lines above the names or, if there are no names, above the rows.
    pub(crate) preamble: u64,
    /// The number of records that contain names.
    pub(crate) header: usize,
    /// Whether a line of dashes follows the names, as in the output of database programs.
    pub(crate) underlined: bool,
    /// The names as written in the file. If the header has several lines, they are joined. There are no names if there
    /// is no header.
    pub(crate) raw_names: Row,
    /// The name of each column.
    pub(crate) names: Vec<String>,
    /// The number of cells in most rows.
    pub(crate) width: usize,
    /// Whether the first cell of each row is the name of the row. If so, the header has no name for this column.
    pub(crate) row_names: bool,
    /// Whether rows end with a delimiter.
    pub(crate) trailing: bool,
    /// Whether a space follows each delimiter.
    pub(crate) spaced: bool,
    /// Whether the table is preceded by lines that begin with `#` or `%`.
    pub(crate) comments: bool,
    /// Whether trailing rows are kept instead of being treated as footnotes (see [`Hints::keeps_rows`]).
    pub(crate) keeps_rows: bool,
    /// Notes on decisions that could be wrong, without the name of the file.
    pub(crate) notes: Vec<String>,
}

struct Sampled {
    line: u64,
    cells: Row,
    blank: bool,
    /// Whether the record begins with a comment mark.
    comment: bool,
}

/// Detects the layout of a text that begins with `sample`.
pub(crate) fn find(
    sample: &[u8],
    format: Format,
    options: &ReadOptions,
    hints: &Hints,
) -> Result<Layout, DataError> {
    let mut notes = Vec::new();
    let requested = options.delimiter.or((format == Format::Tsv).then_some(b'\t'));
    let named = separator_line(sample);
    // A first line that is the name of an expected column belongs to a table of one column.
    let only = hints.expects(first_line(sample).trim_ascii()).then_some(b',');
    // The semicolon does not occur in such a column, so each line is one cell.
    let decimals = dialect::are_decimals(sample).then_some(b';');
    let Found { dialect, trusts_quotes, literal_quotes, several_lines } =
        dialect::find(sample, requested.or(named).or(decimals).or(only));
    let rows = sampled(sample, dialect, named.is_some());
    if let Some(byte) = named {
        notes.push(format!("line 1 sets `{}` as the delimiter", char::from(byte)));
    }
    if literal_quotes {
        let line = first_quote(&rows).unwrap_or(1);
        notes.push(format!(
            "quotation marks are read as characters of the text, because the one in line {line} does not enclose a cell"
        ));
    }
    if let Some(line) = several_lines {
        notes.push(format!(
            "quotation marks enclose cells that span several lines, such as the one that begins in line {line}, though each line could be a row"
        ));
    }
    let mut layout = Layout {
        dialect,
        trusts_quotes,
        preamble: u64::from(named.is_some()),
        header: 0,
        underlined: false,
        raw_names: Vec::new(),
        names: Vec::new(),
        width: 0,
        row_names: false,
        trailing: false,
        spaced: is_spaced(sample, dialect),
        comments: false,
        notes,
        keeps_rows: hints.keeps_rows,
    };
    layout.table(sample, &rows, options, hints);
    Ok(layout)
}

fn first_line(sample: &[u8]) -> &[u8] {
    memchr::memchr2(b'\n', b'\r', sample).map_or(sample, |end| &sample[..end])
}

/// The delimiter that is set by the first line, if this line has a form such as `sep=;`. Spreadsheet programs write
/// such lines.
fn separator_line(sample: &[u8]) -> Option<u8> {
    let line = first_line(sample);
    let line = line.strip_prefix(b"\"").unwrap_or(line);
    let line = line.strip_suffix(b"\"").unwrap_or(line);
    let start = line.get(..4)?;
    match &line[4..] {
        [byte] if start.eq_ignore_ascii_case(b"sep=") => Some(*byte),
        _ => None,
    }
}

fn sampled(sample: &[u8], dialect: Dialect, skip: bool) -> Vec<Sampled> {
    let mut records = Records::of_text(sample, dialect);
    if skip {
        let _ = records.skip_line();
    }
    let mut rows: Vec<Sampled> = Vec::new();
    let mut count = 0;
    while rows.len() < RECORDS && (count < CELLS || rows.len() < 3) {
        let Ok(Some(record)) = records.next() else { break };
        count += records.len();
        let trimmed = |cell: &[u8]| cell.trim_ascii().to_vec();
        let mut cells: Row = records.iter().map(trimmed).collect();
        let comment = is_comment(&cells);
        let is_mark = cells[0].iter().all(|b| matches!(b, b'#' | b'%'));
        if comment && is_mark && cells.len() > 1 && separates_words(dialect.delimiter) {
            // The comment mark is not a cell.
            cells.remove(0);
        }
        rows.push(Sampled { line: record.line, cells, blank: record.blank, comment });
    }
    rows
}

/// Whether every delimiter inside a line is followed by a space.
fn is_spaced(sample: &[u8], dialect: Dialect) -> bool {
    let mut records = Records::of_text(sample, dialect);
    let (mut spaced, mut other) = (0, 0);
    for _ in 0..RECORDS {
        let Ok(Some(_)) = records.next() else { break };
        for (at, cell) in records.iter().enumerate().skip(1) {
            if !cell.is_empty() && !records.cells().is_quoted(at) {
                let counter = if cell[0] == b' ' { &mut spaced } else { &mut other };
                *counter += 1;
            }
        }
    }
    spaced > 20 * other
}

fn first_quote(rows: &[Sampled]) -> Option<u64> {
    let has_quote = |row: &&Sampled| row.cells.iter().any(|cell| cell.first() == Some(&b'"'));
    rows.iter().find(has_quote).map(|row| row.line)
}

fn filled(row: &Row) -> usize {
    row.iter().filter(|cell| !cell.is_empty()).count()
}

fn separates_words(delimiter: Delimiter) -> bool {
    matches!(delimiter, Delimiter::Blanks | Delimiter::Byte(b' ' | b'\t'))
}

/// Whether a row is the separator between the names and the data. All its cells consist of dashes, and at least one
/// cell has more than one dash. In Markdown, dashes may have colons at their ends, and the first and the last cell are
/// empty. Database programs write plus signs between the runs of dashes.
fn is_rule(row: &Row) -> bool {
    if let [only] = &row[..] {
        let parts: Vec<&[u8]> = only.trim_ascii().split(|byte| *byte == b'+').collect();
        return parts.iter().all(|part| part.len() > 1 && part.iter().all(|byte| *byte == b'-'));
    }
    let dashes = |cell: &[u8]| {
        let cell = cell.trim_ascii();
        let cell = cell.strip_prefix(b":").unwrap_or(cell);
        let cell = cell.strip_suffix(b":").unwrap_or(cell);
        if cell.iter().all(|byte| *byte == b'-') { cell.len() } else { 0 }
    };
    let cells = match &row[..] {
        [first, inner @ .., last] if first.is_empty() && last.is_empty() => inner,
        cells => cells,
    };
    cells.iter().all(|cell| dashes(cell) > 0) && cells.iter().any(|cell| dashes(cell) > 1)
}

fn is_comment(row: &Row) -> bool {
    matches!(row[0].first(), Some(b'#' | b'%'))
}

impl Layout {
    fn table(&mut self, sample: &[u8], rows: &[Sampled], options: &ReadOptions, hints: &Hints) {
        let rows: Vec<&Sampled> = rows.iter().filter(|row| !row.blank).collect();
        let widths = rows.iter().filter(|row| !row.comment).map(|row| row.cells.len());
        let width = dialect::commonest(widths).unwrap_or(0);
        let start = self.start(&rows, width, hints);
        self.comments = rows[..start].iter().any(|row| row.comment);
        if let Some(row) = rows.get(start) {
            if row.line > self.preamble + 1 && start > 0 {
                let first = rows[0].line;
                let (lines, are) = match row.line - 1 {
                    last if last == first => (format!("line {first}"), "is"),
                    last => (format!("lines {first} to {last}"), "are"),
                };
                self.notes.push(format!("{lines} above the table {are} skipped"));
            }
            self.preamble = row.line - 1;
        }
        let table: Vec<&Row> = rows[start..].iter().map(|row| &row.cells).collect();
        let Some(first) = table.first() else { return };
        let expected = hints.header(first);
        let has_all = || {
            let cells: HashSet<&[u8]> = first.iter().map(Vec::as_slice).collect();
            hints.expected.iter().all(|name| cells.contains(name.as_bytes()))
        };
        let lines = || match table.get(1) {
            // The line above dashes contains the names.
            Some(second) if is_rule(second) => 1,
            _ => header::lines(&table),
        };
        self.header = match options.header.or(expected) {
            Some(false) => 0,
            // If the user requests a header, or if the first line contains all expected names, the header is one line.
            Some(true) if options.header.is_some() || has_all() => 1,
            Some(true) => lines().max(1),
            None if first.len() == 1 && header::is_sentence(&first[0]) => 0,
            None => lines(),
        };
        self.underlined = self.header > 0 && table.get(self.header).is_some_and(|row| is_rule(row));
        if self.underlined {
            let line = rows[start + self.header].line;
            self.notes.push(format!("line {line}, which contains only dashes, is left out"));
        }
        let data = &table[self.header + usize::from(self.underlined)..];
        self.width = dialect::commonest(data.iter().map(|row| row.len())).unwrap_or(first.len());
        if self.header == 0 {
            let count = first.len().max(self.width);
            if options.header.is_none() && expected.is_none() {
                let line = self.preamble + 1;
                let which =
                    if line == 1 { "the first line".into() } else { format!("line {line}") };
                let named = match count {
                    1 => "the column is named c1".to_owned(),
                    _ => format!("columns are named c1 to c{count}"),
                };
                self.notes.push(format!(
                    "{which} is read as data, and {named}; pass --header if it contains names"
                ));
            }
            if options.header.is_none() && expected == Some(false) && header::lines(&table) > 0 {
                self.notes.push(format!(
                    "line {} looks like column names, but it is read as data, because the names c1, c2, .. are expected; \
                     pass --header if it contains names",
                    self.preamble + 1
                ));
            }
            self.names = (1..=self.width).map(|i| format!("c{i}")).collect();
            return;
        }
        self.raw_names = joined(&table[..self.header]);
        if options.header.is_none() && expected.is_none() && self.header == 1 {
            self.note_guess(rows[start].line, data);
        }
        if let Some((row, below)) = data.split_first()
            && header::stands_out(row, below)
        {
            self.notes.push(format!(
                "line {} is read as data, but none of its cells occurs again, and all others do; remove it if it \
                 contains names",
                rows[start + self.header + usize::from(self.underlined)].line
            ));
        }
        if self.header > 1 {
            let first = rows[start].line;
            self.notes.push(format!(
                "lines {first} to {} are read as the names of the columns, such as `{}`; pass --header if only line \
                {first} contains names",
                rows[start + self.header - 1].line,
                short(&String::from_utf8_lossy(self.raw_names.last().map_or(&[], |n| n)))
            ));
        }
        self.name_columns(sample, data);
    }

    /// Adds a note if the names that were detected in `line` could be data. This is the case if some names are numbers,
    /// dates or markers of missing values such as `\N`, or if nearly all cells below the names are different texts. A
    /// single name could also be data if all cells below it are texts.
    fn note_guess(&mut self, line: u64, data: &[&Row]) {
        let shown = |name: &Vec<u8>| format!("`{}`", short(&String::from_utf8_lossy(name)));
        let is_marker =
            |name: &[u8]| kind(name) == Kind::Missing && !name.iter().all(u8::is_ascii_alphabetic);
        let is_doubtful = |name: &&Vec<u8>| kind(name).is_typed() || is_marker(name);
        let mut doubtful: Vec<String> =
            self.raw_names.iter().filter(is_doubtful).take(SHOWN).map(shown).collect();
        if doubtful.is_empty()
            && self.raw_names.len() > 1
            && data.len() >= FEWEST_TEXTS
            && header::are_list(data, self.raw_names.len())
        {
            doubtful = self.raw_names.iter().take(SHOWN).map(shown).collect();
        }
        let what = match self.raw_names.as_slice() {
            [name] if data.iter().all(|row| kind(&row[0]).is_wordy()) => {
                format!("{}, is read as the name of the column", shown(name))
            }
            _ if doubtful.is_empty() => return,
            _ => {
                format!(
                    "which contains {}, is read as the names of the columns",
                    doubtful.join(", ")
                )
            }
        };
        self.notes.push(format!("line {line}, {what}; pass --no-header if it is data"));
    }

    /// The index of the row at which the table starts, given the expected names.
    fn start(&self, rows: &[&Sampled], width: usize, hints: &Hints) -> usize {
        let found = self.likely_start(rows, width);
        let expected = |row: &&Sampled| row.cells.iter().any(|cell| hints.expects(cell));
        let Some(at) = rows.iter().take(50).position(expected) else { return found };
        // An expected column may be missing, and a cell of the table may happen to contain its name.
        let likely: Vec<&Row> = rows[found..].iter().map(|row| &row.cells).collect();
        let is_header =
            at > found && likely[0].len() == rows[at].cells.len() && header::lines(&likely) > 0;
        if is_header { found } else { at }
    }

    /// The index of the row at which the table probably starts, judging by the form of the rows.
    fn likely_start(&self, rows: &[&Sampled], width: usize) -> usize {
        let blanks = separates_words(self.dialect.delimiter);
        // The last comment may contain the names, as in files written by numpy.savetxt.
        let comments = rows.iter().take_while(|row| row.comment).count();
        if comments > 0
            && let Some(last) = rows[..comments].last()
            && last.cells.len() == width
            && width > 1
            && filled(&last.cells) == width
        {
            return comments - 1;
        }
        let rows_left = &rows[comments..];
        if width < 2 {
            return if rows_left.is_empty() { 0 } else { comments };
        }
        let above = |row: &Row| {
            let tolerance = (width / 4).max(1);
            let short = blanks && row.len() + 1 == width && width == 2;
            row.len().abs_diff(width) > tolerance || filled(row) < 2 && !short
        };
        let skipped = rows_left.iter().take_while(|row| above(&row.cells)).count();
        if skipped == rows_left.len() {
            return comments;
        }
        let padded = rows_left[..skipped].iter().any(|row| row.cells.len() == width);
        let empty = rows_left[..skipped].iter().any(|row| filled(&row.cells) == 0);
        let table: Vec<&Row> = rows_left[skipped..].iter().map(|row| &row.cells).collect();
        if padded && !empty && !(width > 2 && header::lines(&table) > 0) {
            return comments;
        }
        comments + skipped
    }

    /// Names the columns, and adds a note if the header is longer or shorter than the rows.
    fn name_columns(&mut self, sample: &[u8], data: &[&Row]) {
        let mut names = self.raw_names.clone();
        if self.comments || is_comment(&names) {
            let first = names[0].trim_ascii_start();
            let marks = first.iter().take_while(|b| matches!(b, b'#' | b'%')).count();
            names[0] = first[marks..].trim_ascii().to_vec();
        }
        let same: Vec<&&Row> = data.iter().filter(|row| row.len() == self.width).collect();
        if names.len() + 1 == self.width && !same.is_empty() {
            let ends_empty = |row: &&&Row| row.last().is_some_and(Vec::is_empty);
            let mut first: Vec<&Vec<u8>> = same.iter().map(|row| &row[0]).collect();
            first.sort_unstable();
            let distinct = first.windows(2).all(|w| w[0] != w[1]);
            // If the first column contained row names, the cells in rows that fit the header would be shifted by one
            // column.
            let fitting = data.iter().filter(|row| row.len() == names.len()).count();
            if same.iter().all(ends_empty) {
                self.trailing = true;
                self.notes.push("rows end with a delimiter but the header does not; the empty last cell is left out".into());
            } else if distinct && LONGER * fitting <= same.len() {
                let split = split_cells::find(sample, self.dialect, self.width, &names[0]);
                if !split.is_certain {
                    self.row_names = true;
                    names.insert(0, Vec::new());
                    let decimal = split.decimal.map(|number| format!(
                        "; if the comma in `{number}` is a decimal comma, write the file with another delimiter"
                    ));
                    self.notes.push(format!(
                        "the header has one name fewer than the rows have cells, so the first column contains row names; it is left out{}",
                        decimal.unwrap_or_default()
                    ));
                }
            }
        }
        if names.len() == self.width + 1 && names.last().is_some_and(Vec::is_empty) {
            names.pop();
        }
        let place = |(at, name): (usize, Vec<u8>)| match (String::from_utf8(name), at) {
            (Ok(name), 0) => name,
            (Ok(name), _) if !name.is_empty() => name,
            (Err(error), _) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            _ => String::new(),
        };
        self.names = names.into_iter().enumerate().map(place).collect();
        let empty = |at: usize| data.iter().all(|row| row.get(at).is_none_or(Vec::is_empty));
        if self.names.len() > 1
            && self.names.len() == self.width
            && self.names.last().is_some_and(String::is_empty)
            && empty(self.width - 1)
            && !self.trailing
        {
            // Both the header and the rows end with a delimiter.
            self.names.pop();
            self.trailing = true;
            self.notes.push(
                "lines end with a delimiter, so the last column is empty; it is left out".into(),
            );
        }
        // Few of the names that the file gives have this form, so the search for a free name is short.
        let is_similar = |name: &&String| name.starts_with('c');
        let given: Vec<String> = self.names.iter().filter(is_similar).cloned().collect();
        // Columns without names before the first name are the levels of an index, as in files written by pandas.
        let levels = self.names.iter().position(|name| !name.is_empty()).unwrap_or(0);
        for at in 1..self.names.len() {
            if self.names[at].is_empty() {
                let level = format!("__index_level_{at}__");
                let is_level = at < levels && !self.names.contains(&level);
                self.names[at] = if is_level { level } else { column_name(at, &given) };
                let name = &self.names[at];
                self.notes.push(format!("column {} has no name and is named `{name}`", at + 1));
            }
        }
    }
}

/// The name that is given to the column at this index if the file does not name it. It differs from the names that the
/// file gives to other columns.
pub(crate) fn column_name(at: usize, given: &[String]) -> String {
    let mut name = format!("c{}", at + 1);
    while given.contains(&name) {
        name.push('_');
    }
    name
}

/// Joins names that span several lines, with a space between the texts of each column. Except in the last line, a text
/// also applies to the empty cells on its right.
fn joined(lines: &[&Row]) -> Row {
    if let [one] = lines {
        return (*one).clone();
    }
    let width = lines.iter().map(|line| line.len()).max().unwrap_or(0);
    // The texts of each column. A text that is repeated in the next line is not repeated in the name.
    let mut parts: Vec<Vec<&[u8]>> = vec![Vec::new(); width];
    for (depth, line) in lines.iter().enumerate() {
        let mut group: &[u8] = &[];
        for (at, parts) in parts.iter_mut().enumerate() {
            let cell = line.get(at).map_or(&[][..], Vec::as_slice);
            if !cell.is_empty() || depth + 1 == lines.len() {
                group = cell;
            }
            if !group.is_empty() && parts.last() != Some(&group) {
                parts.push(group);
            }
        }
    }
    parts.into_iter().map(|parts| parts.join(&b' ')).collect()
}
