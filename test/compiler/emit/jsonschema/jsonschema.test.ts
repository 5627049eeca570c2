/** The JSON Schema accepts the output of `toJson` for random values, and refuses JSON that `fromJson` refuses. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { emitJsonSchema, jsonSchemaOf } from "../../../../compiler/emit/jsonschema/index.js";
import { indexSchema } from "../../../../compiler/model/resolve.js";
import type { LoweredSchema } from "../../../../compiler/protobuf/lower/lowered-schema.js";
import type { Codec, JsonValue } from "../../../../runtime/wire/index.js";
import { cases } from "../../../profile.js";
import { Composer } from "../compose.js";
import { inputOfCase } from "../proto/cases.js";
import { randomCodecs } from "../random-codecs.js";

/** Validators by full name of message. */
function validators(lowered: LoweredSchema): (message: string) => ValidateFunction {
  // A field may be called `constructor`, so inherited properties must not count.
  const lenient = { strictTypes: false, strictRequired: false };
  const ajv = new Ajv2020({ strict: true, ...lenient, ownProperties: true, formats: { "date-time": true } });
  const schema = jsonSchemaOf(lowered, "0.1.0") as { readonly $id: string };
  ajv.addSchema(schema);
  return (message) => {
    const key = message.slice(lowered.package.length + 1);
    return ajv.compile({ $ref: `${schema.$id}#/$defs/${key}` });
  };
}

test("JSON of random values is valid against the JSON Schema", () => {
  let count = 0;
  for (const { lowered, codecs } of randomCodecs(cases(40), 21, 10)) {
    const validatorOf = validators(lowered);
    for (const { codec, message, values } of codecs) {
      const validate = validatorOf(message);
      for (const value of values) {
        const json: unknown = JSON.parse(JSON.stringify(codec.toJson(value)));
        expect({ json, valid: validate(json), errors: validate.errors }).toEqual({ json, valid: true, errors: null });
        count++;
      }
    }
  }
  expect(count).toBeGreaterThan(cases(40) * 5);
});

test("JSON in which a member is missing is valid only if fromJson accepts it", () => {
  let refused = 0;
  for (const { lowered, codecs } of randomCodecs(cases(40), 23, 10)) {
    const validatorOf = validators(lowered);
    for (const { codec, message, values } of codecs) {
      const validate = validatorOf(message);
      for (const value of values) {
        for (const json of withoutOne(codec.toJson(value))) {
          const why = refusal(codec, json);
          // Without a member two keys of a map can be equal, which JSON Schema cannot express.
          if (why === undefined || why.endsWith("a key is in it twice")) continue;
          refused++;
          expect({ json, why, valid: validate(json) }).toEqual({ json, why, valid: false });
        }
      }
    }
  }
  expect(refused).toBeGreaterThan(cases(40));
});

function refusal(codec: Codec<unknown>, json: unknown): string | undefined {
  try {
    codec.fromJson(json);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Copies of some JSON, each without one of the members of its objects. */
function* withoutOne(json: JsonValue): Generator<JsonValue> {
  if (typeof json !== "object" || json === null) return;
  const entries = Object.entries(json);
  for (const [i, [key, inner]] of entries.entries()) {
    if (!Array.isArray(json)) yield Object.fromEntries(entries.filter((_, other) => other !== i));
    for (const less of withoutOne(inner)) {
      if (Array.isArray(json)) yield json.with(i, less);
      else yield Object.fromEntries(entries.map((entry) => (entry[0] === key ? [key, less] : entry)));
    }
  }
}

describe("the JSON Schema of the messages case", () => {
  const { schema, lowered } = inputOfCase("messages");
  const validatorOf = validators(lowered);
  const index = indexSchema(schema);

  test.each<[type: string, wrong: unknown, right: unknown]>([
    ["Inner", { id: 1 }, { id: "1" }],
    ["Inner", { id: "-1" }, { id: "18446744073709551615" }],
    ["Inner", { id: "01" }, { id: "0" }],
    ["Inner", { unknown: 1 }, {}],
    ["Inner", [], {}],
    ["Position", { x: "1" }, { x: "NaN" }],
    ["Position", { x: "infinity" }, { x: "-Infinity", y: 0.5 }],
    ["Key", {}, { id: "7" }],
    ["Key", { id: "7", name: "x" }, { name: "" }],
    ["Shape", { kind: "circle" }, { circle: {} }],
    ["Shape", { circle: { radius: null } }, { many: { shapes: [{ square: { side: 2 } }] } }],
    ["Rows", { items: {} }, { items: [{}] }],
    ["Row", { items: ["x"] }, { items: [1, "NaN"] }],
    ["Names", { x1y2: 2147483648 }, { x1y2: 2147483647 }],
    ["Names", { x1y2: 0.5 }, { x1y2: -2147483648 }],
    ["Names", { httpServer: 5 }, { httpServer: "" }],
    ["Names", { google: "yesterday" }, { google: "2020-01-01T00:00:00Z" }],
    ["Names", { item: { a: 1 } }, { item: { a: { value: "x" } } }],
  ])("has a definition of %s that refuses %j and accepts %j", (type, wrong, right) => {
    const validate = validatorOf(`${lowered.package}.${type}`);
    const codec = new Composer(index).type({ kind: "ref", target: `schemas/messages.ts#${type}`, args: [] });
    expect(validate(wrong)).toBe(false);
    expect(validate(right)).toBe(true);
    expect(() => codec.fromJson(right)).not.toThrow();
  });
});

test("definitions contain the documentation of the schema, and a handle accepts no JSON", () => {
  const { $defs, $id, $comment } = jsonSchemaOf(inputOfCase("messages").lowered, "0.1.0") as {
    readonly $id: string;
    readonly $comment: string;
    readonly $defs: Readonly<Record<string, { readonly description?: string; readonly properties?: unknown }>>;
  };
  expect({ $id, $comment }).toEqual({
    $id: "urn:viceroy:golden.v1",
    $comment: "Generated by viceroy 0.1.0. Do not edit: run `npx viceroy compile`.",
  });
  expect($defs["MaybeRows"]).toEqual({
    description: "May be nothing.",
    type: "object",
    properties: { value: { $ref: "#/$defs/Rows" } },
    additionalProperties: false,
  });
  expect($defs["viceroy.handle.v1.Port"]).toMatchObject({ not: {} });
});

test("the definitions of the emitted JSON Schema are sorted by name", () => {
  const { files } = emitJsonSchema(inputOfCase("enums"));
  const { $defs } = JSON.parse(String(files[0]?.content)) as { readonly $defs: object };
  expect(Object.keys($defs)).toEqual([...Object.keys($defs)].sort());
});
