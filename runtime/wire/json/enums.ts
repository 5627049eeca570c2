/** Enums in the JSON mapping: the names of the values in protobuf, or the number of a value without a name. */
import type { JsonValue } from "../../../shared/vocabulary.js";
import type { Codec } from "../codec.js";
import { invalidValue } from "../codec-refusal.js";
import { enumStructureOf } from "../protobuf/message-structure.js";
import { type ProtoEnumForm, protoFormOf } from "../protobuf/proto-form.js";
import { parseInteger } from "./number.js";

/** The result of reading an unknown name that is ignored. */
export const unknownName: unique symbol = Symbol("a name that the enum does not have");

export function enumTextOf(codec: Codec<unknown>, number: number): JsonValue {
  const { values } = enumStructureOf(codec);
  return values.find((value) => value.number === number)?.name ?? number;
}

/** @param ignoreUnknown whether an unknown name is read as `unknownName` instead of being refused */
export function readEnum(codec: Codec<unknown>, json: unknown, ignoreUnknown: boolean): unknown {
  const form = protoFormOf(codec) as ProtoEnumForm;
  if (typeof json === "number") {
    const number = Number(parseInteger(json) ?? Number.NaN);
    if (number !== (number | 0)) throw unknownNameError(codec, json);
    return form.valueOf(number);
  }
  const { values } = enumStructureOf(codec);
  const found = values.find(({ name }) => name === json);
  if (found !== undefined) return form.valueOf(found.number);
  if (ignoreUnknown && typeof json === "string") return unknownName;
  throw unknownNameError(codec, json);
}

function unknownNameError(codec: Codec<unknown>, json: unknown): Error {
  const names = enumStructureOf(codec).values.map(({ name }) => name);
  const shown =
    names.length > 8 ? `${names.slice(0, 8).join(", ")} or one of ${names.length - 8} more` : names.join(", ");
  return invalidValue(codec.name || "enum", `one of ${shown}, or a number`, json);
}
