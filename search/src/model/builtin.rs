//! The built-in model, embedded in the binary.
//!
//! Its bytes are read-only pages of the program's file: the kernel reads them when the model is loaded,
//! and a run that does not search never touches them.

use super::files::ModelFiles;

const SUMS: &str = include_str!("../../../third_party/minilm/SHA256SUMS");
/// The ONNX model.
pub static MODEL: &[u8] = include_bytes!("../../../third_party/minilm/model_int8.onnx");
static TOKENIZER: &[u8] = include_bytes!("../../../third_party/minilm/tokenizer.json");
static CONFIG: &[u8] = include_bytes!("../../../third_party/minilm/config.json");
static SPECIAL_TOKENS: &[u8] =
    include_bytes!("../../../third_party/minilm/special_tokens_map.json");
static TOKENIZER_CONFIG: &[u8] =
    include_bytes!("../../../third_party/minilm/tokenizer_config.json");

/// The files of the built-in model, borrowed from the binary.
pub fn files() -> ModelFiles<'static> {
    ModelFiles {
        sums: SUMS.into(),
        model: ("model_int8.onnx", MODEL.into()),
        tokenizer: TOKENIZER.into(),
        config: CONFIG.into(),
        special_tokens: SPECIAL_TOKENS.into(),
        tokenizer_config: TOKENIZER_CONFIG.into(),
    }
}
