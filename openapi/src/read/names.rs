//! Names of tools: from the operation id, else from method and path, without collisions.

use std::collections::BTreeSet;

/// Characters of a name.
const MAX_NAME: usize = 96;

/// The names that are taken.
#[derive(Debug, Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// A name that no other operation has. The first operation of a name keeps it.
    pub fn take(&mut self, id: Option<&str>, method: &str, path: &str) -> String {
        let by_path = || slug(&format!("{}_{path}", method.to_ascii_lowercase()));
        let plain = id.map(slug).filter(|name| !name.is_empty());
        let plain = plain.unwrap_or_else(by_path);
        let mut name = plain.clone();
        if self.0.contains(&name) {
            name = cut(&format!("{plain}_{}", method.to_ascii_lowercase())).to_owned();
        }
        let mut number = 1;
        while self.0.contains(&name) {
            number += 1;
            name = format!("{plain}_{number}");
        }
        self.0.insert(name.clone());
        name
    }
}

/// A text as an identifier: letters, digits, `_`, `-` and `.`, other characters as one `_`.
fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' => slug.push(c),
            '{' | '}' => {}
            _ if slug.is_empty() || slug.ends_with('_') => {}
            _ => slug.push('_'),
        }
    }
    cut(slug.trim_end_matches('_')).to_owned()
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_NAME)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_id_or_from_method_and_path() {
        let mut names = Names::default();
        for (id, method, path, expected) in [
            (Some("listPets"), "GET", "/pets", "listPets"),
            (Some("repos/get file"), "GET", "/", "repos_get_file"),
            (None, "GET", "/pets/{petId}/toys", "get_pets_petId_toys"),
            (Some("listPets"), "POST", "/pets", "listPets_post"),
            (Some("listPets"), "POST", "/dogs", "listPets_2"),
            (Some("Привет"), "GET", "/a", "get_a"),
            (None, "GET", "/", "get"),
        ] {
            assert_eq!(names.take(id, method, path), expected);
        }
    }
}
