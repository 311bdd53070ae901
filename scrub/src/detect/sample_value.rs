//! Values that stand in the place of a secret: placeholders, variables and the samples of
//! documentation.

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
    use super::is_sample;

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
}
