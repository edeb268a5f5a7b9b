//! Distinguishes column names from data.

use super::kinds::{Kind, kind};
use crate::typing::are_media_files;
use std::collections::{HashMap, HashSet};

/// The smallest integer that may be a year. Integers from this one to [`LAST_YEAR`] may be years that serve as column
/// names.
const FIRST_YEAR: i64 = 1000;
const LAST_YEAR: i64 = 2999;
/// The numbers in a row can be column names only if there are at least this many of them.
const FEWEST_NUMBERS: usize = 3;
/// The maximum number of header lines.
const MOST_LINES: usize = 5;
/// A column counts as typed if at least this share of its non-empty cells are numbers or dates.
const MOSTLY: f64 = 0.8;

/// A text counts as a sentence rather than a name if it has at least this many words.
const SENTENCE: usize = 5;
/// A row stands out only if there are at least this many rows below it.
const FEWEST_BELOW: usize = 10;

pub(crate) type Row = Vec<Vec<u8>>;

/// For each column of `rows`, whether it consists of numbers or dates (a few cells may differ).
fn typed_columns(rows: &[&Row], width: usize) -> Vec<bool> {
    let mut counts = vec![(0usize, 0usize); width];
    for row in rows {
        for (cell, (typed, wordy)) in row.iter().zip(&mut counts) {
            let look = kind(cell);
            *typed += usize::from(look.is_typed());
            *wordy += usize::from(look.is_wordy());
        }
    }
    let mostly = |(typed, wordy): (usize, usize)| {
        typed > 0 && typed as f64 >= MOSTLY * (typed + wordy) as f64
    };
    counts.into_iter().map(mostly).collect()
}

/// The number of header lines at the start of `rows`.
pub(crate) fn lines(rows: &[&Row]) -> usize {
    let several = (2..=MOST_LINES)
        .rev()
        .find(|count| rows.len() >= count + 2 && are_names(&rows[..*count], &rows[*count..]));
    several.unwrap_or_else(|| usize::from(is_header(rows)))
}

/// Whether several lines consist of names. Each line must have words above columns of numbers or dates, and these words
/// must not occur again in the same columns below. No cell of the second or any later line may occur again below.
fn are_names(lines: &[&Row], below: &[&Row]) -> bool {
    let width = below[0].len();
    let typed = typed_columns(below, width);
    let columns: Vec<usize> = (0..width).filter(|at| typed[*at]).collect();
    let looks = |row: &Row, wanted: fn(Kind) -> bool| {
        columns.iter().filter(|at| row.get(**at).is_some_and(|cell| wanted(kind(cell)))).count()
    };
    // A text that occurs again in its column shows that the line is a row. The first line is an exception: a column of
    // words may be named `word`, so in the first line only texts above numbers and dates count.
    let returns = |line: usize, row: &Row| {
        (0..width).any(|at| (line > 0 || typed[at]) && comes_back(row, at, below))
    };
    let names = |(at, row): (usize, &&Row)| {
        let words = looks(row, Kind::is_wordy);
        let enough = if at == 0 { words > 0 } else { words > 1 && 2 * words >= columns.len() };
        (enough || words > 0 && *row == lines[0])
            && looks(row, Kind::is_typed) == 0
            && !returns(at, row)
    };
    2 * looks(below[0], Kind::is_typed) >= columns.len() && lines.iter().enumerate().all(names)
}

