// kind: ok
// result: ["\ufffd","a\ufffdb",{"\ufffd":"\ufffd\ufffd"}]
export default ["\ud800", "a\udc00b", { "\udfff": "\udc00\ud800" }];
