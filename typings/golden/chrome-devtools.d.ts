// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 32 tools. */
  readonly "chrome-devtools": PmlTools.ChromeDevtools.Tools;
}

interface KnownTools {
  "chrome-devtools:click": { args: [args: PmlTools.ChromeDevtools.ClickArgs]; result: any };
  "chrome-devtools:close_page": { args: [args: PmlTools.ChromeDevtools.ClosePageArgs]; result: any };
  "chrome-devtools:drag": { args: [args: PmlTools.ChromeDevtools.DragArgs]; result: any };
  "chrome-devtools:emulate": { args: [args: PmlTools.ChromeDevtools.EmulateArgs]; result: any };
  "chrome-devtools:evaluate_script": { args: [args: PmlTools.ChromeDevtools.EvaluateScriptArgs]; result: any };
  "chrome-devtools:fill": { args: [args: PmlTools.ChromeDevtools.FillArgs]; result: any };
  "chrome-devtools:fill_form": { args: [args: PmlTools.ChromeDevtools.FillFormArgs]; result: any };
  "chrome-devtools:get_console_message": { args: [args: PmlTools.ChromeDevtools.GetConsoleMessageArgs]; result: any };
  "chrome-devtools:get_css_styles": { args: [args: PmlTools.ChromeDevtools.GetCssStylesArgs]; result: any };
  "chrome-devtools:get_network_request": { args: [args: PmlTools.ChromeDevtools.GetNetworkRequestArgs]; result: any };
  "chrome-devtools:handle_dialog": { args: [args: PmlTools.ChromeDevtools.HandleDialogArgs]; result: any };
  "chrome-devtools:hover": { args: [args: PmlTools.ChromeDevtools.HoverArgs]; result: any };
  "chrome-devtools:lighthouse_audit": { args: [args: PmlTools.ChromeDevtools.LighthouseAuditArgs]; result: any };
  "chrome-devtools:list_console_messages": { args: [args: PmlTools.ChromeDevtools.ListConsoleMessagesArgs]; result: any };
  "chrome-devtools:list_network_requests": { args: [args: PmlTools.ChromeDevtools.ListNetworkRequestsArgs]; result: any };
  "chrome-devtools:list_pages": { args: [args?: Record<string, never> | null]; result: any };
  "chrome-devtools:navigate_page": { args: [args: PmlTools.ChromeDevtools.NavigatePageArgs]; result: any };
  "chrome-devtools:new_page": { args: [args: PmlTools.ChromeDevtools.NewPageArgs]; result: any };
  "chrome-devtools:performance_analyze_insight": { args: [args: PmlTools.ChromeDevtools.PerformanceAnalyzeInsightArgs]; result: any };
  "chrome-devtools:performance_start_trace": { args: [args: PmlTools.ChromeDevtools.PerformanceStartTraceArgs]; result: any };
  "chrome-devtools:performance_stop_trace": { args: [args: PmlTools.ChromeDevtools.PerformanceStopTraceArgs]; result: any };
  "chrome-devtools:press_key": { args: [args: PmlTools.ChromeDevtools.PressKeyArgs]; result: any };
  "chrome-devtools:resize_page": { args: [args: PmlTools.ChromeDevtools.ResizePageArgs]; result: any };
  "chrome-devtools:screencast_start": { args: [args: PmlTools.ChromeDevtools.ScreencastStartArgs]; result: any };
  "chrome-devtools:screencast_stop": { args: [args: PmlTools.ChromeDevtools.ScreencastStopArgs]; result: any };
  "chrome-devtools:select_page": { args: [args: PmlTools.ChromeDevtools.SelectPageArgs]; result: any };
  "chrome-devtools:take_heapsnapshot": { args: [args: PmlTools.ChromeDevtools.TakeHeapsnapshotArgs]; result: any };
  "chrome-devtools:take_screenshot": { args: [args: PmlTools.ChromeDevtools.TakeScreenshotArgs]; result: any };
  "chrome-devtools:take_snapshot": { args: [args: PmlTools.ChromeDevtools.TakeSnapshotArgs]; result: any };
  "chrome-devtools:type_text": { args: [args: PmlTools.ChromeDevtools.TypeTextArgs]; result: any };
  "chrome-devtools:upload_file": { args: [args: PmlTools.ChromeDevtools.UploadFileArgs]; result: any };
  "chrome-devtools:wait_for": { args: [args: PmlTools.ChromeDevtools.WaitForArgs]; result: any };
}

