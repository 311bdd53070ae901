//! Brazil: CPF, CNPJ (also with letters), driving licence (CNH), PIS.

use super::{Family, Id, varied};
use crate::{Kind, checksum};

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("BR_CPF"),
        family: Family::National,
        layouts: &[
            ("999.999.999-99", 0.95),
            ("99999999999", 0.4),
            ("999?999?999?99", 0.5),
        ],
        check: cpf,
        words: &["cpf", "cadastro de pessoa"],
    },
    Id {
        kind: Kind::new("BR_CNPJ"),
        family: Family::Tax,
        layouts: &[("XX.XXX.XXX/XXXX-99", 0.95), ("XXXXXXXXXXXX99", 0.3)],
        check: cnpj,
        words: &["cnpj"],
    },
    Id {
        kind: Kind::new("DRIVER_LICENSE"),
        family: Family::Driver,
        layouts: &[("99999999999", 0.0)],
        check: varied,
        words: &["cnh", "habilitação", "habilitacao", "carteira de motorista"],
    },
    Id {
        kind: Kind::new("BR_PIS"),
        family: Family::National,
        layouts: &[("999.99999.99-9", 0.85), ("99999999999", 0.1)],
        check: pis,
        words: &["pis", "pasep", "nis", "nit"],
    },
];

fn check_digit(sum: u32) -> u32 {
    match sum % 11 {
        0 | 1 => 0,
        rest => 11 - rest,
    }
}

fn cpf(text: &str) -> bool {
    let digits = checksum::digits(text);
    let first = check_digit(checksum::weighted(
        &digits[..9],
        &[10, 9, 8, 7, 6, 5, 4, 3, 2],
    ));
    let second = check_digit(checksum::weighted(
        &digits[..10],
        &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2],
    ));
    varied(text) && digits[9..] == [first, second]
}

/// The value of a character is its ASCII code minus 48, for letters as well as digits.
fn cnpj(text: &str) -> bool {
    let values: Vec<u32> = text.bytes().map(|b| u32::from(b - b'0')).collect();
    let first = check_digit(checksum::weighted(
        &values[..12],
        &[5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2],
    ));
    let second = check_digit(checksum::weighted(
        &values[..13],
        &[6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2],
    ));
    varied(text) && values[12..] == [first, second]
}

fn pis(text: &str) -> bool {
    let digits = checksum::digits(text);
    let sum = checksum::weighted(&digits[..10], &[3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);
    varied(text) && check_digit(sum) == digits[10]
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn brazilian_numbers_have_valid_check_digits() {
        cases::check(
            "BR_CPF",
            &[
                ("123.456.789-09", "123.456.789-09"),
                ("CPF 12345678909", "12345678909"),
            ],
            &["123.456.789-10", "111.111.111-11"],
        );
        cases::check(
            "BR_CNPJ",
            &[
                ("11.222.333/0001-81", "11.222.333/0001-81"),
                ("12.ABC.345/01DE-35", "12.ABC.345/01DE-35"),
            ],
            &["11.222.333/0001-82"],
        );
        cases::check(
            "BR_PIS",
            &[("PIS 120.12345.67-2", "120.12345.67-2")],
            &["PIS 120.12345.67-3"],
        );
    }
}
