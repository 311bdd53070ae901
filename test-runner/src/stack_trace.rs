//! V8 stack traces of test files.

use crate::results::Location;

const URL_PREFIX: &str = "file:///";

/// The location of the first frame in a file: `…file:///dir/a.test.ts:3:7…`.
pub fn first_location(stack: &str) -> Option<Location> {
    stack
        .lines()
        .filter(|line| line.starts_with("    at "))
        .find_map(|line| {
            let url = line.rsplit_once(URL_PREFIX)?.1.trim_end_matches(')');
            let (rest, column) = url.rsplit_once(':')?;
            let (file, line) = rest.rsplit_once(':')?;
            let file = file.split('?').next().unwrap_or(file);
            Some(Location {
                file: file.to_owned(),
                line: line.parse().ok()?,
                column: column.parse().ok()?,
            })
        })
}

/// The frames of a stack trace without the message, with paths instead of URLs.
pub fn frames(stack: &str) -> Option<String> {
    let frames: Vec<String> = stack
        .lines()
        .filter(|line| line.starts_with("    at "))
        .map(|line| line.replace(URL_PREFIX, "").replace("?script", ""))
        .collect();
    (!frames.is_empty()).then(|| frames.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_location_of_a_failure_is_its_first_frame_in_a_file() {
        let stack = "AssertionError: x\n    at new Promise (<anonymous>)\n    \
            at check (file:///deep/a.ts?script:12:7)\n    at file:///a.test.ts:3:1";
        let location = Location {
            file: "deep/a.ts".to_owned(),
            line: 12,
            column: 7,
        };
        assert_eq!(first_location(stack), Some(location));
        let shown = frames(stack).unwrap();
        assert!(shown.contains("at check (deep/a.ts:12:7)"), "{shown}");
        assert_eq!(first_location("Error: at home"), None);
    }
}
