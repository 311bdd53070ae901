// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 25 tools. */
  readonly playwright: PmlTools.Playwright.Tools;
}

interface KnownTools {
  "playwright:browser_close": { args: [args?: Record<string, never> | null]; result: any };
  "playwright:browser_resize": { args: [args: PmlTools.Playwright.BrowserResizeArgs]; result: any };
  "playwright:browser_console_messages": { args: [args: PmlTools.Playwright.BrowserConsoleMessagesArgs]; result: any };
  "playwright:browser_handle_dialog": { args: [args: PmlTools.Playwright.BrowserHandleDialogArgs]; result: any };
  "playwright:browser_emulate_media": { args: [args?: PmlTools.Playwright.BrowserEmulateMediaArgs | null]; result: any };
  "playwright:browser_evaluate": { args: [args: PmlTools.Playwright.BrowserEvaluateArgs]; result: any };
  "playwright:browser_file_upload": { args: [args?: PmlTools.Playwright.BrowserFileUploadArgs | null]; result: any };
  "playwright:browser_drop": { args: [args: PmlTools.Playwright.BrowserDropArgs]; result: any };
  "playwright:browser_find": { args: [args?: PmlTools.Playwright.BrowserFindArgs | null]; result: any };
  "playwright:browser_fill_form": { args: [args: PmlTools.Playwright.BrowserFillFormArgs]; result: any };
  "playwright:browser_press_key": { args: [args: PmlTools.Playwright.BrowserPressKeyArgs]; result: any };
  "playwright:browser_type": { args: [args: PmlTools.Playwright.BrowserTypeArgs]; result: any };
  "playwright:browser_navigate": { args: [args: PmlTools.Playwright.BrowserNavigateArgs]; result: any };
  "playwright:browser_navigate_back": { args: [args?: Record<string, never> | null]; result: any };
  "playwright:browser_network_requests": { args: [args: PmlTools.Playwright.BrowserNetworkRequestsArgs]; result: any };
  "playwright:browser_network_request": { args: [args: PmlTools.Playwright.BrowserNetworkRequestArgs]; result: any };
  "playwright:browser_run_code_unsafe": { args: [args?: PmlTools.Playwright.BrowserRunCodeUnsafeArgs | null]; result: any };
  "playwright:browser_take_screenshot": { args: [args: PmlTools.Playwright.BrowserTakeScreenshotArgs]; result: any };
  "playwright:browser_snapshot": { args: [args?: PmlTools.Playwright.BrowserSnapshotArgs | null]; result: any };
  "playwright:browser_click": { args: [args: PmlTools.Playwright.BrowserClickArgs]; result: any };
  "playwright:browser_drag": { args: [args: PmlTools.Playwright.BrowserDragArgs]; result: any };
  "playwright:browser_hover": { args: [args: PmlTools.Playwright.BrowserHoverArgs]; result: any };
  "playwright:browser_select_option": { args: [args: PmlTools.Playwright.BrowserSelectOptionArgs]; result: any };
  "playwright:browser_tabs": { args: [args: PmlTools.Playwright.BrowserTabsArgs]; result: any };
  "playwright:browser_wait_for": { args: [args?: PmlTools.Playwright.BrowserWaitForArgs | null]; result: any };
}

