// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 1 tool. */
  readonly "code-runner": PmlTools.CodeRunner.Tools;
}

interface KnownTools {
  "code-runner:run-code": { args: [args: PmlTools.CodeRunner.RunCodeArgs]; result: any };
}

declare namespace PmlTools.CodeRunner {
  interface Tools {
    /** Run code snippet and */
    "run-code"<T = unknown>(args: RunCodeArgs): Promise<T>;
  }

  /** Arguments of `code-runner:run-code`. */
  interface RunCodeArgs {
    /** Code Snippet */
    code: string;
    /** Language ID */
    languageId:
      | "javascript"
      | "php"
      | "python"
      | "perl"
      | "perl6"
      | "ruby"
      | "go"
      | "lua"
      | "groovy"
      | "powershell"
      | "bat"
      | "shellscript"
      | "fsharp"
      | "csharp"
      | "vbscript"
      | "typescript"
      | "coffeescript"
      | "scala"
      | "swift"
      | "julia"
      | "crystal"
      | "ocaml"
      | "r"
      | "applescript"
      | "clojure"
      | "racket"
      | "scheme"
      | "ahk"
      | "autoit"
      | "dart"
      | "haskell"
      | "nim"
      | "lisp"
      | "kit"
      | "v"
      | "sass"
      | "scss";
  }
}
