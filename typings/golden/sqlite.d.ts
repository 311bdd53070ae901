// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 6 tools. */
  readonly sqlite: PmlTools.Sqlite.Tools;
}

interface KnownTools {
  "sqlite:read_query": { args: [args: PmlTools.Sqlite.ReadQueryArgs]; result: any };
  "sqlite:write_query": { args: [args: PmlTools.Sqlite.WriteQueryArgs]; result: any };
  "sqlite:create_table": { args: [args: PmlTools.Sqlite.CreateTableArgs]; result: any };
  "sqlite:list_tables": { args: [args?: object | null]; result: any };
  "sqlite:describe_table": { args: [args: PmlTools.Sqlite.DescribeTableArgs]; result: any };
  "sqlite:append_insight": { args: [args: PmlTools.Sqlite.AppendInsightArgs]; result: any };
}

declare namespace PmlTools.Sqlite {
  interface Tools {
    /** Execute a SELECT query */
    read_query<T = unknown>(args: ReadQueryArgs): Promise<T>;
    /** Execute an INSERT, UPDATE, */
    write_query<T = unknown>(args: WriteQueryArgs): Promise<T>;
    /** Create a new table */
    create_table<T = unknown>(args: CreateTableArgs): Promise<T>;
    /** List all tables in */
    list_tables<T = unknown>(args?: object | null): Promise<T>;
    /** Get the schema information */
    describe_table<T = unknown>(args: DescribeTableArgs): Promise<T>;
    /** Add a business insight */
    append_insight<T = unknown>(args: AppendInsightArgs): Promise<T>;
  }

  /** Arguments of `sqlite:read_query`. */
  interface ReadQueryArgs {
    /** SELECT SQL query to */
    query: string;
  }

  /** Arguments of `sqlite:write_query`. */
  interface WriteQueryArgs {
    /** SQL query to execute */
    query: string;
  }

  /** Arguments of `sqlite:create_table`. */
  interface CreateTableArgs {
    /** CREATE TABLE SQL statement */
    query: string;
  }

  /** Arguments of `sqlite:describe_table`. */
  interface DescribeTableArgs {
    /** Name of the table */
    table_name: string;
  }

  /** Arguments of `sqlite:append_insight`. */
  interface AppendInsightArgs {
    /** Business insight discovered from */
    insight: string;
  }
}
