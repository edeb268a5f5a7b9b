//! Reads docs/theorems.md: the theorems of the sources and the claims that measure them.

use crate::failure::Failure;

/// A row of docs/theorems.md.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Theorem {
    /// The key of the theorem's source.
    pub(crate) source: String,
    pub(crate) name: String,
    /// The theorem's number in other editions, if any.
    pub(crate) otherwise: String,
    pub(crate) says: String,
    /// The link to the theorem's proof or correction; empty if there is none.
    pub(crate) proof: String,
    /// Identifiers of claims.
    pub(crate) claims: Vec<String>,
}

/// The theorems in the order of the document.
///
/// # Errors
/// Returns an error if a row does not have five cells, or comes before the first heading of a source.
pub(crate) fn theorems(text: &str) -> Result<Vec<Theorem>, Failure> {
    let mut theorems = Vec::new();
    let mut source = None;
    for (number, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix("## ") {
            source = Some(name.trim().to_owned());
        }
        let Some(row) = line.strip_prefix('|') else { continue };
        if row.starts_with("---") || row.trim_start().starts_with("theorem |") {
            continue;
        }
        let cells = cells(row);
        let place = format!("docs/theorems.md, line {}", number + 1);
        let Some(source) = source.clone() else {
            return Err(format!(
                "{place}: no source above this theorem; put it below a \"## \" heading"
            )
            .into());
        };
        let [name, otherwise, says, proof, claims] = &cells[..] else {
            return Err(format!("{place}: {} cells, expected 5", cells.len()).into());
        };
        let (name, otherwise, says) = (name.clone(), otherwise.clone(), says.clone());
        let ids = claims.split(',').map(|id| id.trim().to_owned());
        let claims = ids.filter(|id| !id.is_empty()).collect();
        theorems.push(Theorem { source, name, otherwise, says, proof: proof.clone(), claims });
    }
    Ok(theorems)
}

/// Splits a row into cells. The caller removes the first bar; `\|` is a bar inside a cell.
fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut before = ' ';
    for c in row.trim_end().trim_end_matches('|').chars() {
        match (before, c, cells.last_mut()) {
            ('\\', '|', Some(cell)) => {
                cell.pop();
                cell.push('|');
            }
            (_, '|', _) => cells.push(String::new()),
            (_, _, Some(cell)) => cell.push(c),
            (_, _, None) => unreachable!("there is a first cell"),
        }
        before = c;
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "# T\n\n## A\n\n| theorem | x | y | z | claims |\n|---|---|---|---|---|\n";

    #[test]
    fn rows_are_theorems() {
        let text = format!(
            "{HEAD}| Lemma 1 | | at most \\|C\\| | [p](q.md) | K1, K2 |\n| L2 | 3 | b | | |\n"
        );
        let read = theorems(&text).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].source.as_str(), read[0].says.as_str()), ("A", "at most |C|"));
        assert_eq!(read[0].claims, ["K1", "K2"]);
        assert_eq!((read[1].otherwise.as_str(), read[1].claims.len()), ("3", 0));
    }

    #[test]
    fn a_faulty_row_is_named() {
        let error = theorems(&format!("{HEAD}| a | b | c |\n")).unwrap_err();
        assert!(error.to_string().contains("line 7: 3 cells"), "{error}");
        let error = theorems("| a | b | c | d | e |\n").unwrap_err();
        assert!(error.to_string().contains("no source above"), "{error}");
    }
}