/// Whether the first of `rows` consists of names. This is the case if at least one of these statements is true:
/// - The row has words above columns of numbers or dates, and these words are not values of the columns (see
///   [`has_values`]).
/// - All cells of the row are words that do not occur again below, and the row does not belong to a list of texts (see
///   [`is_listed`]).
/// - The row has at least three numbers, and they are ascending years or consecutive integers, as in column names
///   written by pandas. The words of the row do not occur again below.
fn is_header(rows: &[&Row]) -> bool {
    let Some((first, rest)) = rows.split_first() else { return false };
    // The header may be repeated between the rows, as in concatenated files.
    let others: Vec<&Row> = rest.iter().filter(|row| *row != first).copied().collect();
    let typed = typed_columns(&others, first.len());
    let looks: Vec<Kind> = first.iter().map(|cell| kind(cell)).collect();
    let above_types = |wanted: fn(Kind) -> bool| {
        looks.iter().zip(&typed).filter(|(look, typed)| **typed && wanted(**look)).count()
    };
    let (words, contradictions) = (above_types(Kind::is_wordy), above_types(Kind::is_typed));
    let word_comes_back =
        || (0..first.len()).any(|at| !looks[at].is_typed() && comes_back(first, at, &others));
    let numbered = numbered(first, rest) && !word_comes_back();
    if words > 0 && (contradictions < 3 * words || numbered) {
        return !has_values(first, &looks, &typed, &others);
    }
    if looks.iter().any(|look| look.is_typed()) {
        return numbered;
    }
    let column_is_empty =
        |at: usize| rest.iter().all(|row| row.get(at).is_none_or(|c| c.trim_ascii().is_empty()));
    let unnamed = |at: usize| first[at].is_empty() && at > 0 && !column_is_empty(at);
    // If there is only one column, a text that occurs twice is a value.
    let below = if first.len() > 1 { &others[..] } else { rest };
    contradictions == 0
        && looks.iter().any(|look| look.is_wordy())
        && !(0..first.len()).any(|at| unnamed(at) || comes_back(first, at, below))
        && (first.len() == 1 || !is_listed(first, rest))
}

/// The cells of a column, except empty ones.
fn filled<'r>(rows: &[&'r Row], at: usize) -> Vec<&'r [u8]> {
    let cells = rows.iter().filter_map(|row| row.get(at)).map(Vec::as_slice);
    cells.filter(|cell| !cell.is_empty()).collect()
}

/// Whether the rows are a list of texts: every column contains texts that are nearly all different.
pub(crate) fn are_list(rows: &[&Row], width: usize) -> bool {
    (0..width).all(|at| {
        let cells = filled(rows, at);
        let distinct: HashSet<&[u8]> = cells.iter().copied().collect();
        !cells.is_empty()
            && distinct.len() as f64 >= MOSTLY * cells.len() as f64
            && cells.iter().filter(|cell| kind(cell).is_typed()).count() * 10 <= cells.len()
    })
}

/// Whether the first row has the same form as the texts below it: a web address above web addresses, the name of a
/// media file above such names or, in a list of texts, a sentence above sentences. A question above texts that are not
/// questions is the name of a column.
fn is_listed(first: &Row, below: &[&Row]) -> bool {
    let is_file = |cells: &[&[u8]]| {
        let texts: Vec<&str> = cells.iter().filter_map(|c| std::str::from_utf8(c).ok()).collect();
        texts.len() == cells.len() && are_media_files(&texts)
    };
    let forms = |at: usize| {
        let cells = filled(below, at);
        let own = first[at].as_slice();
        let all = |form: fn(&[u8]) -> bool| form(own) && cells.iter().all(|cell| form(cell));
        !cells.is_empty() && (all(is_address) || is_file(&[own]) && is_file(&cells))
    };
    let is_sentence_above = |at: usize| {
        let (cells, is_question) = (filled(below, at), |cell: &[u8]| cell.ends_with(b"?"));
        is_sentence(&first[at])
            && 2 * cells.iter().filter(|cell| is_sentence(cell)).count() >= cells.len()
            && (!is_question(&first[at]) || cells.iter().any(|cell| is_question(cell)))
    };
    (0..first.len()).any(forms)
        || (0..first.len()).any(is_sentence_above) && are_list(below, first.len())
}

/// Whether a cell is the address of a web page.
fn is_address(cell: &[u8]) -> bool {
    [&b"http://"[..], b"https://", b"www."].iter().any(|start| cell.starts_with(start))
}

/// Whether a cell is a sentence rather than a name.
pub(crate) fn is_sentence(cell: &[u8]) -> bool {
    cell.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count() >= SENTENCE
}

