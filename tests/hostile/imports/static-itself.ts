// kind: denied
import again from "file:///hostile.ts";
export default again;
