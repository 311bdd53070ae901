// kind: denied
export default typeof new Function();
