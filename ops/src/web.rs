//! Deno's web extension, reduced to the ops that the files in use need: an op that does not exist
//! cannot be attacked, and every worker reads the whole snapshot again.

use std::sync::Arc;

use deno_core::{Extension, ExtensionFileSource, ascii_str};
use deno_web::{BlobStore, InMemoryBroadcastChannel};

/// The ops that the files named in `js/10_web.js` and `js/20_console.js`, and the files that those
/// load, use.
const OPS: &[&str] = &[
    "op_base64_atob",
    "op_base64_btoa",
    "op_base64_decode",
    "op_base64_encode_from_buffer",
    "op_console_css_to_ansi",
    "op_console_format_value",
    "op_console_get_string_width",
    "op_console_inspect",
    "op_console_inspect_args",
    "op_console_parse_css",
    "op_console_parse_css_color",
    "op_console_quote_string",
    "op_console_strip_vt",
    "op_defer",
    "op_encoding_decode",
    "op_encoding_decode_single",
    "op_encoding_decode_utf8",
    "op_encoding_decode_utf8_ascii_only",
    "op_encoding_encode_into",
    "op_encoding_encode_into_fallback",
    "op_encoding_new_decoder",
    "op_encoding_normalize_label",
    "op_url_get_serialization",
    "op_url_parse",
    "op_url_parse_search_params",
    "op_url_parse_with_base",
    "op_url_reparse",
    "op_url_stringify_search_params",
];

/// The classes implemented in Rust that are in use.
const OBJECTS: &[&str] = &["Console"];

/// Replaces a file that `URL` loads for one function, which marks classes as not serializable.
/// `js/10_web.js` marks the same classes itself.
const MESSAGE_PORT: ExtensionFileSource = ExtensionFileSource::new(
    "ext:deno_web/13_message_port.js",
    ascii_str!("(() => ({ markNotSerializable() {} }))()"),
);

/// The reduced extension.
pub fn web() -> Extension {
    let mut web = deno_web::deno_web::init(
        Arc::new(BlobStore::default()),
        None,
        false,
        InMemoryBroadcastChannel::default(),
    );
    web.ops.to_mut().retain(|op| OPS.contains(&op.name));
    let objects = web.objects.to_mut();
    objects.retain(|object| OBJECTS.contains(&object.name.0));
    for file in web.lazy_loaded_js_files.to_mut() {
        if file.specifier == MESSAGE_PORT.specifier {
            *file = MESSAGE_PORT;
        }
    }
    web
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_op_and_object_exists_in_deno() {
        let web = web();
        let ops: Vec<_> = web.ops.iter().map(|op| op.name).collect();
        let objects: Vec<_> = web.objects.iter().map(|object| object.name.0).collect();
        let replaced = |file: &&ExtensionFileSource| file.specifier == MESSAGE_PORT.specifier;
        for name in OPS {
            assert!(ops.contains(name), "{name}");
        }
        assert_eq!(objects, OBJECTS);
        assert_eq!(web.lazy_loaded_js_files.iter().filter(replaced).count(), 1);
    }
}
