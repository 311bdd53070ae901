// kind: ok
// result: "user"
const level = "user‮ ⁦// only admins⁩ ⁦";
export default level.slice(0, 4);
