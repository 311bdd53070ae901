// kind: syntax
%DebugPrint(globalThis);
