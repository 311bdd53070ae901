//! Values that stand in the place of a secret: placeholders, variables and the samples of
//! documentation.

use super::randomness::TokenStats;

/// Words that make a value a placeholder wherever they stand in it.
#[rustfmt::skip]
const WORDS_WITHIN: &[&str] = &[
    "example", "placeholder", "changeme", "change_me", "change-me", "changethis", "replaceme", "replace_me", "replace-me",
    "replacewith", "replace_with", "insert_", "insert-your", "yourapi", "yourtoken", "yoursecret", "yourkey",
    "yourpassword", "your_", "your-", "_your", "-your", "redacted", "dummy", "notasecret", "not_a_secret",
    "not-a-secret", "goes_here", "goes-here", "_here", "-here", "todo", "fixme", "lorem", "deadbeef", "<your", "my_secret",
    "mysecret", "my-secret", "supersecret", "super_secret", "super-secret", "sample", "_removed", "censored",
    "0123456789", "1234567890", "9876543210", "abcdefghij",
];
/// Words that make a generated key a sample.
const WORDS_IN_KEYS: &[&str] = &[
    "fakekey",
    "faketoken",
    "fakesecret",
    "fakesig",
    "notreal",
    "not-real",
    "not_real",
    "notthe",
    "not-the",
    "lookingfor",
    "looking-for",
    "testonly",
    // The account key of Azure's storage emulator.
    "eby8vdm02xnocqflquwjpl",
];
/// Whole values.
#[rustfmt::skip]
const WHOLE: &[&str] = &[
    "string", "password", "passwd", "text", "true", "false", "null", "nil", "none", "required", "optional", "hidden",
    "number", "undefined", "object", "secret", "token", "key", "value", "unset", "empty", "default", "test", "testing",
    "foo", "bar", "foobar", "foobarbaz", "baz", "xxx", "tbd", "n/a", "na", "unknown", "user", "username", "admin", "root",
    "pass", "apikey", "api_key", "api-key", "bearer", "basic", "some-token", "some_token", "my-token", "my_token",
];

