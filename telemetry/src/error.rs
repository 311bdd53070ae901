//! What can be wrong with settings.

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// A variable or key has a value that it cannot have.
    #[error("invalid {name} `{value}`: {expected}")]
    Invalid {
        /// The variable of the environment, or the key of the configuration.
        name: String,
        /// What it has.
        value: String,
        /// What it may have, with an example.
        expected: &'static str,
    },
    /// There is no HTTP client.
    #[error("no telemetry can be sent: {0}")]
    Client(#[from] reqwest::Error),
}

impl TelemetryError {
    /// An invalid value.
    pub(crate) fn invalid(name: &str, value: &str, expected: &'static str) -> Self {
        Self::Invalid {
            name: name.to_owned(),
            value: value.to_owned(),
            expected,
        }
    }
}
