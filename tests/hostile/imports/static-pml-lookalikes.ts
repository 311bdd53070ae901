// kind: denied
import { callTool } from "pml/";
export default callTool;
