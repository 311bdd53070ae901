// kind: denied
import secret from "file:///etc/passwd";
export default secret;
