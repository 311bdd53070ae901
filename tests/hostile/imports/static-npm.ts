// kind: denied
import left from "npm:left-pad";
export default left;
