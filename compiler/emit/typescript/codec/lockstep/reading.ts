/** Generates expressions that read a value from its slot and from the variable part. Loops precede the expression. */

import type { CoreType } from "../../../../model/core-type.js";
import type { Type } from "../../../../model/type.js";
import {
  assignment,
  type Code,
  call,
  code,
  conditional,
  globalName,
  type LocalName,
  type NameScope,
} from "../../../kit/index.js";
import {
  baseName,
  derivedName,
  isDoubleArray,
  isLooped,
  type MethodBody,
  multiplyBySize,
  partHint,
  refuseIf,
  slotVariable,
  takesStatements,
  typedArrayClass,
  viewCode,
} from "./body.js";
import { inPropertyOrder } from "./lockstep-layouts.js";
import { readScalar } from "./scalar.js";
import { readText } from "./text-runs.js";

/**
 * Returns an expression for the value whose slot is at `at`. It may emit statements first. Loops fill `into`, if that
 * is given. The expression is to be evaluated before further values are read.
 */
export function readValue(body: MethodBody, core: CoreType, at: Code, hint: string, into?: LocalName): Code {
  const { io: r } = body;
  switch (core.kind) {
    case "scalar":
      if (core.scalar === "string" && body.text !== undefined) return readText(body, at, into);
      return readScalar(core.scalar, r, viewCode(body), at);
    case "typedArray":
      return code`${r}.getTyped(${at}, ${typedArrayClass(core)})`;
    case "array":
      if (isDoubleArray(core, body.layouts)) return code`${r}.getNumbers(${at})`;
      return readArray(body, core.element, at, hint, into);
    case "map":
      return readMap(body, core, at, hint, into);
    case "set":
      return readSet(body, core.element, at, hint, into);
    case "record":
      return readRecord(body, core.value, at, hint, into);
    default:
      return readInlined(body, core, at, hint, into) ?? readByCodec(body, core, at, hint);
  }
}

function readByCodec({ codecs, io: r }: MethodBody, core: CoreType, at: Code, hint: string): Code {
  return call([codecs.reference(core, hint), ".read"], [r, at]);
}

/** Reads a message in place, and returns its value. Returns undefined if the type has to be read by its codec. */
function readInlined(body: MethodBody, core: CoreType, at: Code, hint: string, into?: LocalName): Code | undefined {
  const fields = body.codecs.inlinedFields(core);
  if (fields === undefined) return undefined;
  let result: Code = "";
  const emitReturn = (value: Code): void => {
    result = value;
  };
  // All fields are present, so that the object is a literal, whose type is known where it is used.
  const inner = { ...body, at: slotVariable(body, at, into), hint, type: "", emitReturn };
  body.messages.read(inner, inPropertyOrder(fields));
  return result;
}

/** Returns an expression for a value whose slot is in the variable part. Messages there are read by their codecs. */
export function readVarying(body: MethodBody, core: CoreType, hint: string): Code {
  const taken = code`${body.io}.take(${String(body.layouts.slotSize(core))})`;
  if (body.codecs.inlinedFields(core) !== undefined) return readByCodec(body, core, taken, hint);
  if (!isLooped(core, body.layouts)) return readValue(body, core, taken, hint);
  const at = body.scope.name("at");
  body.file.line(code`const ${at} = ${taken};`);
  return readValue(body, core, at, hint);
}

/** Returns an expression for an element. The slot of a nullable element tells whether it is null. */
export function readElement(body: MethodBody, type: Type, at: Code, hint: string): Code {
  const { core, nullable } = body.layouts.peel(type);
  if (!nullable) return readValue(body, core, at, hint);
  const there = code`${body.io}.getBoolean(${at})`;
  if (!takesStatements(core, body)) return conditional(there, readVarying(body, core, hint), "null");
  const value = body.scope.name("element");
  const valueType = body.codecs.type(type, partHint(hint, "orNull"));
  body.file.line(assignment(code`let ${value}: ${valueType}`, "null"), ";");
  body.file.block(code`if (${there})`, () => body.file.line(code`${value} = ${readVarying(body, core, hint)};`));
  return value;
}

/**
 * Returns the names of a loop's variables: the collection, its length, the offset of the next element, and the index.
 */
function loopNames(
  scope: NameScope,
  kind: string,
  into: LocalName | undefined,
): readonly [LocalName, LocalName, LocalName, LocalName] {
  const base = baseName(into);
  return [
    into ?? scope.name(kind),
    derivedName(scope, base, "count"),
    derivedName(scope, base, "slot"),
    scope.name("i"),
  ];
}

