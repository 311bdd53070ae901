// `store` and `load`: session storage that outlives a script. `load` also returns a result that was
// too large for the reply, by its handle.

import { op_load_value, op_store_value } from "ext:core/ops";
import { toJson } from "ext:pml/30_serialize.js";
import { checkText, track, unpack } from "ext:pml/39_requests.js";

async function store(key, value) {
  checkText(key, "store", "a key");
  const json = toJson(value, `the value of ${key}`);
  const text = typeof json === "string" ? json : await json;
  unpack(await track(op_store_value(key, text ?? "null")), "store");
}

async function load(key) {
  checkText(key, "load", "a key or a handle");
  const found = unpack(await track(op_load_value(key)), "load");
  return found.length === 0 ? undefined : found[0];
}

// Both are the script's (50_module.js). Parsed by tests: one name per line.
export {
  load,
  store,
};
