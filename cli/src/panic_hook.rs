//! What is printed when a part of the broker panics: the place, and not the message, which may quote
//! a result, a credential or a script.

use std::panic::PanicHookInfo;

use crate::diagnostics;

/// Installs the hook for the whole process. With `RUST_BACKTRACE` the standard one stays: the user
/// debugs `pml`, and wants the message.
pub fn install() {
    let is_debugging = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    if !is_debugging {
        std::panic::set_hook(Box::new(report));
    }
}

fn report(info: &PanicHookInfo<'_>) {
    let place = info.location().map_or_else(String::new, |place| {
        format!(" at {}:{}", place.file(), place.line())
    });
    let message = format!(
        "pml failed{place}; this is a fault of pml (RUST_BACKTRACE=1 shows the message, which may quote private data)"
    );
    match tracing::dispatcher::has_been_set() {
        true => tracing::error!("{message}"),
        false => diagnostics::error(message),
    }
}
