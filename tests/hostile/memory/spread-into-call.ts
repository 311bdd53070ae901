// kind: runtime
Math.max(...new Array(5e6).fill(1));
