//! Payment cards, bank accounts, addresses of networks and telephones.

use super::{Kind, Random};

pub fn kinds() -> Vec<Kind> {
    vec![
        Kind {
            name: "CARD",
            value: card,
            near_miss: |r| {
                let (card, _) = card(r);
                change_last_digit(&card)
            },
            labels: &[],
        },
        Kind {
            name: "IBAN",
            value: iban,
            near_miss: |r| {
                let (iban, _) = iban(r);
                change_last_digit(&iban)
            },
            labels: &[],
        },
        Kind {
            name: "IP",
            value: ip,
            near_miss: |r| {
                let version = [r.below(9), r.below(20), r.below(50)].map(|n| n.to_string());
                format!("v{}.{}", version.join("."), r.below(90))
            },
            labels: &[],
        },
        Kind {
            name: "MAC",
            value: |r| {
                let pairs: Vec<_> = (0..6).map(|_| r.many('h', 2)).collect();
                let separator = r.pick(&[":", "-"]);
                (pairs.join(separator), "six pairs")
            },
            near_miss: |r| r.many('h', 7),
            labels: &[],
        },
        Kind {
            name: "PHONE",
            value: phone,
            near_miss: |r| r.fill("1.9.99-9999"),
            labels: &[],
        },
    ]
}

/// Appends the digit that makes the sum of Luhn right.
pub fn with_luhn(digits: &str) -> String {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(i, b)| {
            let digit = u32::from(b - b'0') * if i % 2 == 0 { 2 } else { 1 };
            digit / 10 + digit % 10
        })
        .sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

fn change_last_digit(text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    if let Some(last) = chars.iter_mut().rev().find(|c| c.is_ascii_digit()) {
        *last = if *last == '9' {
            '0'
        } else {
            char::from(*last as u8 + 1)
        };
    }
    chars.into_iter().collect()
}

/// Splits a text into groups.
pub fn grouped(text: &str, sizes: &[usize], separator: &str) -> String {
    let mut rest = text;
    let mut groups = Vec::new();
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (group, after) = rest.split_at((*size).min(rest.len()));
        groups.push(group);
        rest = after;
    }
    groups.join(separator)
}

fn card(r: &mut Random) -> (String, &'static str) {
    let (prefix, length) = r.pick(&[
        ("4", 16),
        ("51", 16),
        ("55", 16),
        ("2221", 16),
        ("34", 15),
        ("37", 15),
        ("6011", 16),
        ("3530", 16),
        ("36", 14),
    ]);
    let body = r.many('d', length - 1 - prefix.len());
    let number = with_luhn(&format!("{prefix}{body}"));
    let separator = r.pick(&[" ", "-", "."]);
    match (length, r.below(4)) {
        (_, 0) => (number, "in one piece"),
        (15, _) => (grouped(&number, &[4, 6, 5], separator), "4-6-5"),
        (14, _) => (grouped(&number, &[4, 6, 4], separator), "4-6-4"),
        (_, 1) => (grouped(&number, &[8, 8], separator), "8-8"),
        (_, 2) => (grouped(&number, &[6, 6, 4], separator), "6-6-4"),
        _ => (grouped(&number, &[4], separator), "4-4-4-4"),
    }
}

fn iban(r: &mut Random) -> (String, &'static str) {
    let (country, account) = r.pick(&[
        ("DE", "{18d}"),
        ("GB", "{4A}{14d}"),
        ("FR", "{10d}{11u}{2d}"),
        ("ES", "{20d}"),
        ("NL", "{4A}{10d}"),
        ("CH", "{5d}{12u}"),
        ("PL", "{24d}"),
    ]);
    let account = r.shape(account);
    let value = |c: char| c.to_digit(36).unwrap_or_default();
    let remainder = |text: &str| {
        text.chars().fold(0u32, |rest, c| match value(c) {
            digit @ 0..=9 => (rest * 10 + digit) % 97,
            letter => (rest * 100 + letter) % 97,
        })
    };
    let check = 98 - remainder(&format!("{account}{country}00"));
    let iban = format!("{country}{check:02}{account}");
    match r.below(2) {
        0 => (iban, "in one piece"),
        _ => (grouped(&iban, &[4], " "), "in groups of four"),
    }
}

fn ip(r: &mut Random) -> (String, &'static str) {
    let first = r.pick(&[23, 52, 81, 93, 104, 139, 151, 172, 185, 192, 203]);
    let v4 = format!(
        "{first}.{}.{}.{}",
        r.range(16, 254),
        r.below(255),
        r.range(1, 254)
    );
    let groups: Vec<String> = (0..4).map(|_| r.shape("1{3h}")).collect();
    match r.below(5) {
        0 => (v4, "IPv4"),
        1 => (format!("{v4}/{}", r.range(8, 32)), "IPv4 with a prefix"),
        2 => (
            format!(
                "2001:db8:{}",
                r.shape("1{2h}:2{2h}:3{2h}:4{2h}:5{2h}:6{2h}")
            ),
            "IPv6",
        ),
        3 => (format!("2001:db8::{}", groups.join(":")), "IPv6, shortened"),
        _ => (
            format!("fe80::{}%eth{}", groups.join(":"), r.below(4)),
            "IPv6 with a zone",
        ),
    }
}

fn phone(r: &mut Random) -> (String, &'static str) {
    let american = r
        .fill("2__-5__-9999")
        .replace("__", &r.range(10, 88).to_string());
    match r.below(7) {
        0 => (format!("+1-{american}"), "United States, international"),
        1 => {
            let local = american.replacen('-', ") ", 1);
            (format!("({local}"), "United States, with brackets")
        }
        2 => (r.shape("+44 20 7{3d} {4d}"), "Britain"),
        3 => (r.shape("+49 30 1{6d}"), "Germany"),
        4 => (r.shape("+90 532 {3d} {2d} {2d}"), "Turkey"),
        5 => (r.shape("+63 917 {3d} {4d}"), "Philippines"),
        _ => (r.shape("+91 98{3d} {5d}"), "India"),
    }
}
