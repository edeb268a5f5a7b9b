//! The terminal: its width, line breaks between words, and styles.
//!
//! Styles are used only on a terminal. `console` respects `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE` and `TERM=dumb`.

use console::{StyledObject, Term, measure_text_width, style};

/// The number of columns assumed if the output is not a terminal.
const DEFAULT_WIDTH: usize = 80;
/// The minimum width of the output, in columns.
const LEAST_WIDTH: usize = 40;
/// The space between the columns of a grid.
const GRID_GAP: usize = 4;
/// Maximum width of a name, such as "data" in the line "data      t.csv: 10 rows". If a name is wider, continuation
/// lines are not aligned with its value.
const MAX_NAME: usize = 20;

/// The number of columns for tables on standard output.
pub(crate) fn width() -> usize {
    columns(&Term::stdout()).unwrap_or(DEFAULT_WIDTH)
}

/// The number of columns of a terminal; `None` for a file or a pipe.
fn columns(term: &Term) -> Option<usize> {
    let (_, columns) = term.size_checked().filter(|_| term.is_term())?;
    Some(usize::from(columns).max(LEAST_WIDTH))
}

/// Breaks lines that are too long for standard output, but only between words. If standard output is not a terminal,
/// the text is unchanged.
pub(crate) fn for_stdout(text: &str) -> String {
    broken(text, columns(&Term::stdout()))
}

/// Breaks lines that are too long for standard error, but only between words. If standard error is not a terminal, the
/// text is unchanged.
pub(crate) fn for_stderr(text: &str) -> String {
    broken(text, columns(&Term::stderr()))
}

fn broken(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    text.split('\n').map(|line| broken_line(line, width)).collect::<Vec<_>>().join("\n")
}

/// Breaks a line between words. A word that is wider than the terminal stays whole, and `%` stays with its number.
fn broken_line(line: &str, width: usize) -> String {
    if measure_text_width(line) <= width {
        return line.to_owned();
    }
    let indent = indent(line).min(width / 2);
    let (mut text, mut used, mut rest) = (String::new(), 0, line);
    while !rest.is_empty() {
        let (gap, from_word) = rest.split_at(rest.len() - rest.trim_start_matches(' ').len());
        let word = &from_word[..word_end(from_word)];
        let needed = measure_text_width(word);
        if used > indent && used + gap.len() + needed > width {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            used = indent + needed;
        } else {
            text.push_str(gap);
            used += gap.len() + needed;
        }
        text.push_str(word);
        rest = &from_word[word.len()..];
    }
    text
}

/// The end of the first word of a text. `%` belongs to the number before it.
fn word_end(text: &str) -> usize {
    let mut ends = text.match_indices(' ').map(|(at, _)| at);
    ends.find(|at| !text[*at..].starts_with(" %")).unwrap_or(text.len())
}

/// The column at which continuation lines begin: in an indented line, that of the first word; in any other line, that
/// of the value after the name, or 0 if there is no name.
fn indent(line: &str) -> usize {
    let leading = line.len() - line.trim_start_matches(' ').len();
    if leading > 0 {
        return leading;
    }
    let Some((name, rest)) = line.split_once("  ") else { return 0 };
    let name = measure_text_width(name);
    if name > MAX_NAME { 0 } else { name + 2 + rest.len() - rest.trim_start_matches(' ').len() }
}

/// Bold text on standard output, for a predicted class or a key to press.
pub(crate) fn bold(text: &str) -> StyledObject<&str> {
    style(text).bold()
}

/// A message on standard error, with `error:` in red and `note:` in cyan.
pub(crate) fn message(text: &str) -> String {
    let styled = |word| style(word).for_stderr().bold();
    match text.split_once(' ') {
        Some(("error:", rest)) => format!("{} {rest}", styled("error:").red()),
        Some(("note:", rest)) => format!("{} {rest}", styled("note:").cyan()),
        _ => text.to_owned(),
    }
}

/// Formats a table as lines with aligned columns. The first column is left-aligned, unless all its cells below the
/// header are numbers; all other columns are right-aligned. A table that is wider than `width` is split between columns
/// into blocks, each of which repeats the first column.
pub(crate) fn aligned(table: &[Vec<String>], width: usize) -> Vec<String> {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let width_of = |column: usize| {
        let cells = table.iter().filter_map(|row| row.get(column));
        cells.map(|cell| measure_text_width(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width_of).collect();
    let in_number = |c: char| c.is_ascii_digit() || " .%to".contains(c);
    let is_number = |cell: &String| {
        cell.starts_with(|c: char| c.is_ascii_digit()) && cell.chars().all(in_number)
    };
    let mut names = table.iter().skip(1).filter_map(|row| row.first());
    let numbered = table.len() > 1 && names.all(is_number);
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut used = 0;
    for (column, own) in widths.iter().enumerate().skip(1) {
        match blocks.last_mut() {
            Some(block) if used + 2 + own <= width => block.push(column),
            _ => {
                blocks.push(vec![column]);
                used = widths[0];
            }
        }
        used += 2 + own;
    }
    if columns == 1 {
        blocks.push(Vec::new());
    }
    let mut lines = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        if number > 0 {
            lines.push(String::new());
        }
        for row in table {
            let cells = std::iter::once(0).chain(block.iter().copied());
            let cells = cells.filter_map(|at| row.get(at).map(|cell| (at, cell)));
            let padded = cells.map(|(at, cell)| {
                let blank = " ".repeat(widths[at] - measure_text_width(cell));
                if at == 0 && !numbered { format!("{cell}{blank}") } else { blank + cell }
            });
            lines.push(padded.collect::<Vec<_>>().join("  ").trim_end().to_owned());
        }
    }
    lines
}

/// Shortens a text to at most `width` columns. Its middle is replaced by `…`, because names often differ at their ends.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    if measure_text_width(text) <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let taken = |chars: &mut dyn Iterator<Item = char>, width: usize| {
        let mut free = width;
        let fits = |c: &char| {
            let needed = measure_text_width(c.encode_utf8(&mut [0; 4]));
            needed <= free && {
                free -= needed;
                true
            }
        };
        chars.take_while(fits).collect::<String>()
    };
    let start = taken(&mut text.chars(), kept.div_ceil(2));
    let end = taken(&mut text.chars().rev(), kept / 2);
    format!("{start}…{}", end.chars().rev().collect::<String>())
}

