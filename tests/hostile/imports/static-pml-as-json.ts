// kind: denied|syntax
import * as api from "pml" with { type: "json" };
export default Object.keys(api);
