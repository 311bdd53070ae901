// kind: denied|ok
export default typeof new Function();
