// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 1 tool. */
  readonly "seq-thinking": PmlTools.SeqThinking.Tools;
}

interface KnownTools {
  "seq-thinking:sequentialthinking": { args: [args: PmlTools.SeqThinking.SequentialthinkingArgs]; result: PmlTools.SeqThinking.SequentialthinkingResult };
}

declare namespace PmlTools.SeqThinking {
  interface Tools {
    /** A detailed tool for */
    sequentialthinking(args: SequentialthinkingArgs): Promise<SequentialthinkingResult>;
  }

  /** Arguments of `seq-thinking:sequentialthinking`. */
  interface SequentialthinkingArgs {
    /** Your current thinking step */
    thought: string;
    /** Whether another thought step */
    nextThoughtNeeded: boolean | string;
    /**
     * Current thought number (numeric
     * @integer
     * @minimum 1
     * @maximum 9007199254740991
     */
    thoughtNumber: number;
    /**
     * Estimated total thoughts needed
     * @integer
     * @minimum 1
     * @maximum 9007199254740991
     */
    totalThoughts: number;
    /** Whether this revises previous */
    isRevision?: boolean | string;
    /**
     * Which thought is being
     * @integer
     * @minimum 1
     * @maximum 9007199254740991
     */
    revisesThought?: number;
    /**
     * Branching point thought number
     * @integer
     * @minimum 1
     * @maximum 9007199254740991
     */
    branchFromThought?: number;
    /** Branch identifier */
    branchId?: string;
    /** If more thoughts are */
    needsMoreThoughts?: boolean | string;
  }

  /** Result of `seq-thinking:sequentialthinking`. */
  interface SequentialthinkingResult {
    thoughtNumber: number;
    totalThoughts: number;
    nextThoughtNeeded: boolean;
    branches: string[];
    thoughtHistoryLength: number;
  }
}
