// kind: runtime
new Array(2 ** 27).join("joined").length;
