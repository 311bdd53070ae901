// `Math.random`: a small fast generator (sfc32), not for cryptographic use. It replaces V8's own,
// because workers are forks of one template process and would all produce the same numbers.

import { primordials } from "ext:core/mod.js";
import { op_random_fill } from "ext:core/ops";
import { defineGlobal } from "ext:pml/10_web.js";

const { MathImul, TypedArrayPrototypeGetBuffer, Uint32Array, Uint8Array } = primordials;

let a = 0, b = 0, c = 0, d = 1;
let seeded = false;

// The same seed produces the same sequence.
function seedFromNumber(seed) {
  initialize(0x9e3779b9, seed | 0, MathImul(seed, 0x85ebca6b) ^ 0x243f6a88);
}

// The next draw seeds the generator from the system. It is lazy: most scripts draw nothing.
function resetSeed() {
  seeded = false;
}

function seedFromSystem() {
  const words = new Uint32Array(3);
  op_random_fill(new Uint8Array(TypedArrayPrototypeGetBuffer(words)));
  initialize(words[0] | 0, words[1] | 0, words[2] | 0);
}

function initialize(first, second, third) {
  a = first;
  b = second;
  c = third;
  d = 1;
  seeded = true;
  for (let i = 0; i < 16; i++) next32();
}

function next32() {
  const sum = (a + b + d) | 0;
  d = (d + 1) | 0;
  a = b ^ (b >>> 9);
  b = (c + (c << 3)) | 0;
  c = ((c << 21) | (c >>> 11)) + sum | 0;
  return sum >>> 0;
}

function fillSeeded(bytes) {
  for (let i = 0; i < bytes.length; i++) bytes[i] = next32() >>> 24;
}

defineGlobal(Math, "random", {
  random() {
    if (!seeded) seedFromSystem();
    // 53 bits: the precision of a double between 0 and 1.
    return ((next32() >>> 5) * 67108864 + (next32() >>> 6)) / 9007199254740992;
  },
}.random);

export { fillSeeded, resetSeed, seedFromNumber };
