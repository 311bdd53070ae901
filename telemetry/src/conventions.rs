//! The names of the semantic conventions of OpenTelemetry for MCP and GenAI, and our own.

/// The method of MCP: `tools/call`.
pub const METHOD: &str = "mcp.method.name";
/// The session of MCP.
pub const SESSION: &str = "mcp.session.id";
/// The revision of MCP.
pub const REVISION: &str = "mcp.protocol.version";
/// The id of the JSON-RPC request.
pub const REQUEST_ID: &str = "jsonrpc.request.id";
/// What is done in the terms of GenAI: `execute_tool`.
pub const OPERATION: &str = "gen_ai.operation.name";
/// The tool, as the caller names it.
pub const TOOL: &str = "gen_ai.tool.name";
/// The prompt.
pub const PROMPT: &str = "gen_ai.prompt.name";
/// The arguments of a call; only scrubbed, and only on request.
pub const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// The result of a call; only scrubbed, and only on request.
pub const RESULT: &str = "gen_ai.tool.call.result";
/// `pipe` or `tcp`.
pub const TRANSPORT: &str = "network.transport";
/// Why an operation failed, as one word.
pub const ERROR: &str = "error.type";

/// The value of [`OPERATION`] for calls of tools.
pub const EXECUTE_TOOL: &str = "execute_tool";
/// The method that calls a tool.
pub const TOOLS_CALL: &str = "tools/call";
/// The value of [`ERROR`] where the tool ran and reported an error.
pub const TOOL_ERROR: &str = "tool_error";

/// The run.
pub const RUN: &str = "pml.run.id";
/// The server in the configuration.
pub const SERVER: &str = "pml.server";
/// Who asked.
pub const PRINCIPAL: &str = "pml.principal";
/// Calls of a run.
pub const CALLS: &str = "pml.run.calls";
/// CPU time of a run's worker, in seconds.
pub const CPU: &str = "pml.run.cpu";
/// How often a call was sent.
pub const ATTEMPTS: &str = "pml.call.attempts";
/// Whether the cache answered.
pub const CACHED: &str = "pml.call.cached";

/// `ahead` of a call that was made before the script made it, `taken` of one that got such a result.
pub const SPECULATED: &str = "pml.call.speculated";

/// The span of a run.
pub const RUN_SPAN: &str = "pml.run";
/// The span of a search.
pub const SEARCH_SPAN: &str = "pml.search";
/// The span of waiting for a worker.
pub const WAIT_WORKER: &str = "pml.wait worker";
/// The span of waiting for a slot: of the run, and of the limits of a server.
pub const WAIT_SLOT: &str = "pml.wait slot";
/// The span of waiting for a person.
pub const WAIT_PERSON: &str = "pml.wait person";
