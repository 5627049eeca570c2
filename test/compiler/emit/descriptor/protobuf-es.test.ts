/**
 * protobuf-es, given only our descriptor set, reads our messages and writes messages that we read: bytes and JSON, for
 * values of random schemas.
 */
import assert from "node:assert";
import {
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { descriptorSet } from "../../../../compiler/emit/descriptor/index.js";
import type { LoweredSchema } from "../../../../compiler/protobuf/lower/lowered-schema.js";
import { cases } from "../../../profile.js";
import { randomCodecs } from "../random-codecs.js";

function registryOf(lowered: LoweredSchema) {
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet(lowered, "0.1.0")));
}

test("protobuf-es decodes our bytes of random values, and we decode the bytes that it encodes", () => {
  let count = 0;
  for (const { lowered, codecs } of randomCodecs(cases(40), 11, 10)) {
    const registry = registryOf(lowered);
    for (const { codec, message, values } of codecs) {
      const desc = registry.getMessage(message) as DescMessage;
      for (const value of values) {
        const theirs = fromBinary(desc, codec.toProtobuf(value));
        expect(theirs.$unknown ?? []).toEqual([]);
        assert.deepStrictEqual(codec.fromProtobuf(toBinary(desc, theirs)), value);
        count++;
      }
    }
  }
  expect(count).toBeGreaterThan(cases(40) * 10);
});

test("our JSON of random values equals the JSON that protobuf-es writes for their bytes", () => {
  let count = 0;
  for (const { lowered, codecs } of randomCodecs(cases(60), 12, 10)) {
    const registry = registryOf(lowered);
    for (const { codec, message, values } of codecs) {
      const desc = registry.getMessage(message) as DescMessage;
      for (const value of values) {
        const json = toJson(desc, fromBinary(desc, codec.toProtobuf(value)), { registry });
        assert.deepEqual(codec.toJson(value), json);
        assert.deepEqual(
          codec.fromJson(toJson(desc, fromJson(desc, codec.toJson(value) as JsonValue, { registry }), { registry })),
          value,
        );
        count++;
      }
    }
  }
  expect(count).toBeGreaterThan(cases(40) * 10);
});
