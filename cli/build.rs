//! How the binary is linked.

fn main() {
    // Every run starts a process. At a place of its own choice it would have half a million
    // addresses to adjust first, in pages that are then its own; at a fixed one it has none. What
    // a script could make use of lies elsewhere: V8 places its heap and its code at random.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
