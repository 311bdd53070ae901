// kind: runtime
// body-only
````ts
```
export default 1;
```
````
