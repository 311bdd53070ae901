// kind: syntax
import { op_call_tool } from "pml";
export default op_call_tool;
