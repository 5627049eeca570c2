/**
 * Generates the code that destructures and builds objects. Optional properties are added to an object that has all
 * required properties.
 */
import type { Field } from "../../../model/type.js";
import {
  assignment,
  type Code,
  code,
  type FileBuilder,
  ifStatement,
  type LocalName,
  memberAccess,
  type NameScope,
  objectKey,
  objectLiteral,
  shorthand,
  stringLiteral,
} from "../../kit/index.js";
import { abiType } from "../abi-names.js";

/**
 * A property with the same value in all objects of a type, such as the discriminant of a variant. It is not written.
 */
export interface ConstantProperty {
  readonly name: string;
  readonly value: string;
}

/** A field and the variable of its value. */
export interface NamedValue {
  readonly name: string;
  readonly value: LocalName;
}

interface ObjectBuilding {
  readonly file: FileBuilder;
  readonly scope: NameScope;
  /** Emits the statement that returns the result. */
  emitReturn(result: Code): void;
}

/** Builds and returns an object of type `type`. */
export function buildObject(
  { file, scope, emitReturn: leave }: ObjectBuilding,
  fields: readonly Field[],
  items: readonly NamedValue[],
  type: Code,
  constant?: ConstantProperty,
): void {
  const known = constant === undefined ? [] : [code`${objectKey(constant.name)}: ${stringLiteral(constant.value)}`];
  const optional = items.filter((_, i) => isAddedLater(fields[i]!));
  const others = items.filter((item) => !optional.includes(item)).map((item) => objectEntry(item, fields));
  const literal = objectLiteral([...known, ...others]);
  if (optional.length === 0) {
    leave(literal);
    return;
  }
  const isReadonly = fields.some((field) => field.optional && field.readonly);
  const result = scope.name("result");
  const resultType = isReadonly ? code`${abiType("Mutable")}<${type}>` : type;
  file.line(assignment(code`const ${result}: ${resultType}`, literal), ";");
  for (const item of optional) {
    const set = assignment(memberAccess(result, item.name), item.value);
    file.line(ifStatement(code`${item.value} !== undefined`, [set, ";"]));
  }
  leave(result);
}

/** Returns whether a field is added to an object that has all other fields. */
export function isAddedLater({ name, optional }: Field): boolean {
  return optional && !(name in Object.prototype);
}

/** Returns whether reading an absent optional field would find an inherited property. */
export function shadowsInherited({ name, optional }: Field): boolean {
  return optional && name in Object.prototype;
}

/**
 * Returns whether a required field would be found in every object. The type check rejects the other inherited
 * properties.
 */
export function isInherited({ name, optional }: Field): boolean {
  return !optional && name === "__proto__";
}

/** Returns a property of the literal. An optional property whose name every object inherits is added conditionally. */
function objectEntry(item: NamedValue, fields: readonly Field[]): Code {
  const isOptional = fields.some((field) => field.name === item.name && field.optional);
  const own = shorthand(objectKey(item.name), item.value);
  return isOptional ? code`...(${item.value} !== undefined && { ${own} })` : own;
}
