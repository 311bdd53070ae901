// kind: denied
import { Stats } from "node:fs";
const nothing: Stats | null = null;
export default nothing;