/// Whether a value is no secret: `xxxx`, `changeme`, `AKIAIOSFODNN7EXAMPLE`, `YOUR_API_KEY`, `****`,
/// `aaaaaaaa`, `12345678`.
pub(super) fn is_sample(value: &[u8]) -> bool {
    const MAX_BYTES: usize = 512;
    if value.len() > MAX_BYTES {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    if WHOLE.iter().any(|word| word.as_bytes() == lower) {
        return true;
    }
    let within = |word: &str| memchr::memmem::find(&lower, word.as_bytes()).is_some();
    is_filler(&lower) || is_count(&lower) || WORDS_WITHIN.iter().any(|word| within(word))
}

/// As [`is_sample`], for keys that a machine generates. Such a key has no long runs of one character or of
/// characters that count up, and more than a few different ones; a password may have them.
pub(super) fn is_sample_key(value: &[u8]) -> bool {
    if is_sample(value) {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    let name = lower.trim_ascii_end();
    let digits = name.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let name = &name[..name.len() - digits.min(4)];
    WHOLE.iter().any(|word| word.as_bytes() == name)
        || WORDS_IN_KEYS
            .iter()
            .any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
        || is_greeting(&lower)
        || lower.len() >= MIN_GENERATED && (has_long_run(&lower) || has_few_characters(&lower))
}

/// Whether a value is `helloworld` with words or a number around it; among random characters it is chance.
fn is_greeting(lower: &[u8]) -> bool {
    const GREETING: &[u8] = b"helloworld";
    let Some(at) = memchr::memmem::find(lower, GREETING) else {
        return false;
    };
    let stats = TokenStats::of(&[&lower[..at], &lower[at + GREETING.len()..]].concat());
    stats.digits < 3 || stats.lower < 3 || stats.has_words()
}

/// A shorter key can have a run by chance.
const MIN_GENERATED: usize = 20;

/// Whether six characters count up or down, or eight are the same. `A` stands for zeros in base64.
fn has_long_run(lower: &[u8]) -> bool {
    const COUNT: usize = 6;
    const SAME: usize = 8;
    let (mut up, mut down, mut same) = (1, 1, 1);
    for pair in lower.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        let word = first.is_ascii_alphanumeric() && second.is_ascii_alphanumeric();
        let next = second == first.wrapping_add(1) || (first, second) == (b'9', b'a');
        up = if word && next { up + 1 } else { 1 };
        let before = first == second.wrapping_add(1) || (first, second) == (b'a', b'9');
        down = if word && before { down + 1 } else { 1 };
        same = if first == second && first != b'a' {
            same + 1
        } else {
            1
        };
        if up >= COUNT || down >= COUNT || same >= SAME {
            return true;
        }
    }
    false
}

/// Whether a long value has at most three different letters and digits.
fn has_few_characters(lower: &[u8]) -> bool {
    let body = lower
        .rsplit(|b| matches!(b, b'_' | b'-' | b'.'))
        .next()
        .unwrap_or_default();
    let mut seen = [false; 256];
    for byte in body {
        seen[usize::from(*byte)] = true;
    }
    body.len() >= MIN_GENERATED && seen.iter().filter(|seen| **seen).count() <= 3
}

/// Whether one character fills most of the value: `xxxxxxxx`, `ghp_0000…`, `****1234`.
fn is_filler(lower: &[u8]) -> bool {
    let mut counts = [0u16; 256];
    let mut total = 0;
    for byte in lower.iter().filter(|b| !matches!(b, b'-' | b'_' | b'.')) {
        counts[usize::from(*byte)] += 1;
        total += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    total == 0 || (total >= 4 && most * 10 >= total * 7) || counts[usize::from(b'*')] >= 3
}

/// Whether the characters count up or down: `12345678`, `abcdefgh`.
fn is_count(lower: &[u8]) -> bool {
    let step = |w: &&[u8]| w[1] == w[0].wrapping_add(1) || w[1].wrapping_add(1) == w[0];
    lower.len() >= 4 && lower.windows(2).filter(step).count() * 10 >= (lower.len() - 1) * 8
}

#[cfg(test)]
mod tests {
    use super::{is_sample, is_sample_key};

    #[test]
    fn placeholders_and_documentation_are_samples_and_secrets_are_not() {
        for sample in [
            "xxxx",
            "XXXX-XXXX",
            "****",
            "changeme",
            "YOUR_API_KEY",
            "<your-token>",
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "00000000000000000000",
            "12345678",
            "abcdefgh",
            "insert_token",
            "my-secret-password",
            "",
        ] {
            assert!(is_sample(sample.as_bytes()), "{sample}");
        }
        for secret in [
            "hunter2",
            "Tr0ub4dor&3",
            "8f2b7c1d9e0a4b6c8d7e",
            "q8Zt1LmX0vRb7KpYc3Wd",
            "aa11bb22cc33",
        ] {
            assert!(!is_sample(secret.as_bytes()), "{secret}");
        }
    }

    #[test]
    fn generated_keys_have_no_runs() {
        for sample in [
            "dapi123456789abcdef123456789abcdef00",
            "sbp_7558c5a93d6f38dd038df5cc2a7c3d4d7babcdef",
            "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",
            "00000000111111112222222233333333",
            "GR1348941-12312312312312312312",
            "secret123",
            "the-notreal-key-8f2b7c1d",
            "sk_helloworld_1",
            "glsoat-PREfix_helloworld380_testin_pretty_long_token_long_",
        ] {
            assert!(is_sample_key(sample.as_bytes()), "{sample}");
        }
        for secret in [
            "7rBynGo0b1cAAAAAAAAAAc72L3T6rQK51mB5a06ijnwRG91deT",
            "8f2b7c1d9e0a4b6c8d7e",
            "q8Zt1LmXhelloworld0vRb7KpYc3Wd",
            "hunter1234567",
            "q8Zt1LmX0vRb7KpYc3Wd",
        ] {
            assert!(!is_sample_key(secret.as_bytes()), "{secret}");
        }
    }
}
