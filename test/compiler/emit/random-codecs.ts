/** Random schemas with their codecs, what they are in protobuf, and values: for comparing with others. */
import fc from "fast-check";
import type { ArtefactInput } from "../../../compiler/emit/artefact.js";
import { assignIds } from "../../../compiler/lock/index.js";
import { indexSchema } from "../../../compiler/model/resolve.js";
import type { LoweredSchema } from "../../../compiler/protobuf/lower/lowered-schema.js";
import type { Codec } from "../../../runtime/wire/index.js";
import { randomNumbers } from "../../random.js";
import { randomSchema } from "../../wire/random-schema.js";
import { RandomValues } from "../../wire/random-values.js";
import { Composer } from "./compose.js";
import { inputOfSchema } from "./proto/lowered.js";

/** Years of RFC 3339, in milliseconds since 1970. */
const dates = [0, -1, 1.7e12, -62135596800000, 253402300799999];

export interface RandomCodec {
  readonly codec: Codec<unknown>;
  /** The full name of the message that it writes. */
  readonly message: string;
  readonly values: readonly unknown[];
}

export interface RandomCodecs {
  readonly input: ArtefactInput;
  readonly lowered: LoweredSchema;
  readonly codecs: readonly RandomCodec[];
}

/** @param count of schemas; of each, `perType` values for each type that is a message by its own name */
export function* randomCodecs(count: number, seed: number, perType: number): Iterable<RandomCodecs> {
  for (const [i, plain] of fc.sample(randomSchema, { numRuns: count, seed }).entries()) {
    const { schema, lock } = assignIds(plain);
    const input = inputOfSchema(schema, lock, `random${i}.v1`);
    const { lowered } = input;
    // Names that are one in protobuf are refused when a project is compiled.
    if (lowered.clashes.length > 0) continue;
    const composer = new Composer(indexSchema(schema), lowered.enumNames);
    const values = new RandomValues(indexSchema(schema), randomNumbers(seed + i), dates);
    const codecs = schema.modules
      .flatMap(({ types }) => types)
      .flatMap(({ name, key }): RandomCodec[] => {
        const message = `${lowered.package}.${name}`;
        if (!lowered.schema.messages.has(message)) return [];
        const of = { kind: "ref", target: key, args: [] } as const;
        return [{ codec: composer.type(of), message, values: Array.from({ length: perType }, () => values.value(of)) }];
      });
    yield { input, lowered, codecs };
  }
}
