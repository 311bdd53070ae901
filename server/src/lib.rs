//! The MCP server that AI clients talk to.
