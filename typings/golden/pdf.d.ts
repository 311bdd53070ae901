// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 9 tools. */
  readonly pdf: PmlTools.Pdf.Tools;
}

interface KnownTools {
  "pdf:list_pdfs": { args: [args?: object | null]; result: any };
  "pdf:read_pdf_bytes": { args: [args: PmlTools.Pdf.ReadPdfBytesArgs]; result: PmlTools.Pdf.ReadPdfBytesResult };
  "pdf:display_pdf": { args: [args?: PmlTools.Pdf.DisplayPdfArgs | null]; result: PmlTools.Pdf.DisplayPdfResult };
  "pdf:interact": { args: [args: PmlTools.Pdf.InteractArgs]; result: any };
  "pdf:submit_page_data": { args: [args: PmlTools.Pdf.SubmitPageDataArgs]; result: any };
  "pdf:submit_save_data": { args: [args: PmlTools.Pdf.SubmitSaveDataArgs]; result: any };
  "pdf:submit_viewer_state": { args: [args: PmlTools.Pdf.SubmitViewerStateArgs]; result: any };
  "pdf:poll_pdf_commands": { args: [args: PmlTools.Pdf.PollPdfCommandsArgs]; result: any };
  "pdf:save_pdf": { args: [args: PmlTools.Pdf.SavePdfArgs]; result: PmlTools.Pdf.SavePdfResult };
}

declare namespace PmlTools.Pdf {
  interface Tools {
    /** List available PDFs that */
    list_pdfs<T = unknown>(args?: object | null): Promise<T>;
    /** Read a range of */
    read_pdf_bytes(args: ReadPdfBytesArgs): Promise<ReadPdfBytesResult>;
    /** Open a PDF in */
    display_pdf(args?: DisplayPdfArgs | null): Promise<DisplayPdfResult>;
    /** Interact with a PDF */
    interact<T = unknown>(args: InteractArgs): Promise<T>;
    /** Submit rendered page data */
    submit_page_data<T = unknown>(args: SubmitPageDataArgs): Promise<T>;
    /** Submit annotated PDF bytes */
    submit_save_data<T = unknown>(args: SubmitSaveDataArgs): Promise<T>;
    /** Submit a viewer-state snapshot */
    submit_viewer_state<T = unknown>(args: SubmitViewerStateArgs): Promise<T>;
    /** Poll for pending commands */
    poll_pdf_commands<T = unknown>(args: PollPdfCommandsArgs): Promise<T>;
    /** Save annotated PDF bytes */
    save_pdf(args: SavePdfArgs): Promise<SavePdfResult>;
  }

  /** Arguments of `pdf:read_pdf_bytes`. */
  interface ReadPdfBytesArgs {
    /** PDF URL or local */
    url: string;
    /**
     * Byte offset
     * @minimum 0
     * @default 0
     */
    offset?: number;
    /**
     * Bytes to read
     * @minimum 1
     * @maximum 524288
     * @default 524288
     */
    byteCount?: number;
  }

  /** Result of `pdf:read_pdf_bytes`. */
  interface ReadPdfBytesResult {
    url: string;
    /** Base64 encoded bytes */
    bytes: string;
    offset: number;
    byteCount: number;
    totalBytes: number;
    hasMore: boolean;
  }

  /** Arguments of `pdf:display_pdf`. */
  interface DisplayPdfArgs {
    /** PDF URL or local @default "https://arxiv.org/pdf/1706.03762" */
    url?: string;
    /**
     * Initial page
     * @minimum 1
     * @default 1
     */
    page?: number;
    /** If true and the @default false */
    elicit_form_inputs?: boolean;
  }

  /** Result of `pdf:display_pdf`. */
  interface DisplayPdfResult {
    /** UUID for this viewer */
    viewUUID: string;
    url: string;
    initialPage: number;
    totalBytes: number;
    /** Form field values filled */
    formFieldValues?: { [key: string]: string | boolean };
    /** Form fields with bounding */
    formFields?: {
      name: string;
      type: string;
      page: number;
      label?: string;
      x: number;
      y: number;
      width: number;
      height: number;
      /** Radio button value — */
      exportValue?: string;
      /** Dropdown/listbox option values */
      options?: string[];
    }[];
  }

