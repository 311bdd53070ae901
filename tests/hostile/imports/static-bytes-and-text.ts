// kind: denied
import bytes from "/etc/passwd" with { type: "bytes" };
export default bytes;
