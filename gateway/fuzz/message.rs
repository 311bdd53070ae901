//! Fuzzes the parsers of what a server writes, with any bytes: nothing panics, and a stream means the
//! same in whatever pieces it arrives.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pml_gateway::fuzzing;

fuzz_target!(|data: &[u8]| {
    fuzzing::read_line(data);
    let whole = fuzzing::read_events(data, data.len().max(1));
    assert_eq!(whole, fuzzing::read_events(data, 1), "in pieces of 1 byte");
    assert_eq!(whole, fuzzing::read_events(data, 7), "in pieces of 7 bytes");
    if let Some(repaired) = fuzzing::repair(data) {
        assert_eq!(fuzzing::repair(&repaired), None, "repaired twice");
    }
    let estimate = pml_gateway::json_size::parsed_bytes(data);
    assert!(estimate >= data.len());
});
