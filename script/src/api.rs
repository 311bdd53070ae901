//! The names of the script API, in one table. The JavaScript in `js/`, the typings and `pml check`
//! are tested against it (`tests/script_api.rs`).

/// What a name of the API is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiKind {
    /// A function that returns a promise.
    AsyncFunction,
    /// A class.
    Class,
    /// A function that returns an async iterable, for `for await`.
    AsyncGenerator,
    /// An object or a list.
    Value,
}

/// What a script can import from `pml`, and has as globals; in alphabetical order.
pub const SCRIPT_API: [(&str, ApiKind); 16] = [
    ("ToolError", ApiKind::Class),
    ("args", ApiKind::Value),
    ("callTool", ApiKind::AsyncFunction),
    ("callToolsBatch", ApiKind::AsyncFunction),
    ("checkpoint", ApiKind::AsyncFunction),
    ("describeTool", ApiKind::AsyncFunction),
    ("getPrompt", ApiKind::AsyncFunction),
    ("listPrompts", ApiKind::AsyncFunction),
    ("listResources", ApiKind::AsyncFunction),
    ("load", ApiKind::AsyncFunction),
    ("readResource", ApiKind::AsyncFunction),
    ("runWorkflow", ApiKind::AsyncFunction),
    ("searchTools", ApiKind::AsyncFunction),
    ("store", ApiKind::AsyncFunction),
    ("streamTool", ApiKind::AsyncGenerator),
    ("tools", ApiKind::Value),
];

/// The kind of a name, if it is one of the API.
pub fn kind_of(name: &str) -> Option<ApiKind> {
    SCRIPT_API
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, kind)| *kind)
}

/// The names of [`SCRIPT_API`].
pub const NAMES: [&str; SCRIPT_API.len()] = {
    let mut names = [""; SCRIPT_API.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = SCRIPT_API[index].0;
        index += 1;
    }
    names
};