/// Whether the words of the first row are values, that is, occur again in those rows of `below` that contain numbers or
/// dates. One such word in a column of numbers or dates is enough. In the other columns, every word must occur again,
/// at least twice: a list of words may contain the word `word`, which is also the name of its column.
fn has_values(first: &Row, looks: &[Kind], typed: &[bool], below: &[&Row]) -> bool {
    let has_type = |row: &&&Row| {
        row.iter().zip(typed).any(|(cell, is_typed)| *is_typed && kind(cell).is_typed())
    };
    let rows: Vec<&Row> = below.iter().filter(has_type).copied().collect();
    let words = |of_type: bool| {
        (0..first.len()).filter(move |at| looks[*at].is_wordy() && typed[*at] == of_type)
    };
    let again = |at: usize| rows.iter().filter(|row| row.get(at) == first.get(at)).count();
    words(true).any(|at| again(at) > 0)
        || words(false).next().is_some() && words(false).all(|at| again(at) > 1)
}

/// Whether the cell of `row` at index `at` occurs again in the same column of the rows `below`.
fn comes_back(row: &Row, at: usize, below: &[&Row]) -> bool {
    row.get(at).is_some_and(|cell| {
        !cell.is_empty() && below.iter().any(|other| other.get(at) == Some(cell))
    })
}

/// Whether, in a table of categories, no cell of a row occurs below it, while all cells below occur several times. Such
/// a row may be a second line of names.
pub(crate) fn stands_out(row: &Row, below: &[&Row]) -> bool {
    let column = |at: usize| below.iter().filter_map(move |other| other.get(at));
    let is_category = |at: usize| {
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        column(at).for_each(|cell| *counts.entry(cell.as_slice()).or_default() += 1);
        counts.values().all(|count| *count > 1) && column(at).all(|cell| !kind(cell).is_typed())
    };
    row.len() > 1
        && below.len() >= FEWEST_BELOW
        && row.iter().all(|cell| kind(cell).is_wordy())
        && (0..row.len()).all(|at| !comes_back(row, at, below) && is_category(at))
}

/// Whether the numbers of the first row are column names.
fn numbered(first: &Row, rest: &[&Row]) -> bool {
    let number = |cell: &Vec<u8>| fast_float2::parse::<f64, _>(cell).ok().filter(|v| !v.is_nan());
    // Dates and amounts of money are data.
    if first.iter().any(|cell| kind(cell).is_typed() && number(cell).is_none()) {
        return false;
    }
    // Skip the index column that pandas writes, if there is one.
    let names = if first[0].is_empty() { &first[1..] } else { &first[..] };
    let numbers: Vec<f64> = names.iter().filter_map(number).collect();
    let Some(numbers) = whole(&numbers) else { return false };
    if numbers.len() < FEWEST_NUMBERS {
        return false;
    }
    let rising = numbers.windows(2).all(|w| w[1] > w[0]);
    let counted = by_one(&numbers) && (0..=1).contains(&numbers[0]);
    // If the next row also consists of years or consecutive integers, both rows are data.
    let goes_on = rest.first().is_some_and(|row| {
        let below: Vec<f64> = row.iter().filter_map(number).collect();
        whole(&below)
            .is_some_and(|below| below.len() == row.len() && by_one(&below) || are_years(&below))
    });
    (counted || are_years(&numbers) && rising) && !goes_on
}

/// Converts the numbers to integers. Returns `None` unless all of them are integers.
fn whole(numbers: &[f64]) -> Option<Vec<i64>> {
    let one = |v: &f64| (v.fract().abs() <= 0.0 && v.abs() < 1e15).then_some(*v as i64);
    numbers.iter().map(one).collect()
}

fn by_one(numbers: &[i64]) -> bool {
    numbers.windows(2).all(|w| w[1] - w[0] == 1)
}

