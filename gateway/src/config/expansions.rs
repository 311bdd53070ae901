//! The variables that were expanded in an entry.

use std::fmt;

/// Names and values of expanded variables. The values are not printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Expansions(Vec<(String, String)>);

impl Expansions {
    pub(super) fn note(&mut self, name: &str, value: &str) {
        let pair = (name.to_owned(), value.to_owned());
        if !self.0.contains(&pair) {
            self.0.push(pair);
        }
    }

    /// The names of the variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Names and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(String, String)> {
        self.0.iter()
    }
}

impl fmt::Debug for Expansions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
