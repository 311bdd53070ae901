// kind: ok
export default "\u{1f600}".repeat(11_000);
