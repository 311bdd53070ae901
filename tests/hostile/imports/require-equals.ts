// kind: denied|syntax
import fs = require("fs");
export default fs;
