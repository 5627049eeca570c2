/** The type of a state as text, and what keeps a checkpoint of one type from being read as another. */
import { describe, expect, test } from "vitest";
import type { SavedState } from "../../../runtime/actor/reference/saved-state.js";
import { readSchema } from "../../../runtime/actor/schema/schema-text.js";
import { describeState, stateDifferences } from "../../../runtime/actor/schema/state-schema.js";
import type { Codec } from "../../../runtime/wire/codec.js";
import { codec } from "../../../runtime/wire/composed/index.js";

const state = codec.object("CounterState", { count: codec.int32 });

const saved = (by: Codec<never>): SavedState =>
  ({ fingerprint: by.fingerprint, schema: describeState(by as Codec<unknown>) }) as SavedState;
const differences = (from: Codec<never>, to: Codec<never>) => stateDifferences(to as Codec<unknown>, saved(from));

describe("the description of a state", () => {
  test("has its type and the types that it refers to", () => {
    const nested = codec.object("Tally", { counters: codec.array(state) });
    const { messages, enums, services } = readSchema(describeState(nested as Codec<unknown>));
    expect([...messages.keys()]).toEqual(["Tally", "CounterState"]);
    expect([enums.size, services.size]).toEqual([0, 0]);
    expect(messages.get("CounterState")!.fields).toMatchObject([{ name: "count" }]);
  });
});

describe("a checkpoint", () => {
  test("of the same type is read without a look at its description", () => {
    const { fingerprint } = state;
    expect(stateDifferences(state as Codec<unknown>, { fingerprint, schema: "damaged" } as SavedState)).toBe(undefined);
  });

  test("whose description is damaged says why it cannot be read", () => {
    const damaged = { fingerprint: 1n, schema: '{"messages":{}}' } as SavedState;
    expect(stateDifferences(state as Codec<unknown>, damaged)).toBe(
      " its description cannot be read: expected a list of types, got object",
    );
  });

  test("with several fields of other types names each of them on a line of its own", () => {
    const before = codec.object("CounterState", { count: codec.int32, name: codec.string, other: codec.string });
    const after = codec.object("CounterState", { count: codec.string, name: codec.int32, other: codec.string });
    const why = "neither side finds the other's value, which has another wire type";
    expect(differences(before as Codec<never>, after as Codec<never>)).toBe(
      `\n  VC5001 field-type-changed at CounterState.count: its type was int32 and is string: ${why}` +
        `\n  VC5001 field-type-changed at CounterState.name: its type was string and is int32: ${why}`,
    );
  });

  test("without messages in its description has nothing to compare, so its bytes decide", () => {
    const bare = { fingerprint: 1n, schema: '{"messages":[],"enums":[],"services":[]}' } as SavedState;
    expect(stateDifferences(state as Codec<unknown>, bare)).toBe(undefined);
    expect(stateDifferences(codec.int32 as Codec<unknown>, saved(state as Codec<never>))).toBe(undefined);
  });

  test("can be newer or older than its reader", () => {
    const wider = codec.object("CounterState", { count: codec.int32, step: codec.optional(codec.int32) });
    expect(differences(state as Codec<never>, wider as Codec<never>)).toBe(undefined);
    expect(differences(wider as Codec<never>, state as Codec<never>)).toBe(undefined);
  });

  test("is compared although its type has been renamed", () => {
    const renamed = codec.object("Tally", { count: codec.string });
    expect(differences(state as Codec<never>, renamed as Codec<never>)).toMatch(/^\n {2}VC\d+ \S+ at \w+\.count: /);
    const same = codec.object("Tally", { count: codec.int32 });
    expect(differences(state as Codec<never>, same as Codec<never>)).toBe(undefined);
  });
});
