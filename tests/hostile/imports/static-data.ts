// kind: denied
import stolen from "data:text/javascript,export default globalThis.Deno";
export default stolen;
