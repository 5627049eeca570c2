/** Checks ids of types in namespaces: the lock has their qualified names, and they keep their ids when they move. */
import { describe, expect, test } from "vitest";
import {
  AssignMemory,
  assignIds,
  changesSince,
  type Lock,
  mergeLockTexts,
  parseLock,
  printLock,
} from "../../../compiler/lock/index.js";
import { lockHeader } from "../../../compiler/lock/print.js";
import type { Schema, Type } from "../../../compiler/model/index.js";
import { at, declare, field, int32, message, schema, string } from "./schema.js";

function locked(...versions: readonly Schema[]): Lock {
  let lock: Lock | undefined;
  for (const version of versions) lock = parseLock("viceroy.lock", printLock(assignIds(version, lock).lock)).lock;
  return lock as Lock;
}

function lines(lock: Lock): readonly string[] {
  return printLock(lock).trimEnd().split("\n").slice(1);
}

const inPlace: Type = {
  kind: "inline",
  shape: { kind: "message", fields: [field("width", int32), field("height", int32)] },
};
const swapped: Type = {
  kind: "inline",
  shape: { kind: "message", fields: [field("height", int32), field("width", int32)] },
};

test("a type in a namespace has a block with its qualified name, which the parser reads back", () => {
  const lock = locked(schema([message("Order.Line", field("sku"), field("size", inPlace))]));
  expect(lines(lock)).toEqual([
    "message Order.Line in schemas/a next=3",
    "  1 sku string",
    "  2 size message",
    "message Order.Line.size in schemas/a next=3",
    "  1 width int32",
    "  2 height int32",
  ]);
  expect(parseLock("viceroy.lock", printLock(lock)).problems).toEqual([]);
});

describe("types that move between namespaces", () => {
  const top = [message("Line", field("sku"), field("size", inPlace), field("count", int32))];
  const nested = (namespace: string) => [
    message(`${namespace}.Line`, field("count", int32), field("size", swapped), field("sku")),
  ];

  test("a type and its inline shape keep their ids when they move into, between and out of namespaces", () => {
    const into = locked(schema(top), schema(nested("Order")));
    const expected = (name: string) => [
      `message ${name} in schemas/a next=4`,
      "  1 sku string",
      "  2 size message",
      "  3 count int32",
      `message ${name}.size in schemas/a next=3`,
      "  1 width int32",
      "  2 height int32",
    ];
    expect(lines(into)).toEqual(expected("Order.Line"));
    expect(lines(locked(schema(top), schema(nested("Order")), schema(nested("Invoice.Deep"))))).toEqual(
      expected("Invoice.Deep.Line"),
    );
    expect(lines(locked(schema(top), schema(nested("Order")), schema(top)))).toEqual(expected("Line"));
    expect(changesSince(locked(schema(top)), into)).toEqual([]);
  });

  test("an alias that moves into a namespace keeps the ids of the inline shape in it", () => {
    const alias = (name: string) =>
      declare(name, { kind: "alias", type: { kind: "array", element: inPlace, readonly: false } });
    expect(lines(locked(schema([alias("Sizes")]), schema([alias("Order.Sizes")])))).toEqual([
      "alias Order.Sizes in schemas/a next=2",
      "  1 type message[]",
      "message Order.Sizes[] in schemas/a next=3",
      "  1 width int32",
      "  2 height int32",
    ]);
  });

  test("a union and an enum keep the ids of their tags and values, whose order changes during the move", () => {
    const union = (name: string, ...tags: readonly string[]) =>
      declare(name, {
        kind: "union",
        discriminant: "kind",
        variants: tags.map((tag) => ({ tag, id: 0, type: tag === "sized" ? inPlace : string, at })),
      });
    const colours = (name: string, ...values: readonly string[]) =>
      declare(name, {
        kind: "enum",
        origin: "literals",
        values: values.map((value) => ({ name: value, value, id: 0, doc: "", tags: {}, at })),
      });
    const before = [union("Event", "opened", "sized", "closed"), colours("Colour", "red", "blue")];
    const after = [union("Order.Event", "closed", "sized", "opened"), colours("Order.Colour", "blue", "red")];
    const expected = (namespace: string) => [
      `enum ${namespace}Colour in schemas/a next=3`,
      "  1 red",
      "  2 blue",
      `union ${namespace}Event in schemas/a next=4`,
      "  1 opened string",
      "  2 sized message",
      "  3 closed string",
      `message ${namespace}Event|sized in schemas/a next=3`,
      "  1 width int32",
      "  2 height int32",
    ];
    expect(lines(locked(schema(before)))).toEqual(expected(""));
    expect(lines(locked(schema(before), schema(after)))).toEqual(expected("Order."));
    expect(lines(locked(schema(before), schema(after), schema(before)))).toEqual(expected(""));
  });

  test("a type is new when its old declaration is still there or when two old ones could be meant", () => {
    const both = [...nested("Order"), ...nested("Invoice")];
    const kept = lines(locked(schema(top), schema([...top, ...nested("Order")])));
    expect(kept.filter((line) => line.startsWith("message"))).toEqual([
      "message Line in schemas/a next=4",
      "message Line.size in schemas/a next=3",
      "message Order.Line in schemas/a next=4",
      "message Order.Line.size in schemas/a next=3",
    ]);
    const unclear = lines(locked(schema(both), schema(top)));
    expect(unclear).toContain("-message Order.Line in schemas/a next=4");
    expect(unclear).toContain("-message Invoice.Line in schemas/a next=4");
  });

  test("a type continues neither the inline shape of a member of its name nor a removed type", () => {
    const holder = schema([message("Order", field("Line", inPlace))]);
    const both = lines(locked(holder, schema([message("Order", field("Line", inPlace)), message("Line", field("a"))])));
    expect(both).toContain("message Order.Line in schemas/a next=3");
    expect(both).toContain("message Line in schemas/a next=2");
    const gone = lines(locked(schema(top), schema([]), schema(nested("Order"))));
    expect(gone).toContain("-message Line in schemas/a next=4");
    expect(gone).toContain("message Order.Line in schemas/a next=4");
  });

  test("a move is recognised with the memory of a run that has taken the type for a new one", () => {
    const lock = locked(schema(top));
    const memory = new AssignMemory();
    const [line] = nested("Order");
    const text = (types: Parameters<typeof schema>[0]) => printLock(assignIds(schema(types), lock, memory).lock);
    expect(text([...top, line!])).toContain("\nmessage Order.Line in schemas/a next=4\n  1 count int32\n");
    expect(text([line!])).toBe(printLock(assignIds(schema([line!]), lock).lock));
    expect(text([line!])).toContain("\nmessage Order.Line in schemas/a next=4\n  1 sku string\n");
  });

  test("reserved ids are skipped for members of a type in a namespace, but not in its inline shapes", () => {
    const reserved = {
      ...message("Order.Line", field("a"), field("b", inPlace)),
      reserved: { numbers: [1], names: [] },
    };
    expect(lines(locked(schema([reserved])))).toEqual([
      "message Order.Line in schemas/a next=4",
      "  2 a string",
      "  3 b message",
      "message Order.Line.b in schemas/a next=3",
      "  1 width int32",
      "  2 height int32",
    ]);
  });
});

