//! Makes the V8 snapshot that every worker starts from.

use std::path::PathBuf;
use std::sync::Arc;

use deno_core::snapshot::{CreateSnapshotOptions, create_snapshot};

fn main() {
    println!("cargo:rerun-if-changed=../js");
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let output = create_snapshot(
        CreateSnapshotOptions {
            cargo_manifest_dir: env!("CARGO_MANIFEST_DIR"),
            startup_snapshot: None,
            skip_op_registration: false,
            // The same extensions in the same order as in src/worker/isolate.rs: a snapshot
            // refers to ops by number.
            extensions: vec![
                deno_webidl::deno_webidl::init(),
                deno_web::deno_web::init(
                    Arc::new(deno_web::BlobStore::default()),
                    None,
                    false,
                    deno_web::InMemoryBroadcastChannel::default(),
                ),
                pml_ops::pml::init(),
            ],
            with_runtime_cb: None,
            extension_transpiler: None,
        },
        None,
    )
    .expect("the JavaScript in js/ loads");
    for file in &output.files_loaded_during_snapshot {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    std::fs::write(PathBuf::from(out).join("worker.snapshot"), output.output)
        .expect("OUT_DIR is writable");
}
