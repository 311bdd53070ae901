// kind: denied
import { op_call_tool } from "ext:core/ops";
export default op_call_tool;
