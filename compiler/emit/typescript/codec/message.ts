/** Messages: their fields are a row; what may be missing is added to an object that has everything else. */
import type { Field } from "../../../model/type.js";
import {
  assignment,
  type Code,
  code,
  conditional,
  destructuring,
  global,
  ifStatement,
  member,
  objectKey,
  objectLiteral,
  propertyKey,
  shorthand,
  stringLiteral,
} from "../../kit/index.js";
import { abiType } from "../names.js";
import { type Body, localFor } from "./body.js";
import type { RowItem } from "./row-item.js";
import { readRow } from "./row-reader.js";
import { writeRow } from "./row-writer.js";
import { refuseIf } from "./writing.js";

/** A property with the same value in all objects of a type, which is not written: the discriminant of a variant. */
export interface Constant {
  readonly name: string;
  readonly value: string;
}

export function writeMessage(body: Body, fields: readonly Field[]): void {
  body.file.line(code`${body.io}.requireObject(${body.value});`);
  writeFields(body, fields);
}

/** The fields of `body.value`, which is an object. */
export function writeFields(body: Body, fields: readonly Field[]): void {
  const { file, scope, value, layouts } = body;
  const row = layouts.row(fields);
  const items = rowItems(body, fields, row.places);
  const shadowing = new Map(
    items.filter((_, i) => isShadowing(fields[i]!)).map((item) => [item, scope.name(`${item.value.wanted}Found`)]),
  );
  const isOwn = (name: string) => code`${global("Object")}.hasOwn(${value}, ${stringLiteral(name)})`;
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

/** Whether an optional field, when it is not there, would be found in what every object inherits. */
function isShadowing({ name, optional }: Field): boolean {
  return optional && name in Object.prototype;
}

/** Whether a field that must be there would be found in every object. What else objects inherit is of no type at all. */
function isInherited({ name, optional }: Field): boolean {
  return !optional && name === "__proto__";
}

/** Reads the fields and returns an object of them, of the type that is written `type`. */
export function readFields(body: Body, fields: readonly Field[], type: Code, constant?: Constant): void {
  const { file, scope, layouts } = body;
  const row = layouts.row(fields);
  const items = rowItems(body, fields, row.places);
  readRow(body, row, items);
  const known = constant === undefined ? [] : [code`${objectKey(constant.name)}: ${stringLiteral(constant.value)}`];
  const optional = items.filter((_, i) => isAddedLater(fields[i]!));
  const others = items.filter((item) => !optional.includes(item)).map((item) => entry(item, fields));
  const literal = objectLiteral([...known, ...others]);
  if (optional.length === 0) {
    body.leave(literal);
    return;
  }
  const isReadonly = fields.some((field) => field.optional && field.readonly);
  const result = scope.name("result");
  const resultType = isReadonly ? code`${abiType("Mutable")}<${type}>` : type;
  file.line(assignment(code`const ${result}: ${resultType}`, literal), ";");
  for (const item of optional) {
    const set = assignment(member(result, item.name), item.value);
    file.line(ifStatement(code`${item.value} !== undefined`, [set, ";"]));
  }
  body.leave(result);
}

/** Whether a field is added to an object that has all others. */
export function isAddedLater({ name, optional }: Field): boolean {
  return optional && !(name in Object.prototype);
}

/** A property of the literal; also an optional one that would otherwise be found in what every object inherits. */
function entry(item: RowItem, fields: readonly Field[]): Code {
  const isOptional = fields.some((field) => field.name === item.name && field.optional);
  const own = shorthand(objectKey(item.name), item.value);
  return isOptional ? code`...(${item.value} !== undefined && { ${own} })` : own;
}

function rowItems(body: Body, fields: readonly Field[], places: readonly RowItem["place"][]): readonly RowItem[] {
  return fields.map(({ name }, i) => ({ name, place: places[i]!, value: localFor(body.scope, name) }));
}