/// Formats pairs of names and values in aligned columns, indented by two spaces. Each line has as many pairs as fit
/// into `width`.
pub(crate) fn grid(pairs: &[(String, String)], width: usize) -> Vec<String> {
    let layout = |count: usize| {
        let widest = |of: &dyn Fn(&(String, String)) -> usize| -> Vec<usize> {
            let column = |at: usize| pairs.iter().skip(at).step_by(count).map(of).max();
            (0..count).map(|at| column(at).unwrap_or(0)).collect()
        };
        let names = widest(&|(name, _)| measure_text_width(name));
        let values = widest(&|(_, value)| measure_text_width(value));
        let total = names.iter().chain(&values).sum::<usize>() + (2 + GRID_GAP) * count;
        (names, values, total + 2 - GRID_GAP)
    };
    let mut fitting = (1..=pairs.len()).rev().map(|count| (count, layout(count)));
    let Some((count, (names, values, _))) =
        fitting.find(|(count, (.., total))| *total <= width || *count == 1)
    else {
        return Vec::new();
    };
    let cell = |at: usize, (name, value): &(String, String)| {
        let blank = |width: usize, text: &str| " ".repeat(width - measure_text_width(text));
        format!("{name}{}  {}{value}", blank(names[at], name), blank(values[at], value))
    };
    let line = |row: &[(String, String)]| {
        let cells: Vec<String> = row.iter().enumerate().map(|(at, pair)| cell(at, pair)).collect();
        format!("  {}", cells.join(&" ".repeat(GRID_GAP)))
    };
    pairs.chunks(count).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_below_their_value() {
        let long = "guarantee   this interval contains the error, 99.5 % of all times";
        assert_eq!(
            broken(long, Some(40)),
            "guarantee   this interval contains the\n            error, 99.5 % of all times"
        );
        assert_eq!(broken(long, None), long);
        assert_eq!(broken(long, Some(65)), long);
        // `%` stays with its number; the number alone would end at column 40.
        let text = "twenty letters here. twelve more and 9.5 % b";
        assert_eq!(broken(text, Some(41)), "twenty letters here. twelve more and\n9.5 % b");
        assert_eq!(broken("  a bb ccc", Some(8)), "  a bb\n  ccc");
        assert_eq!(broken("a incomprehensibilities b", Some(9)), "a\nincomprehensibilities\nb");
        assert_eq!(broken("a\n\nb\n", Some(40)), "a\n\nb\n");
        // A name that is too wide does not determine where continuation lines begin.
        let text = format!("{}  b c", "n".repeat(21));
        assert_eq!(broken(&text, Some(24)), format!("{}  b\nc", "n".repeat(21)));
    }

    #[test]
    fn tables_are_split_between_columns() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let table: Vec<Vec<String>> = vec![row(&["class", "one", "two"]), row(&["x", "1.5", "9"])];
        assert_eq!(aligned(&table, 15), ["class  one  two", "x      1.5    9"]);
        assert_eq!(
            aligned(&table, 14),
            ["class  one", "x      1.5", "", "class  two", "x        9"]
        );
        let table: Vec<Vec<String>> = vec![row(&["at", "b"]), row(&["5 %", "c"])];
        assert_eq!(aligned(&table, 80), [" at  b", "5 %  c"]);
        assert_eq!(aligned(&[row(&["a"]), row(&["bb"])], 80), ["a", "bb"]);
        assert!(aligned(&[], 80).is_empty());
    }

    #[test]
    fn names_are_shortened() {
        assert_eq!(shortened("malignant", 9), "malignant");
        assert_eq!(shortened("malignant", 8), "mali…ant");
        assert_eq!(shortened("悪性腫瘍の", 8), "悪性…の");
    }

    #[test]
    fn a_grid_has_as_many_columns_as_fit() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let pairs = [pair("a", "1"), pair("radius", "17.99"), pair("b", "-20")];
        assert_eq!(grid(&pairs, 80), ["  a  1    radius  17.99    b  -20"]);
        assert_eq!(grid(&pairs, 33), ["  a  1    radius  17.99    b  -20"]);
        assert_eq!(grid(&pairs, 32), ["  a    1    radius  17.99", "  b  -20"]);
        assert_eq!(grid(&pairs, 5), ["  a           1", "  radius  17.99", "  b         -20"]);
        assert!(grid(&[], 80).is_empty());
    }
}
