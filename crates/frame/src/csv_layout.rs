//! What separates the cells of a CSV file, and whether its first line holds names.

use crate::csv_columns::plain_number as is_number;

/// Lines looked at.
const SAMPLE: usize = 100;

/// Years are names of columns, not data: whole numbers from here to [`LAST_YEAR`].
const FIRST_YEAR: i64 = 1000;
const LAST_YEAR: i64 = 2999;

/// The one of `,`, tab, `;` and `|` that is in every line of `head`, and most often; the comma if none is.
pub(crate) fn delimiter(head: &[u8]) -> u8 {
    let lines = complete_lines(head);
    let count = |delimiter: u8| {
        let counts = lines.iter().map(|line| outside_quotes(line, delimiter));
        counts.min().unwrap_or(0)
    };
    // Of equal counts the first: `max_by_key` takes the last.
    let candidates = [b'|', b';', b'\t', b','];
    candidates.into_iter().max_by_key(|d| count(*d)).filter(|d| count(*d) > 0).unwrap_or(b',')
}

/// The first lines that are not empty; the last one of `head` may be cut off, and counts only if it is alone.
fn complete_lines(head: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = head.split(|b| *b == b'\n').collect();
    if lines.len() > 1 {
        lines.pop();
    }
    lines.retain(|line| !line.trim_ascii().is_empty());
    lines.truncate(SAMPLE);
    lines
}

fn outside_quotes(line: &[u8], wanted: u8) -> usize {
    let mut quoted = false;
    let mut count = 0;
    for byte in line {
        if *byte == b'"' {
            quoted = !quoted;
        } else if !quoted && *byte == wanted {
            count += 1;
        }
    }
    count
}

/// Whether the first of `rows` holds names: no cell but the first is empty, all differ, and they are
/// - all words, which do not come back below;
/// - or words above columns of numbers;
/// - or, besides words, years or whole numbers that rise by one, as pandas names columns.
pub(crate) fn has_header(rows: &[Vec<Vec<u8>>]) -> bool {
    let Some((first, rest)) = rows.split_first() else { return false };
    let mut sorted = first.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() < first.len() || first.iter().skip(1).any(Vec::is_empty) {
        return false;
    }
    let numeric = |cell: &[u8]| is_number(cell).is_some();
    let all_below = |at: usize| rest.iter().all(|row| row.get(at).is_some_and(|c| numeric(c)));
    let word_above_numbers =
        |(at, cell): (usize, &Vec<u8>)| !numeric(cell) && !rest.is_empty() && all_below(at);
    if first.iter().enumerate().any(word_above_numbers) {
        return true;
    }
    // Without pandas' index column, if there is one.
    let names = if first[0].is_empty() { &first[1..] } else { &first[..] };
    let numbers: Vec<f64> = names.iter().filter_map(|cell| is_number(cell)).collect();
    if numbers.is_empty() {
        let comes_back =
            |(at, cell): (usize, &Vec<u8>)| rest.iter().any(|row| row.get(at) == Some(cell));
        return !first.iter().enumerate().any(comes_back);
    }
    let Some(numbers) = whole(&numbers) else { return false };
    let rising = numbers.windows(2).all(|w| w[1] > w[0]);
    let counted = by_one(&numbers) && numbers.len() > 2 && (0..=1).contains(&numbers[0]);
    // Data of such a kind would go on with more of it.
    let goes_on = rest.first().is_some_and(|row| {
        let below: Vec<f64> = row.iter().filter_map(|cell| is_number(cell)).collect();
        whole(&below)
            .is_some_and(|below| below.len() == row.len() && by_one(&below) || are_years(&below))
    });
    (counted || are_years(&numbers) && rising) && !goes_on
}

/// The numbers, if all are whole.
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

    fn rows(text: &str) -> Vec<Vec<Vec<u8>>> {
        let cells = |line: &str| line.split(',').map(|cell| cell.as_bytes().to_vec()).collect();
        text.lines().map(cells).collect()
    }

    #[test]
    fn delimiters_are_found_outside_quotes() {
        assert_eq!(delimiter(b"a;b;c\n1,5;2,5;x\n"), b';');
        assert_eq!(delimiter(b"a\tb\n1\t2\n"), b'\t');
        assert_eq!(delimiter(b"\"a;b\",c\n\"1;2\",3\n"), b',');
        assert_eq!(delimiter(b"a|b|c\n1|2|3\n1,5|2|"), b'|');
        assert_eq!(delimiter(b"word\nother\n"), b',');
    }

    #[test]
    fn headers_are_told_from_data() {
        for header in [
            "a,b,label\n1,2,x\n3,4,y",
            ",0,1,2,3,label\n0,0.5,1.5,2,2,a\n1,0.1,2.5,1,1,b",
            "0,1,2,3\n0.5,0.25,1,0\n0.1,1,1,0",
            "country,2001,2002,2003,label\nat,1.5,1,3,x\nde,2,3,4,y",
            "2001,2002,2003,label\n1.5,1,3,good\n2,2,4,bad",
            "colour,shape\nred,round\nblue,square\nred,round",
            "x\n1\n2",
        ] {
            assert!(has_header(&rows(header)), "{header}");
        }
        for data in [
            "5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n7.0,3.2,4.7,versicolor",
            "e,x,s,n\np,x,y,n\ne,b,s,w",
            "1,2,3\n4,5,6\n7,8,9",
            "2001,2002\n2003,2004\n2005,2006",
            "1,1,5\n2,3,5",
        ] {
            assert!(!has_header(&rows(data)), "{data}");
        }
    }
}
