//! Names of people, identified by context: after a title, a greeting or a label, in a signature,
//! below a JSON key such as `first_name`.

use std::ops::Range;

use super::given_names::begins_with_given_name;
use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::boundary::is_word;
use crate::scan::Scan;

const NAME: Kind = Kind::new("NAME");

pub(super) static DETECTOR: Detector = Detector {
    name: "name",
    kinds: || vec![NAME],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::SearchedIfSeveralWords,
    triggers: &[
        Trigger::Literals(|| TITLES, after_title),
        Trigger::Literals(|| PERSON_LABELS, after_person_label),
        Trigger::Literals(|| LABELS, after_label),
        Trigger::Literals(|| PHRASES, after_phrase),
        Trigger::Literals(|| CLOSINGS, after_closing),
    ],
};

#[rustfmt::skip]
const TITLES: &[&str] = &[
    "mr. ", "mr ", "mrs. ", "mrs ", "ms. ", "miss ", "dr. ", "prof. ", "professor ", "herr ", "frau ", 
     "sr. ", "sra. ", "mme ", "mlle ", "monsieur ", "madame ", "signor ", "signora ", "sir ",
];
/// Labels of people's names only.
#[rustfmt::skip]
const PERSON_LABELS: &[&str] = &[
    "first_name", "firstname", "first name", "last_name", "lastname", "last name", "surname", "full_name", "fullname",
    "full name", "given_name", "givenname", "given name", "family_name", "familyname", "family name", "middle_name",
    "middlename", "maiden_name", "maiden name", "patient_name", "patient name", "customer_name", "customer name",
    "contact_name", "contact name", "employee_name", "employee name", "cardholder", "card_holder", "account_holder",
    "account holder", "nombre", "apellido", "vorname", "nachname", "prénom", "cognome", "nazwisko",
    "display_name", "displayname", "real_name", "realname",
];
/// Each label with the separators that may follow: the word alone is too common to trigger on.
macro_rules! with_separators {
    ($($label:literal),* $(,)?) => {
        &[$(
            concat!($label, ":"), concat!($label, "\""), concat!($label, "'"), concat!($label, "="),
            concat!($label, " :"), concat!($label, " =")
        ),*]
    };
}
/// Labels of things too: the value must look like a person's name.
const LABELS: &[&str] = with_separators![
    "name",
    "patient",
    "customer",
    "client",
    "employee",
    "contact",
    "author",
    "from",
    "to",
    "owner",
    "assignee",
    "reporter",
    "recipient",
    "sender",
    "signed",
    "attn",
    "nom",
];
#[rustfmt::skip]
const PHRASES: &[&str] = &[
    "my name is ", "name's ", "i am ", "i'm ", "this is ", "me llamo ", "je m'appelle ", "ich heiße ", "mi chiamo ",
    "dear ", "hi ", "hello ", "hey ", "hallo ", "hola ", "bonjour ", "liebe ", "lieber ", "sehr geehrte ", "estimado ",
    "call me ", "they call me ",
];
const CLOSINGS: &[&str] = &[
    "regards,",
    "sincerely,",
    "best,",
    "cheers,",
    "thanks,",
    "yours truly,",
    "cordialement,",
    "saludos,",
];

/// The name at an offset: its end, and the number of its capitalised words.
fn name_at(scan: &Scan<'_>, start: usize) -> Option<(usize, usize)> {
    let (mut at, mut end, mut words) = (start, start, 0);
    while words < 4 {
        let word_end = scan.run(at, |b| is_word(b) || matches!(b, b'\'' | b'-'));
        let word = scan.text.get(at..word_end)?;
        let Some(first) = word.chars().next() else {
            break;
        };
        let particle = matches!(
            word,
            "de" | "da"
                | "di"
                | "van"
                | "von"
                | "der"
                | "den"
                | "la"
                | "del"
                | "bin"
                | "al"
                | "dos"
        );
        if particle && words > 0 && scan.at(word_end) == b' ' {
            at = word_end + 1;
            continue;
        }
        let initial = word.chars().count() == 1 && scan.at(word_end) == b'.';
        let all_caps = word.chars().count() > 3
            && word.chars().all(|c| c.is_uppercase() || !c.is_alphabetic())
            && word.is_ascii();
        let is_name = first.is_uppercase()
            && word
                .chars()
                .all(|c| c.is_alphabetic() || matches!(c, '\'' | '-'))
            && !all_caps
            && !is_camel_case(word)
            && (words == 0 || !STOP_WORDS.contains(&word));
        if !is_name || (word.chars().count() == 1 && !initial) {
            break;
        }
        words += 1;
        end = if initial { word_end + 1 } else { word_end };
        if scan.at(end) != b' ' {
            break;
        }
        at = end + 1;
    }
    // A possessive or a quote at the end is not part of the name.
    let name = scan.text.get(start..end)?;
    let name = name.strip_suffix("'s").unwrap_or(name);
    let end = start + name.trim_end_matches(['\'', '-']).len();
    let first = scan
        .text
        .get(start..end)?
        .split(' ')
        .next()?
        .trim_end_matches('.');
    (words > 0 && !STOP_WORDS.contains(&first) && first.len() > 1
        || words > 1 && !STOP_WORDS.contains(&first))
    .then_some((end, words))
}

