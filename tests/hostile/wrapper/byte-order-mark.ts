// kind: ok
// result: 1
// body-only
﻿export default 1;
