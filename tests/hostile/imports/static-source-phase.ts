// kind: denied
import source stolen from "file:///x.wasm";
export default stolen;
