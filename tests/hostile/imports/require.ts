// kind: runtime
require("fs");
