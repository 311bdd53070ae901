// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 12 tools. */
  readonly git: PmlTools.Git.Tools;
}

interface KnownTools {
  "git:git_status": { args: [args: PmlTools.Git.GitStatusArgs]; result: any };
  "git:git_diff_unstaged": { args: [args: PmlTools.Git.GitDiffUnstagedArgs]; result: any };
  "git:git_diff_staged": { args: [args: PmlTools.Git.GitDiffStagedArgs]; result: any };
  "git:git_diff": { args: [args: PmlTools.Git.GitDiffArgs]; result: any };
  "git:git_commit": { args: [args: PmlTools.Git.GitCommitArgs]; result: any };
  "git:git_add": { args: [args: PmlTools.Git.GitAddArgs]; result: any };
  "git:git_reset": { args: [args: PmlTools.Git.GitResetArgs]; result: any };
  "git:git_log": { args: [args: PmlTools.Git.GitLogArgs]; result: any };
  "git:git_create_branch": { args: [args: PmlTools.Git.GitCreateBranchArgs]; result: any };
  "git:git_checkout": { args: [args: PmlTools.Git.GitCheckoutArgs]; result: any };
  "git:git_show": { args: [args: PmlTools.Git.GitShowArgs]; result: any };
  "git:git_branch": { args: [args: PmlTools.Git.GitBranchArgs]; result: any };
}

declare namespace PmlTools.Git {
  interface Tools {
    /** Shows the working tree */
    git_status<T = unknown>(args: GitStatusArgs): Promise<T>;
    /** Shows changes in the */
    git_diff_unstaged<T = unknown>(args: GitDiffUnstagedArgs): Promise<T>;
    /** Shows changes that are */
    git_diff_staged<T = unknown>(args: GitDiffStagedArgs): Promise<T>;
    /** Shows differences between branches */
    git_diff<T = unknown>(args: GitDiffArgs): Promise<T>;
    /** Records changes to the */
    git_commit<T = unknown>(args: GitCommitArgs): Promise<T>;
    /** Adds file contents to */
    git_add<T = unknown>(args: GitAddArgs): Promise<T>;
    /** Unstages all staged changes */
    git_reset<T = unknown>(args: GitResetArgs): Promise<T>;
    /** Shows the commit logs */
    git_log<T = unknown>(args: GitLogArgs): Promise<T>;
    /** Creates a new branch */
    git_create_branch<T = unknown>(args: GitCreateBranchArgs): Promise<T>;
    /** Switches branches */
    git_checkout<T = unknown>(args: GitCheckoutArgs): Promise<T>;
    /** Shows the contents of */
    git_show<T = unknown>(args: GitShowArgs): Promise<T>;
    /** List Git branches */
    git_branch<T = unknown>(args: GitBranchArgs): Promise<T>;
  }

  /** Arguments of `git:git_status`. */
  interface GitStatusArgs {
    repo_path: string;
  }

  /** Arguments of `git:git_diff_unstaged`. */
  interface GitDiffUnstagedArgs {
    repo_path: string;
    /** @integer @default 3 */
    context_lines?: number;
  }

  /** Arguments of `git:git_diff_staged`. */
  interface GitDiffStagedArgs {
    repo_path: string;
    /** @integer @default 3 */
    context_lines?: number;
  }

  /** Arguments of `git:git_diff`. */
  interface GitDiffArgs {
    repo_path: string;
    target: string;
    /** @integer @default 3 */
    context_lines?: number;
  }

  /** Arguments of `git:git_commit`. */
  interface GitCommitArgs {
    repo_path: string;
    message: string;
  }

  /** Arguments of `git:git_add`. */
  interface GitAddArgs {
    repo_path: string;
    /** @minItems 1 */
    files: string[];
  }

  /** Arguments of `git:git_reset`. */
  interface GitResetArgs {
    repo_path: string;
  }

  /** Arguments of `git:git_log`. */
  interface GitLogArgs {
    repo_path: string;
    /** @integer @default 10 */
    max_count?: number;
    /** Start timestamp for filtering @default null */
    start_timestamp?: string | null;
    /** End timestamp for filtering @default null */
    end_timestamp?: string | null;
  }

  /** Arguments of `git:git_create_branch`. */
  interface GitCreateBranchArgs {
    repo_path: string;
    branch_name: string;
    /** @default null */
    base_branch?: string | null;
  }

  /** Arguments of `git:git_checkout`. */
  interface GitCheckoutArgs {
    repo_path: string;
    branch_name: string;
  }

  /** Arguments of `git:git_show`. */
  interface GitShowArgs {
    repo_path: string;
    revision: string;
  }

  /** Arguments of `git:git_branch`. */
  interface GitBranchArgs {
    /** The path to the */
    repo_path: string;
    /** Whether to list local */
    branch_type: string;
    /** The commit sha that @default null */
    contains?: string | null;
    /** The commit sha that @default null */
    not_contains?: string | null;
  }
}
