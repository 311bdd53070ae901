// Functions of the shop, as tools: `local:topCustomers`, `local:order` and `local:rememberOrder`.

/** An order of the shop. */
interface Order {
  /** @integer */
  id: number;
  customer: string;
  amount: number;
}

type Sorting = "amount" | "orders";

interface Total {
  customer: string;
  /** @integer */
  orders: number;
  amount: number;
}

async function allOrders(): Promise<Order[]> {
  return await tools.shop.read_json({ path: "orders.json" });
}

/**
 * The customers with the largest totals of all orders.
 *
 * @param count How many customers.
 * @param by What is compared.
 * @effect read
 */
export async function topCustomers(count = 3, by: Sorting = "amount"): Promise<Total[]> {
  const totals = new Map<string, Total>();
  for (const { customer, amount } of await allOrders()) {
    const total = totals.get(customer) ?? { customer, orders: 0, amount: 0 };
    total.orders += 1;
    total.amount += amount;
    totals.set(customer, total);
  }
  return [...totals.values()].sort((a, b) => b[by] - a[by]).slice(0, count);
}

/**
 * One order.
 *
 * @param id Its number.
 * @effect read
 */
export async function order(id: number): Promise<Order | null> {
  return (await allOrders()).find((order) => order.id === id) ?? null;
}

/**
 * Writes a note about an order into the shop's notes.
 *
 * @param id The number of the order.
 * @param text What to remember.
 * @returns the id of the note
 */
export async function rememberOrder(id: number, text: string): Promise<number> {
  const found = await tools.local.order({ id });
  if (found === null) {
    throw new Error(`there is no order ${id}`);
  }
  const note = await tools.shop.add_note({ title: `Order ${id} of ${found.customer}`, text });
  return note.id;
}
