//! Detects the dialect of a text: its delimiter and its quoting.
//!
//! A sample of the text is split with each candidate delimiter. A candidate is good if most rows have the same number
//! of cells, if this number is larger than one, and if the cells look like complete numbers, dates or words rather than
//! fragments of them.

use super::kinds::{Kind, kind};
use super::records::Records;
use super::split::{Delimiter, Dialect};

/// The maximum number of records in the sample.
const RECORDS: usize = 400;
/// The maximum number of cells sampled from a record.
const CELLS: usize = 200;
/// The score of a table with one column.
const ONE_COLUMN: f64 = 0.4;
/// A space or a colon can be the delimiter only if at least this share of the cells are numbers or dates or are quoted.
const TYPED: f64 = 0.4;

/// If the best delimiter does not split the first row, it is replaced by another delimiter. The other delimiter must
/// split all rows into the same number of cells and must have at least this share of the best score.
const EVEN: f64 = 0.5;

/// The candidate delimiters, each with a prior score.
const CANDIDATES: [(Delimiter, f64); 10] = [
    (Delimiter::Byte(b','), 1.0),
    (Delimiter::Byte(b';'), 1.0),
    (Delimiter::Byte(b'\t'), 1.0),
    (Delimiter::Byte(b'|'), 1.0),
    // Hive separates cells by the control character A.
    (Delimiter::Byte(0x01), 1.0),
    (Delimiter::Byte(b'~'), 0.9),
    (Delimiter::Byte(b'^'), 0.9),
    (Delimiter::Byte(b' '), 0.85),
    (Delimiter::Blanks, 0.8),
    (Delimiter::Byte(b':'), 0.7),
];

/// A detected dialect, with the evidence for its quoting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub(crate) dialect: Dialect,
    /// Whether the sample has quoted cells that contain a delimiter but no line end, so that its quotes can be trusted.
    pub(crate) trusts_quotes: bool,
    /// Whether cells begin with a quote that does not enclose them, so that quotes are read as ordinary characters.
    pub(crate) literal_quotes: bool,
    /// The line of a quoted cell that contains both a delimiter and a line end, if each line of the sample could also
    /// be a separate row.
    pub(crate) several_lines: Option<u64>,
}

/// Measures of how well a dialect fits a sample.
#[derive(Debug, Clone, Copy)]
struct Trial {
    dialect: Dialect,
    score: f64,
    /// The share of rows with the most common number of cells.
    consistency: f64,
    /// The number of quoted cells that are on one line, or that span several lines but contain no delimiter.
    well_quoted: usize,
    /// The number of quoted cells that are on one line and contain a delimiter, and therefore need their quotes.
    needed: usize,
    /// The number of quotes that open a cell but do not close it, plus the number of quoted cells that contain both a
    /// line end and a delimiter.
    doubtful: usize,
    /// Whether the sample conforms to RFC 4180 if it is read in this dialect.
    is_sound: bool,
    /// Whether the first row consists of one cell.
    starts_whole: bool,
    /// The line of the first quoted cell that contains both a line end and a delimiter. `enclosing` is the number of
    /// such cells.
    swallowing: Option<u64>,
    enclosing: usize,
    /// Whether a cell counted in `enclosing` also contains a quote, which is doubled in the text.
    has_doubled: bool,
    /// Whether some column contains only numbers and dates. `some_typed` is true if some column contains numbers or
    /// dates as well as other cells. The first row is ignored.
    all_typed: bool,
    some_typed: bool,
}

impl Trial {
    /// Whether the quotes enclose cells with several lines. The sample must be sound (`is_sound`). `lines` is the trial
    /// in which each line is a row. The text between two inch marks may look like such a cell. In that case, however,
    /// some column still contains only numbers and dates if the file is read as `lines`.
    fn has_long_cells(&self, lines: &Trial) -> bool {
        !lines.all_typed && (self.enclosing >= SOUND || self.has_doubled || lines.some_typed)
    }
}

