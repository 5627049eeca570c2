/** Older and newer builds read each other's messages: the newer schema was compiled with the lock of the older one. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { peer, runPeer } from "../../../peers.js";
import * as newer from "./golden/evolution-new/capnp/order.js";
import type { Order as NewOrder } from "./golden/evolution-new/order.js";
import * as older from "./golden/evolution-old/capnp/order.js";
import type { Order as OldOrder } from "./golden/evolution-old/order.js";

const golden = fileURLToPath(new URL("golden/", import.meta.url));

const oldOrder: OldOrder = {
  id: 7n,
  note: "please",
  discount: -5,
  items: [
    { name: "a", count: 1, gift: true },
    { name: "b", count: 2, gift: false },
  ],
  state: "paid",
  weights: new Float64Array([1, 2, 3]),
  urgent: true,
  payment: { kind: "cheque", number: "123" },
  who: "Ada",
};

const newOrder: NewOrder = {
  id: 8n,
  items: [
    { name: "c", count: 3, gift: true, price: 1.5, tags: ["x", "y"], fragile: true },
    { name: "d", count: 4, gift: false, tags: [], fragile: false },
  ],
  state: "open",
  urgent: true,
  payment: { kind: "cheque", number: "9", bank: "B" },
  customer: "Grace",
  created: new Date(1),
  total: 12,
  parts: [{ name: "e", count: 1, gift: false, tags: ["z"], fragile: true }],
};

test("a newer reader reads older messages and gives defaults for added fields", () => {
  expect(newer.decodeOrderCapnp(older.writeOrderCapnp(oldOrder))).toStrictEqual({
    id: 7n,
    note: "please",
    items: [
      { name: "a", count: 1, gift: true, tags: [], fragile: false },
      { name: "b", count: 2, gift: false, tags: [], fragile: false },
    ],
    state: "paid",
    urgent: true,
    payment: { kind: "cheque", number: "123" },
    customer: "Ada",
    total: 0,
    parts: [],
  });
  const reader = newer.readOrderCapnp(older.writeOrderCapnp(oldOrder));
  expect(reader.items.at(1)?.price).toBeUndefined();
  expect(reader.items.at(1)?.tags.length).toBe(0);
  expect(reader.created).toBeUndefined();
  expect(reader.total).toBe(0);
});

test("an older reader reads the fields that it knows from newer messages", () => {
  expect(older.decodeOrderCapnp(newer.writeOrderCapnp(newOrder))).toStrictEqual({
    id: 8n,
    items: [
      { name: "c", count: 3, gift: true },
      { name: "d", count: 4, gift: false },
    ],
    state: "open",
    weights: new Float64Array(),
    urgent: true,
    payment: { kind: "cheque", number: "9" },
    who: "Grace",
  });
});

test("an older reader keeps unknown enum values by their number and marks unknown union cases", () => {
  const bytes = newer.writeOrderCapnp({ ...newOrder, state: "sent", payment: { kind: "card", digits: "4" } });
  const reader = older.readOrderCapnp(bytes);
  expect(reader.state).toBe("$unknown:4");
  expect(reader.payment.kind).toBe("$unknown");
  expect(reader.payment.cash).toBeUndefined();
  expect(older.decodeOrderCapnp(bytes)).toMatchObject({ state: "$unknown:4", payment: { kind: "$unknown" } });
  const again = older.writeOrderCapnp({ ...oldOrder, state: reader.state });
  expect(newer.readOrderCapnp(again).state).toBe("sent");
});

test("a removed enum value keeps its number and is read as unknown", () => {
  const bytes = older.writeOrderCapnp({ ...oldOrder, state: "lost" });
  expect(newer.readOrderCapnp(bytes).state).toBe("$unknown:3");
});

test("an empty message has no enum value and no union case, so decoding it fails", () => {
  const none = new Uint8Array(16);
  none[4] = 1;
  expect(() => newer.decodeOrderCapnp(none)).toThrow("cannot read Order.state: the message has no value for it");
  expect(newer.readOrderCapnp(none).state).toBe("$unknown:0");
  expect(newer.readOrderCapnp(none).payment.kind).toBeUndefined();
  expect(newer.readOrderCapnp(none).items.length).toBe(0);
  expect(() => newer.decodePaymentCapnp(none)).toThrow(
    "cannot read Payment: invalid Payment: none of its cases is there",
  );
});

test.skipIf(peer("capnp") === undefined)("the capnp tool reads an older message with the newer schema", () => {
  const bytes = older.writeOrderCapnp(oldOrder);
  const schema = path.join(golden, "evolution-new/capnp/order.capnp");
  const { stdout, stderr } = runPeer("capnp", ["convert", "--short", "binary:text", schema, "Order"], { input: bytes });
  expect(stderr).toBe("");
  expect(stdout.toString().trim()).toBe(
    '(id = 7, note = "please", obsoleteDiscount = (value = -5), items = [(name = "a", count = 1, gift = true, ' +
      'price = (absent = void), fragile = false), (name = "b", count = 2, gift = false, price = (absent = void), ' +
      "fragile = false)], state = paid, obsoleteWeights = <opaque pointer>, urgent = true, " +
      'payment = (cheque = (number = "123")), customer = "Ada", created = (absent = void), total = 0)',
  );
});
