/** Generates statements that write a value to its slot and to the variable part behind it. */

import type { CoreType } from "../../../../model/core-type.js";
import type { Type } from "../../../../model/type.js";
import { assignment, type Code, call, code, globalName } from "../../../kit/index.js";
import {
  baseName,
  derivedName,
  isDoubleArray,
  type MethodBody,
  multiplyBySize,
  partHint,
  refuseIf,
  slotVariable,
  typedArrayClass,
} from "./body.js";
import { inPropertyOrder } from "./lockstep-layouts.js";
import { putMethod } from "./scalar.js";
import { writeText } from "./text-runs.js";

/** Writes `value`, which is present, to the slot at `at`. */
export function writeValue(body: MethodBody, core: CoreType, at: Code, value: Code, hint: string): void {
  const { file, io: w } = body;
  switch (core.kind) {
    case "scalar":
      if (core.scalar === "string" && body.text !== undefined) writeText(body, at, value);
      else file.line(code`${w}.${putMethod(core.scalar)}(${at}, ${value});`);
      return;
    case "typedArray":
      refuseIf(body, code`!(${value} instanceof ${typedArrayClass(core)})`);
      file.line(code`${w}.putTyped(${at}, ${value});`);
      return;
    case "array":
      if (isDoubleArray(core, body.layouts)) file.line(code`${w}.putNumbers(${at}, ${value});`);
      else writeArray(body, core.element, at, value, hint);
      return;
    case "map":
      writeMap(body, core, at, value, hint);
      return;
    case "set":
      writeSet(body, core.element, at, value, hint);
      return;
    case "record":
      writeRecord(body, core.value, at, value, hint);
      return;
    default:
      writeOther(body, core, at, value, hint);
  }
}

/** Writes a value in place if its type is inlined, and otherwise by its codec. */
function writeOther(body: MethodBody, core: CoreType, at: Code, value: Code, hint: string): void {
  const fields = body.codecs.inlinedFields(core);
  if (fields === undefined) writeByCodec(body, core, at, value, hint);
  else body.messages.write({ ...body, at: slotVariable(body, at, value), value, hint }, inPropertyOrder(fields));
}

function writeByCodec({ file, codecs, io: w }: MethodBody, core: CoreType, at: Code, value: Code, hint: string): void {
  file.line(call([codecs.reference(core, hint), ".write"], [w, at, value]), ";");
}

/** Writes an element. The slot of a nullable element tells whether it is null, and the value then has its own slot. */
export function writeElement(body: MethodBody, type: Type, at: Code, value: Code, hint: string): void {
  const { file, io: w, layouts } = body;
  const { core, nullable } = layouts.peel(type);
  if (!nullable) {
    writeValue(body, core, at, value, hint);
    return;
  }
  file.line(code`${w}.putBoolean(${at}, ${value} !== null);`);
  file.block(code`if (${value} !== null)`, () => writeVarying(body, core, value, hint));
}

/** Writes a value whose slot is in the variable part. Messages there are written by their codecs. */
export function writeVarying(body: MethodBody, core: CoreType, value: Code, hint: string): void {
  const size = String(body.layouts.slotSize(core));
  if (body.codecs.inlinedFields(core) !== undefined) {
    writeByCodec(body, core, code`${body.io}.reserve(${size})`, value, hint);
    return;
  }
  const inPlace = core.kind === "map" || core.kind === "set" || core.kind === "record" || core.kind === "array";
  if (!inPlace) {
    writeValue(body, core, code`${body.io}.reserve(${size})`, value, hint);
    return;
  }
  const at = derivedName(body.scope, baseName(value), "at");
  body.file.line(code`const ${at} = ${body.io}.reserve(${size});`);
  writeValue(body, core, at, value, hint);
}

function writeArray(body: MethodBody, element: Type, at: Code, value: Code, hint: string): void {
  const { file, scope, io: w } = body;
  const count = derivedName(scope, baseName(value), "count");
  file.line(code`${w}.requireArray(${value});`);
  file.line(code`const ${count} = ${value}.length;`);
  file.line(code`${w}.putLength(${at}, ${count});`);
  writeElements(body, element, count, value, hint);
}

function writeSet(body: MethodBody, element: Type, at: Code, value: Code, hint: string): void {
  body.file.line(code`${body.io}.requireSet(${value});`);
  body.file.line(call([body.io, ".putCount"], [at, code`${value}.size`]), ";");
  writeElements(body, element, code`${value}.size`, value, hint);
}

function writeElements(body: MethodBody, element: Type, count: Code, value: Code, hint: string): void {
  const { file, scope, io: w } = body;
  const [slot, item] = [derivedName(scope, baseName(value), "slot"), scope.name("item")];
  const size = String(body.layouts.elementSlotSize(element));
  file.line(assignment(code`let ${slot}`, call([w, ".reserve"], [multiplyBySize(count, size)])), ";");
  file.block(code`for (const ${item} of ${value})`, () => {
    writeElement(body, element, slot, item, partHint(hint, "item"));
    file.line(code`${slot} += ${size};`);
  });
}

function writeMap(body: MethodBody, type: Extract<Type, { kind: "map" }>, at: Code, value: Code, hint: string): void {
  const { file, scope, io: w, layouts } = body;
  const [slot, key, item] = [derivedName(scope, baseName(value), "slot"), scope.name("key"), scope.name("item")];
  const keySlot = layouts.elementSlotSize(type.key);
  const size = keySlot + layouts.elementSlotSize(type.value);
  file.line(code`${w}.requireMap(${value});`);
  file.line(call([w, ".putCount"], [at, code`${value}.size`]), ";");
  file.line(assignment(code`let ${slot}`, call([w, ".reserve"], [code`${value}.size * ${String(size)}`])), ";");
  file.block(code`for (const [${key}, ${item}] of ${value})`, () => {
    writeElement(body, type.key, slot, key, partHint(hint, "key"));
    writeElement(body, type.value, code`${slot} + ${String(keySlot)}`, item, partHint(hint, "item"));
    file.line(code`${slot} += ${String(size)};`);
  });
}

function writeRecord(body: MethodBody, type: Type, at: Code, value: Code, hint: string): void {
  const { file, scope, io: w, layouts } = body;
  const [entries, slot] = [derivedName(scope, baseName(value), "entries"), derivedName(scope, baseName(value), "slot")];
  const [key, item] = [scope.name("key"), scope.name("item")];
  const size = 1 + layouts.elementSlotSize(type);
  file.line(code`${w}.requireRecord(${value});`);
  file.line(assignment(code`const ${entries}`, call([globalName("Object"), ".entries"], [value])), ";");
  file.line(call([w, ".putCount"], [at, code`${entries}.length`]), ";");
  file.line(assignment(code`let ${slot}`, call([w, ".reserve"], [code`${entries}.length * ${String(size)}`])), ";");
  file.block(code`for (const [${key}, ${item}] of ${entries})`, () => {
    file.line(code`${w}.putString(${slot}, ${key});`);
    writeElement(body, type, code`${slot} + 1`, item, partHint(hint, "item"));
    file.line(code`${slot} += ${String(size)};`);
  });
}
