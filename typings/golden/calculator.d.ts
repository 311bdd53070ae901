// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 1 tool. */
  readonly calculator: PmlTools.Calculator.Tools;
}

interface KnownTools {
  "calculator:calculate": { args: [args: PmlTools.Calculator.CalculateArgs]; result: PmlTools.Calculator.CalculateResult };
}

declare namespace PmlTools.Calculator {
  interface Tools {
    /** Calculates/evaluates the given expression. */
    calculate(args: CalculateArgs): Promise<CalculateResult>;
  }

  /** Arguments of `calculator:calculate`. */
  interface CalculateArgs {
    expression: string;
  }

  /** Result of `calculator:calculate`. */
  interface CalculateResult {
    result: string;
  }
}
