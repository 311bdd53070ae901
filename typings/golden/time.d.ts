// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 2 tools. */
  readonly time: PmlTools.Time.Tools;
}

interface KnownTools {
  "time:get_current_time": { args: [args: PmlTools.Time.GetCurrentTimeArgs]; result: PmlTools.Time.GetCurrentTimeResult };
  "time:convert_time": { args: [args: PmlTools.Time.ConvertTimeArgs]; result: PmlTools.Time.ConvertTimeResult };
}

declare namespace PmlTools.Time {
  interface Tools {
    /** Get current time in */
    get_current_time(args: GetCurrentTimeArgs): Promise<GetCurrentTimeResult>;
    /** Convert time between timezones */
    convert_time(args: ConvertTimeArgs): Promise<ConvertTimeResult>;
  }

  /** Arguments of `time:get_current_time`. */
  interface GetCurrentTimeArgs {
    /** IANA timezone name (e.g., */
    timezone: string;
  }

  /** Result of `time:get_current_time`. */
  interface GetCurrentTimeResult {
    timezone: string;
    datetime: string;
    day_of_week: string;
    is_dst: boolean;
  }

  /** Arguments of `time:convert_time`. */
  interface ConvertTimeArgs {
    /** Source IANA timezone name */
    source_timezone: string;
    /** Time to convert in */
    time: string;
    /** Target IANA timezone name */
    target_timezone: string;
  }

  /** Result of `time:convert_time`. */
  interface ConvertTimeResult {
    source: ConvertTimeTimeResult;
    target: ConvertTimeTimeResult;
    time_difference: string;
  }

  interface ConvertTimeTimeResult {
    timezone: string;
    datetime: string;
    day_of_week: string;
    is_dst: boolean;
  }
}
