//! The different texts of a column, numbered by their first appearance.

use std::collections::HashMap;

/// Texts and their codes.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    names: Vec<String>,
    codes: HashMap<String, u32>,
    last: u32,
}

impl Levels {
    /// The code of a text, a new one if it is new.
    pub(crate) fn code(&mut self, text: &str) -> u32 {
        // Neighbours are often equal.
        if self.names.get(self.last as usize).is_some_and(|name| name == text) {
            return self.last;
        }
        self.last = match self.codes.get(text) {
            Some(code) => *code,
            None => {
                let code = self.names.len() as u32;
                self.names.push(text.to_owned());
                self.codes.insert(text.to_owned(), code);
                code
            }
        };
        self.last
    }

    /// Number of different texts.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The texts by their codes.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }
}
