// kind: runtime|syntax
// body-only
````ts
```
export default 1;
```
````