describe("merges of branches", () => {
  const text = (...blocks: readonly string[]) => `${[lockHeader, ...blocks].join("\n")}\n`;
  const merge = (base: string, ours: string, theirs: string) => {
    const merged = mergeLockTexts({ base, ours, theirs, published: undefined }, ({ kind }) => kind);
    expect(merged.conflicts).toEqual([]);
    expect(parseLock("", merged.text).problems).toEqual([]);
    return merged.text.trimEnd().split("\n").slice(1);
  };
  const base = text(
    "message Line in schemas/a next=3",
    "  1 sku string",
    "  2 size message",
    "message Line.size in schemas/a next=2",
    "  1 width int32",
  );
  const moved = base.replaceAll("message Line", "message Order.Line");
  const added = text(
    "message Line in schemas/a next=4",
    "  1 sku string",
    "  2 extent message was=size",
    "  3 note string",
    "message Line.extent in schemas/a next=3",
    "  1 width int32",
    "  2 depth int32",
  );
  const both = [
    "message Order.Line in schemas/a next=4",
    "  1 sku string",
    "  2 extent message was=size",
    "  3 note string",
    "message Order.Line.extent in schemas/a next=3",
    "  1 width int32",
    "  2 depth int32",
  ];

  test("a move of a type on one side merges with changes of the type on the other", () => {
    expect(merge(base, moved, added)).toEqual(both);
    expect(merge(base, added, moved)).toEqual(both);
    expect(merge(base, moved, base)).toEqual(moved.trimEnd().split("\n").slice(1));
    expect(merge(base, moved, moved)).toEqual(moved.trimEnd().split("\n").slice(1));
  });

  test("types that both sides add to one namespace are all kept", () => {
    const tax = "message Order.Tax in schemas/a next=2\n  1 rate double";
    const item = "message Order.Item in schemas/a next=2\n  1 name string";
    expect(merge(text(), text(tax), text(item))).toEqual([...item.split("\n"), ...tax.split("\n")]);
  });
});

test("changesSince reports a type in a namespace that the lock has lost", () => {
  const before = locked(schema([message("Order.Line", field("a"))]));
  const now = locked(schema([message("Order.Other", field("b", string))]));
  expect(changesSince(before, now).map((change) => change.kind === "lost" && change.what)).toEqual([
    "message Order.Line in schemas/a, with all its ids,",
  ]);
});
