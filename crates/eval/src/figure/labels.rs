//! Names of series next to the ends of their lines: the width of text, line breaks, and positions that do not overlap.

/// An upper estimate of the width of a text in the widest of the usual sans-serif fonts.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '('
        | ')' | '[' | ']' | '-' | '·' | ' ' | '\u{a0}' | 'I' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 1.0,
        '+' | '=' | '<' | '>' | '≤' | '≥' | '−' | '±' | '√' | '∞' => 0.84,
        _ if c.is_uppercase() => 0.78,
        _ => 0.64,
    };
    size * text.chars().map(of).sum::<f64>()
}

/// Breaks the text at spaces into lines of at most `width`; a word that is too long has a line to itself.
pub(super) fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line)
                if text_width(line, size) + text_width(word, size) + 0.42 * size <= width =>
            {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// The centres of labels with these heights, each as close as possible to its desired position (least squares). The
/// labels keep the order of the desired positions, lie inside `top..bottom` and do not overlap. Returns `None` if they
/// do not fit.
pub(super) fn spread(wanted: &[(f64, f64)], top: f64, bottom: f64) -> Option<Vec<f64>> {
    let total: f64 = wanted.iter().map(|(_, height)| height).sum();
    if total > bottom - top {
        return None;
    }
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].0.total_cmp(&wanted[*b].0));
    // Once the heights of the labels above a label are subtracted from its position, the label may lie anywhere from
    // `top` to `top + room`, provided that the order is kept. This is isotonic regression by pooling neighbours,
    // followed by clamping to the ends.
    let room = bottom - top - total;
    let mut pools: Vec<(f64, usize)> = Vec::new();
    let (mut above, mut offsets) = (0.0, Vec::new());
    for &i in &order {
        let (at, height) = wanted[i];
        offsets.push(above + height / 2.0);
        pools.push((at - above - height / 2.0, 1));
        above += height;
        while let [.., (before, n), (last, m)] = pools[..]
            && before > last
        {
            pools.truncate(pools.len() - 2);
            pools.push(((before * n as f64 + last * m as f64) / (n + m) as f64, n + m));
        }
    }
    let mut centres = vec![0.0; wanted.len()];
    let starts = pools.iter().flat_map(|(at, n)| std::iter::repeat_n(*at, *n));
    for ((&i, start), offset) in order.iter().zip(starts).zip(offsets) {
        centres[i] = start.clamp(top, top + room) + offset;
    }
    Some(centres)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_breaks_between_words() {
        assert_eq!(wrapped("a bb ccc", 10.0, 30.0), ["a bb", "ccc"]);
        assert_eq!(wrapped("incomprehensibilities are", 10.0, 30.0).len(), 2);
        assert!(wrapped("", 10.0, 30.0).is_empty());
        assert_eq!(wrapped("a (d\u{a0}=\u{a0}2)", 10.0, 30.0), ["a", "(d\u{a0}=\u{a0}2)"]);
        assert!(text_width("perceptron, random order", 14.0) < 220.0);
    }

    #[test]
    fn labels_that_are_apart_stay_where_they_are_wanted() {
        assert_eq!(spread(&[(50.0, 10.0), (20.0, 10.0)], 0.0, 100.0).unwrap(), [50.0, 20.0]);
        assert_eq!(spread(&[(50.0, 10.0), (50.0, 10.0)], 0.0, 100.0).unwrap(), [45.0, 55.0]);
        assert_eq!(spread(&[(0.0, 10.0), (200.0, 10.0)], 0.0, 100.0).unwrap(), [5.0, 95.0]);
        assert!(spread(&[(0.0, 60.0), (0.0, 60.0)], 0.0, 100.0).is_none());
    }

    proptest! {
        #[test]
        fn labels_never_overlap(wanted in prop::collection::vec((-50.0..450.0f64, 10.0..40.0f64), 0..12)) {
            let centres = spread(&wanted, 0.0, 400.0);
            let total: f64 = wanted.iter().map(|w| w.1).sum();
            prop_assert_eq!(centres.is_some(), total <= 400.0);
            let mut boxes: Vec<(f64, f64)> = centres.unwrap_or_default().iter().zip(&wanted)
                .map(|(at, (_, height))| (at - height / 2.0, at + height / 2.0)).collect();
            boxes.sort_by(|a, b| a.0.total_cmp(&b.0));
            prop_assert!(boxes.iter().all(|(low, high)| *low > -1e-9 && *high < 400.0 + 1e-9));
            prop_assert!(boxes.windows(2).all(|pair| pair[0].1 <= pair[1].0 + 1e-9));
        }
    }
}
