// Calls functions of tools/orders.ts like tools of any server.
//
//   pml run --config examples/functions/servers.json examples/functions/top.ts
//   pml functions check --config examples/functions/servers.json

const [best] = await tools.local.topCustomers({ count: 1 });
const first = await tools.local.order({ id: 1 });
const note = await tools.local.rememberOrder({ id: 1, text: `most by ${best.customer}` });
export default { best, first, note };
