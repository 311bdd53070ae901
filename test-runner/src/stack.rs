//! Where in the tests a stack of V8 leads.

use crate::results::Place;

const ADDRESS: &str = "file:///";

/// `…file:///dir/a.test.ts:3:7…` of the first frame.
pub fn first_place(stack: &str) -> Option<Place> {
    stack
        .lines()
        .filter(|line| line.starts_with("    at "))
        .find_map(|line| {
            let address = line.rsplit_once(ADDRESS)?.1.trim_end_matches(')');
            let (rest, column) = address.rsplit_once(':')?;
            let (file, line) = rest.rsplit_once(':')?;
            let file = file.split('?').next().unwrap_or(file);
            Some(Place {
                file: file.to_owned(),
                line: line.parse().ok()?,
                column: column.parse().ok()?,
            })
        })
}

/// The frames of a stack without the message, with paths instead of addresses.
pub fn frames(stack: &str) -> Option<String> {
    let frames: Vec<String> = stack
        .lines()
        .filter(|line| line.starts_with("    at "))
        .map(|line| line.replace(ADDRESS, "").replace("?script", ""))
        .collect();
    (!frames.is_empty()).then(|| frames.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_failure_is_its_first_frame_in_a_file() {
        let stack = "AssertionError: x\n    at new Promise (<anonymous>)\n    \
            at check (file:///deep/a.ts?script:12:7)\n    at file:///a.test.ts:3:1";
        let place = Place {
            file: "deep/a.ts".to_owned(),
            line: 12,
            column: 7,
        };
        assert_eq!(first_place(stack), Some(place));
        let shown = frames(stack).unwrap();
        assert!(shown.contains("at check (deep/a.ts:12:7)"), "{shown}");
        assert_eq!(first_place("Error: at home"), None);
    }
}
