//! The embedding model: choice, files, the ONNX Runtime library, and the thread that owns it.

mod builtin;
mod checksum;
mod choice;
mod embedder;
mod files;
mod hub_pin;
mod onnx_download;
mod onnx_library;
mod wheel;

#[cfg(target_os = "linux")]
pub use builtin::MODEL as BUILTIN_MODEL_BYTES;
pub use choice::{BUILTIN_MODEL, ListedModel, ModelChoice};
pub use embedder::Embedder;
pub use onnx_library::{LibraryOrigin, OnnxLibrary};
