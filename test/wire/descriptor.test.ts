/** Descriptors of actor interfaces: properties that generated code leaves out have their defaults. */
import { describe, expect, test } from "vitest";
import type { EndpointInterceptor } from "../../runtime/wire/endpoint-interceptor.js";
import { type Codec, codec, defineActor, defineArgs } from "../../runtime/wire/index.js";

const none = defineArgs(codec.parameters("none", {}) as Codec<readonly unknown[]>, 0, 0);
const one = defineArgs(codec.parameters("one", { a: codec.int32 }) as Codec<readonly unknown[]>, 0, 1);
const base = { key: "p/a#Counter", name: "Counter", id: 7, fingerprint: 5n };

test("an actor without options has the default service name and extends no other actor", () => {
  const actor = defineActor({ ...base, args: () => one, endpoints: () => ({}) });
  expect(actor).toMatchObject({
    ...base,
    service: "CounterService",
    minArgs: 0,
    maxArgs: 1,
    endpoints: [],
    extends: [],
  });
  expect(actor.args).toBe(one.codec);
  const parent = () => actor;
  const named = defineActor({
    ...base,
    service: "acme.v1.Counters",
    args: () => none,
    endpoints: () => ({}),
    extends: [parent],
  });
  expect(named.service).toBe("acme.v1.Counters");
  expect(named.extends).toEqual([parent]);
});

test("arguments and endpoints are resolved once, on first use", () => {
  const asked: string[] = [];
  const actor = defineActor({
    ...base,
    args() {
      asked.push("args");
      return one;
    },
    endpoints() {
      asked.push("endpoints");
      return { add: { id: 1, args: one } };
    },
  });
  expect(asked).toEqual([]);
  expect([actor.minArgs, actor.maxArgs, actor.args, actor.args]).toEqual([0, 1, one.codec, one.codec]);
  expect(actor.endpoints).toBe(actor.endpoints);
  expect(asked).toEqual(["args", "endpoints"]);
});

describe("an endpoint", () => {
  const endpoint = (definition: object) =>
    defineActor({ ...base, args: () => none, endpoints: () => ({ addAll: { id: 3, args: one, ...definition } }) })
      .endpoints;

  test("without options has no stream, no result and no concurrency", () => {
    expect(endpoint({})).toStrictEqual([
      {
        ...{ name: "addAll", method: "AddAll", id: 3, args: one.codec, minArgs: 0, maxArgs: 1, result: undefined },
        ...{ stream: false, concurrent: false, idempotent: false, respond: false },
      },
    ]);
  });

  test("has the properties that the generated code gives", () => {
    const said = {
      ...{ method: "Sum", result: codec.int32, stream: true, concurrent: 4, idempotent: true, respond: true },
      ...{ timeout: 100, reduce: "sum" },
    };
    expect(endpoint(said)).toStrictEqual([{ name: "addAll", id: 3, args: one.codec, minArgs: 0, maxArgs: 1, ...said }]);
  });

  test("with retainable results is followed by a hidden endpoint for retaining calls", () => {
    const interceptor = {
      retainsResults: true,
      retainingArguments: (args: Codec<readonly unknown[]>) =>
        codec.tuple(codec.int32, args) as Codec<readonly unknown[]>,
      retainedResult: codec.string as Codec<unknown>,
    } as Partial<EndpointInterceptor> as EndpointInterceptor;
    const [plain, retaining, ...more] = endpoint({ interceptor, result: codec.tensor() });
    expect(more).toEqual([]);
    expect(plain).toMatchObject({ name: "addAll", id: 3, interceptor });
    expect(retaining).toMatchObject({
      ...{ name: "addAll, kept", method: "AddAllKept", id: 3 + 0x4000_0000, minArgs: 2, maxArgs: 2 },
      ...{ result: interceptor.retainedResult, retains: plain, interceptor },
    });
    expect(retaining?.args.name).toBe(`[int32, ${one.codec.name}]`);
    expect(endpoint({ interceptor: { ...interceptor, retainsResults: false } })).toHaveLength(1);
  });
});

test("an actor with the id of an actor of another package is refused, and a renamed one of the same package is not", () => {
  const rest = { name: "Clock", fingerprint: 5n, args: () => none, endpoints: () => ({}) };
  defineActor({ ...rest, key: "@acme/clocks/schemas/clock#Clock", id: 0xc10c });
  defineActor({ ...rest, key: "@acme/clocks/schemas/time#Watch", id: 0xc10c });
  expect(() => defineActor({ ...rest, key: "@acme/copies/schemas/clock#Clock", id: 0xc10c })).toThrow(
    new Error(
      "cannot register @acme/copies/schemas/clock#Clock: @acme/clocks/schemas/time#Watch has the same id, because one of the " +
        "packages has a copy of the other's lock; remove the block of the actor from viceroy.lock of the package that is not " +
        "in use yet, and run `npx viceroy compile` there, got id 0x0000c10c",
    ),
  );
});
