// kind: ok
// body-only
﻿```ts
export default 1;
```
