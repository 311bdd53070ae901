//! The model inside the binary.
//!
//! These are read-only pages of the program's file: the kernel reads them when the model is
//! loaded, and a run that does not search never touches them.

use super::files::ModelFiles;

const SUMS: &str = include_str!("../../../third_party/minilm/SHA256SUMS");
static MODEL: &[u8] = include_bytes!("../../../third_party/minilm/model_int8.onnx");
static TOKENIZER: &[u8] = include_bytes!("../../../third_party/minilm/tokenizer.json");
static CONFIG: &[u8] = include_bytes!("../../../third_party/minilm/config.json");
static SPECIAL_TOKENS: &[u8] =
    include_bytes!("../../../third_party/minilm/special_tokens_map.json");
static TOKENIZER_CONFIG: &[u8] =
    include_bytes!("../../../third_party/minilm/tokenizer_config.json");

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

/// Lets the kernel have the pages of the model back. The library has made its own copy of them.
pub fn give_back() {
    #[cfg(target_os = "linux")]
    {
        // The largest pages that a kernel here is built with.
        const PAGE: usize = 64 * 1024;
        let range = MODEL.as_ptr_range();
        let start = range.start.addr().next_multiple_of(PAGE);
        let length = range.end.addr().saturating_sub(start) / PAGE * PAGE;
        // SAFETY: these pages are the file's, and nobody can have written to them: whoever reads
        // them again has them read from the file again.
        unsafe { libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED) };
    }
}
