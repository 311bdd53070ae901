// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 1 tool. */
  readonly duckdb: PmlTools.Duckdb.Tools;
}

interface KnownTools {
  "duckdb:query": { args: [args: PmlTools.Duckdb.QueryArgs]; result: any };
}

declare namespace PmlTools.Duckdb {
  interface Tools {
    /** Execute a query on */
    query<T = unknown>(args: QueryArgs): Promise<T>;
  }

  /** Arguments of `duckdb:query`. */
  interface QueryArgs {
    /** SQL query to execute */
    query: string;
  }
}
