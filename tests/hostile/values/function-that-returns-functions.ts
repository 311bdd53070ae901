// kind: ok
// result: null
const again = () => again;
export default again;
