/**
 * The options of composed codecs for the protobuf layout and JSON: numbers and names that do not follow from order and
 * names alone. They are the last argument, or are omitted.
 */
import { enumValueName } from "../../../../shared/protobuf/names.js";
import { flattenedCases } from "../../../model/flattened-oneof.js";
import type { Parameter } from "../../../model/schema.js";
import type { EnumValue, Field, TupleElement, Variant } from "../../../model/type.js";
import { type EnumShape, hasNumbers } from "../../../protobuf/form/form.js";
import {
  bracketed,
  type Code,
  numberArray,
  objectKey,
  objectLiteral,
  property,
  stringLiteral,
} from "../../kit/index.js";
import { inPropertyOrder } from "./lockstep/lockstep-layouts.js";

type OptionsArgument = readonly Code[];

/** @param fullName the full name of a message that other programs know */
export function objectProtoOptions(fields: readonly Field[], fullName?: string): OptionsArgument {
  const flat = fields.filter(({ type, optional }) => flattenedCases(type, optional) !== undefined);
  const unpacked = fields.filter(({ tags }) => tags.unpacked);
  return options([
    ...typeOf(fullName),
    ...numbersOf(inPropertyOrder(fields).map(({ id }) => id)),
    ...namesOf(fields),
    ...listOf("flat", flat),
    ...listOf("unpacked", unpacked),
  ]);
}

/** Returns the options of the cases of a oneof or of the parameters of a call. */
export function fieldsProtoOptions(fields: readonly (Field | Parameter)[], fullName?: string): OptionsArgument {
  return options([...typeOf(fullName), ...numbersOf(inPropertyOrder(fields).map(({ id }) => id)), ...namesOf(fields)]);
}

export function unionProtoOptions(variants: readonly Variant[], fullName?: string): OptionsArgument {
  const named = inPropertyOrder(variants.map(({ tag, id }) => ({ name: tag, id })));
  return options([...typeOf(fullName), ...numbersOf(named.map(({ id }) => id))]);
}

export function tupleProtoOptions(elements: readonly TupleElement[]): OptionsArgument {
  if (elements.every(({ name }) => name === undefined)) return [];
  const labels = elements.map(({ name }, i) => stringLiteral(name ?? `item${i + 1}`));
  return options([property("labels", bracketed(labels))]);
}

/**
 * Returns the options of an enum. The names of values derive from the schema's member names, which a codec does not
 * know.
 * @param fullName the full protobuf name of an inline enum, with which the names of its values begin
 */
export function enumProtoOptions(shape: EnumShape, ownName: string, fullName: string | undefined): OptionsArgument {
  const enumName = fullName?.slice(fullName.lastIndexOf(".") + 1) ?? ownName;
  const ids = hasNumbers(shape) ? [] : numbersOf(shape.values.map(({ id }) => id));
  const nameOf = ({ name, wireName }: Pick<EnumValue, "name" | "wireName">) =>
    wireName ?? enumValueName(enumName, name);
  const names = shape.values.flatMap((item) => {
    // The name is derived from the value, as in every union of literals.
    if (item.wireName === undefined && item.name === String(item.value)) return [];
    const own = nameOf(item);
    const byDefault = enumValueName(enumName, String(item.value));
    return own === byDefault ? [] : [property(objectKey(String(item.value)), stringLiteral(own))];
  });
  const aliases = shape.values.flatMap((item) =>
    (item.aliases ?? []).map((alias) => property(objectKey(nameOf(alias)), String(item.id))),
  );
  return options([
    ...typeOf(fullName),
    ...ids,
    ...(names.length === 0 ? [] : [property("names", objectLiteral(names))]),
    ...(aliases.length === 0 ? [] : [property("aliases", objectLiteral(aliases))]),
  ]);
}

function typeOf(fullName: string | undefined): readonly Code[] {
  return fullName === undefined ? [] : [property("type", stringLiteral(fullName))];
}

function numbersOf(ids: readonly number[]): readonly Code[] {
  return ids.every((id, i) => id === i + 1) ? [] : [property("numbers", numberArray(ids.map(String)))];
}

function listOf(what: string, fields: readonly Field[]): readonly Code[] {
  if (fields.length === 0) return [];
  return [property(what, bracketed(fields.map(({ name }) => stringLiteral(name))))];
}

function namesOf(fields: readonly (Field | Parameter)[]): readonly Code[] {
  const named = fields.flatMap((field) =>
    "wireName" in field && field.wireName !== undefined
      ? [property(objectKey(field.name), stringLiteral(field.wireName))]
      : [],
  );
  const json = fields.flatMap((field) =>
    "tags" in field && field.tags.json !== undefined
      ? [property(objectKey(field.name), stringLiteral(field.tags.json))]
      : [],
  );
  return [
    ...(named.length === 0 ? [] : [property("names", objectLiteral(named))]),
    ...(json.length === 0 ? [] : [property("json", objectLiteral(json))]),
  ];
}

function options(entries: readonly Code[]): OptionsArgument {
  return entries.length === 0 ? [] : [objectLiteral(entries)];
}
