// kind: denied
import defer * as stolen from "node:fs";
export default stolen;
