/**
 * Comments that disable rules of buf's default set where a schema prescribes a name or a number that violates a rule.
 * The comments are empty where no rule is violated.
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

/** @param enumName the name of the enum in the file */
export function lintOfValue(enumName: string, { name, number }: ProtoEnumValue): string {
  const left: string[] = [];
  if (!isUpperSnake(name)) left.push("ENUM_VALUE_UPPER_SNAKE_CASE");
  if (!name.startsWith(`${upperSnake(enumName)}_`)) left.push("ENUM_VALUE_PREFIX");
  if (number === 0 && !name.endsWith("_UNSPECIFIED")) left.push("ENUM_ZERO_VALUE_SUFFIX");
  return left.map(ignore).join("\n");
}

/** The comment that disables a rule of buf's linter. The name of the rule follows. */
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

/** Converts a name to upper snake case like buf does. */
function upperSnake(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_").toUpperCase();
}
