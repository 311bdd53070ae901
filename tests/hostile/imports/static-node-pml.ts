// kind: denied
import { callTool } from "node:pml";
export default callTool;
