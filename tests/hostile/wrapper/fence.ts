// kind: ok
// result: 2
// body-only
```ts
export default 1 + 1;
```
