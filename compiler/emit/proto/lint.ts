/**
 * Comments that tell buf's linter where a rule of its default set is left on purpose: because a schema gives a name or a
 * number that the rule does not want. Empty where there is nothing to tell.
 */
import type { ProtoEnumValue } from "../../../shared/protobuf/proto-schema.js";

export function lintOfField(name: string): string {
  return isLowerSnake(name) ? "" : ignore("FIELD_LOWER_SNAKE_CASE");
}

export function lintOfOneof(name: string): string {
  return isLowerSnake(name) ? "" : ignore("ONEOF_LOWER_SNAKE_CASE");
}

export function lintOfEnum(values: readonly ProtoEnumValue[]): string {
  const numbers = new Set(values.map(({ number }) => number));
  return numbers.size < values.length ? ignore("ENUM_NO_ALLOW_ALIAS") : "";
}

/** @param enumName as the file has it */
export function lintOfValue(enumName: string, { name, number }: ProtoEnumValue): string {
  const left: string[] = [];
  if (!isUpperSnake(name)) left.push("ENUM_VALUE_UPPER_SNAKE_CASE");
  if (!name.startsWith(`${upperSnake(enumName)}_`)) left.push("ENUM_VALUE_PREFIX");
  if (number === 0 && !name.endsWith("_UNSPECIFIED")) left.push("ENUM_ZERO_VALUE_SUFFIX");
  return left.map(ignore).join("\n");
}

/** The comment that turns off a rule of buf's linter; the name of the rule follows it. */
export const lintMark = "buf:lint:ignore ";

function ignore(rule: string): string {
  return lintMark + rule;
}

function isLowerSnake(name: string): boolean {
  return /^[a-z0-9]+(_[a-z0-9]+)*$/.test(name);
}

function isUpperSnake(name: string): boolean {
  return /^[A-Z0-9]+(_[A-Z0-9]+)*$/.test(name);
}

/** As buf takes a name apart. */
function upperSnake(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_").toUpperCase();
}