declare namespace PmlTools.ChromeDevtools {
  interface Tools {
    /** Clicks on the provided */
    click<T = unknown>(args: ClickArgs): Promise<T>;
    /** Closes the page by */
    close_page<T = unknown>(args: ClosePageArgs): Promise<T>;
    /** Drag an element onto */
    drag<T = unknown>(args: DragArgs): Promise<T>;
    /** Emulates various features on */
    emulate<T = unknown>(args: EmulateArgs): Promise<T>;
    /** Evaluate JavaScript inside the */
    evaluate_script<T = unknown>(args: EvaluateScriptArgs): Promise<T>;
    /** Type text into an */
    fill<T = unknown>(args: FillArgs): Promise<T>;
    /** Fill out multiple form */
    fill_form<T = unknown>(args: FillFormArgs): Promise<T>;
    /** Gets a console message */
    get_console_message<T = unknown>(args: GetConsoleMessageArgs): Promise<T>;
    /** Retrieve matched CSS rules, */
    get_css_styles<T = unknown>(args: GetCssStylesArgs): Promise<T>;
    /** Gets a network request */
    get_network_request<T = unknown>(args: GetNetworkRequestArgs): Promise<T>;
    /** If a browser dialog */
    handle_dialog<T = unknown>(args: HandleDialogArgs): Promise<T>;
    /** Hover over the provided */
    hover<T = unknown>(args: HoverArgs): Promise<T>;
    /** Get Lighthouse scores, failing */
    lighthouse_audit<T = unknown>(args: LighthouseAuditArgs): Promise<T>;
    /** List all console messages */
    list_console_messages<T = unknown>(args: ListConsoleMessagesArgs): Promise<T>;
    /** Lists the most recent */
    list_network_requests<T = unknown>(args: ListNetworkRequestsArgs): Promise<T>;
    /** Get a list of */
    list_pages<T = unknown>(args?: Record<string, never> | null): Promise<T>;
    /** Go to a URL, */
    navigate_page<T = unknown>(args: NavigatePageArgs): Promise<T>;
    /** Open a new tab */
    new_page<T = unknown>(args: NewPageArgs): Promise<T>;
    /** Provides more detailed information */
    performance_analyze_insight<T = unknown>(args: PerformanceAnalyzeInsightArgs): Promise<T>;
    /** Start a performance trace */
    performance_start_trace<T = unknown>(args: PerformanceStartTraceArgs): Promise<T>;
    /** Stop the active performance */
    performance_stop_trace<T = unknown>(args: PerformanceStopTraceArgs): Promise<T>;
    /** Press a key or */
    press_key<T = unknown>(args: PressKeyArgs): Promise<T>;
    /** Resizes the page's window */
    resize_page<T = unknown>(args: ResizePageArgs): Promise<T>;
    /** Starts recording a screencast */
    screencast_start<T = unknown>(args: ScreencastStartArgs): Promise<T>;
    /** Stops the active screencast */
    screencast_stop<T = unknown>(args: ScreencastStopArgs): Promise<T>;
    /** Select a page as */
    select_page<T = unknown>(args: SelectPageArgs): Promise<T>;
    /** Capture a heap snapshot */
    take_heapsnapshot<T = unknown>(args: TakeHeapsnapshotArgs): Promise<T>;
    /** Take a screenshot of */
    take_screenshot<T = unknown>(args: TakeScreenshotArgs): Promise<T>;
    /** Take a text snapshot */
    take_snapshot<T = unknown>(args: TakeSnapshotArgs): Promise<T>;
    /** Type text using keyboard */
    type_text<T = unknown>(args: TypeTextArgs): Promise<T>;
    /** Upload a file through */
    upload_file<T = unknown>(args: UploadFileArgs): Promise<T>;
    /** Wait for the specified */
    wait_for<T = unknown>(args: WaitForArgs): Promise<T>;
  }

