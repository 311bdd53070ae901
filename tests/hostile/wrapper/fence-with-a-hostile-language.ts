// kind: ok
// result: 1
// body-only
```ts */ globalThis.leftover = 1; /*
export default 1;
```
