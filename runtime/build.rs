//! Checks the archive of V8, and builds the snapshot that every worker starts from.

#[cfg(feature = "worker")]
#[path = "../third_party/check_sums.rs"]
#[allow(dead_code, reason = "the build script of search uses the rest")]
mod check_sums;

fn main() {
    #[cfg(feature = "worker")]
    {
        check_archive();
        snapshot::build();
    }
}

/// Ends the build if the archive that is linked is not the one of the repository. Another archive,
/// which the user named, is linked with a warning; without one the crate `v8` downloads its own.
#[cfg(feature = "worker")]
fn check_archive() {
    use std::path::Path;

    println!("cargo:rerun-if-env-changed=RUSTY_V8_ARCHIVE");
    let named = std::env::var_os("RUSTY_V8_ARCHIVE").unwrap_or_default();
    let archive = Path::new(&named);
    let sums = Path::new("../third_party/v8/SHA256SUMS");
    let name = archive.file_name().and_then(|name| name.to_str());
    let listed = std::fs::read_to_string(sums).unwrap_or_default();
    match name {
        Some(name) if listed.contains(name) => check_sums::check(sums, name, archive),
        Some(_) => println!(
            "cargo:warning=V8 is linked from {}, which is not checked: it is not the archive of third_party/v8",
            archive.display()
        ),
        None => {}
    }
}

#[cfg(feature = "worker")]
mod snapshot {
    use std::path::PathBuf;
    use std::rc::Rc;

    use deno_core::JsRuntimeForSnapshot;
    use deno_core::snapshot::{CreateSnapshotOptions, create_snapshot};
    use pml_ops::{AnswerFuture, BrokerClient, BrokerGone};
    use pml_protocol::{Level, Request};

    /// Calls what every run calls: V8 compiles a function when it is first called, and the snapshot
    /// keeps the bytecode. The log line is over the limit of 0 bytes and is dropped, because Deno's
    /// console cannot write while the snapshot is built.
    const REHEARSAL: &str = r#"
__pml.begin([], 0);
__pml.run(async () => {
  console.log("text");
  return { list: [1, "text", null], nested: { yes: true } };
});
__pml.leftover();
"#;

    pub fn build() {
        println!("cargo:rerun-if-changed=../js");
        let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
        let output = create_snapshot(
            CreateSnapshotOptions {
                cargo_manifest_dir: env!("CARGO_MANIFEST_DIR"),
                startup_snapshot: None,
                skip_op_registration: false,
                extensions: pml_ops::extensions(),
                with_runtime_cb: Some(Box::new(rehearse)),
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

    fn rehearse(runtime: &mut JsRuntimeForSnapshot) {
        let state = runtime.op_state();
        state
            .borrow_mut()
            .put::<Rc<dyn BrokerClient>>(Rc::new(NoBroker));
        runtime
            .execute_script("rehearsal", REHEARSAL)
            .expect("the rehearsal is a script");
        runtime.v8_isolate().perform_microtask_checkpoint();
    }

    /// Stands in for the broker, which does not exist while the snapshot is built.
    struct NoBroker;

    impl BrokerClient for NoBroker {
        fn ask(&self, _: Request) -> AnswerFuture {
            Box::pin(async { Err(BrokerGone) })
        }

        fn log(&self, _: Level, _: String) -> bool {
            true
        }
    }
}
