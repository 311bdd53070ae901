// kind: timeout
const timer = setInterval(() => {}, 5);
