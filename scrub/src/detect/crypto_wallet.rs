//! Cryptocurrency wallet addresses, with the checksum of the format if it is cheap.

use std::ops::Range;

use sha2::{Digest, Sha256};

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::scan::Scan;

const CRYPTO: Kind = Kind::new("CRYPTO_WALLET");

pub(super) static DETECTOR: Detector = Detector {
    name: "crypto_wallet",
    kinds: || vec![CRYPTO],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::FoundByDetector,
    triggers: &[Trigger::Token(check)],
};

const WORDS: &[&str] = &[
    "wallet", "address", "bitcoin", "btc", "ethereum", "eth", "crypto", "solana", "sol",
    "litecoin", "ltc", "doge", "dogecoin", "tron", "trx", "ripple", "xrp", "monero", "xmr",
    "cardano", "ada", "donate", "usdt",
];

fn check(scan: &mut Scan<'_>, range: Range<usize>) {
    // A wallet address is often the last segment of a path: `etherscan.io/address/0x…`.
    let slash = memchr::memrchr(b'/', &scan.bytes[range.clone()]);
    let range = slash.map_or(range.start, |at| range.start + at + 1)..range.end;
    let token = &scan.text[range.clone()];
    let confidence = if is_bech32(token) {
        0.97
    } else if let Some(hex) = token.strip_prefix("0x").filter(|h| h.len() == 40) {
        // 20 hexadecimal bytes can be other things; wallets are mostly written in mixed case.
        let mixed = hex.bytes().any(|b| b.is_ascii_uppercase())
            && hex.bytes().any(|b| b.is_ascii_lowercase());
        match hex.bytes().all(|b| b.is_ascii_hexdigit()) && hex.bytes().any(|b| b != b'0') {
            true if scan.has_word_near(range.start, range.end, WORDS) => 0.9,
            true if mixed => 0.7,
            true => 0.5,
            false => 0.0,
        }
    } else if is_base58(token) {
        match base58_checksum(token) {
            true => 0.97,
            false => 0.0,
        }
    } else {
        0.0
    };
    if confidence > 0.0 {
        scan.add(CRYPTO, range.start, range.end, confidence);
    }
}

/// Bitcoin, Litecoin, Dogecoin, Tron, Ripple and others that use Bitcoin's alphabet.
fn is_base58(token: &str) -> bool {
    (26..=35).contains(&token.len())
        && token.starts_with(['1', '3', 'L', 'M', 'D', 'T', 'A'])
        && token.bytes().all(|b| base58_value(b).is_some())
}

const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

fn base58_value(byte: u8) -> Option<u32> {
    BASE58.iter().position(|b| *b == byte).map(|v| v as u32)
}

/// The last four of the 25 bytes are the first four of the double SHA-256 of the others.
fn base58_checksum(token: &str) -> bool {
    let mut bytes = [0u8; 25];
    for byte in token.bytes() {
        let Some(mut carry) = base58_value(byte) else {
            return false;
        };
        for digit in bytes.iter_mut().rev() {
            carry += u32::from(*digit) * 58;
            *digit = carry as u8;
            carry >>= 8;
        }
        if carry > 0 {
            return false;
        }
    }
    Sha256::digest(Sha256::digest(&bytes[..21]))[..4] == bytes[21..]
}

/// SegWit and other addresses with the checksum of BIP 173 or BIP 350.
fn is_bech32(token: &str) -> bool {
    const CHARSET: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    const PREFIXES: [&str; 5] = ["bc", "tb", "ltc", "addr", "bcrt"];
    let lower = token.to_ascii_lowercase();
    let Some((prefix, data)) = lower.rsplit_once('1') else {
        return false;
    };
    if !PREFIXES.contains(&prefix)
        || data.len() < 30
        || (token != lower && token != token.to_ascii_uppercase())
    {
        return false;
    }
    let Some(values) = data
        .chars()
        .map(|c| CHARSET.find(c).map(|v| v as u32))
        .collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let high = prefix.bytes().map(|b| u32::from(b >> 5));
    let low = prefix.bytes().map(|b| u32::from(b & 31));
    let check = high
        .chain([0])
        .chain(low)
        .chain(values)
        .fold(1u32, |check, value| {
            const GENERATOR: [u32; 5] = [
                0x3b6a_57b2,
                0x2650_8e6d,
                0x1ea1_19fa,
                0x3d42_33dd,
                0x2a14_62b3,
            ];
            let top = check >> 25;
            let shifted = ((check & 0x1ff_ffff) << 5) ^ value;
            (0..5)
                .filter(|i| top >> i & 1 == 1)
                .fold(shifted, |c, i| c ^ GENERATOR[i])
        });
    check == 1 || check == 0x2bc8_30a3
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn addresses_with_a_valid_checksum_are_wallets() {
        cases::check(
            "CRYPTO_WALLET",
            &[
                (
                    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
                    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
                ),
                (
                    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
                    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
                ),
                (
                    "to 0x52908400098527886E0F7030069857D2E4169EE7 eth",
                    "0x52908400098527886E0F7030069857D2E4169EE7",
                ),
                (
                    "https://etherscan.io/address/0x52908400098527886E0F7030069857D2E4169EE7",
                    "0x52908400098527886E0F7030069857D2E4169EE7",
                ),
                (
                    "by 0x52908400098527886e0f7030069857d2e4169ee7.",
                    "0x52908400098527886e0f7030069857d2e4169ee7",
                ),
            ],
            &[
                "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb",
                "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
                "0x0000000000000000000000000000000000000000",
                "0x52908400098527886e0f7030069857d2e4169ee7ab",
                "https://x.example/tx/52908400098527886E0F7030069857D2E4169EE7",
                "8f953371d3e85eddb89b05ed6b9e680791055315c73e1025ab5dba7bb2aee189",
            ],
        );
    }
}