fn are_years(numbers: &[i64]) -> bool {
    !numbers.is_empty() && numbers.iter().all(|v| (FIRST_YEAR..=LAST_YEAR).contains(v))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        let cells = |line: &str| line.split(',').map(|cell| cell.as_bytes().to_vec()).collect();
        let rows: Vec<Row> = text.lines().map(cells).collect();
        lines(&rows.iter().collect::<Vec<_>>())
    }

    #[test]
    fn headers_and_data_are_distinguished() {
        for header in [
            "a,b,label\n1,2,x\n3,4,y",
            ",0,1,2,3,label\n0,0.5,1.5,2,2,a\n1,0.1,2.5,1,1,b",
            "0,1,2,3\n0.5,0.25,1,0\n0.1,1,1,0",
            "country,2001,2002,2003,label\nat,1.5,1,3,x\nde,2,3,4,y",
            "country,1990,1991,1992\nat,1,2,3.5\nde,2,3,4\ncountry,1990,1991,1992\nfr,1,0,2",
            "2001,2002,2003,label\n1.5,1,3,good\n2,2,4,bad",
            "colour,shape\nred,round\nblue,square\nred,round",
            "text,y\na b,p\nc d,n\ntext,y\na b,p\ne,n",
            "x\n1\n2",
            "name,hum,hum\na,1,2\nb,3,4",
            "name,hum,hum\na,x,y\nb,y,z",
            "when,y\n28/01/2018,a\n29/01/2018,b",
            "word,count\nthe,7\nword,3\na,2\nof,1",
            "What do you think about it?,Why did you come to us?\nit is a very good shop,the price is low enough here\nnot much to say about it,I was in the town",
            "Your opinion about all our products,y\nit is a very good shop,p\nnot so good as it was,n\nbad in nearly every respect,n",
            "file,caption\nimg1.jpg,A brown dog number 1 runs over\nimg2.jpg,A brown dog number 2 runs over",
            "http://schema.org/name,http://schema.org/url\nred,x\nblue,z",
            "x,missing\n1,2\n3,4",
            "id,age,label\n1,20,u\n2,30,v\nid,age,class\n3,40,w\n4,25,u\n5,35,v",
        ] {
            assert_eq!(found(header), 1, "{header}");
        }
        for data in [
            "5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n7.0,3.2,4.7,versicolor",
            "e,x,s,n\np,x,y,n\ne,b,s,w",
            "text,p\na b,p\nc d,n\ntext,p\na b,n",
            "text\na b\nc d\ntext",
            "1,2,3\n4,5,6\n7,8,9",
            "2001,2002\n2003,2004\n2005,2006",
            "1,1,5\n2,3,5",
            "28/01/2018,00:00,2,MG-8769\n29/01/2018,00:15,0,RI-3895",
            "1,NaN,x\n2,3,x\n3,4,y",
            "ford,1500,red\nfiat,800,blue\nford,3200,red",
            "1200,x\n450,y\n700,x",
            "1200,great phone\n450,terrible phone\n700,so so",
            "ford,1500,1600,1700,red\nfiat,800,20,5,blue\nford,3200,7,2,red",
            "1,2,3,x\n7,1,9,y\n5,0,2,x",
            "oslo,\\N,cold\nrome,3,hot\noslo,4,cold\noslo,\\N,cold\nrome,\\N,hot",
            "(null),\\N\n3,4\n5,6\n(null),2",
            "TBD,4,5\n3,1,2\n4,5,6\n5,7,1\nTBD,3,1\n6,2,2",
            "img1.jpg,A brown dog number 1 runs over\nimg2.jpg,A brown dog number 2 runs over",
            "I saw the blue house there,Ich sah das blaue Haus dort\nWe saw the red house there,Wir sahen das rote Haus dort",
            "http://x.org/1,A title\nhttp://x.org/2,No title",
            "oslo,<0.5,cold\nrome,3,hot\noslo,4,cold\noslo,5,cold",
            "01/02/2020,1500,1600,1700\n02/02/2020,3,4,5\n03/02/2020,7,1,2",
        ] {
            assert_eq!(found(data), 0, "{data}");
        }
        for (lines, text) in [
            (2, "bp,,lg,\nX,Y,X,Y\n1,2,3,4\n5,6,7,8"),
            (2, "Time,Temp\ns,C\n1,20\n2,21\n3,22"),
            (1, "a,b,y\n1,2,x\n3,,y"),
            (1, "a,b,y\nnew,2,x\n3,4,y\n5,6,x"),
            (2, "age,weight,y\nyour age,in kg,state\n20,60,ok\n21,61,sick"),
            (1, "age,weight,y\nnot measured,refused,sick\n20,60,ok\n21,61,sick"),
        ] {
            assert_eq!(found(text), lines, "{text}");
        }
    }
}
