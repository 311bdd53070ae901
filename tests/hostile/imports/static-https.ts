// kind: denied
import "https://example.com/x.js";
