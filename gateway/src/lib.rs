//! One pool of MCP clients behind `callTool`: configuration, transports, registry and policy.

pub mod policy;
