/** protobuf-es, which gets only a description of the codecs, writes the same JSON for the same bytes and reads it. */
import assert from "node:assert/strict";
import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "vitest";
import { indexSchema } from "../../../compiler/model/resolve.js";
import { describeCodecs } from "../../../runtime/wire/protobuf/describe-schema.js";
import { flatName } from "../../../shared/names/qualified-name.js";
import { randomNumbers } from "../../random.js";
import { loadGenerated } from "../load-generated.js";
import { randomSchema } from "../random-schema.js";
import { RandomValues } from "../random-values.js";
import { EsSchema } from "./protobuf-es.js";

/** Times within the years that RFC 3339 allows, in milliseconds since 1970. */
const dates = [0, -1, 1.7e12, -62135596800000, 253402300799000];

test("protobuf-es writes the same JSON for random schemas, and reads the JSON of Viceroy", async () => {
  const property = fc.asyncProperty(randomSchema, fc.integer(), async (schema, seed) => {
    const codecs = await loadGenerated(schema);
    const values = new RandomValues(indexSchema(schema), randomNumbers(seed), dates);
    for (const { name, key } of schema.modules.flatMap(({ types }) => types)) {
      const codec = codecs.get(`${flatName(name)}Codec`);
      if (codec === undefined) continue;
      const description = describeCodecs([codec]);
      const [root = ""] = description.messages.keys();
      const es = new EsSchema(description);
      const message = es.message(root);
      const { registry } = es;
      for (let i = 0; i < 5; i++) {
        const value = values.value({ kind: "ref", target: key, args: [] });
        const json = codec.toJson(value) as JsonValue;
        // protobuf-es keeps maps in objects with a prototype, so it loses the key `__proto__`.
        if (JSON.stringify(json).includes('"__proto__"')) continue;
        const bytes: Uint8Array = codec.toProtobuf(value);
        assert.deepStrictEqual(toJson(message, fromBinary(message, bytes), { registry }), json);
        const read = fromJson(message, json, { registry });
        assert.deepStrictEqual(codec.fromProtobuf(toBinary(message, read)), codec.fromProtobuf(bytes));
      }
    }
  });
  await fc.assert(property, {
    numRuns: Number(process.env["VICEROY_SCHEMAS"] ?? 40),
    endOnFailure: process.env["VICEROY_SHRINK"] === undefined,
  });
});
