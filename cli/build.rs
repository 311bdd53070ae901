//! How the binary is linked.

fn main() {
    // Every run starts a process, and V8 brings a hundred thousand addresses to adjust in it.
    // Packed, they take a fraction of the time. glibc 2.36, which the V8 archive needs anyway,
    // reads the format.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