declare namespace PmlTools.Playwright {
  interface Tools {
    /** Close the page */
    browser_close<T = unknown>(args?: Record<string, never> | null): Promise<T>;
    /** Resize the browser window */
    browser_resize<T = unknown>(args: BrowserResizeArgs): Promise<T>;
    /** Returns all console messages */
    browser_console_messages<T = unknown>(args: BrowserConsoleMessagesArgs): Promise<T>;
    /** Handle a dialog */
    browser_handle_dialog<T = unknown>(args: BrowserHandleDialogArgs): Promise<T>;
    /** Emulate CSS media features */
    browser_emulate_media<T = unknown>(args?: BrowserEmulateMediaArgs | null): Promise<T>;
    /** Evaluate JavaScript expression on */
    browser_evaluate<T = unknown>(args: BrowserEvaluateArgs): Promise<T>;
    /** Upload one or multiple */
    browser_file_upload<T = unknown>(args?: BrowserFileUploadArgs | null): Promise<T>;
    /** Drop files or MIME-typed */
    browser_drop<T = unknown>(args: BrowserDropArgs): Promise<T>;
    /** Search the accessibility snapshot */
    browser_find<T = unknown>(args?: BrowserFindArgs | null): Promise<T>;
    /** Fill multiple form fields */
    browser_fill_form<T = unknown>(args: BrowserFillFormArgs): Promise<T>;
    /** Press a key on */
    browser_press_key<T = unknown>(args: BrowserPressKeyArgs): Promise<T>;
    /** Type text into editable */
    browser_type<T = unknown>(args: BrowserTypeArgs): Promise<T>;
    /** Navigate to a URL */
    browser_navigate<T = unknown>(args: BrowserNavigateArgs): Promise<T>;
    /** Go back to the */
    browser_navigate_back<T = unknown>(args?: Record<string, never> | null): Promise<T>;
    /** Returns a numbered list */
    browser_network_requests<T = unknown>(args: BrowserNetworkRequestsArgs): Promise<T>;
    /** Returns full details (headers */
    browser_network_request<T = unknown>(args: BrowserNetworkRequestArgs): Promise<T>;
    /** Run a Playwright code */
    browser_run_code_unsafe<T = unknown>(args?: BrowserRunCodeUnsafeArgs | null): Promise<T>;
    /** Take a screenshot of */
    browser_take_screenshot<T = unknown>(args: BrowserTakeScreenshotArgs): Promise<T>;
    /** Capture accessibility snapshot of */
    browser_snapshot<T = unknown>(args?: BrowserSnapshotArgs | null): Promise<T>;
    /** Perform click on a */
    browser_click<T = unknown>(args: BrowserClickArgs): Promise<T>;
    /** Perform drag and drop */
    browser_drag<T = unknown>(args: BrowserDragArgs): Promise<T>;
    /** Hover over element on */
    browser_hover<T = unknown>(args: BrowserHoverArgs): Promise<T>;
    /** Select an option in */
    browser_select_option<T = unknown>(args: BrowserSelectOptionArgs): Promise<T>;
    /** List, create, close, or */
    browser_tabs<T = unknown>(args: BrowserTabsArgs): Promise<T>;
    /** Wait for text to */
    browser_wait_for<T = unknown>(args?: BrowserWaitForArgs | null): Promise<T>;
  }

  /** Arguments of `playwright:browser_resize`. */
  interface BrowserResizeArgs {
    /** Width of the browser */
    width: number;
    /** Height of the browser */
    height: number;
  }

  /** Arguments of `playwright:browser_console_messages`. */
  interface BrowserConsoleMessagesArgs {
    /** Level of the console @default "info" */
    level: "error" | "warning" | "info" | "debug";
    /** Return all console messages */
    all?: boolean;
    /** File name to save */
    filename?: string;
  }

  /** Arguments of `playwright:browser_handle_dialog`. */
  interface BrowserHandleDialogArgs {
    /** Whether to accept the */
    accept: boolean;
    /** The text of the */
    promptText?: string;
  }

  /** Arguments of `playwright:browser_emulate_media`. */
  interface BrowserEmulateMediaArgs {
    /** Emulates the prefers-color-scheme media */
    colorScheme?: "light" | "dark" | null;
    /** Emulates the prefers-reduced-motion media */
    reducedMotion?: "reduce" | "no-preference" | null;
    /** Emulates the forced-colors media */
    forcedColors?: "active" | "none" | null;
    /** Emulates the prefers-contrast media */
    contrast?: "more" | "no-preference" | null;
    /** Changes the CSS media */
    media?: "screen" | "print" | null;
  }

  /** Arguments of `playwright:browser_evaluate`. */
  interface BrowserEvaluateArgs {
    /** Human-readable element description used */
    element?: string;
    /** Exact target element reference */
    target?: string;
    /** () => { /* */
    function: string;
    /** File name to save */
    filename?: string;
  }

  /** Arguments of `playwright:browser_file_upload`. */
  interface BrowserFileUploadArgs {
    /** The absolute paths to */
    paths?: string[];
  }

  /** Arguments of `playwright:browser_drop`. */
  interface BrowserDropArgs {
    /** Human-readable element description used */
    element?: string;
    /** Exact target element reference */
    target: string;
    /** Absolute paths to files */
    paths?: string[];
    /** Data to drop, as */
    data?: { [key: string]: string };
  }

  /** Arguments of `playwright:browser_find`. */
  interface BrowserFindArgs {
    /** Plain text to search */
    text?: string;
    /** Regular expression to search */
    regex?: string;
    /** Save results to a */
    filename?: string;
  }

