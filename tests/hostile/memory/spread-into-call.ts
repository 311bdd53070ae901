// kind: runtime|memory
Math.max(...new Array(5e6).fill(1));
