import { expect, mockTool, test, useRecording } from "pml/test";
import join from "./join.ts";

test("orders are added up by customer", async () => {
  const shop = mockTool("shop:read_json", () => [
    { id: 1, customer: "a", amount: 10 },
    { id: 2, customer: "b", amount: 30 },
    { id: 3, customer: "a", amount: 25.5 },
    { id: 4, customer: "gone", amount: 1 },
  ]);
  const crm = mockTool("crm:read_json", () => [
    { id: "a", name: "Alder Ltd", country: "NZ" },
    { id: "b", name: "Birch AG", country: "CH" },
  ]);
  expect(await join()).toEqual({
    orders: 4,
    customers: 2,
    unknownCustomers: ["gone"],
    top: [
      { name: "Alder Ltd", country: "NZ", orders: 2, amount: 35.5 },
      { name: "Birch AG", country: "CH", orders: 1, amount: 30 },
    ],
  });
  expect(shop).toHaveBeenCalledTimes(1);
  expect(crm).toHaveBeenCalledTimes(1);
});

test("a server that is down fails the join", async () => {
  mockTool("shop:read_json", () => []);
  mockTool("crm:read_json", () => {
    throw new Error("the CRM is down for maintenance");
  });
  await expect(join()).rejects.toThrow("down for maintenance");
});

test("the data of the example", async () => {
  await useRecording("./join.recording.json");
  expect(await join()).toMatchSnapshot();
});
