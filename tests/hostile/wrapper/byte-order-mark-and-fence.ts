// kind: ok|syntax
// body-only
﻿```ts
export default 1;
```
