/**
 * Generates the code of messages. The fields are a row. Optional fields are added to an object that has all required
 * fields.
 */
import type { Field } from "../../../../model/type.js";
import {
  assignment,
  code,
  conditional,
  destructuring,
  globalName,
  propertyKey,
  shorthand,
  stringLiteral,
} from "../../../kit/index.js";
import { buildObject, type ConstantProperty, isInherited, shadowsInherited } from "../object-code.js";
import { localFor, type MethodBody, refuseIf } from "./body.js";
import type { RowItem } from "./row-item.js";
import { readRow } from "./row-reader.js";
import { writeRow } from "./row-writer.js";

export function writeMessage(body: MethodBody, fields: readonly Field[]): void {
  body.file.line(code`${body.io}.requireObject(${body.value});`);
  writeFields(body, fields);
}

/** Writes the fields of `body.value`, which is an object. */
export function writeFields(body: MethodBody, fields: readonly Field[]): void {
  const { file, scope, value, layouts } = body;
  const row = layouts.row(fields);
  const items = rowItems(body, fields, row.slots);
  const shadowing = new Map(
    items.filter((_, i) => shadowsInherited(fields[i]!)).map((item) => [item, scope.name(`${item.value.wanted}Found`)]),
  );
  const isOwn = (name: string) => code`${globalName("Object")}.hasOwn(${value}, ${stringLiteral(name)})`;
  if (fields.some(isInherited)) refuseIf(body, code`!${isOwn("__proto__")}`);
  if (items.length > 0) {
    const pattern = items.map((item) => shorthand(propertyKey(item.name), shadowing.get(item) ?? item.value));
    file.line(destructuring(pattern, value));
  }
  for (const [item, found] of shadowing) {
    file.line(assignment(code`const ${item.value}`, conditional(isOwn(item.name), found, "undefined")), ";");
  }
  writeRow(body, row, items);
}

/** Reads the fields and returns an object of type `body.type`. */
export function readFields(body: MethodBody, fields: readonly Field[], constant?: ConstantProperty): void {
  const row = body.layouts.row(fields);
  const items = rowItems(body, fields, row.slots);
  readRow(body, row, items);
  buildObject(body, fields, items, body.type, constant);
}

function rowItems(body: MethodBody, fields: readonly Field[], slots: readonly RowItem["slot"][]): readonly RowItem[] {
  return fields.map(({ name }, i) => ({ name, slot: slots[i]!, value: localFor(body.scope, name) }));
}
