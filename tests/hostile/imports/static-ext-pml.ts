// kind: denied
import { run } from "ext:pml/60_result.js";
export default run;