  /** Arguments of `chrome-devtools:click`. */
  interface ClickArgs {
    /** Targets a specific page */
    pageId: number;
    /** The uid of an */
    uid: string;
    /** Set to true for */
    dblClick?: boolean;
    /** Whether to include a */
    includeSnapshot?: boolean;
  }

  /** Arguments of `chrome-devtools:close_page`. */
  interface ClosePageArgs {
    /** The ID of the */
    pageId: number;
  }

  /** Arguments of `chrome-devtools:drag`. */
  interface DragArgs {
    /** Targets a specific page */
    pageId: number;
    /** The uid of the */
    from_uid: string;
    /** The uid of the */
    to_uid: string;
    /** Whether to include a */
    includeSnapshot?: boolean;
  }

  /** Arguments of `chrome-devtools:emulate`. */
  interface EmulateArgs {
    /** Targets a specific page */
    pageId: number;
    /** Throttle network. Omit to */
    networkConditions?: "Offline" | "Slow 3G" | "Fast 3G" | "Slow 4G" | "Fast 4G";
    /**
     * Represents the CPU slowdown
     * @minimum 1
     * @maximum 20
     */
    cpuThrottlingRate?: number;
    /** Geolocation (`<latitude>,<longitude>`) to emulate. */
    geolocation?: string;
    /** User agent to emulate. */
    userAgent?: string;
    /** Emulate the dark or */
    colorScheme?: "dark" | "light" | "auto";
    /** Emulate the `forced-colors` CSS */
    forcedColors?: "active" | "none" | "auto";
    /** Emulate the `prefers-contrast` CSS */
    prefersContrast?: "more" | "less" | "custom" | "no-preference" | "auto";
    /** Emulate the `prefers-reduced-motion` CSS */
    prefersReducedMotion?: "reduce" | "no-preference" | "auto";
    /** Emulate device viewports '<width>x<height>x<devicePixelRatio>[,mobile][,touch][,landscape]'. */
    viewport?: string;
    /** Extra HTTP headers as */
    extraHttpHeaders?: string;
  }

  /** Arguments of `chrome-devtools:evaluate_script`. */
  interface EvaluateScriptArgs {
    /** Targets a specific page */
    pageId: number;
    /** JavaScript source to execute */
    function?: string;
    /** The absolute or relative */
    sourcePath?: string;
    /** How to interpret the */
    format?: "function" | "script";
    /** An optional list of */
    args?: string[];
    /** The absolute or relative */
    filePath?: string;
    /** Handle dialogs while execution. */
    dialogAction?: string;
    /** Whether to wait for */
    waitForStableDom?: boolean;
  }

  /** Arguments of `chrome-devtools:fill`. */
  interface FillArgs {
    /** Targets a specific page */
    pageId: number;
    /** The uid of an */
    uid: string;
    /** The value to fill */
    value: string;
    /** Whether to include a */
    includeSnapshot?: boolean;
  }

  /** Arguments of `chrome-devtools:fill_form`. */
  interface FillFormArgs {
    /** Targets a specific page */
    pageId: number;
    /** Elements from snapshot to */
    elements: {
      /** The uid of the */
      uid: string;
      /** Value for the element. */
      value: string;
    }[];
    /** Whether to include a */
    includeSnapshot?: boolean;
  }

  /** Arguments of `chrome-devtools:get_console_message`. */
  interface GetConsoleMessageArgs {
    /** Targets a specific page */
    pageId: number;
    /** The msgid of a */
    msgid: number;
  }

  /** Arguments of `chrome-devtools:get_css_styles`. */
  interface GetCssStylesArgs {
    /** Targets a specific page */
    pageId: number;
    /** The uid of the */
    uid: string;
    /**
     * Maximum number of CSS
     * @integer
     * @maximum 9007199254740991
     * @exclusiveMinimum 0
     * @default 10
     */
    pageSize?: number;
    /**
     * Page number to return
     * @integer
     * @minimum 0
     * @maximum 9007199254740991
     * @default 0
     */
    pageIdx?: number;
  }

  /** Arguments of `chrome-devtools:get_network_request`. */
  interface GetNetworkRequestArgs {
    /** Targets a specific page */
    pageId: number;
    /** The reqid of the */
    reqid?: number;
    /** The absolute or relative */
    requestFilePath?: string;
    /** The absolute or relative */
    responseFilePath?: string;
  }

