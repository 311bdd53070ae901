// kind: denied|syntax
import source stolen from "file:///x.wasm";
export default stolen;
