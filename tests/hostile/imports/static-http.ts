// kind: denied
import secret from "http://127.0.0.1/x.js";
export default secret;
