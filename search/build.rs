//! Checks the files of the built-in model before they become part of the binary.

#[path = "../third_party/check_sums.rs"]
mod check_sums;

fn main() {
    // The files that `src/model/builtin.rs` embeds.
    let embedded = [
        "model_int8.onnx",
        "tokenizer.json",
        "config.json",
        "special_tokens_map.json",
        "tokenizer_config.json",
    ];
    for name in embedded {
        check_sums::check_listed("../third_party/minilm", name);
    }
}
