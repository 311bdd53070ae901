// `Math.random`: a small fast generator (sfc32), good enough for tests and games and for no
// secret. Not V8's own, because workers are copies of one process and would all draw the same.

import { primordials } from "ext:core/mod.js";
import { op_random_fill } from "ext:core/ops";
import { defineGlobal } from "ext:pml/10_web.js";

const { MathImul, TypedArrayPrototypeGetBuffer, Uint32Array, Uint8Array } = primordials;

let a = 0, b = 0, c = 0, d = 1;
let seeded = false;

// The same number gives the same chance.
function seedFromNumber(seed) {
  start(0x9e3779b9, seed | 0, MathImul(seed, 0x85ebca6b) ^ 0x243f6a88);
}

// The next draw begins anew, with a seed of the system. Most scripts draw nothing.
function forgetSeed() {
  seeded = false;
}

function seedFromSystem() {
  const words = new Uint32Array(3);
  op_random_fill(new Uint8Array(TypedArrayPrototypeGetBuffer(words)));
  start(words[0] | 0, words[1] | 0, words[2] | 0);
}

function start(first, second, third) {
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

function fill(bytes) {
  for (let i = 0; i < bytes.length; i++) bytes[i] = next32() >>> 24;
}

defineGlobal(Math, "random", {
  random() {
    if (!seeded) seedFromSystem();
    // 53 bits, as many as a number between 0 and 1 has.
    return ((next32() >>> 5) * 67108864 + (next32() >>> 6)) / 9007199254740992;
  },
}.random);

export { fill, forgetSeed, seedFromNumber };
