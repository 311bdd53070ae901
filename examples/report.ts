// Processes data without a tool: types, grouping, and a table on standard error.
//
//   pml run examples/report.ts
//   pml run examples/report.ts -- EUR          only orders in euros

type Currency = "EUR" | "USD";

interface Order {
  customer: string;
  day: string;
  currency: Currency;
  cents: number;
}

const orders: Order[] = [
  { customer: "north", day: "2026-03-02", currency: "EUR", cents: 12_50 },
  { customer: "south", day: "2026-03-02", currency: "USD", cents: 99_00 },
  { customer: "north", day: "2026-03-05", currency: "EUR", cents: 7_25 },
  { customer: "west", day: "2026-04-01", currency: "EUR", cents: 140_00 },
  { customer: "south", day: "2026-04-03", currency: "USD", cents: 1_00 },
];

const currencyFilter = args[0];
const selected = orders.filter(
  (order) => currencyFilter === undefined || order.currency === currencyFilter,
);

const money = (cents: number, currency: Currency): string =>
  new Intl.NumberFormat("en-US", { style: "currency", currency }).format(cents / 100);

const rows = [...Map.groupBy(selected, (order) => `${order.customer} ${order.currency}`).values()]
  .map((group) => {
    const { customer, currency } = group[0]!;
    const cents = group.reduce((sum, order) => sum + order.cents, 0);
    const days = group.map((order) => Temporal.PlainDate.from(order.day));
    const last = days.toSorted(Temporal.PlainDate.compare).at(-1)!;
    return { customer, orders: group.length, total: money(cents, currency), last: last.toString() };
  })
  .toSorted((a, b) => a.customer.localeCompare(b.customer));

console.table(rows);

export default rows;