/// At least this many quoted cells with line ends and delimiters are considered unlikely to occur by accident.
const SOUND: usize = 3;

/// Detects the dialect of `sample`, whose last record may be incomplete. `delimiter` is the delimiter set by the user.
pub(crate) fn find(sample: &[u8], delimiter: Option<u8>) -> Found {
    let candidates: Vec<(Delimiter, f64)> = match delimiter {
        Some(byte) => vec![(Delimiter::Byte(byte), 1.0)],
        None => CANDIDATES.into_iter().filter(|(d, _)| occurs(sample, *d)).collect(),
    };
    let mut best: Option<(f64, Trial, Found)> = None;
    let mut even: Option<(f64, Found)> = None;
    for (delimiter, prior) in candidates {
        let (trial, found) = quoting(sample, delimiter);
        let score = prior * trial.score;
        if best.is_none_or(|(other, ..)| score > other) {
            best = Some((score, trial, found));
        }
        if trial.consistency >= 1.0 && even.is_none_or(|(other, _)| score > other) {
            even = Some((score, found));
        }
    }
    // If the best delimiter does not split the first row, but another one splits all rows into the same number of
    // cells, the best delimiter probably occurs inside cells.
    let best = best.map(|(score, trial, found)| match even {
        Some((other, even)) if trial.starts_whole && other >= EVEN * score => (other, even),
        _ => (score, found),
    });
    let comma = Delimiter::Byte(b',');
    match best {
        Some((score, found)) if delimiter.is_some() || score > one_column(sample) => found,
        _ => quoting(sample, comma).1,
    }
}

fn occurs(sample: &[u8], delimiter: Delimiter) -> bool {
    match delimiter {
        Delimiter::Byte(byte) => sample.contains(&byte),
        Delimiter::Blanks => {
            sample.windows(2).any(|w| matches!(w, [b' ' | b'\t', b' ' | b'\t']))
                || sample.contains(&b' ')
        }
    }
}

/// Finds the best quoting for a delimiter.
fn quoting(sample: &[u8], delimiter: Delimiter) -> (Trial, Found) {
    let attempt = |quote: Option<u8>, backslash: bool| {
        try_dialect(sample, Dialect { delimiter, quote, backslash })
    };
    let double = attempt(Some(b'"'), false);
    let mut best = double;
    if memchr::memmem::find(sample, b"\\\"").is_some() {
        let escaped = attempt(Some(b'"'), true);
        let fewer = escaped.doubtful < double.doubtful;
        if fewer || escaped.doubtful == double.doubtful && escaped.score >= double.score {
            best = escaped;
        }
    }
    if double.well_quoted == 0 && sample.contains(&b'\'') {
        let single = attempt(Some(b'\''), false);
        if single.well_quoted > 2 * single.doubtful.max(1) && single.score >= best.score {
            best = single;
        }
    }
    let (mut trusted, mut literal, mut several_lines) = (best.needed > 0, false, None);
    if best.doubtful > 0 && best.well_quoted <= best.doubtful {
        let none = attempt(None, false);
        let is_even = none.consistency >= best.consistency;
        if best.is_sound && best.enclosing > 0 && (!is_even || best.has_long_cells(&none)) {
            (trusted, several_lines) = (true, best.swallowing.filter(|_| is_even));
        } else if is_even {
            best = Trial { score: none.score.max(best.score), ..none };
            (trusted, literal) = (false, true);
        }
    }
    let found = Found {
        dialect: best.dialect,
        trusts_quotes: trusted,
        literal_quotes: literal,
        several_lines,
    };
    (best, found)
}