  /** Arguments of `chrome-devtools:handle_dialog`. */
  interface HandleDialogArgs {
    /** Targets a specific page */
    pageId: number;
    /** Whether to dismiss or */
    action: "accept" | "dismiss";
    /** Optional prompt text to */
    promptText?: string;
  }

  /** Arguments of `chrome-devtools:hover`. */
  interface HoverArgs {
    /** Targets a specific page */
    pageId: number;
    /** The uid of an */
    uid: string;
    /** Whether to include a */
    includeSnapshot?: boolean;
  }

  /** Arguments of `chrome-devtools:lighthouse_audit`. */
  interface LighthouseAuditArgs {
    /** Targets a specific page */
    pageId: number;
    /** "navigation" reloads & audits. @default "navigation" */
    mode?: "navigation" | "snapshot";
    /** Device to emulate. @default "desktop" */
    device?: "desktop" | "mobile";
    /** Directory for reports. If */
    outputDirPath?: string;
  }

  /** Arguments of `chrome-devtools:list_console_messages`. */
  interface ListConsoleMessagesArgs {
    /** Targets a specific page */
    pageId: number;
    /**
     * Maximum number of messages
     * @integer
     * @maximum 9007199254740991
     * @exclusiveMinimum 0
     */
    pageSize?: number;
    /**
     * Page number to return
     * @integer
     * @minimum 0
     * @maximum 9007199254740991
     */
    pageIdx?: number;
    /** Filter messages to only */
    types?: (
      | "log"
      | "debug"
      | "info"
      | "error"
      | "warn"
      | "dir"
      | "dirxml"
      | "table"
      | "trace"
      | "clear"
      | "startGroup"
      | "startGroupCollapsed"
      | "endGroup"
      | "assert"
      | "profile"
      | "profileEnd"
      | "count"
      | "timeEnd"
      | "verbose"
      | "issue")[];
    /** Set to true to @default false */
    includePreservedMessages?: boolean;
    /** Set to true to @default false */
    includeStackTraces?: boolean;
    /** Filter messages to only */
    serviceWorkerId?: string;
  }

  /** Arguments of `chrome-devtools:list_network_requests`. */
  interface ListNetworkRequestsArgs {
    /** Targets a specific page */
    pageId: number;
    /**
     * Maximum number of requests
     * @integer
     * @maximum 9007199254740991
     * @exclusiveMinimum 0
     */
    pageSize?: number;
    /**
     * Page number to return
     * @integer
     * @minimum 0
     * @maximum 9007199254740991
     */
    pageIdx?: number;
    /** Filter requests to only */
    resourceTypes?: (
      | "document"
      | "stylesheet"
      | "image"
      | "media"
      | "font"
      | "script"
      | "texttrack"
      | "xhr"
      | "fetch"
      | "prefetch"
      | "eventsource"
      | "websocket"
      | "manifest"
      | "signedexchange"
      | "ping"
      | "cspviolationreport"
      | "preflight"
      | "fedcm"
      | "other")[];
    /** Set to true to @default false */
    includePreservedRequests?: boolean;
  }

  /** Arguments of `chrome-devtools:navigate_page`. */
  interface NavigatePageArgs {
    /** Targets a specific page */
    pageId: number;
    /** Navigate the page by */
    type?: "url" | "back" | "forward" | "reload";
    /** Target URL (only type=url) */
    url?: string;
    /** Whether to ignore cache */
    ignoreCache?: boolean;
    /** Whether to auto accept */
    handleBeforeUnload?: "accept" | "dismiss";
    /** A JavaScript script to */
    initScript?: string;
    /**
     * Maximum wait time in
     * @integer
     * @minimum -9007199254740991
     * @maximum 9007199254740991
     */
    timeout?: number;
  }

  /** Arguments of `chrome-devtools:new_page`. */
  interface NewPageArgs {
    /** URL to load in */
    url: string;
    /** Whether to open the */
    background?: boolean;
    /** If specified, the page */
    isolatedContext?: string;
    /**
     * Maximum wait time in
     * @integer
     * @minimum -9007199254740991
     * @maximum 9007199254740991
     */
    timeout?: number;
  }

