// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 14 tools. */
  readonly filesystem: PmlTools.Filesystem.Tools;
}

interface KnownTools {
  "filesystem:read_file": { args: [args: PmlTools.Filesystem.ReadFileArgs]; result: PmlTools.Filesystem.ReadFileResult };
  "filesystem:read_text_file": { args: [args: PmlTools.Filesystem.ReadTextFileArgs]; result: PmlTools.Filesystem.ReadTextFileResult };
  "filesystem:read_media_file": { args: [args: PmlTools.Filesystem.ReadMediaFileArgs]; result: PmlTools.Filesystem.ReadMediaFileResult };
  "filesystem:read_multiple_files": { args: [args: PmlTools.Filesystem.ReadMultipleFilesArgs]; result: PmlTools.Filesystem.ReadMultipleFilesResult };
  "filesystem:write_file": { args: [args: PmlTools.Filesystem.WriteFileArgs]; result: PmlTools.Filesystem.WriteFileResult };
  "filesystem:edit_file": { args: [args: PmlTools.Filesystem.EditFileArgs]; result: PmlTools.Filesystem.EditFileResult };
  "filesystem:create_directory": { args: [args: PmlTools.Filesystem.CreateDirectoryArgs]; result: PmlTools.Filesystem.CreateDirectoryResult };
  "filesystem:list_directory": { args: [args: PmlTools.Filesystem.ListDirectoryArgs]; result: PmlTools.Filesystem.ListDirectoryResult };
  "filesystem:list_directory_with_sizes": { args: [args: PmlTools.Filesystem.ListDirectoryWithSizesArgs]; result: PmlTools.Filesystem.ListDirectoryWithSizesResult };
  "filesystem:directory_tree": { args: [args: PmlTools.Filesystem.DirectoryTreeArgs]; result: PmlTools.Filesystem.DirectoryTreeResult };
  "filesystem:move_file": { args: [args: PmlTools.Filesystem.MoveFileArgs]; result: PmlTools.Filesystem.MoveFileResult };
  "filesystem:search_files": { args: [args: PmlTools.Filesystem.SearchFilesArgs]; result: PmlTools.Filesystem.SearchFilesResult };
  "filesystem:get_file_info": { args: [args: PmlTools.Filesystem.GetFileInfoArgs]; result: PmlTools.Filesystem.GetFileInfoResult };
  "filesystem:list_allowed_directories": { args: [args?: object | null]; result: PmlTools.Filesystem.ListAllowedDirectoriesResult };
}

declare namespace PmlTools.Filesystem {
  interface Tools {
    /** Read the complete contents */
    read_file(args: ReadFileArgs): Promise<ReadFileResult>;
    /** Read the complete contents */
    read_text_file(args: ReadTextFileArgs): Promise<ReadTextFileResult>;
    /** Read a file and */
    read_media_file(args: ReadMediaFileArgs): Promise<ReadMediaFileResult>;
    /** Read the contents of */
    read_multiple_files(args: ReadMultipleFilesArgs): Promise<ReadMultipleFilesResult>;
    /** Create a new file */
    write_file(args: WriteFileArgs): Promise<WriteFileResult>;
    /** Make line-based edits to */
    edit_file(args: EditFileArgs): Promise<EditFileResult>;
    /** Create a new directory */
    create_directory(args: CreateDirectoryArgs): Promise<CreateDirectoryResult>;
    /** Get a detailed listing */
    list_directory(args: ListDirectoryArgs): Promise<ListDirectoryResult>;
    /** Get a detailed listing */
    list_directory_with_sizes(args: ListDirectoryWithSizesArgs): Promise<ListDirectoryWithSizesResult>;
    /** Get a recursive tree */
    directory_tree(args: DirectoryTreeArgs): Promise<DirectoryTreeResult>;
    /** Move or rename files */
    move_file(args: MoveFileArgs): Promise<MoveFileResult>;
    /** Recursively search for files */
    search_files(args: SearchFilesArgs): Promise<SearchFilesResult>;
    /** Retrieve detailed metadata about */
    get_file_info(args: GetFileInfoArgs): Promise<GetFileInfoResult>;
    /** Returns the list of */
    list_allowed_directories(args?: object | null): Promise<ListAllowedDirectoriesResult>;
  }

