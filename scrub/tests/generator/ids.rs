//! Numbers of authorities: national ids, licences, plates and passports.

use super::{Kind, Random};

pub fn kinds() -> Vec<Kind> {
    vec![
        Kind {
            name: "SG_NRIC_FIN",
            value: |r| (nric(r, 0), "NRIC or FIN"),
            near_miss: |r| nric(r, 1),
            labels: &[],
        },
        Kind {
            name: "IN_PAN",
            value: |r| {
                let status = r.pick(&["P", "C", "H", "F", "A", "T", "B", "L", "J", "G"]);
                (r.shape(&format!("{{3A}}{status}{{1A}}{{4d}}{{1A}}")), "PAN")
            },
            near_miss: |r| r.fill("AAAA9999AA"),
            labels: &[],
        },
        Kind {
            name: "US_SSN",
            value: |r| {
                let area = r.range(1, 665);
                let group = r.range(1, 98);
                let serial = r.range(1, 9998);
                (format!("{area:03}-{group:02}-{serial:04}"), "with hyphens")
            },
            near_miss: |r| r.fill("000-99-9999"),
            labels: &["ssn", "social security number"],
        },
        Kind {
            name: "DRIVER_LICENSE",
            value: licence,
            near_miss: |r| r.fill("9999999"),
            labels: &["driving licence", "driver license"],
        },
        Kind {
            name: "VEHICLE_PLATE",
            value: plate,
            near_miss: |r| r.shape("ERR-{5d}"),
            labels: &["number plate", "license plate", "vehicle registration"],
        },
        Kind {
            name: "PASSPORT",
            value: |r| match r.below(3) {
                0 => {
                    let first = r.pick(&["C", "F", "G", "H", "J", "K"]);
                    let rest: String = (0..8)
                        .map(|_| char::from(r.pick(b"0123456789CFGHJKLMNPRTVWXYZ")))
                        .collect();
                    (format!("{first}{rest}"), "Germany")
                }
                1 => (r.shape("YA{7d}"), "Italy"),
                _ => (r.fill("M99999999"), "South Korea"),
            },
            near_miss: |r| r.fill("build 99999999"),
            labels: &["passport"],
        },
    ]
}

/// An identity number of Singapore; `offset` makes its letter wrong.
fn nric(r: &mut Random, offset: usize) -> String {
    let digits = r.many('d', 7);
    let weights = [2, 7, 6, 5, 4, 3, 2];
    let sum: usize = digits
        .bytes()
        .zip(weights)
        .map(|(b, w)| usize::from(b - b'0') * w)
        .sum();
    let (first, letters, add) = r.pick(&[
        ("S", "JZIHGFEDCBA", 0),
        ("T", "JZIHGFEDCBA", 4),
        ("F", "XWUTRQPNMLK", 0),
        ("G", "XWUTRQPNMLK", 4),
    ]);
    let index = (sum + add + offset) % 11;
    format!("{first}{digits}{}", &letters[index..=index])
}

fn licence(r: &mut Random) -> (String, &'static str) {
    match r.below(4) {
        0 => {
            let region = r.range(11, 26);
            (
                r.shape(&format!("{region}-{{2d}}-{{6d}}-{{2d}}")),
                "South Korea",
            )
        }
        1 => (r.fill("AA9999999A"), "Italy"),
        2 => {
            let serial: String = (0..7)
                .map(|_| char::from(r.pick(b"0123456789BCDFGHLMNPRSTWYZ")))
                .collect();
            (format!("U1{serial}{}", r.fill("A")), "Italy, since 2013")
        }
        _ => (r.shape("{1A}{3d}{5u}{2d}"), "Germany"),
    }
}

fn plate(r: &mut Random) -> (String, &'static str) {
    let german = |r: &mut Random| {
        let district = r.pick(&["B", "M", "HH", "KA", "MÜ", "STA", "GÖ", "LÖ"]);
        let letters = r.range(1, 2);
        let series = r.many('A', letters);
        let suffix = r.pick(&["", "", "E", "H"]);
        format!("{district}-{series} {}{suffix}", r.range(1, 999))
    };
    match r.below(5) {
        0 => (german(r), "Germany"),
        1 => {
            let state = r.pick(&["KA", "MH", "DL", "TN", "UP"]);
            let separator = r.pick(&["", " ", "-"]);
            let parts = [state.to_owned(), r.fill("99"), r.fill("AA"), r.fill("1999")];
            (parts.join(separator), "India")
        }
        2 => {
            let separator = r.pick(&["-", " ", ""]);
            (
                format!("{}{separator}{}", r.fill("AAA"), r.fill("999AA")),
                "Nigeria",
            )
        }
        3 => {
            let area = r.pick(&["AB", "BD", "LK", "SN", "YE"]);
            let year = r.range(51, 74);
            (
                format!("{area}{year} {}", r.pick(&["ABC", "XYZ", "KLM", "RST"])),
                "Britain",
            )
        }
        _ => {
            let province = r.range(1, 81);
            (r.shape(&format!("{province:02} {{3A}} {{3d}}")), "Turkey")
        }
    }
}