function readArray(body: MethodBody, element: Type, at: Code, hint: string, into?: LocalName): Code {
  const { file, scope, io: r, layouts } = body;
  const [array, count, slot, i] = loopNames(scope, "array", into);
  const size = String(layouts.elementSlotSize(element));
  file.line(code`const ${count} = ${r}.getLength(${at});`);
  file.line(assignment(code`let ${slot}`, call([r, ".take"], [multiplyBySize(count, size)])), ";");
  const type = body.codecs.type({ kind: "array", element, readonly: false }, hint);
  file.line(assignment(code`const ${array}: ${type}`, call(code`new ${globalName("Array")}`, [count])), ";");
  file.block(code`for (let ${i} = 0; ${i} < ${count}; ${i}++)`, () => {
    const item = readElement(body, element, slot, partHint(hint, "item"));
    file.line(assignment(code`${array}[${i}]`, item), ";");
    file.line(code`${slot} += ${size};`);
  });
  return array;
}

function readSet(body: MethodBody, element: Type, at: Code, hint: string, into?: LocalName): Code {
  const { file, scope, io: r, layouts } = body;
  const [set, count, slot, i] = loopNames(scope, "set", into);
  const size = String(layouts.elementSlotSize(element));
  file.line(code`const ${count} = ${r}.getCount(${at});`);
  file.line(assignment(code`let ${slot}`, call([r, ".take"], [multiplyBySize(count, size)])), ";");
  const type = body.codecs.type({ kind: "set", element, readonly: false }, hint);
  file.line(assignment(code`const ${set}: ${type}`, code`new ${globalName("Set")}()`), ";");
  file.block(code`for (let ${i} = 0; ${i} < ${count}; ${i}++)`, () => {
    file.line(call([set, ".add"], [readElement(body, element, slot, partHint(hint, "item"))]), ";");
    file.line(code`${slot} += ${size};`);
  });
  refuseIf(body, code`${set}.size !== ${count}`);
  return set;
}

function readMap(
  body: MethodBody,
  type: Extract<Type, { kind: "map" }>,
  at: Code,
  hint: string,
  into?: LocalName,
): Code {
  const { file, scope, io: r, layouts } = body;
  const [map, count, slot, i] = loopNames(scope, "map", into);
  const key = scope.name("key");
  const keySlot = layouts.elementSlotSize(type.key);
  const size = String(keySlot + layouts.elementSlotSize(type.value));
  file.line(code`const ${count} = ${r}.getCount(${at});`);
  file.line(assignment(code`let ${slot}`, call([r, ".take"], [code`${count} * ${size}`])), ";");
  const mapType = body.codecs.type({ ...type, readonly: false }, hint);
  file.line(assignment(code`const ${map}: ${mapType}`, code`new ${globalName("Map")}()`), ";");
  file.block(code`for (let ${i} = 0; ${i} < ${count}; ${i}++)`, () => {
    file.line(assignment(code`const ${key}`, readElement(body, type.key, slot, partHint(hint, "key"))), ";");
    const value = readElement(body, type.value, code`${slot} + ${String(keySlot)}`, partHint(hint, "item"));
    file.line(call([map, ".set"], [key, value]), ";");
    file.line(code`${slot} += ${size};`);
  });
  refuseIf(body, code`${map}.size !== ${count}`);
  return map;
}

function readRecord(body: MethodBody, type: Type, at: Code, hint: string, into?: LocalName): Code {
  const { file, scope, io: r, layouts } = body;
  const [record, count, slot, i] = loopNames(scope, "record", into);
  const key = scope.name("key");
  const size = String(1 + layouts.elementSlotSize(type));
  const recordType = body.codecs.type({ kind: "record", value: type }, hint);
  file.line(code`const ${count} = ${r}.getCount(${at});`);
  file.line(assignment(code`let ${slot}`, call([r, ".take"], [code`${count} * ${size}`])), ";");
  file.line(assignment(code`const ${record}: ${recordType}`, "{}"), ";");
  file.block(code`for (let ${i} = 0; ${i} < ${count}; ${i}++)`, () => {
    file.line(code`const ${key} = ${r}.getString(${slot});`);
    const value = readElement(body, type, code`${slot} + 1`, partHint(hint, "item"));
    file.line(call([r, ".define"], [record, key, value]), ";");
    file.line(code`${slot} += ${size};`);
  });
  return record;
}
