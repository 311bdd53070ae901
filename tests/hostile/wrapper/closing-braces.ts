// kind: syntax
})(); globalThis.leftover = 1; (async () => {
