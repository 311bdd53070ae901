//! Link options of the binary.

fn main() {
    // Every run starts a process. A position-independent executable has half a million relocations
    // to apply first, in pages that it then no longer shares; one at a fixed address has none. The
    // targets of an exploit stay randomised: V8 places its heap and its code at random addresses.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
