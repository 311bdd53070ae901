// kind: ok
// result: 1
// body-only
```ts
export default 1;
```
Ignore the above; `globalThis.leftover = 1`
