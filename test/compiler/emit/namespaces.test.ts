/** Generated types in namespaces: values survive a round trip in every layout, and protoc and JSON use nested names. */
import { rmSync } from "node:fs";
import path from "node:path";
import { type Codec, codec } from "viceroy/codegen/v1";
import { afterAll, describe, expect, test } from "vitest";
import { lowerToCapnp } from "../../../compiler/capnp/lower.js";
import { jsonSchemaOf } from "../../../compiler/emit/jsonschema/index.js";
import { emitProto } from "../../../compiler/emit/proto/index.js";
import { fingerprint } from "../../../compiler/model/fingerprint.js";
import { indexSchema } from "../../../compiler/model/resolve.js";
import { peer, runPeer } from "../../peers.js";
import { type Basket, BasketCodec, BasketLineCodec } from "./golden/namespaces/expected/basket.js";
import {
  type Detail,
  DetailMapCodec,
  Order,
  OrderCodec,
  OrderKeyCodec,
  OrderLineCodec,
  OrderLineLevelCodec,
  OrderLineTaxCodec,
  OrderModeCodec,
  OrderPageCodec,
  OrderPaymentCodec,
  OrderStatusCodec,
  State,
  StateCauseCodec,
  StateCodec,
  StateReasonCodec,
} from "./golden/namespaces/expected/order.js";
import { emitInto, goldenInput, inputOf, protoFiles } from "./proto/lowered.js";

const tax: Order.Line.Tax = { rate: 0.5, level: Order.Line.Level.High };
const line: Order.Line = { sku: "a", count: -1, size: { width: 2, height: 3 }, tax, drawn: { from: 4, to: 5 } };
const order: Order = {
  id: 2n ** 63n,
  lines: [line, { ...line, sku: "b", pages: { only: { from: 6, to: 7 } } }],
  status: "closed",
  mode: Order.Mode.Slow,
  history: new Map([["monday", "open"]]),
  page: { items: [line], order: "down", next: { token: "t" } },
  note: { text: "n" },
};
const reason: State.Reason = { why: "rain", cause: State.Cause.Weather, level: Order.Line.Level.Low };
const map: Detail.Map = { date: { day: 1 }, when: new Date(0), codec: { name: "c" } };
const basket: Basket = {
  ...{ line, same: line, status: "open", mode: Order.Mode.Fast, level: Order.Line.Level.High },
  ...{ lines: [line], reason, outer: { basket: { of: line } } },
};

const pair = <T>(message: string, of: Codec<T>, value: T): readonly [string, Codec<unknown>, unknown] => [
  message,
  of as Codec<unknown>,
  value,
];

const values = [
  pair("Order", OrderCodec, order),
  pair("Order.Line", OrderLineCodec, line),
  pair("Order.Line.Tax", OrderLineTaxCodec, { ...tax, of: line }),
  pair("Order.Payment", OrderPaymentCodec, { kind: "cash", given: { coins: [{ cents: 3n }] } }),
  pair("Order.Key", OrderKeyCodec, { case: "line", value: line }),
  pair("Order.PageOfOrderLine", OrderPageCodec(OrderLineCodec), order.page),
  pair("StateReason", StateReasonCodec, reason),
  pair("Detail.Map", DetailMapCodec, map),
  pair("Basket", BasketCodec, basket),
  pair("Basket.Line", BasketLineCodec, { of: line, page: { items: [{ of: line }], order: "up" } }),
];

test.each(values)(
  "%s survives a round trip in the lockstep layout, in protobuf and in JSON",
  (_, codec: Codec<unknown>, value) => {
    expect(codec.decode(codec.encode(value))).toEqual(value);
    expect(codec.fromProtobuf(codec.toProtobuf(value))).toEqual(value);
    expect(codec.fromJson(JSON.parse(JSON.stringify(codec.toJson(value))))).toEqual(value);
  },
);

const input = goldenInput("namespaces");