  /** Arguments of `filesystem:read_file`. */
  interface ReadFileArgs {
    path: string;
    /** If provided, returns only */
    tail?: number;
    /** If provided, returns only */
    head?: number;
  }

  /** Result of `filesystem:read_file`. */
  interface ReadFileResult {
    content: string;
  }

  /** Arguments of `filesystem:read_text_file`. */
  interface ReadTextFileArgs {
    path: string;
    /** If provided, returns only */
    tail?: number;
    /** If provided, returns only */
    head?: number;
  }

  /** Result of `filesystem:read_text_file`. */
  interface ReadTextFileResult {
    content: string;
  }

  /** Arguments of `filesystem:read_media_file`. */
  interface ReadMediaFileArgs {
    path: string;
  }

  /** Result of `filesystem:read_media_file`. */
  interface ReadMediaFileResult {
    content: (
      | { type: "image" | "audio"; data: string; mimeType: string }
      | { type: "resource"; resource: { uri: string; mimeType?: string; blob: string } })[];
  }

  /** Arguments of `filesystem:read_multiple_files`. */
  interface ReadMultipleFilesArgs {
    /** Array of file paths @minItems 1 */
    paths: string[];
  }

  /** Result of `filesystem:read_multiple_files`. */
  interface ReadMultipleFilesResult {
    content: string;
  }

  /** Arguments of `filesystem:write_file`. */
  interface WriteFileArgs {
    path: string;
    content: string;
  }

  /** Result of `filesystem:write_file`. */
  interface WriteFileResult {
    content: string;
  }

  /** Arguments of `filesystem:edit_file`. */
  interface EditFileArgs {
    path: string;
    edits: {
      /** Text to search for */
      oldText: string;
      /** Text to replace with */
      newText: string;
    }[];
    /** Preview changes using git-style @default false */
    dryRun?: boolean;
  }

  /** Result of `filesystem:edit_file`. */
  interface EditFileResult {
    content: string;
  }

  /** Arguments of `filesystem:create_directory`. */
  interface CreateDirectoryArgs {
    path: string;
  }

  /** Result of `filesystem:create_directory`. */
  interface CreateDirectoryResult {
    content: string;
  }

  /** Arguments of `filesystem:list_directory`. */
  interface ListDirectoryArgs {
    path: string;
  }

  /** Result of `filesystem:list_directory`. */
  interface ListDirectoryResult {
    content: string;
  }

  /** Arguments of `filesystem:list_directory_with_sizes`. */
  interface ListDirectoryWithSizesArgs {
    path: string;
    /** Sort entries by name @default "name" */
    sortBy?: "name" | "size";
  }

  /** Result of `filesystem:list_directory_with_sizes`. */
  interface ListDirectoryWithSizesResult {
    content: string;
  }

  /** Arguments of `filesystem:directory_tree`. */
  interface DirectoryTreeArgs {
    path: string;
    /** @default [] */
    excludePatterns?: string[];
  }

  /** Result of `filesystem:directory_tree`. */
  interface DirectoryTreeResult {
    content: string;
  }

  /** Arguments of `filesystem:move_file`. */
  interface MoveFileArgs {
    source: string;
    destination: string;
  }

  /** Result of `filesystem:move_file`. */
  interface MoveFileResult {
    content: string;
  }

  /** Arguments of `filesystem:search_files`. */
  interface SearchFilesArgs {
    path: string;
    pattern: string;
    /** @default [] */
    excludePatterns?: string[];
  }

  /** Result of `filesystem:search_files`. */
  interface SearchFilesResult {
    content: string;
  }

  /** Arguments of `filesystem:get_file_info`. */
  interface GetFileInfoArgs {
    path: string;
  }

  /** Result of `filesystem:get_file_info`. */
  interface GetFileInfoResult {
    content: string;
  }

  /** Result of `filesystem:list_allowed_directories`. */
  interface ListAllowedDirectoriesResult {
    content: string;
  }
}
