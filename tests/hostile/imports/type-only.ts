// kind: ok
// result: 1
import type { Stats } from "node:fs";
const one: number | Stats = 1;
export default one;
