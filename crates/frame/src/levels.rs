//! The distinct texts of a column, numbered in order of first appearance.

use std::collections::HashMap;

/// Distinct texts and their codes.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    names: Vec<String>,
    codes: HashMap<String, u32>,
    last: u32,
}

impl Levels {
    /// Returns the code of a text. A new text gets a new code.
    pub(crate) fn code(&mut self, text: &str) -> u32 {
        // Consecutive texts are often equal, so the last code is tried first.
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

    /// The number of distinct texts.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The texts in the order of their codes.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }
}
