/** These tests check schemas as text: a written schema is read back, and any other text is refused. */
import { expect, test } from "vitest";
import { readSchema, writeSchema } from "../../../runtime/actor/schema/schema-text.js";
import { describeActor } from "../../../runtime/wire/protobuf/describe-schema.js";
import { counterDescriptor } from "../counter.js";

test("a schema that is written as text is read back unchanged", () => {
  const schema = describeActor(counterDescriptor);
  expect(schema.messages.size).toBeGreaterThan(0);
  expect(schema.services.size).toBeGreaterThan(0);
  expect(readSchema(writeSchema(schema))).toEqual(schema);
});

test("enums are read with their values", () => {
  const kind = { name: "Kind", values: [{ name: "A", number: 0 }] };
  const text = JSON.stringify({ messages: [], enums: [["Kind", kind]], services: [] });
  expect(readSchema(text)).toEqual({ messages: new Map(), enums: new Map([["Kind", kind]]), services: new Map() });
});

const empty = { messages: [], enums: [], services: [] };

test.each<[unknown, string]>([
  [null, "expected a schema as an object, got null"],
  [5, "expected a schema as an object, got number"],
  ["text", "expected a schema as an object, got string"],
  [{}, "expected a list of types, got undefined"],
  [{ ...empty, messages: {} }, "expected a list of types, got object"],
  [{ ...empty, messages: ["M"] }, "expected a name with a type, got string"],
  [{ ...empty, messages: [[5, {}]] }, "expected the name of a type, got number"],
  [{ ...empty, messages: [["M", null]] }, "expected M as an object, got null"],
  [{ ...empty, messages: [["M", "x"]] }, "expected M as an object, got string"],
  [{ ...empty, messages: [["M", {}]] }, "expected M.fields, got undefined"],
  [{ ...empty, messages: [["M", { fields: [null] }]] }, "expected a member of M as an object, got null"],
  [{ ...empty, messages: [["M", { fields: [1] }]] }, "expected a member of M as an object, got number"],
  [{ ...empty, enums: [["E", { fields: [] }]] }, "expected E.values, got undefined"],
  [{ ...empty, services: [["S", { values: [] }]] }, "expected S.methods, got undefined"],
])("%j is refused as a schema", (value, message) => {
  expect(() => readSchema(JSON.stringify(value))).toThrow(new TypeError(message));
});

test("text that is not JSON is refused as a schema", () => {
  expect(() => readSchema("{")).toThrow(SyntaxError);
});
