//! Tool calls: policy, dispatch to a server, and conversion of the result to a plain value.

mod arguments;
mod before_send;
mod child;
mod dispatch;
mod error;
mod path;
mod progress;
mod scope;
mod spelling;
mod unwrap;
mod version;

pub use arguments::CallArguments;
pub use before_send::{BeforeSend, CallOptions};
pub use child::{ChildPipeline, ChildPipelines};
pub(crate) use dispatch::dispatch;
pub use dispatch::{FailedAttempt, ToolCall};
pub use error::{CallError, CallErrorKind};
pub use path::CallValue;
pub(crate) use path::unavailable_error;
pub use progress::{Progress, ProgressListener, ProgressSink};
pub use scope::{RunLabels, RunLimits, RunScope};
