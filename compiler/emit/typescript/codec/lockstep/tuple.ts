/**
 * Generates the code of tuples, which include the arguments of calls: rows of elements. Trailing optional elements that
 * are absent are omitted.
 */
import type { Type } from "../../../../model/type.js";
import { bracketed, type Code, code, globalName, type LocalName } from "../../../kit/index.js";
import { localFor, type MethodBody, refuseIf } from "./body.js";
import { tupleParts } from "./lockstep-layouts.js";
import type { RowItem } from "./row-item.js";
import { readRow } from "./row-reader.js";
import { writeRow } from "./row-writer.js";

type Tuple = Extract<Type, { kind: "tuple" }>;

export function writeTuple(body: MethodBody, type: Tuple): void {
  const { file, value, types, layouts } = body;
  const count = type.elements.length;
  const isArray = code`${globalName("Array")}.isArray(${value})`;
  refuseIf(body, type.rest === undefined ? code`!${isArray} || ${value}.length > ${String(count)}` : code`!${isArray}`);
  const row = layouts.row(tupleParts(type));
  const items = elementItems(body, type, row.slots);
  for (const [i, item] of items.entries()) {
    if (i < count) file.line(code`const ${item.value} = ${value}[${String(i)}];`);
    else file.line(code`const ${item.value} = ${value}.slice(${String(count)}) as ${types.type(restArray(type))};`);
  }
  writeRow(body, row, items);
}

export function readTuple(body: MethodBody, type: Tuple): void {
  const row = body.layouts.row(tupleParts(type));
  const items = elementItems(body, type, row.slots);
  readRow(body, row, items);
  const rest = type.rest === undefined ? undefined : items.at(-1)?.value;
  const elements = rest === undefined ? items : items.slice(0, -1);
  buildTuple(
    body,
    type,
    elements.map(({ value }) => value),
    rest,
  );
}

/** Returns the elements, without trailing optional elements that are absent. */
export function buildTuple(
  body: Pick<MethodBody, "file" | "type" | "emitReturn">,
  type: Tuple,
  elements: readonly LocalName[],
  rest?: LocalName,
): void {
  const first = type.elements.findIndex((element) => element.optional);
  const required = first < 0 ? elements.length : first;
  if (required === elements.length) {
    body.emitReturn(list(elements, rest));
    return;
  }
  if (rest !== undefined) returnIf(body, code`${rest}.length > 0`, list(elements, rest));
  for (let n = elements.length; n > required; n--) {
    returnIf(body, code`${elements[n - 1]!} !== undefined`, list(elements.slice(0, n)));
  }
  body.emitReturn(list(elements.slice(0, required)));
}

function returnIf(body: Pick<MethodBody, "file" | "type" | "emitReturn">, condition: Code, result: Code): void {
  body.file.block(code`if (${condition})`, () => body.emitReturn(code`${result} as ${body.type}`));
}

function list(elements: readonly LocalName[], rest?: LocalName): Code {
  return bracketed([...elements, ...(rest === undefined ? [] : [code`...${rest}`])]);
}

function elementItems(body: MethodBody, type: Tuple, slots: readonly RowItem["slot"][]): readonly RowItem[] {
  return slots.map((slot, i) => {
    const name = type.elements[i]?.name ?? (i < type.elements.length ? `element${i}` : "rest");
    return { name, slot, value: localFor(body.scope, name) };
  });
}

function restArray({ rest }: Tuple): Type {
  return { kind: "array", element: rest!, readonly: false };
}