fn try_dialect(sample: &[u8], dialect: Dialect) -> Trial {
    let mut records = Records::of_text(sample, dialect);
    let mut rows: Vec<(usize, f64, f64)> = Vec::new();
    let (mut well_quoted, mut needed, mut doubtful) = (0, 0, 0);
    let mut before_table = true;
    let (mut swallowing, mut hollow, mut stray, mut last_stray) = (None, false, 0, 0);
    let (mut enclosing, mut has_doubled) = (0, false);
    let mut typed_cells: Vec<usize> = Vec::new();
    while rows.len() < RECORDS
        && let Ok(Some(record)) = records.next()
    {
        if record.blank {
            continue;
        }
        let first = records.cell(0);
        if before_table && matches!(first.first(), Some(b'#' | b'%')) {
            continue;
        }
        before_table = false;
        let cells = records.cells();
        doubtful += cells.stray + cells.swallowing;
        stray += last_stray;
        last_stray = cells.stray;
        if cells.swallowing > 0 {
            enclosing += cells.swallowing;
            swallowing.get_or_insert(record.line);
        }
        let count = records.len().min(CELLS);
        let (mut value, mut typed) = (0.0, 0.0);
        for (at, cell) in records.iter().take(CELLS).enumerate() {
            let quoted = cells.is_quoted(at);
            let look = kind(cell);
            if !rows.is_empty() {
                typed_cells.resize(typed_cells.len().max(at + 1), 0);
                typed_cells[at] += usize::from(look.is_typed());
            }
            value += if quoted { value_of(look, cell).max(0.8) } else { value_of(look, cell) };
            typed += f64::from(u8::from(look.is_typed() || quoted));
            if quoted {
                let on_one_line = !cell.contains(&b'\n');
                let encloses = !on_one_line && contains(cell, dialect.delimiter);
                has_doubled |= encloses && dialect.quote.is_some_and(|quote| cell.contains(&quote));
                hollow |= !on_one_line && is_hollow(cell, dialect.delimiter);
                well_quoted += usize::from(on_one_line || cells.swallowing == 0);
                needed += usize::from(on_one_line && contains(cell, dialect.delimiter));
            }
        }
        let count = count.max(1) as f64;
        rows.push((records.len(), value / count, typed / count));
    }
    let mut trial = Trial {
        dialect,
        score: 0.0,
        consistency: 0.0,
        well_quoted,
        needed,
        doubtful,
        is_sound: false,
        starts_whole: rows.first().is_some_and(|row| row.0 == 1),
        swallowing,
        enclosing,
        has_doubled,
        all_typed: typed_cells.iter().any(|count| *count + 1 == rows.len() && *count > 0),
        some_typed: typed_cells.iter().any(|count| *count > 0 && *count + 1 < rows.len()),
    };
    let Some(width) = commonest(rows.iter().map(|row| row.0)) else { return trial };
    let is_cut = last_stray > 0 && enclosing > SOUND;
    let whole = rows.len() - usize::from(is_cut);
    trial.is_sound = stray == 0
        && (last_stray == 0 || is_cut)
        && !hollow
        && rows[..whole].iter().all(|row| row.0 == width);
    let same: Vec<&(usize, f64, f64)> = rows.iter().filter(|row| row.0 == width).collect();
    let consistency = same.len() as f64 / rows.len() as f64;
    if width < 2 {
        return Trial { consistency, ..trial };
    }
    let mean = |value: fn(&(usize, f64, f64)) -> f64| {
        same.iter().map(|row| value(row)).sum::<f64>() / same.len() as f64
    };
    let needs_types = matches!(dialect.delimiter, Delimiter::Blanks | Delimiter::Byte(b' ' | b':'));
    // The last row of the sample may be incomplete.
    let is_aligned = dialect.delimiter == Delimiter::Blanks
        && rows[..rows.len() - 1].iter().all(|row| row.0 == width)
        && typed_cells.iter().any(|count| *count > 0 && *count + 2 >= rows.len())
        && is_aligned(sample);
    if needs_types && !is_aligned && mean(|row| row.2) < TYPED {
        return Trial { consistency, ..trial };
    }
    // If texts contain unquoted delimiters, some rows have more cells, but every row has at least two.
    let in_all = rows.iter().all(|row| row.0 >= 2);
    let evenness = if in_all && !needs_types { consistency.max(0.9) } else { consistency };
    let mut score = evenness * evenness * width as f64 / (width as f64 + 1.0) * mean(|row| row.1);
    if rows[0].0 == 1 && width == 2 && dialect.delimiter == Delimiter::Byte(b',') {
        // This looks like a single named column of numbers with decimal commas.
        score *= 0.5;
    }
    Trial { score, consistency, ..trial }
}