  /** Arguments of `playwright:browser_fill_form`. */
  interface BrowserFillFormArgs {
    /** Fields to fill in */
    fields: {
      /** Human-readable element description used */
      element?: string;
      /** Exact target element reference */
      target: string;
      /** Human-readable field name */
      name: string;
      /** Type of the field */
      type: "textbox" | "checkbox" | "radio" | "combobox" | "slider";
      /** Value to fill in */
      value: string;
    }[];
  }

  /** Arguments of `playwright:browser_press_key`. */
  interface BrowserPressKeyArgs {
    /** Name of the key */
    key: string;
  }

  /** Arguments of `playwright:browser_type`. */
  interface BrowserTypeArgs {
    /** Human-readable element description used */
    element?: string;
    /** Exact target element reference */
    target: string;
    /** Text to type into */
    text: string;
    /** Whether to submit entered */
    submit?: boolean;
    /** Whether to type one */
    slowly?: boolean;
  }

  /** Arguments of `playwright:browser_navigate`. */
  interface BrowserNavigateArgs {
    /** The URL to navigate */
    url: string;
  }

  /** Arguments of `playwright:browser_network_requests`. */
  interface BrowserNetworkRequestsArgs {
    /** Whether to include successful @default false */
    static: boolean;
    /** Only return requests whose */
    filter?: string;
    /** File name to save */
    filename?: string;
  }

  /** Arguments of `playwright:browser_network_request`. */
  interface BrowserNetworkRequestArgs {
    /**
     * 1-based index of the
     * @integer
     * @minimum 1
     * @maximum 9007199254740991
     */
    index: number;
    /** Return only this part */
    part?: "request-headers" | "request-body" | "response-headers" | "response-body";
    /** File name to save */
    filename?: string;
  }

  /** Arguments of `playwright:browser_run_code_unsafe`. */
  interface BrowserRunCodeUnsafeArgs {
    /** A JavaScript function containing */
    code?: string;
    /** Load code from the */
    filename?: string;
  }

  /** Arguments of `playwright:browser_take_screenshot`. */
  interface BrowserTakeScreenshotArgs {
    /** Human-readable element description used */
    element?: string;
    /** Exact target element reference */
    target?: string;
    /** Image format for the */
    type?: "png" | "jpeg" | "webp";
    /** File name to save */
    filename?: string;
    /** When true, takes a */
    fullPage?: boolean;
    /** Image resolution scale. "css" @default "css" */
    scale: "css" | "device";
  }

  /** Arguments of `playwright:browser_snapshot`. */
  interface BrowserSnapshotArgs {
    /** Exact target element reference */
    target?: string;
    /** Save snapshot to a */
    filename?: string;
    /** Limit the depth of */
    depth?: number;
    /** Include each element's bounding */
    boxes?: boolean;
  }

  /** Arguments of `playwright:browser_click`. */
  interface BrowserClickArgs {
    /** Human-readable element description used */
    element?: string;
    /** Exact target element reference */
    target: string;
    /** Whether to perform a */
    doubleClick?: boolean;
    /** Button to click, defaults */
    button?: "left" | "right" | "middle";
    /** Modifier keys to press */
    modifiers?: ("Alt" | "Control" | "ControlOrMeta" | "Meta" | "Shift")[];
  }

  /** Arguments of `playwright:browser_drag`. */
  interface BrowserDragArgs {
    /** Human-readable source element description */
    startElement?: string;
    /** Exact target element reference */
    startTarget: string;
    /** Human-readable target element description */
    endElement?: string;
    /** Exact target element reference */
    endTarget: string;
  }

  /** Arguments of `playwright:browser_hover`. */
  interface BrowserHoverArgs {
    /** Human-readable element description used */
    element?: string;
    /** Exact target element reference */
    target: string;
  }

  /** Arguments of `playwright:browser_select_option`. */
  interface BrowserSelectOptionArgs {
    /** Human-readable element description used */
    element?: string;
    /** Exact target element reference */
    target: string;
    /** Array of values to */
    values: string[];
  }

  /** Arguments of `playwright:browser_tabs`. */
  interface BrowserTabsArgs {
    /** Operation to perform */
    action: "list" | "new" | "close" | "select";
    /** Tab index, used for */
    index?: number;
    /** URL to navigate to */
    url?: string;
  }

  /** Arguments of `playwright:browser_wait_for`. */
  interface BrowserWaitForArgs {
    /** The time to wait */
    time?: number;
    /** The text to wait */
    text?: string;
    /** The text to wait */
    textGone?: string;
  }
}
