//! Reading the arguments of our own tools.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The arguments, or a sentence that says what is wrong with them.
pub fn read<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, String> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    serde_json::from_value(arguments)
        .map_err(|error| format!("the arguments do not fit the schema: {error}"))
}
