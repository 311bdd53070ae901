// kind: denied
import fs = require("fs");
export default fs;