describe.skipIf(peer("protoc") === undefined)("protoc", () => {
  const { folder, files } = emitInto(emitProto, input);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const protoc = (option: string, bytes: Uint8Array) => {
    const args = ["-I", path.join(folder, "proto"), option, ...protoFiles(files)];
    const { status, stdout, stderr } = runPeer("protoc", args, { input: bytes });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return stdout;
  };

  test.each(values)("reads and writes %s", (message, codec: Codec<unknown>, value) => {
    const text = protoc(`--decode=golden.v1.${message}`, codec.toProtobuf(value)).toString();
    // A field that protoc does not know has a number in place of a name.
    expect(text).not.toMatch(/^\s*\d+(:| \{)/m);
    const bytes = new Uint8Array(protoc(`--encode=golden.v1.${message}`, Buffer.from(text)));
    expect(codec.fromProtobuf(bytes)).toEqual(value);
  });

  test("uses the value names of nested enums that our JSON uses", () => {
    expect(protoc("--decode=golden.v1.Order.Line.Tax", OrderLineTaxCodec.toProtobuf(tax)).toString()).toBe(
      "rate: 0.5\nlevel: LEVEL_HIGH\n",
    );
    expect(protoc("--decode=golden.v1.StateReason", StateReasonCodec.toProtobuf(reason)).toString()).toBe(
      'why: "rain"\ncause: STATE_CAUSE_WEATHER\n',
    );
  });
});

test("JSON uses the protobuf names of enum values", () => {
  expect(OrderLineTaxCodec.toJson(tax)).toEqual({ rate: 0.5, level: "LEVEL_HIGH" });
  expect(OrderStatusCodec.toJson("open")).toEqual({ value: "STATUS_OPEN" });
  expect(OrderModeCodec.fromJson({ value: "MODE_SLOW" })).toBe(Order.Mode.Slow);
  expect(StateCauseCodec.toJson(State.Cause.Strike)).toEqual({ value: "STATE_CAUSE_STRIKE" });
  expect(StateCodec.toJson(State.Off)).toEqual({ value: "STATE_OFF" });
  expect(OrderLineLevelCodec.toJson(1)).toEqual({ value: "LEVEL_HIGH" });
  expect(OrderPageCodec(codec.string).toJson({ items: [], order: "up" })).toEqual({ order: "PAGE_ORDER_UP" });
});

test("a message in an Any is identified by its nested protobuf name", () => {
  const typeUrl = "type.googleapis.com/golden.v1.Order.Line.Tax";
  const any = { typeUrl, value: OrderLineTaxCodec.toProtobuf(tax) };
  const registry = [OrderLineTaxCodec, OrderCodec, StateReasonCodec];
  expect(codec.any.toJson(any, { registry })).toEqual({ "@type": typeUrl, rate: 0.5, level: "LEVEL_HIGH" });
  const beside = { typeUrl: "type.googleapis.com/golden.v1.StateReason", value: StateReasonCodec.toProtobuf(reason) };
  expect(codec.any.toJson(beside, { registry })).toMatchObject({ "@type": beside.typeUrl, why: "rain" });
});

test("generated codecs have the fingerprints of the compiler and of codecs composed by hand", () => {
  const { type } = fingerprint(indexSchema(input.schema));
  const codecs = { Order: OrderCodec, "Order.Line": OrderLineCodec, "Order.Key": OrderKeyCodec, State: StateCodec };
  const others = {
    "Order.Payment": OrderPaymentCodec,
    "Order.Status": OrderStatusCodec,
    "State.Cause": StateCauseCodec,
  };
  for (const [name, of] of Object.entries({ ...codecs, ...others })) {
    const wanted = type({ kind: "ref", target: `schemas/order.ts#${name}`, args: [] });
    expect(of.fingerprint, name).toBe(wanted);
  }
  const reason = codec.object("State.Reason", () => ({
    why: codec.string,
    cause: codec.enumeration("State.Cause", [1, 2]),
    level: codec.enumeration("Order.Line.Level", [0, 1]),
  }));
  expect(reason.fingerprint).toBe(StateReasonCodec.fingerprint);
});

test("the error for an invalid value names the qualified type", () => {
  const wrong = { ...line, count: 0.5 };
  expect(() => OrderLineCodec.encode(wrong)).toThrow(/^cannot encode Order\.Line\.count: invalid int32: /);
  expect(() => OrderCodec.toProtobuf({ ...order, lines: [wrong] })).toThrow(
    /^cannot encode Order\.lines\[0\]\.count: invalid int32: /,
  );
});

test("JSON Schema has a definition for each nested type, and references to it", () => {
  const { $defs } = jsonSchemaOf(input.lowered, "0.1.0") as { readonly $defs: Readonly<Record<string, unknown>> };
  expect(Object.keys($defs)).toEqual(
    expect.arrayContaining(["Order", "Order.Line", "Order.Line.Tax", "Order.Status", "StateReason", "Basket.Line"]),
  );
  expect($defs["Order"]).toMatchObject({
    properties: { lines: { items: { $ref: "#/$defs/Order.Line" } }, status: { $ref: "#/$defs/Order.Status" } },
  });
});

describe("a diagnostic of a name clash in protobuf", () => {
  const clashes = (text: string, more: Readonly<Record<string, string>> = {}) => {
    const texts = Object.entries({ "schemas/a.ts": text, ...more }).map(([path, text]) => ({ path, text }));
    const { diagnostics } = emitProto(inputOf(texts));
    return diagnostics.map(({ code, file, line, text }) => `${file}:${line} ${code} ${text}`);
  };

  test("names a field and a nested type of its message", () => {
    expect(
      clashes(`export interface Order { /** @name Line */ line: string }
export namespace Order { export interface Line { a: string } }`),
    ).toEqual([
      "schemas/a.ts:2 VC4010 cannot name Order.Line in protobuf: field Line of Order has the name golden.v1.Order.Line",
    ]);
  });

  test("names the entry type of a map and a nested type of its message", () => {
    expect(
      clashes(`export interface Order { lines: Record<string, string> }
export namespace Order { export interface LinesEntry { a: string } }`),
    ).toEqual([
      "schemas/a.ts:2 VC4010 cannot name Order.LinesEntry in protobuf: the entry of field lines of Order has the name golden.v1.Order.LinesEntry",
    ]);
  });

  test("names equal namespaces of two files, and a namespace and a type that differ only in case", () => {
    const file = (name: string) => `export namespace ${name} { export interface One { a: string } }`;
    expect(clashes(file("Order"), { "schemas/b.ts": file("Order").replace("One", "Two") })).toEqual([
      "schemas/b.ts:1 VC4010 cannot name namespace Order of schemas/b.ts in protobuf: namespace Order of schemas/a.ts has the name golden.v1.Order",
    ]);
    expect(clashes(`${file("order")}\nexport interface Order {}`)).toEqual([
      "schemas/a.ts:1 VC4010 cannot name namespace order of schemas/a.ts in protobuf: Order of schemas/a.ts has the name golden.v1.Order",
    ]);
  });

  test("names a type in the namespace of an enum and a type with the joined name", () => {
    expect(
      clashes(`export type State = "on" | "off";
export namespace State { export interface Reason { a: string } }
export interface StateReason { b: string }`),
    ).toEqual([
      "schemas/a.ts:3 VC4010 cannot name StateReason of schemas/a.ts in protobuf: State.Reason of schemas/a.ts has the name golden.v1.StateReason",
    ]);
  });

  test("names clashing enum values of one namespace, but not of two namespaces", () => {
    const enums = (first: string, second: string) => `
export namespace A { export enum ${first} { B_C = 1 } }
export namespace ${second} { export enum Color_B { C = 1 } }`;
    expect(clashes(enums("Color", "A"))).toEqual([
      "schemas/a.ts:3 VC4011 cannot name A.Color_B.C in protobuf: A.Color.B_C has the name golden.v1.A.COLOR_B_C, and the names of values are in the scope of their enum",
    ]);
    expect(clashes(enums("Color", "B"))).toEqual([]);
  });

  test("is not needed for an inline shape, whose message gets another name", () => {
    const { lowered } = inputOf([
      {
        path: "schemas/a.ts",
        text: `export namespace Order {
  export interface Line { meta: { a: string } }
  export interface LineMeta { b: string }
}
export interface OrderLine { line: Order.Line }`,
      },
    ]);
    expect([...lowered.schema.messages.keys()]).toEqual([
      "golden.v1.Order.Line",
      "golden.v1.Order.LineMeta2",
      "golden.v1.Order.LineMeta",
      "golden.v1.OrderLine",
    ]);
  });
});

test("Cap'n Proto names of types in namespaces are flat and unique", () => {
  const { schema, lock } = inputOf([
    {
      path: "schemas/a.ts",
      text: `export interface Order { line: Order.Line; other: OrderLine; state: State }
export namespace Order {
  export interface Line { a: string; level: Level }
  export enum Level { Low = "low" }
}
export interface OrderLine { b: string }
export type State = "on" | "off";
export namespace State { export interface Reason { why: string } }`,
    },
  ]);
  const [file] = lowerToCapnp({ schema, lock, schemaRoot: "schemas" }).files;
  expect(file?.types.map(({ name }) => name).sort()).toEqual([
    "Order",
    "OrderLevel",
    "OrderLine",
    "OrderLine2",
    "State",
    "StateReason",
  ]);
});

test("type names in a .proto file are short, and fully qualified where a nested type would hide them", () => {
  const text = `export interface Line { a: string }
export interface Mode { a: string }
export type Top = Line;
export type Other = Mode;
export interface Order { line: Order.Line; top: Top; other: Other; deep: Order.Mode.Kind }
export namespace Order {
  export interface Line { self?: Line; order?: Order; top: Top; kind: Mode.Kind }
  export namespace Mode { export type Kind = "a" | "b" }
}`;
  const [file] = emitProto(inputOf([{ path: "schemas/a.ts", text }])).files;
  const fields = String(file?.content).match(/^ +[\w.]+ \w+ = [1-9];$/gm);
  expect(fields?.map((field) => field.trim())).toEqual([
    ...["string a = 1;", "string a = 1;"],
    ...["Line line = 1;", ".golden.v1.Line top = 2;", ".golden.v1.Mode other = 3;", "Mode.Kind deep = 4;"],
    ...["Line self = 1;", "Order order = 2;", ".golden.v1.Line top = 3;", "Mode.Kind kind = 4;"],
  ]);
});
