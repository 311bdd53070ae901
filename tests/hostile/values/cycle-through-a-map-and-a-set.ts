// kind: ok
const map = new Map<string, unknown>();
map.set("map", map);
map.set("set", new Set([map, new Set()]));
export default map;