  /** Arguments of `chrome-devtools:performance_analyze_insight`. */
  interface PerformanceAnalyzeInsightArgs {
    /** Targets a specific page */
    pageId: number;
    /** The id for the */
    insightSetId: string;
    /** The name of the */
    insightName: string;
  }

  /** Arguments of `chrome-devtools:performance_start_trace`. */
  interface PerformanceStartTraceArgs {
    /** Targets a specific page */
    pageId: number;
    /** Determines if, once tracing @default true */
    reload?: boolean;
    /** Determines if the trace @default true */
    autoStop?: boolean;
    /** Whether to bypass the */
    ignoreCache?: boolean;
    /** The absolute file path, */
    filePath?: string;
  }

  /** Arguments of `chrome-devtools:performance_stop_trace`. */
  interface PerformanceStopTraceArgs {
    /** Targets a specific page */
    pageId: number;
    /** The absolute file path, */
    filePath?: string;
  }

  /** Arguments of `chrome-devtools:press_key`. */
  interface PressKeyArgs {
    /** Targets a specific page */
    pageId: number;
    /** A key or a */
    key: string;
    /** Whether to include a */
    includeSnapshot?: boolean;
  }

  /** Arguments of `chrome-devtools:resize_page`. */
  interface ResizePageArgs {
    /** Targets a specific page */
    pageId: number;
    /**
     * Page width
     * @integer
     * @maximum 9007199254740991
     * @exclusiveMinimum 0
     */
    width: number;
    /**
     * Page height
     * @integer
     * @maximum 9007199254740991
     * @exclusiveMinimum 0
     */
    height: number;
  }

  /** Arguments of `chrome-devtools:screencast_start`. */
  interface ScreencastStartArgs {
    /** Targets a specific page */
    pageId: number;
    /** Output file path (.mp4). */
    filePath?: string;
  }

  /** Arguments of `chrome-devtools:screencast_stop`. */
  interface ScreencastStopArgs {
    /** Targets a specific page */
    pageId: number;
  }

  /** Arguments of `chrome-devtools:select_page`. */
  interface SelectPageArgs {
    /** The ID of the */
    pageId: number;
    /** Whether to focus the */
    bringToFront?: boolean;
  }

  /** Arguments of `chrome-devtools:take_heapsnapshot`. */
  interface TakeHeapsnapshotArgs {
    /** Targets a specific page */
    pageId: number;
    /** A path to a */
    filePath: string;
  }

  /** Arguments of `chrome-devtools:take_screenshot`. */
  interface TakeScreenshotArgs {
    /** Targets a specific page */
    pageId: number;
    /** Type of format to @default "png" */
    format?: "png" | "jpeg" | "webp";
    /**
     * Compression quality for JPEG
     * @minimum 0
     * @maximum 100
     */
    quality?: number;
    /** The uid of an */
    uid?: string;
    /** If set to true */
    fullPage?: boolean;
    /** The absolute path, or */
    filePath?: string;
  }

  /** Arguments of `chrome-devtools:take_snapshot`. */
  interface TakeSnapshotArgs {
    /** Targets a specific page */
    pageId: number;
    /** Whether to include all */
    verbose?: boolean;
    /** The absolute path, or */
    filePath?: string;
  }

  /** Arguments of `chrome-devtools:type_text`. */
  interface TypeTextArgs {
    /** Targets a specific page */
    pageId: number;
    /** The text to type */
    text: string;
    /** Optional key to press */
    submitKey?: string;
  }

  /** Arguments of `chrome-devtools:upload_file`. */
  interface UploadFileArgs {
    /** Targets a specific page */
    pageId: number;
    /** The uid of the */
    uid: string;
    /** One or more files @minItems 1 */
    filePaths: string[];
    /** Whether to include a */
    includeSnapshot?: boolean;
  }

  /** Arguments of `chrome-devtools:wait_for`. */
  interface WaitForArgs {
    /** Targets a specific page */
    pageId: number;
    /** Non-empty list of texts. @minItems 1 */
    text: string[];
    /**
     * Maximum wait time in
     * @integer
     * @minimum -9007199254740991
     * @maximum 9007199254740991
     */
    timeout?: number;
  }
}
