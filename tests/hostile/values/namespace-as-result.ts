// kind: ok|output
import * as api from "pml";
export default api;