/// Whether each line of a sample has several consecutive blanks between two words, as in a table whose columns are
/// aligned by blanks. The last line may be incomplete.
fn is_aligned(sample: &[u8]) -> bool {
    let lines = sample.split(|b| matches!(b, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
    let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).take(RECORDS).collect();
    let has_gap =
        |line: &&[u8]| line.windows(2).any(|pair| pair.iter().all(|b| matches!(b, b' ' | b'\t')));
    lines.len() > 2 && lines[..lines.len() - 1].iter().all(has_gap)
}

/// Whether a cell with several lines begins and ends with a line end or a delimiter. The text between two quotes, each
/// of which is the whole content of a cell, has this form.
fn is_hollow(cell: &[u8], delimiter: Delimiter) -> bool {
    let is_end = |byte: Option<&u8>| {
        byte.is_none_or(|byte| matches!(byte, b'\n' | b'\r') || contains(&[*byte], delimiter))
    };
    is_end(cell.first()) && is_end(cell.last())
}

fn contains(cell: &[u8], delimiter: Delimiter) -> bool {
    match delimiter {
        Delimiter::Byte(byte) => cell.contains(&byte),
        Delimiter::Blanks => cell.contains(&b' '),
    }
}

fn value_of(look: Kind, cell: &[u8]) -> f64 {
    let cell = cell.trim_ascii();
    let is_mark = |b: Option<&u8>| matches!(b, Some(b'"'));
    if is_mark(cell.first()) || is_mark(cell.last()) {
        return 0.1;
    }
    match look {
        Kind::Number | Kind::Moment => 1.0,
        Kind::Word | Kind::Missing => 0.6,
        Kind::Empty => 0.5,
        Kind::Text => 0.35,
    }
}

/// The most common number of cells. If several numbers are equally common, this is the largest of them.
pub(super) fn commonest(widths: impl Iterator<Item = usize>) -> Option<usize> {
    let mut widths: Vec<usize> = widths.collect();
    widths.sort_unstable();
    let runs = widths.chunk_by(|a, b| a == b);
    runs.max_by_key(|run| run.len()).map(|run| run[0])
}

/// Whether the first line of a text is a name and all other lines are numbers with decimal commas. The last line may be
/// incomplete.
pub(super) fn are_decimals(sample: &[u8]) -> bool {
    let lines = sample.split(|b| *b == b'\n' || *b == b'\r').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty());
    let is_name = |name: &[u8]| kind(name).is_wordy() && !name.contains(&b',');
    let are_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let is_decimal = |line: &[u8]| {
        let line = line.strip_prefix(b"-").unwrap_or(line);
        let mut parts = line.split(|byte| *byte == b',');
        let (whole, fraction, end) = (parts.next(), parts.next(), parts.next());
        whole.is_some_and(are_digits) && fraction.is_some_and(are_digits) && end.is_none()
    };
    lines.next().is_some_and(is_name) && {
        let rows: Vec<&[u8]> = lines.take(RECORDS).collect();
        rows.len() > 1 && rows.into_iter().all(is_decimal)
    }
}