  /** Arguments of `pdf:interact`. */
  interface InteractArgs {
    /** The viewUUID of the */
    viewUUID: string;
    /** Action to perform (for */
    action?:
      | "navigate"
      | "search"
      | "find"
      | "search_navigate"
      | "zoom"
      | "add_annotations"
      | "update_annotations"
      | "remove_annotations"
      | "highlight_text"
      | "fill_form"
      | "get_text"
      | "get_screenshot"
      | "get_viewer_state"
      | "save_as";
    /** Page number (for navigate, @minimum 1 */
    page?: number;
    /** Search text (for search */
    query?: string;
    /** Match index (for search_navigate) @minimum 0 */
    matchIndex?: number;
    /**
     * Zoom scale, 1.0 =
     * @minimum 0.5
     * @maximum 3
     */
    scale?: number;
    /** Annotation objects (see types */
    annotations?: { [key: string]: unknown }[];
    /** Annotation IDs (for remove_annotations) */
    ids?: string[];
    /** Color override (for highlight_text) */
    color?: string;
    /** Tooltip/note content (for highlight_text) */
    content?: string;
    /** Form fields to fill */
    fields?: { name: string; value: string | boolean }[];
    /** Page ranges for get_text. */
    intervals?: {
      /** @minimum 1 */
      start?: number;
      /** @minimum 1 */
      end?: number;
    }[];
    /** Target file path for */
    path?: string;
    /** Overwrite if file exists */
    overwrite?: boolean;
    /** Array of commands to */
    commands?: {
      /** Action to perform */
      action:
        | "navigate"
        | "search"
        | "find"
        | "search_navigate"
        | "zoom"
        | "add_annotations"
        | "update_annotations"
        | "remove_annotations"
        | "highlight_text"
        | "fill_form"
        | "get_text"
        | "get_screenshot"
        | "get_viewer_state"
        | "save_as";
      /** Page number (for navigate, @minimum 1 */
      page?: number;
      /** Search text (for search */
      query?: string;
      /** Match index (for search_navigate) @minimum 0 */
      matchIndex?: number;
      /**
       * Zoom scale, 1.0 =
       * @minimum 0.5
       * @maximum 3
       */
      scale?: number;
      /** Annotation objects (see types */
      annotations?: { [key: string]: unknown }[];
      /** Annotation IDs (for remove_annotations) */
      ids?: string[];
      /** Color override (for highlight_text) */
      color?: string;
      /** Tooltip/note content (for highlight_text) */
      content?: string;
      /** Form fields to fill */
      fields?: { name: string; value: string | boolean }[];
      /** Page ranges for get_text. */
      intervals?: {
        /** @minimum 1 */
        start?: number;
        /** @minimum 1 */
        end?: number;
      }[];
      /** Target file path for */
      path?: string;
      /** Overwrite if file exists */
      overwrite?: boolean;
    }[];
  }

  /** Arguments of `pdf:submit_page_data`. */
  interface SubmitPageDataArgs {
    /** The request ID from */
    requestId: string;
    /** Page data entries */
    pages: {
      page: number;
      text?: string;
      /** Base64 PNG image data */
      image?: string;
    }[];
  }

  /** Arguments of `pdf:submit_save_data`. */
  interface SubmitSaveDataArgs {
    /** The request ID from */
    requestId: string;
    /** Base64-encoded PDF bytes */
    data?: string;
    /** Error message if the */
    error?: string;
  }

  /** Arguments of `pdf:submit_viewer_state`. */
  interface SubmitViewerStateArgs {
    /** The request ID from */
    requestId: string;
    /** JSON-encoded viewer state snapshot */
    state?: string;
    /** Error message if the */
    error?: string;
  }

  /** Arguments of `pdf:poll_pdf_commands`. */
  interface PollPdfCommandsArgs {
    /** The viewUUID of the */
    viewUUID: string;
  }

  /** Arguments of `pdf:save_pdf`. */
  interface SavePdfArgs {
    /** Original PDF URL or */
    url: string;
    /** Base64-encoded PDF bytes */
    data: string;
  }

  /** Result of `pdf:save_pdf`. */
  interface SavePdfResult {
    filePath: string;
    mtimeMs: number;
  }
}
