//! The configuration file: `mcpServers` as in other MCP clients, plus `pml`.

mod document;
mod error;
mod expand;
mod expansions;
mod functions;
mod load;
mod offered;
mod open_api;
mod references;
mod server;
mod trust;

pub use error::ConfigError;
pub use expansions::Expansions;
pub use functions::{FunctionLimits, Functions};
pub use load::{Config, ConfigFile, ConfigOrigin};
pub use offered::Offered;
pub(crate) use open_api::basic;
pub use open_api::{ClientCredentials, Credential, DocumentAddress, OpenApi, OpenApiAccess};
pub use server::{
    Command, Endpoint, Protocol, Remote, ServerConfig, ServerTrust, ToolFilter, is_sse_address,
};
pub use trust::{TrustStore, TrustedFile};