/// The score of reading a text as a table in which each line is one cell.
fn one_column(sample: &[u8]) -> f64 {
    let lines = sample.split(|b| *b == b'\n' || *b == b'\r').filter(|line| !line.is_empty());
    let (mut count, mut whole) = (0, 0);
    for line in lines.skip(1).take(RECORDS) {
        count += 1;
        let line = line.trim_ascii();
        let is_number = fast_float2::parse::<f64, _>(line).is_ok();
        whole += usize::from(is_number || kind(line) == Kind::Moment);
    }
    if count > 0 && whole * 10 >= count * 9 { 1.0 } else { ONE_COLUMN * 0.6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delimiter(text: &str) -> Delimiter {
        find(text.as_bytes(), None).dialect.delimiter
    }

    #[test]
    fn delimiters_are_found() {
        for (byte, text) in [
            (b';', "a;b;c\n1,5;2,5;x\n"),
            (b';', "1,5;2,5;hot\n3,5;4,25;cold\n2,5;1,5;hot\n"),
            (b';', "1,5;2,5\n3,5;4,25\n"),
            (b'\t', "a\tb\n1\t2\n"),
            (b',', "\"a;b\",c\n\"1;2\",3\n"),
            (0x01, "a\u{1}b\u{1}c\n1\u{1}2\u{1}3\n1,5\u{1}2\u{1}4\n"),
            (b'|', "a|b|c\n1|2|3\n1,5|2|4\n"),
            (b',', "word\nother\n"),
            (b',', "label,text\nx,hello, you\ny,one, two, three\nx,none\n"),
            (b',', "when,y\n2006-01-01 00:15,3.5\n2006-01-01 00:30,4\n"),
            (b',', "2006-01-01 00:15\n2006-01-01 00:30\n"),
            (b',', "12:30\n12:45\n"),
            (b',', "x\n1,5\n2,5\n3,25\n"),
            (b' ', "1.5e+00 2.5e+00\n3.0e+00 4.0e+00\n"),
            (b' ', "1 7 1\n2 4 0\n3 1 1\n4 8 0\n"),
            (b' ', "dose week year\n12 11 2012\n3 12 2013\n"),
            (b',', "3 Mar 2012\n12 Dec 2013\n"),
            (b',', "comment\nvery good\nnot so bad\n"),
            (b',', "0,0\n0.01,0\n0.02,0.008\n"),
        ] {
            assert_eq!(delimiter(text), Delimiter::Byte(byte), "{text}");
        }
        assert_eq!(delimiter("  1.0   2.0\n 10.0  12.5\n"), Delimiter::Blanks);
        // Blanks delimit words only if there is a column of numbers, if each line has the same number of cells, and if
        // each line contains several consecutive blanks.
        let aligned = "name   size  kind\nlamp    1.5  red\nchair  12.0  blue\n";
        assert_eq!(delimiter(aligned), Delimiter::Blanks);
        // The last row of a sample may be cut off.
        let rows = "lamp    1.5  red\nchair  12.0  blue\n".repeat(8);
        assert_eq!(delimiter(&format!("{aligned}{rows}tab")), Delimiter::Blanks);
        for text in [
            "name   size  kind\nlamp    1.5  red\n".into(),
            aligned.replace("1.5  red", "1.5 red").replace("lamp    ", "lamp "),
            aligned.replace("1.5 ", "small").replace("12.0", "large"),
            aligned.replace("lamp ", "a lamp"),
            "name size kind\nlamp 1.5 red\nchair 12.0 blue\n".into(),
        ] {
            assert_eq!(delimiter(&text), Delimiter::Byte(b','), "{text}");
        }
    }

    #[test]
    fn quotes_and_literal_characters_are_distinguished() {
        let inches = "id\ttext\tkind\n1\t\"Great service they said\tpos\n2\tscreen of 24\"\tneg\n3\tplain\tpos\n";
        let found = find(inches.as_bytes(), None);
        assert_eq!((found.dialect.quote, found.literal_quotes), (None, true));
        let quoted = "body;stars\n\"good;\nvery good\";5\n\"a;b\";3\n";
        let found = find(quoted.as_bytes(), None);
        assert_eq!((found.dialect.quote, found.trusts_quotes), (Some(b'"'), true));
        let found = find(b"'a,b',1\n'it',2\n'c',3\n'd',4\n", None);
        assert_eq!(found.dialect.quote, Some(b'\''));
        let found = find(
            br#"body,y
"he said \"yes\", then",1
"and \"no\"",2
"#,
            None,
        );
        assert!(found.dialect.backslash);
    }
}
