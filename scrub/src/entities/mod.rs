//! Names of people, places and organisations in running text: a linear tagger whose weights are part of
//! the binary.
//!
//! `tokens` splits the text; `word_table` knows, for 320,000 words, how they are used and the lists of names
//! they are in; `features` describes each token by itself and its neighbours; `tagger` finds the sequence of
//! tags with the highest score. `scrub/train` makes both files of `third_party/entities`.

mod features;
mod tagger;
mod tokens;
mod word_table;

use std::sync::LazyLock;

pub(crate) use tagger::{Entity, EntityKind};

use tagger::{Model, Tagged};
use word_table::WordTable;

static WORDS: &[u8] = include_bytes!("../../../third_party/entities/words.bin");
static MODEL: &[u8] = include_bytes!("../../../third_party/entities/model.bin");

/// The table and the weights, read at the first use. `None` if a file has another length than this version
/// expects, which a test excludes.
static TAGGER: LazyLock<Option<(WordTable, Model)>> =
    LazyLock::new(|| Model::read(MODEL).map(|model| (WordTable::read(WORDS), model)));

/// The names in a text, in its order.
pub(crate) fn entities(text: &str) -> Vec<Entity> {
    let may_name = |b: u8| b.is_ascii_alphabetic() || b >= 0x80;
    if !text.bytes().any(may_name) {
        return Vec::new();
    }
    match &*TAGGER {
        Some((table, model)) => tagger::entities(&Tagged::new(text, table), model),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&str, EntityKind)> {
        let entities = entities(text);
        entities
            .iter()
            .map(|e| (&text[e.start..e.end], e.kind))
            .collect()
    }

    #[test]
    fn the_model_has_the_length_that_the_features_expect() {
        assert!(TAGGER.is_some());
    }

    #[test]
    fn names_are_found_in_running_text() {
        use EntityKind::{Organisation, Person, Place};
        for (text, expected) in [
            (
                "Yesterday Margarethe Quist called from Oslo.",
                vec![("Margarethe Quist", Person), ("Oslo", Place)],
            ),
            (
                "I asked Tobias whether Ngozi Eze had signed.",
                vec![("Tobias", Person), ("Ngozi Eze", Person)],
            ),
            ("He moved to Norway in 2011.", vec![("Norway", Place)]),
            (
                "She joined Brightwater Technologies GmbH in May.",
                vec![("Brightwater Technologies GmbH", Organisation)],
            ),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn a_family_name_alone_is_found_after_the_full_name() {
        let text = "The song is by Adelheid Vrbanić. Critics say that Vrbanić sings too fast.";
        let people = found(text)
            .into_iter()
            .filter(|(_, kind)| *kind == EntityKind::Person);
        let people: Vec<_> = people.map(|(name, _)| name).collect();
        assert_eq!(people, ["Adelheid Vrbanić", "Vrbanić"]);
    }

    #[test]
    fn ordinary_capitals_and_identifiers_are_not_names() {
        for text in [
            "The Rust compiler reports an error when a borrowed value does not live long enough.",
            "Error: Connection Refused\nWarning: Deprecated Function",
            "public class CustomerService implements Service { private final Repository repository; }",
            "see https://www.Maria.example/ or write to Maria@example.com",
            "Die Lieferung erfolgt nach Eingang der Zahlung.",
            "",
            "[NAME_1] wrote to [NAME_2_k3f9].",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn offsets_are_boundaries_of_characters() {
        for text in [
            "Zoë\u{301} Ångström’s Šárka",
            "名前 Li 李",
            "O’Brien’s",
            "\u{301}\u{301}Ana",
            "A\u{0}B",
        ] {
            for entity in entities(text) {
                assert!(text.is_char_boundary(entity.start) && text.is_char_boundary(entity.end));
            }
        }
    }
}
