//! Postal addresses of the United States, the United Kingdom, Germany, France, Spain, Italy and India, with
//! invented names of streets and towns.

use super::{Kind, Random};

pub fn kinds() -> Vec<Kind> {
    vec![Kind {
        name: "ADDRESS",
        value: address,
        near_miss,
        labels: &[],
    }]
}

/// An invented name: `Moralund`.
fn name(r: &mut Random) -> String {
    const FIRST: [&str; 10] = [
        "Ber", "Mor", "Tal", "Ven", "Kas", "Dor", "Fel", "Gra", "Hol", "Sten",
    ];
    const LAST: [&str; 8] = [
        "alund", "ovia", "enau", "ington", "era", "ado", "ello", "ipur",
    ];
    format!("{}{}", r.pick(&FIRST), r.pick(&LAST))
}

fn number(r: &mut Random) -> String {
    match r.below(5) {
        0 => format!("{}a", r.range(1, 99)),
        _ => r.range(1, 299).to_string(),
    }
}

fn address(r: &mut Random) -> (String, &'static str) {
    let (street, town, house) = (name(r), name(r), number(r));
    match r.below(7) {
        0 => (american(r, &street, &town), "US"),
        1 => (british(r, &street, &town), "UK"),
        2 => (german(r, &street, &town, &house), "DE"),
        3 => {
            let word = r.pick(&["rue", "avenue", "boulevard", "impasse", "allée", "chemin"]);
            let code = r.range(10_000, 95_999);
            (format!("{house} {word} de {street}, {code} {town}"), "FR")
        }
        4 => {
            let word = r.pick(&["Calle", "Avenida", "Plaza", "Paseo", "C/"]);
            let comma = r.pick(&["", ","]);
            let code = r.range(10_000, 52_999);
            (
                format!("{word} {street}{comma} {house}, {code} {town}"),
                "ES",
            )
        }
        5 => {
            let word = r.pick(&["Via", "Viale", "Piazza", "Corso", "Largo", "Vicolo"]);
            let code = r.range(10_000, 98_999);
            (format!("{word} {street} {house}, {code} {town} (MI)"), "IT")
        }
        _ => (indian(r, &street, &town), "IN"),
    }
}

fn american(r: &mut Random, street: &str, town: &str) -> String {
    let suffix = r.pick(&[" Street", " Ave", " Blvd", " Ln", " Dr", ""]);
    let direction = r.pick(&["", "", "N ", "SW "]);
    let unit = r.pick(&["", ", Apt. 4", ", Suite 12"]);
    let state = r.pick(&["IL", "NY", "TX", "CA", "OH"]);
    let (house, zip) = (r.range(100, 9999), r.range(10_000, 99_999));
    let line = r.pick(&[", ", "\n"]);
    format!("{house} {direction}{street}{suffix}{unit}{line}{town}, {state} {zip}")
}

fn british(r: &mut Random, street: &str, town: &str) -> String {
    let suffix = r.pick(&["Rise", "Walk", "Hill", "Green"]);
    let flat = r.pick(&["", "", "Flat 3, "]);
    let area = r.pick(&["BS1", "M4", "EH12", "SW1A", "LS6"]);
    let code = format!("{area} {}{}", r.below(10), r.pick(&["AA", "BD", "XW"]));
    format!("{flat}{} {street} {suffix}, {town} {code}", r.range(1, 99))
}

fn german(r: &mut Random, street: &str, town: &str, house: &str) -> String {
    let code = r.range(10_000, 99_000);
    let prefix = r.pick(&["", "", "D-"]);
    let line = r.pick(&[", ", "\n"]);
    match r.below(4) {
        0 => format!("{street}straße {house}{line}{prefix}{code} {town}"),
        1 => format!("{street}weg {house}{line}{prefix}{code} {town}"),
        2 => format!("Am {street} {house}{line}{prefix}{code} {town}"),
        _ => format!("An der {street}er Heide {house}{line}{prefix}{code} {town}"),
    }
}

fn indian(r: &mut Random, street: &str, town: &str) -> String {
    let pin = r.range(110_001, 855_126);
    match r.below(3) {
        0 => format!(
            "Flat No. {}, {street} Residency, MG Road, {town} {pin}",
            r.range(1, 99)
        ),
        1 => format!("{}, {street} Enclave, {town} - {pin}", r.range(1, 99)),
        _ => format!("{}, 2nd Cross, {street}, {town} - {pin}", r.range(1, 99)),
    }
}

/// Numbers beside capitals that are no addresses.
fn near_miss(r: &mut Random) -> String {
    let (first, second) = (r.range(1, 99), r.range(10_000, 99_999));
    match r.below(8) {
        0 => format!("Table {first}, {second} Rows"),
        1 => format!("March {}, {second} People", r.range(1, 28)),
        2 => format!("{first} Ways to Drive"),
        3 => format!("version {first}.2, {second} downloads"),
        4 => format!("order {second} of {first} items"),
        5 => format!("{} won {first} to 3", name(r)),
        6 => format!("Chapter {first}, {second} words"),
        _ => format!("error {second}: {first} retries"),
    }
}