/// `getName` and `McDonald` both have a capital inside; names have it after `Mc`, `Mac`, `De`.
fn is_camel_case(word: &str) -> bool {
    let inner = word
        .char_indices()
        .skip(1)
        .filter(|(_, c)| c.is_uppercase());
    let mut inner = inner.filter(|(i, _)| !word[..*i].ends_with(['-', '\'']));
    inner.any(|(i, _)| {
        !matches!(
            &word[..i],
            "Mc" | "Mac" | "De" | "Di" | "Le" | "La" | "Van" | "Von" | "O" | "Fitz"
        )
    })
}

/// Capitalised words that begin a sentence or name a thing.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "The", "This", "That", "There", "These", "Those", "A", "An", "I", "You", "We", "They", "He", "She", "It", "My",
    "Your", "Our", "Please", "Thank", "Thanks", "Sir", "Madam", "All", "Everyone", "Team", "World", "Customer", "Client",
    "User", "Name", "String", "Number", "Boolean", "None", "Null", "True", "False", "Option", "Vec", "Box", "Some",
    "Error", "Type", "Date", "Object", "Array", "Map", "Set", "Function", "Default", "Unknown", "Test", "Example", "Sample",
    "New", "Old", "No", "Not", "Yes", "And", "Or", "If", "When", "How", "What", "Who", "Why", "Where", "Is", "Are", "In",
    "On", "At", "To", "From", "For", "With", "By", "Of", "Inc", "Ltd", "Corp", "LLC", "GmbH", "Company", "Foundation",
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "January", "February", "March", "April",
    "June", "July", "August", "September", "October", "November", "December", "Contributors", "Authors", "Project",
    "Software", "License", "Copyright", "University", "Institute", "Studio", "Server", "Service", "System", "Also", "See",
    "Note", "Use", "Used", "Returns", "Return", "Value", "Values", "File", "Files", "Code", "Data", "Each", "Any", "Here",
    "Hello", "Hi", "Dear", "Best", "Kind", "Looking", "Just", "Going", "Sorry", "Glad", "Happy", "Sure", "Both", "Other",
];

fn add_name(scan: &mut Scan<'_>, start: usize, end: usize, confidence: f32) {
    scan.add(NAME, start, end, confidence);
}

fn starts_word(scan: &Scan<'_>, at: usize) -> bool {
    let previous = scan.before(at);
    !is_word(previous) && !matches!(previous, b'_' | b'$' | b'.' | b'-' | b'/')
}

fn after_title(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let capital = scan
        .text
        .get(hit.clone())
        .and_then(|t| t.chars().next())
        .is_some_and(char::is_uppercase);
    if !capital || !starts_word(scan, hit.start) {
        return;
    }
    if let Some((end, _)) = name_at(scan, hit.end) {
        add_name(scan, hit.end, end, 0.75);
    }
}

fn after_person_label(scan: &mut Scan<'_>, label: usize, hit: Range<usize>) {
    if scan.in_key(hit.end) {
        return check_key_value(scan, 0.85);
    }
    if is_word(scan.before(hit.start)) {
        return;
    }
    let Some(start) = scan
        .value_after(hit.end)
        .or_else(|| verb_end(scan, hit.end))
    else {
        return;
    };
    if let Some((end, words)) = name_at(scan, start) {
        // One word may be a type or a column; a known given name or a second word confirms it.
        let known = words > 1 || begins_with_given_name(&scan.text[start..end]);
        let quoted = matches!(scan.before(start), b'"' | b'\'');
        // User interface components have a display name too.
        let of_people = !PERSON_LABELS[label].starts_with("display");
        add_name(
            scan,
            start,
            end,
            if known {
                0.8
            } else if quoted && of_people {
                0.6
            } else {
                0.4
            },
        );
    }
}

fn verb_end(scan: &Scan<'_>, at: usize) -> Option<usize> {
    scan.text.get(at..)?.starts_with(" is ").then_some(at + 4)
}

/// The whole value of a person's key is the name, in any script.
fn check_key_value(scan: &mut Scan<'_>, confidence: f32) {
    let value = &scan.text[scan.key_end..];
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let plain = value
        .chars()
        .all(|c| c.is_alphabetic() || matches!(c, ' ' | '-' | '\'' | '.' | ',' | '’'));
    let words = value.split_whitespace().count();
    if (letters >= 2 || letters == 1 && !value.is_ascii())
        && plain
        && (1..=5).contains(&words)
        && value.len() <= 80
        && !STOP_WORDS.contains(&value)
        && !value.eq_ignore_ascii_case("string")
    {
        let start = scan.key_end;
        add_name(scan, start, scan.bytes.len(), confidence);
    }
}

