/** Objects as generated code takes them apart and builds them: what may be missing is added to one that has all else. */
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

/** A property with the same value in all objects of a type, which is not written: the discriminant of a variant. */
export interface ConstantProperty {
  readonly name: string;
  readonly value: string;
}

/** A field, and the variable with its value. */
export interface NamedValue {
  readonly name: string;
  readonly value: LocalName;
}

interface ObjectBuilding {
  readonly file: FileBuilder;
  readonly scope: NameScope;
  /** Returns what was built. */
  emitReturn(result: Code): void;
}

/** Returns an object of the type that is written `type`. */
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

/** Whether a field is added to an object that has all others. */
export function isAddedLater({ name, optional }: Field): boolean {
  return optional && !(name in Object.prototype);
}

/** Whether an optional field, when it is not there, would be found in what every object inherits. */
export function shadowsInherited({ name, optional }: Field): boolean {
  return optional && name in Object.prototype;
}

/** Whether a field that must be there would be found in every object. What else objects inherit is of no type at all. */
export function isInherited({ name, optional }: Field): boolean {
  return !optional && name === "__proto__";
}

/** A property of the literal; also an optional one that would otherwise be found in what every object inherits. */
function objectEntry(item: NamedValue, fields: readonly Field[]): Code {
  const isOptional = fields.some((field) => field.name === item.name && field.optional);
  const own = shorthand(objectKey(item.name), item.value);
  return isOptional ? code`...(${item.value} !== undefined && { ${own} })` : own;
}
