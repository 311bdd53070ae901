// kind: runtime
(globalThis as never as Record<string, (code: string) => unknown>)["ev" + "al"]("1");
