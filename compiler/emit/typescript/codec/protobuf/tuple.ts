/**
 * Generates the code of tuples, which include the arguments of calls, as messages: a field for each element. Tuples
 * keep no unknown fields.
 */
import type { Type } from "../../../../model/type.js";
import type { MessageField } from "../../../../protobuf/form/form.js";
import { assignment, type Code, code, globalName, ifStatement, type LocalName } from "../../../kit/index.js";
import { buildTuple } from "../lockstep/tuple.js";
import { isAddedTo, type MemberItem, memberItem, type ProtoBody } from "./body.js";
import { branchesOf, completeMember, declareMember, type ReadTarget, readLoop } from "./reading.js";
import { writeMember } from "./writing.js";

/** A tuple without rest elements. Tuples with rest elements use the composed codec, which appends in place. */
type Tuple = Extract<Type, { kind: "tuple" }>;

/**
 * Returns the items in the order of the elements.
 * @param fields the fields of the message, ordered by field number
 */
function itemsOf(body: ProtoBody, tuple: Tuple, fields: readonly MessageField[]): readonly MemberItem[] {
  return tuple.elements.map(({ type }, i) => {
    return memberItem(body, fields.find((field) => field.element === i)!, type);
  });
}

function inNumericOrder(items: readonly MemberItem[], fields: readonly MessageField[]): readonly MemberItem[] {
  return fields.map((field) => items.find((item) => item.field === field)!);
}

export function writeTuple(body: ProtoBody, tuple: Tuple, fields: readonly MessageField[], value: LocalName): void {
  const { file, io: w } = body;
  const count = String(tuple.elements.length);
  const test = code`!${globalName("Array")}.isArray(${value}) || ${value}.length > ${count}`;
  file.line(ifStatement(test, code`${w}.refuse();`));
  const items = itemsOf(body, tuple, fields);
  for (const [i, item] of items.entries()) file.line(code`const ${item.value} = ${value}[${String(i)}];`);
  for (const item of inNumericOrder(items, fields)) writeMember(body, item);
}

/** Emits the statements that read a tuple. The last one is a return statement. */
export function readTuple(
  body: ProtoBody,
  tuple: Tuple,
  fields: readonly MessageField[],
  { end, into, type }: ReadTarget,
): void {
  const { file, types } = body;
  const items = itemsOf(body, tuple, fields);
  for (const item of items) declareMember(body, item);
  if (items.length > 0) {
    file.block(code`if (${into} !== undefined)`, () => {
      for (const [i, item] of items.entries()) {
        const before = code`${into}[${String(i)}]`;
        const cast = isAddedTo(item) ? code`${before} as ${types.type(item.type)}` : before;
        file.line(assignment(item.value, cast), ";");
      }
    });
  }
  const branches = inNumericOrder(items, fields).flatMap((item) => branchesOf(body, item));
  readLoop(body, end, branches, undefined);
  for (const item of items) completeMember(body, item, undefined);
  const emitReturn = (result: Code) => file.line("return ", result, ";");
  buildTuple(
    { file, type, emitReturn },
    tuple,
    items.map(({ value }) => value),
  );
}
