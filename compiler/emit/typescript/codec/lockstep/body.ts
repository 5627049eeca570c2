/**
 * The context of one generated method: its output, its names, and its references to other codecs. Also contains small
 * pieces of code that writing and reading share.
 */

import type { CoreType } from "../../../../model/core-type.js";
import type { Field, Type } from "../../../../model/type.js";
import {
  type Code,
  code,
  type FileBuilder,
  globalName,
  ifStatement,
  isIdentifier,
  type LocalName,
  type NameScope,
} from "../../../kit/index.js";
import type { TypePrinter } from "../../type-printer.js";
import type { LockstepLayouts } from "./lockstep-layouts.js";

/** The codecs that the file declares or imports, as expressions. */
export interface CodecReferences {
  /** Returns the codec of a type that is not written and read in place. `hint` is the name of a private codec. */
  reference(core: CoreType, hint: string): Code;
  /**
   * Returns the codec of the message that represents a type in the protobuf layout if the type has no direct form
   * there.
   */
  standIn(type: Type, hint: string): Code;
  /**
   * Returns the fields of a message that is written and read in place. Undefined for types whose codec is called.
   */
  inlinedFields(core: CoreType): readonly Field[] | undefined;
  /**
   * Returns the last value of an enumeration that is written and read in place, as the number that it is. Undefined for
   * types whose codec is called.
   */
  inlinedEnum(core: CoreType): number | undefined;
  /** Returns a type for use in a statement. A type with a long text gets a private name. */
  type(type: Type, hint: string): Code;
}

/** The local variables of a run of strings (text-runs.ts). */
export interface TextLocals {
  /** The current chunk of text. */
  readonly text: LocalName;
  /** The number of units of `text` that have been read; undefined for writing. */
  readonly offset?: LocalName;
}

/** The code of messages. It contains the code of values, which contains messages in turn. */
interface MessageStatements {
  /** Emits the statements that write `body.value`. */
  write(body: MethodBody, fields: readonly Field[]): void;
  /** Emits the statements that read an object of type `body.type`. */
  read(body: MethodBody, fields: readonly Field[]): void;
}

export interface MethodBody {
  readonly file: FileBuilder;
  readonly scope: NameScope;
  readonly types: TypePrinter;
  readonly layouts: LockstepLayouts;
  readonly codecs: CodecReferences;
  readonly messages: MessageStatements;
  /** The base of the names of private codecs of this type's parts. */
  readonly hint: string;
  /** The variable of the writer or the reader. */
  readonly io: LocalName;
  readonly at: LocalName;
  /** The variable of the view of the reader's bytes, if there is one. The view is the same for the whole message. */
  readonly view?: LocalName;
  /** The variables of the run of strings that the code is part of. */
  readonly text?: TextLocals;
  /** The value that is written. */
  readonly value: Code;
  /** The type of the value, as code. */
  readonly type: Code;
  /** The names of the types of variants, by their tags. */
  readonly variants: ReadonlyMap<string, LocalName>;
  /** Emits the statement that returns the result. */
  emitReturn(result: Code): void;
}

/** Returns the view of the reader's bytes. */
export function viewCode({ view, io }: MethodBody): Code {
  return view ?? code`${io}.view`;
}

/** Emits a statement that refuses the value or the message. */
export function refuseIf({ file, io }: Pick<MethodBody, "file" | "io">, condition: Code): void {
  file.line(ifStatement(condition, code`${io}.refuse();`));
}

/** Returns `at + 4`, or `at` for an offset of 0. */
export function addOffset(at: Code, offset: number): Code {
  return offset === 0 ? at : code`${at} + ${String(offset)}`;
}

/** Returns `count * 4`, or `count` for a size of 1. */
export function multiplyBySize(count: Code, size: string): Code {
  return size === "1" ? count : code`${count} * ${size}`;
}

/**
 * Returns a variable for the byte offset of the slot of a value that is written or read in place: `at` itself if it is
 * a variable. `value` is the variable of the value, if there is one.
 */
export function slotVariable({ file, scope }: MethodBody, at: Code, value: Code | undefined): LocalName {
  if (isLocal(at)) return at;
  const slot = derivedName(scope, baseName(value), "at");
  file.line(code`const ${slot} = ${at};`);
  return slot;
}

function isLocal(part: Code | undefined): part is LocalName {
  return typeof part === "object" && "kind" in part && part.kind === "local";
}

/** Returns a local variable for the schema's name `name`. */
export function localFor(scope: NameScope, name: string): LocalName {
  return scope.name(toIdentifier(name));
}

/** Converts a name to an identifier: `with-dash` -> `withDash`. */
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

/** Returns the base of the names of a loop's variables: the variable that the loop iterates over or fills. */
export function baseName(value: Code | undefined): string {
  return isLocal(value) && value.wanted !== "value" ? value.wanted : "";
}

/**
 * Returns a name from a base and a role: `points` and `slot` give `pointsSlot`, and an empty base and `slot` give
 * `slot`.
 */
export function derivedName(scope: NameScope, base: string, role: string): LocalName {
  return scope.name(base === "" ? role : base + upperFirst(role));
}

/** Returns the name of the private codec of a part: `Tree` and `left` give `TreeLeft`. */
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

/**
 * Returns whether a type is an array of doubles. Such arrays are aligned blocks, for which the reader and the writer
 * have methods.
 */
export function isDoubleArray(core: CoreType, layouts: LockstepLayouts): boolean {
  if (core.kind !== "array") return false;
  const element = layouts.peel(core.element);
  return !element.nullable && element.core.kind === "scalar" && element.core.scalar === "double";
}

/** Returns whether values are written and read by loops in place. */
export function isLooped(core: CoreType, layouts: LockstepLayouts): boolean {
  return ["array", "map", "set", "record"].includes(core.kind) && !isDoubleArray(core, layouts);
}

/** Returns whether reading a value in the variable part takes statements. All others are read by one expression. */
export function takesStatements(core: CoreType, { layouts, text }: MethodBody): boolean {
  return isLooped(core, layouts) || (text !== undefined && core.kind === "scalar" && core.scalar === "string");
}
