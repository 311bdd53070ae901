// kind: denied
import * as std from "jsr:@std/fs";
export default std;
