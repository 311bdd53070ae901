// `test`, `describe` and the hooks: collects what a test file declares while it is evaluated.

import { primordials } from "ext:core/mod.js";
import { list } from "ext:pml/30_serialize.js";

const {
  ArrayIsArray,
  ArrayPrototypePush,
  ArrayPrototypeSlice,
  ArrayPrototypeUnshift,
  Error,
  JSONStringify,
  NumberIsFinite,
  RangeError,
  ObjectHasOwn,
  ReflectApply,
  SafeArrayIterator,
  SafeRegExp,
  String,
  StringPrototypeReplace,
  StringPrototypeSplit,
  TypeError,
} = primordials;

const HOOKS = ["beforeAll", "afterAll", "beforeEach", "afterEach"];
const SEPARATOR = " > ";

function group(name, parent, flags) {
  return {
    __proto__: null,
    name,
    parent,
    flags,
    tests: list(),
    beforeAll: list(),
    afterAll: list(),
    beforeEach: list(),
    afterEach: list(),
    hasOnly: false,
  };
}

const file = group("", null, { __proto__: null });
let current = file;
let collecting = true;

function endCollecting() {
  collecting = false;
}

function declare(what, flags, name, second, third) {
  if (!collecting) {
    throw new Error(`${what} must be called while the file is evaluated, not inside a test`);
  }
  const [body, options] = typeof second === "function" ? [second, third] : [third, second];
  const title = String(name);
  if (title === "") throw new TypeError(`${what} needs a name: ${what}("counts files", ...)`);
  if (typeof body !== "function" && !flags.todo) {
    throw new TypeError(`${what}("${title}") needs a function`);
  }
  const timeoutMs = typeof options === "number" ? options : options?.timeout;
  if (timeoutMs !== undefined && !(NumberIsFinite(timeoutMs) && timeoutMs > 0)) {
    throw new RangeError(`${what}("${title}") takes a timeout in milliseconds`);
  }
  return { __proto__: null, title, body, timeoutMs };
}

function addTest(flags, name, second, third) {
  const { title, body, timeoutMs } = declare("test", flags, name, second, third);
  ArrayPrototypePush(current.tests, {
    __proto__: null,
    name: title,
    body,
    timeoutMs,
    flags,
    group: current,
  });
  if (flags.only) markOnly(current);
}

function addGroup(flags, name, second, third) {
  const { title, body } = declare("describe", flags, name, second, third);
  const inner = group(title, current, flags);
  ArrayPrototypePush(current.tests, inner);
  if (flags.only) markOnly(current);
  current = inner;
  let result;
  try {
    result = body?.();
  } finally {
    current = inner.parent;
  }
  if (typeof result?.then === "function") {
    throw new TypeError(`describe("${title}") needs a synchronous function; tests may be async`);
  }
}

function markOnly(at) {
  for (let here = at; here !== null; here = here.parent) here.hasOnly = true;
}

function declarer(add) {
  const plain = { __proto__: null };
  const declarations = (name, second, third) => add(plain, name, second, third);
  for (const flag of new SafeArrayIterator(["only", "skip", "todo"])) {
    const flags = { __proto__: null, [flag]: true };
    declarations[flag] = (name, second, third) => add(flags, name, second, third);
    declarations[flag].each = each(flags, add);
  }
  declarations.each = each(plain, add);
  return declarations;
}

// `$name` and `$name.inner` in a test title.
const FIELDS = new SafeRegExp(/\$([A-Za-z_][\w$]*(?:\.[\w$]+)*)/g);

// `%s` and its synonyms in a test title.
const PLACEHOLDER = new SafeRegExp(/%[sdifjoO]/);

// `test.each([[1, 2], [3, 4]])("%s and %s", (a, b) => ...)`, or with objects and `"$a and $b"`.
function each(flags, add) {
  return (cases) => (name, body, options) => {
    for (const values of new SafeArrayIterator(ArrayPrototypeSlice(cases))) {
      const given = ArrayIsArray(values) ? values : [values];
      let title = fillFields(String(name), values);
      for (const value of new SafeArrayIterator(given)) {
        title = StringPrototypeReplace(title, PLACEHOLDER, () => titleText(value));
      }
      add(flags, title, () => ReflectApply(body, undefined, given), options);
    }
  };
}

function titleText(value) {
  return typeof value === "object" ? JSONStringify(value) : String(value);
}

// A name that the row does not have stays as it is: `costs $5`.
function fillFields(title, row) {
  if (typeof row !== "object" || row === null || ArrayIsArray(row)) return title;
  return StringPrototypeReplace(title, FIELDS, (field, path) => {
    let value = row;
    for (const key of new SafeArrayIterator(StringPrototypeSplit(path, "."))) {
      if (typeof value !== "object" || value === null || !ObjectHasOwn(value, key)) return field;
      value = value[key];
    }
    return titleText(value);
  });
}

const test = declarer(addTest);
const describe = declarer(addGroup);

const hooks = { __proto__: null };
for (const name of new SafeArrayIterator(HOOKS)) {
  hooks[name] = (body) => {
    if (!collecting) throw new Error(`${name} must be called outside of tests`);
    if (typeof body !== "function") throw new TypeError(`${name} needs a function`);
    ArrayPrototypePush(current[name], body);
  };
}

function fullName(at) {
  const names = list();
  for (let here = at; here !== null; here = here.group ?? here.parent) {
    if (here.name !== "") ArrayPrototypeUnshift(names, here.name);
  }
  let text = "";
  for (let i = 0; i < names.length; i++) text += (i > 0 ? SEPARATOR : "") + names[i];
  return text;
}

// ---- selection

// `run`, `skip` or `todo`, given the mode of the group that contains the item.
function modeOf(item, groupMode) {
  const { flags } = item;
  if (groupMode === "todo" || flags.todo) return "todo";
  if (groupMode === "skip" || flags.skip) return "skip";
  return "run";
}

// Whether the item is skipped because another one is marked `only`.
function excludedByOnly(parent, item) {
  if (!parent.hasOnly || item.flags.only || item.hasOnly) return false;
  // A group marked `only` runs all its tests if none of them is marked itself.
  for (let here = parent; here !== null; here = here.parent) {
    if (here.flags.only && !anyOnly(here)) return false;
  }
  return true;
}

function anyOnly(at) {
  for (let i = 0; i < at.tests.length; i++) {
    if (at.tests[i].flags.only || at.tests[i].hasOnly) return true;
  }
  return false;
}

const { afterAll, afterEach, beforeAll, beforeEach } = hooks;

export {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  endCollecting,
  excludedByOnly,
  file,
  fullName,
  modeOf,
  SEPARATOR,
  test,
  test as it,
};
