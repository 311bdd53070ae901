// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 14 tools. */
  readonly everything: PmlTools.Everything.Tools;
}

interface KnownTools {
  "everything:echo": { args: [args: PmlTools.Everything.EchoArgs]; result: any };
  "everything:get-annotated-message": { args: [args: PmlTools.Everything.GetAnnotatedMessageArgs]; result: any };
  "everything:get-env": { args: [args?: object | null]; result: any };
  "everything:get-resource-links": { args: [args?: PmlTools.Everything.GetResourceLinksArgs | null]; result: any };
  "everything:get-resource-reference": { args: [args?: PmlTools.Everything.GetResourceReferenceArgs | null]; result: any };
  "everything:get-structured-content": { args: [args: PmlTools.Everything.GetStructuredContentArgs]; result: PmlTools.Everything.GetStructuredContentResult };
  "everything:get-sum": { args: [args: PmlTools.Everything.GetSumArgs]; result: any };
  "everything:get-tiny-image": { args: [args?: object | null]; result: any };
  "everything:gzip-file-as-resource": { args: [args?: PmlTools.Everything.GzipFileAsResourceArgs | null]; result: any };
  "everything:toggle-simulated-logging": { args: [args?: object | null]; result: any };
  "everything:toggle-subscriber-updates": { args: [args?: object | null]; result: any };
  "everything:trigger-long-running-operation": { args: [args?: PmlTools.Everything.TriggerLongRunningOperationArgs | null]; result: any };
  "everything:get-roots-list": { args: [args?: object | null]; result: any };
  "everything:simulate-research-query": { args: [args: PmlTools.Everything.SimulateResearchQueryArgs]; result: any };
}

declare namespace PmlTools.Everything {
  interface Tools {
    /** Echoes back the input */
    echo<T = unknown>(args: EchoArgs): Promise<T>;
    /** Demonstrates how annotations can */
    "get-annotated-message"<T = unknown>(args: GetAnnotatedMessageArgs): Promise<T>;
    /** Returns all environment variables, */
    "get-env"<T = unknown>(args?: object | null): Promise<T>;
    /** Returns up to ten */
    "get-resource-links"<T = unknown>(args?: GetResourceLinksArgs | null): Promise<T>;
    /** Returns a resource reference */
    "get-resource-reference"<T = unknown>(args?: GetResourceReferenceArgs | null): Promise<T>;
    /** Returns structured content along */
    "get-structured-content"(args: GetStructuredContentArgs): Promise<GetStructuredContentResult>;
    /** Returns the sum of */
    "get-sum"<T = unknown>(args: GetSumArgs): Promise<T>;
    /** Returns a tiny MCP */
    "get-tiny-image"<T = unknown>(args?: object | null): Promise<T>;
    /** Compresses a single file */
    "gzip-file-as-resource"<T = unknown>(args?: GzipFileAsResourceArgs | null): Promise<T>;
    /** Toggles simulated, random-leveled logging */
    "toggle-simulated-logging"<T = unknown>(args?: object | null): Promise<T>;
    /** Toggles simulated resource subscription */
    "toggle-subscriber-updates"<T = unknown>(args?: object | null): Promise<T>;
    /** Demonstrates a long running */
    "trigger-long-running-operation"<T = unknown>(args?: TriggerLongRunningOperationArgs | null): Promise<T>;
    /** Lists the current MCP */
    "get-roots-list"<T = unknown>(args?: object | null): Promise<T>;
    /** Simulates a deep research */
    "simulate-research-query"<T = unknown>(args: SimulateResearchQueryArgs): Promise<T>;
  }

  /** Arguments of `everything:echo`. */
  interface EchoArgs {
    /** Message to echo */
    message: string;
  }

  /** Arguments of `everything:get-annotated-message`. */
  interface GetAnnotatedMessageArgs {
    /** Type of message to */
    messageType: "error" | "success" | "debug";
    /** Whether to include an @default false */
    includeImage?: boolean;
  }

  /** Arguments of `everything:get-resource-links`. */
  interface GetResourceLinksArgs {
    /**
     * Number of resource links
     * @minimum 1
     * @maximum 10
     * @default 3
     */
    count?: number;
  }

  /** Arguments of `everything:get-resource-reference`. */
  interface GetResourceReferenceArgs {
    /** @default "Text" */
    resourceType?: "Text" | "Blob";
    /** ID of the text @default 1 */
    resourceId?: number;
  }

  /** Arguments of `everything:get-structured-content`. */
  interface GetStructuredContentArgs {
    /** Choose city */
    location: "New York" | "Chicago" | "Los Angeles";
  }

  /** Result of `everything:get-structured-content`. */
  interface GetStructuredContentResult {
    /** Temperature in celsius */
    temperature: number;
    /** Weather conditions description */
    conditions: string;
    /** Humidity percentage */
    humidity: number;
  }

  /** Arguments of `everything:get-sum`. */
  interface GetSumArgs {
    /** First number */
    a: number;
    /** Second number */
    b: number;
  }

  /** Arguments of `everything:gzip-file-as-resource`. */
  interface GzipFileAsResourceArgs {
    /** Name of the output @default "README.md.gz" */
    name?: string;
    /**
     * URL or data URI
     * @format uri
     * @default "https://raw.githubusercontent.com/modelcontextprotocol/servers/refs/heads/main/README.md"
     */
    data?: string;
    /** How the resulting gzipped @default "resourceLink" */
    outputType?: "resourceLink" | "resource";
  }

  /** Arguments of `everything:trigger-long-running-operation`. */
  interface TriggerLongRunningOperationArgs {
    /** Duration of the operation @default 10 */
    duration?: number;
    /** Number of steps in @default 5 */
    steps?: number;
  }

  /** Arguments of `everything:simulate-research-query`. */
  interface SimulateResearchQueryArgs {
    /** The research topic to */
    topic: string;
    /** Simulate an ambiguous query @default false */
    ambiguous?: boolean;
  }
}
