// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 1 tool. */
  readonly fetch: PmlTools.Fetch.Tools;
}

interface KnownTools {
  "fetch:fetch": { args: [args: PmlTools.Fetch.FetchArgs]; result: any };
}

declare namespace PmlTools.Fetch {
  interface Tools {
    /** Fetches a URL from */
    fetch<T = unknown>(args: FetchArgs): Promise<T>;
  }

  /** Arguments of `fetch:fetch`. */
  interface FetchArgs {
    /**
     * URL to fetch
     * @minLength 1
     * @format uri
     */
    url: string;
    /**
     * Maximum number of characters
     * @integer
     * @minimum 1
     * @maximum 999999
     * @default 5000
     */
    max_length?: number;
    /**
     * On return output starting
     * @integer
     * @minimum 0
     * @default 0
     */
    start_index?: number;
    /** Get the actual HTML @default false */
    raw?: boolean;
  }
}
