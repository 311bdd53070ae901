// kind: denied
import { core } from "ext:core/mod.js";
export default Object.keys(core);
