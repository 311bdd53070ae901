// kind: denied
import { callTool } from "pm\u{ff4c}";
export default callTool;
