/**
 * The body of one generated method: where its statements go, which names it has, and how it refers to other codecs.
 * Small pieces of code that writing and reading have in common.
 */

import type { CoreType } from "../../../../model/core-type.js";
import type { Type } from "../../../../model/type.js";
import {
  type Code,
  code,
  type FileBuilder,
  globalName,
  isIdentifier,
  type LocalName,
  type NameScope,
} from "../../../kit/index.js";
import type { TypePrinter } from "../../type-printer.js";
import type { LockstepLayouts } from "./lockstep-layouts.js";

/** Codecs that the file has or imports, as expressions. */
export interface CodecReferences {
  /** Of a type that is not written and read in place. `hint`: what a private codec is called. */
  reference(core: CoreType, hint: string): Code;
  /** Of the message that stands in the protobuf layout for a type which it cannot say in its place. */
  standIn(type: Type, hint: string): Code;
  /** A type as it stands in a statement: by a private name if it is long to write. */
  type(type: Type, hint: string): Code;
}

export interface MethodBody {
  readonly file: FileBuilder;
  readonly scope: NameScope;
  readonly types: TypePrinter;
  readonly layouts: LockstepLayouts;
  readonly codecs: CodecReferences;
  /** What private codecs of this type's parts are called after. */
  readonly hint: string;
  /** The writer or the reader. */
  readonly io: LocalName;
  readonly at: LocalName;
  /** Of a reader: the view of its bytes, where a variable holds it. It is the same for all of a message. */
  readonly view?: LocalName;
  /** The value that is written. */
  readonly value: LocalName;
  /** Its type, as code. */
  readonly type: Code;
  /** Names for types of variants, by their tags. */
  readonly variants: ReadonlyMap<string, LocalName>;
  /** Returns what was read. */
  emitReturn(result: Code): void;
}

/** The view of the reader's bytes. */
export function viewCode({ view, io }: MethodBody): Code {
  return view ?? code`${io}.view`;
}

/** `at + 4`, or `at`. */
export function addOffset(at: Code, offset: number): Code {
  return offset === 0 ? at : code`${at} + ${String(offset)}`;
}

/** `count * 4`, or `count`. */
export function multiplyBySize(count: Code, size: string): Code {
  return size === "1" ? count : code`${count} * ${size}`;
}

/** A local variable for what a schema calls `name`. */
export function localFor(scope: NameScope, name: string): LocalName {
  return scope.name(toIdentifier(name));
}

/** `with-dash` -> `withDash`. */
export function toIdentifier(name: string): string {
  if (isIdentifier(name)) return name;
  const words = name.split(/[^\p{ID_Continue}$]+/u).filter((word) => word !== "");
  const joined = words.map((word, i) => (i === 0 ? word : upperFirst(word))).join("");
  return isIdentifier(joined) ? joined : `_${joined}`;
}

export function upperFirst(name: string): string {
  const first = name.codePointAt(0);
  if (first === undefined) return name;
  const letter = String.fromCodePoint(first);
  return letter.toUpperCase() + name.slice(letter.length);
}

/** What the variables of a loop are called after: the variable that it runs over, or fills. */
export function baseName(value: Code | undefined): string {
  const isVariable = typeof value === "object" && "kind" in value && value.kind === "local";
  return isVariable && value.wanted !== "value" ? value.wanted : "";
}

/** `points` and `slot` give `pointsSlot`; nothing and `slot`, `slot`. */
export function derivedName(scope: NameScope, base: string, role: string): LocalName {
  return scope.name(base === "" ? role : base + upperFirst(role));
}

/** What a private codec of a part is called: `Tree` and `left` give `TreeLeft`. */
export function partHint(hint: string, name: string): string {
  return hint + upperFirst(toIdentifier(name).replace(/^_+/, ""));
}

export const typedArrayNames = {
  int8: "Int8Array",
  uint8clamped: "Uint8ClampedArray",
  int16: "Int16Array",
  uint16: "Uint16Array",
  int32: "Int32Array",
  uint32: "Uint32Array",
  bigint64: "BigInt64Array",
  biguint64: "BigUint64Array",
  float32: "Float32Array",
  float64: "Float64Array",
} as const;

export function typedArrayClass(core: Extract<Type, { kind: "typedArray" }>): Code {
  return globalName(typedArrayNames[core.element]);
}

/** Arrays of doubles are aligned blocks, with methods of their own. */
export function isDoubleArray(core: CoreType, layouts: LockstepLayouts): boolean {
  if (core.kind !== "array") return false;
  const element = layouts.peel(core.element);
  return !element.nullable && element.core.kind === "scalar" && element.core.scalar === "double";
}

/** Whether values are written and read by loops in place; everything else is one expression. */
export function isLooped(core: CoreType, layouts: LockstepLayouts): boolean {
  return ["array", "map", "set", "record"].includes(core.kind) && !isDoubleArray(core, layouts);
}
