//! The part that both grammars share: a decimal number, then a unit.

/// Splits `1.5 s` into the number and the unit. The unit may be empty. `None` without a number.
pub fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, text[end..].trim_start()))
}
