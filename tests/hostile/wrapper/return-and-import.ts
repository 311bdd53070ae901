// kind: denied
import fs from "node:fs";
return fs;
