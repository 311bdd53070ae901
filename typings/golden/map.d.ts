// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 2 tools. */
  readonly map: PmlTools.Map.Tools;
}

interface KnownTools {
  "map:show-map": { args: [args?: PmlTools.Map.ShowMapArgs | null]; result: any };
  "map:geocode": { args: [args: PmlTools.Map.GeocodeArgs]; result: any };
}

declare namespace PmlTools.Map {
  interface Tools {
    /** Display an interactive world */
    "show-map"<T = unknown>(args?: ShowMapArgs | null): Promise<T>;
    /** Search for places using */
    geocode<T = unknown>(args: GeocodeArgs): Promise<T>;
  }

  /** Arguments of `map:show-map`. */
  interface ShowMapArgs {
    /** Western longitude (-180 to @default -0.5 */
    west?: number;
    /** Southern latitude (-90 to @default 51.3 */
    south?: number;
    /** Eastern longitude (-180 to @default 0.3 */
    east?: number;
    /** Northern latitude (-90 to @default 51.7 */
    north?: number;
    /** Optional label to display */
    label?: string;
  }

  /** Arguments of `map:geocode`. */
  interface GeocodeArgs {
    /** Place name or address */
    query: string;
  }
}
