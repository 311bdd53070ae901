// kind: runtime
Deno.core.ops.op_print("x", true);