fn after_label(scan: &mut Scan<'_>, label: usize, hit: Range<usize>) {
    let name = LABELS[label].trim_end_matches(|c: char| !c.is_alphabetic());
    let label_end = hit.start + name.len();
    let keyed = scan.in_key(label_end);
    if !starts_word(scan, hit.start) && !keyed {
        return;
    }
    let Some(start) = scan.value_after(label_end) else {
        return;
    };
    let Some((end, words)) = name_at(scan, start) else {
        return;
    };
    // `name: Visual Studio` is a thing: the first word must be a known given name.
    let text = &scan.text[start..end];
    let known = begins_with_given_name(text);
    let whole = !matches!(
        scan.at(end),
        b'(' | b'[' | b'.' | b':' | b'<' | b'_' | b'/' | b'='
    ) || scan.at(end) == b'.' && !is_word(scan.at(end + 1));
    if known && words > 1 && whole {
        add_name(scan, start, end, 0.75);
    } else if known && keyed && end == scan.bytes.len() {
        add_name(scan, start, end, 0.55);
    }
}

fn after_phrase(scan: &mut Scan<'_>, phrase: usize, hit: Range<usize>) {
    if !starts_word(scan, hit.start) {
        return;
    }
    let Some((end, words)) = name_at(scan, hit.end) else {
        return;
    };
    let known = begins_with_given_name(&scan.text[hit.end..end]);
    // After `my name is` any name counts; after a greeting or `I am` it must be a known one.
    let introduced = matches!(
        PHRASES[phrase],
        "my name is " | "me llamo " | "je m'appelle " | "ich heiße " | "mi chiamo "
    );
    match (introduced, known) {
        (true, _) => add_name(scan, hit.end, end, 0.8),
        (false, true) => add_name(scan, hit.end, end, if words > 1 { 0.75 } else { 0.65 }),
        (false, false) if PHRASES[phrase] == "dear " && matches!(scan.at(end), b',' | b'!') => {
            add_name(scan, hit.end, end, 0.6)
        }
        _ => {}
    }
}

/// Checks a signature: the line after `Regards,` is a name and nothing else.
fn after_closing(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let start = scan.run(hit.end, |b| b.is_ascii_whitespace());
    if !scan.bytes[hit.end..start].contains(&b'\n') {
        return;
    }
    if let Some((end, _)) = name_at(scan, start)
        && matches!(scan.at(end), 0 | b'\n' | b'\r' | b',')
    {
        add_name(scan, start, end, 0.7);
    }
}

#[cfg(test)]
mod tests {
    use crate::{ScrubConfig, Scrubber, cases};

    #[test]
    fn names_are_found_by_their_context() {
        cases::check(
            "NAME",
            &[
                ("ask Mr. Mayers about it", "Mayers"),
                ("Dr. Jane Q. Doe will", "Jane Q. Doe"),
                ("my name is Dan", "Dan"),
                ("Name: John Doe\nAge", "John Doe"),
                ("Dear Alice,", "Alice"),
                ("Kind regards,\nJane Doe\n", "Jane Doe"),
                ("{ firstName: 'Zorblax' }", "Zorblax"),
                (r#"{"first_name": "Zorblax"}"#, "Zorblax"),
                ("Hello Maria, how", "Maria"),
                ("author: \"Jane van der Doe\"", "Jane van der Doe"),
                ("full name: John McDoe", "John McDoe"),
            ],
            &[
                "name: String",
                "name: Option<String>",
                "Hello World",
                "name: Visual Studio",
                "this is The End",
                "Dr = 5",
                "from: Builder",
                "name = John()",
                "to: Promise<void>",
                "dear reader",
                "first_name: string",
                "Hi Everyone",
                "const firstName = Symbol()",
            ],
        );
    }

    #[test]
    fn below_a_persons_key_the_whole_value_is_the_name() {
        let scrubber = Scrubber::new(&ScrubConfig::default()).expect("a valid configuration");
        for (key, value) in [
            ("first_name", "zorblax"),
            ("lastName", "O’Zorb"),
            ("full_name", "山田 太郎"),
            ("name", "Maria Zorb"),
        ] {
            assert_eq!(scrubber.find(value, Some(key)).len(), 1, "{key}");
        }
        for (key, value) in [
            ("name", "react"),
            ("name", "Visual Studio"),
            ("first_name", "string"),
        ] {
            assert!(scrubber.find(value, Some(key)).is_empty(), "{key} {value}");
        }
    }
}
