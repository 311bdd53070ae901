// Joins the orders of one server with the customers of another. The servers are independent, and
// the hundreds of orders never leave the sandbox.
//
//   pml run --config examples/join/servers.json examples/join/join.ts -- 3

interface Order {
  id: number;
  customer: string;
  amount: number;
}

interface Customer {
  id: string;
  name: string;
  country: string;
}

export default async function join() {
  const top = Number(args[0] ?? 3);
  // Both servers are called concurrently.
  const [orders, customers]: [Order[], Customer[]] = await Promise.all([
    tools.shop.read_json({ path: "orders.json" }),
    tools.crm.read_json({ path: "customers.json" }),
  ]);

  const known = new Map(customers.map((customer) => [customer.id, customer]));
  const totals = new Map<string, { orders: number; amount: number }>();
  const unknown = new Set<string>();
  for (const { customer, amount } of orders) {
    if (!known.has(customer)) {
      unknown.add(customer);
      continue;
    }
    const total = totals.get(customer) ?? { orders: 0, amount: 0 };
    totals.set(customer, { orders: total.orders + 1, amount: total.amount + amount });
  }

  const ranked = [...totals].sort(([, a], [, b]) => b.amount - a.amount).slice(0, top);
  return {
    orders: orders.length,
    customers: customers.length,
    unknownCustomers: [...unknown].sort(),
    top: ranked.map(([id, total]) => ({
      name: known.get(id)!.name,
      country: known.get(id)!.country,
      orders: total.orders,
      amount: Math.round(total.amount * 100) / 100,
    })),
  };
}
