//! Reads bytes as the broker reads those of a worker that an attacker controls: nothing may panic, and
//! every request that passes its checks is within its bounds.
//!
//! The first byte decides how the rest arrives: with the frame headers that it contains, or as the
//! body of one frame, and in pieces of which size.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pml_protocol::framing::{FrameReader, MAX_FRAME, encode};
use pml_protocol::message::FromWorker;
use pml_protocol::{Request, ResourceRequest, StreamRequest, Target};

fuzz_target!(|input: &[u8]| {
    let Some((mode, rest)) = input.split_first() else {
        return;
    };
    let mut wire = Vec::new();
    if mode & 1 == 1 {
        // One frame around everything, so that the fuzzer need not find the length.
        wire.extend((rest.len() as u32).to_le_bytes());
    }
    wire.extend(rest);
    let piece = 1 + usize::from(mode >> 1);
    let mut frames = FrameReader::default();
    for bytes in wire.chunks(piece * 16) {
        frames.push(bytes);
        loop {
            match frames.pop::<FromWorker>() {
                Ok(Some(message)) => receive(message),
                Ok(None) => break,
                // The broker ends the run.
                Err(_) => return,
            }
        }
    }
});

/// What the broker does with a message before a host sees it.
fn receive(message: FromWorker) {
    let written = encode(&message);
    if let Ok(frame) = &written {
        assert!(frame.len() <= MAX_FRAME + 4);
        let mut again = FrameReader::default();
        again.push(frame);
        assert!(matches!(again.pop::<FromWorker>(), Ok(Some(_))));
    }
    if let FromWorker::Ask { mut request, .. } = message {
        let before = request.size();
        if request.sanitize().is_err() {
            return;
        }
        assert!(request.size() <= before, "a check makes nothing larger");
        check_bounds(&request);
        let clean = request.size();
        assert!(request.sanitize().is_ok(), "what is clean stays clean");
        assert_eq!(request.size(), clean);
    }
}

fn check_bounds(request: &Request) {
    let is_id = |name: &str| assert!(name.len() <= Request::MAX_ID_BYTES);
    match request {
        Request::Search { query, limit, .. } => {
            assert!(query.len() <= 2_000 && (1..=50).contains(limit));
        }
        Request::Call { tool, args, .. } => {
            is_id(tool);
            assert!(!tool.is_empty() && args.get().trim_start().starts_with('{'));
        }
        Request::Describe { tool } => is_id(tool),
        Request::Store { key, .. } | Request::Checkpoint { key, .. } | Request::Load { key } => {
            is_id(key);
        }
        Request::Resource { server, request } => {
            is_id(server);
            if let ResourceRequest::ReadResource { uri } = request {
                assert!(uri.len() <= 64 * 1024);
            }
        }
        Request::Workflow { input, .. } => assert!(input.get().trim_start().starts_with('{')),
        Request::Stream(StreamRequest::Open { tool, .. }) => is_id(tool),
        Request::ApproveTask { task, .. } => is_id(task),
        Request::Stream(_) | Request::Harness { .. } => {}
    }
    match request.target() {
        Target::Tool { tool, .. } => is_id(tool),
        Target::Resources { server, .. } => is_id(server),
        Target::Local => {}
    }
}
