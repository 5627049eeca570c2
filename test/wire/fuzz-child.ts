/**
 * Decodes mutated messages: `node --max-old-space-size=… fuzz-child.js <layout> <script of generated code> <schema> <how many> <seed>`.
 * Prints one line of JSON with counts; ends with an error at the first message that is not either decoded, within the
 * memory that the layout promises, or refused with a CodecError.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Schema } from "../../compiler/model/index.js";
import { indexSchema } from "../../compiler/model/resolve.js";
import { CodecError, type GeneratedCodec } from "../../runtime/wire/index.js";
import { flatName } from "../../shared/names/qualified-name.js";
import { randomNumbers } from "../random.js";
import { weight } from "./memory-weight.js";
import { mutate } from "./mutate.js";
import { RandomValues } from "./random-values.js";
import { runGenerated } from "./run-generated.js";

const [, , layout, script, schemaFile, count, seed] = process.argv as unknown as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
const isProtobuf = layout === "protobuf";
/** Bytes of memory for a byte of message, and on top: in the protobuf layout no bytes are a message with all members. */
const [heaviestAllowed, onTop] = isProtobuf ? [1024, 4096] : [256, 1024];
const random = randomNumbers(Number(seed));
const schema = JSON.parse(readFileSync(schemaFile, "utf8")) as Schema;
const values = new RandomValues(indexSchema(schema), random);
const codecs = runGenerated(readFileSync(script, "utf8"));

interface Subject {
  readonly codec: GeneratedCodec<unknown>;
  /** Valid messages, and mutated ones that were accepted. */
  readonly messages: Uint8Array[];
}

const subjects = schema.modules.flatMap(({ types }) =>
  types.flatMap(({ name, key, typeParameters }): Subject[] => {
    const codec = typeParameters.length === 0 ? codecs.get(`${flatName(name)}Codec`) : undefined;
    if (codec === undefined) return [];
    const type = { kind: "ref", target: key, args: [] } as const;
    return [{ codec, messages: Array.from({ length: 40 }, () => written(codec, values.value(type))) }];
  }),
);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

let accepted = 0;
let heaviest = 0;
for (let i = 0; i < Number(count); i++) {
  const { codec, messages } = pick(subjects);
  const bytes = mutate(pick(messages), random);
  try {
    tryOne(codec, bytes, messages);
  } catch (error) {
    const message = Buffer.from(bytes).toString("hex");
    throw new Error(`message ${i} for ${codec.name} with seed ${seed}: ${message}`, { cause: error });
  }
}
process.stdout.write(`${JSON.stringify({ count: Number(count), accepted, heaviest, subjects: subjects.length })}\n`);

function tryOne(codec: GeneratedCodec<unknown>, bytes: Uint8Array, messages: Uint8Array[]): void {
  let value: unknown;
  try {
    value = isProtobuf ? codec.fromProtobuf(bytes) : codec.decode(bytes, { views: random() < 0.3 });
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    return;
  }
  accepted++;
  const times = (weight(value) - onTop) / bytes.length;
  heaviest = Math.max(heaviest, times);
  if (times > heaviestAllowed) throw new Error(`${bytes.length} bytes became about ${weight(value)}`);
  // An accepted message is a value: it can be encoded and decoded again.
  const again = encoded(codec, value);
  if (again !== undefined) assert.deepStrictEqual(isProtobuf ? codec.fromProtobuf(again) : codec.decode(again), value);
  if (bytes.length < 4096) messages[Math.floor(random() * messages.length)] = bytes;
}

function written(codec: GeneratedCodec<unknown>, value: unknown): Uint8Array {
  return isProtobuf ? codec.toProtobuf(value) : codec.encode(value);
}

/** Undefined for text with lone surrogates, which readers do not look for. */
function encoded(codec: GeneratedCodec<unknown>, value: unknown): Uint8Array | undefined {
  try {
    return written(codec, value);
  } catch (error) {
    if (error instanceof CodecError && error.reason.includes("lone surrogates")) return undefined;
    throw error;
  }
}
