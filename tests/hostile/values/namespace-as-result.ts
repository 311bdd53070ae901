// kind: ok
import * as api from "pml";
export default api;
