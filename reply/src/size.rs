//! How much text a reply is made from, which is what scrubbing it costs.

use pml_protocol::{Outcome, ToolResult};

/// The bytes of everything that the reply to a run is made from: result, error, logs and calls. Blocks
/// are part of the result.
pub fn outcome_bytes(outcome: &Outcome) -> usize {
    let result = outcome
        .result
        .as_ref()
        .map_or(0, |result| result.get().len());
    let error = outcome.error.as_ref().map_or(0, |error| {
        let texts = [&error.frame, &error.stack, &error.hint];
        let texts = texts.into_iter().flatten().map(String::len).sum::<usize>();
        error.message.len() + texts
    });
    let logs = outcome.logs.iter().map(|line| line.text.len() + 1);
    let calls = outcome.calls.iter().map(|call| call.tool.len());
    result + error + logs.chain(calls).sum::<usize>()
}

/// The bytes of the result of one call.
pub fn result_bytes(result: &ToolResult) -> usize {
    match result {
        Ok(value) => value.get().len(),
        Err(failure) => failure.message.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pml_protocol::{Level, LogLine, RunError};

    #[test]
    fn every_part_counts() {
        let mut outcome = Outcome::default();
        let empty = outcome_bytes(&outcome);
        outcome.logs.push(LogLine {
            level: Level::Log,
            text: "x".repeat(1_000),
        });
        let mut error = RunError::new(pml_protocol::ErrorKind::Runtime, "y".repeat(1_000));
        error.stack = Some("z".repeat(1_000));
        outcome.error = Some(error);
        assert!(outcome_bytes(&outcome) >= empty + 3_000);
    }
}
