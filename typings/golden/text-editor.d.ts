// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 2 tools. */
  readonly "text-editor": PmlTools.TextEditor.Tools;
}

interface KnownTools {
  "text-editor:get_text_file_contents": { args: [args: PmlTools.TextEditor.GetTextFileContentsArgs]; result: any };
  "text-editor:edit_text_file_contents": { args: [args: PmlTools.TextEditor.EditTextFileContentsArgs]; result: any };
}

declare namespace PmlTools.TextEditor {
  interface Tools {
    /** Read text file contents */
    get_text_file_contents<T = unknown>(args: GetTextFileContentsArgs): Promise<T>;
    /** A line editor that */
    edit_text_file_contents<T = unknown>(args: EditTextFileContentsArgs): Promise<T>;
  }

  /** Arguments of `text-editor:get_text_file_contents`. */
  interface GetTextFileContentsArgs {
    /** List of files and */
    files: {
      /** Path to the text */
      file_path: string;
      /** List of line ranges */
      ranges: {
        /** Starting line number (1-based) @integer */
        start: number;
        /** Ending line number (null @integer */
        end?: number | null;
      }[];
    }[];
    /** Text encoding (default: 'utf-8') @default "utf-8" */
    encoding?: string;
  }

  /** Arguments of `text-editor:edit_text_file_contents`. */
  interface EditTextFileContentsArgs {
    files: {
      /** Path to the text */
      path: string;
      /** Hash of the file */
      file_hash: string;
      patches: {
        /**
         * Starting line number (1-based).
         * @integer
         * @default 1
         */
        line_start?: number;
        /**
         * Ending line number (null
         * @integer
         * @default null
         */
        line_end?: number | null;
        contents: string;
        /** Hash of the content */
        range_hash?: string;
      }[];
    }[];
    /** Text encoding (default: 'utf-8') @default "utf-8" */
    encoding?: string;
  }
}
