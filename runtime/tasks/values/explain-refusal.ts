/**
 * Finds what is wrong with a value that was refused, and where. Walks through the value like the writer, but keeps the path.
 */
import * as kinds from "./classify.js";
import { MAX_DEPTH } from "./layout.js";
import type { PlainFault } from "./plain-value-error.js";
import type { RefWriter } from "./references.js";

const inSchema = "or declare the task in a schema";

/** The path of a value, and the values around it. */
interface Place {
  readonly path: string;
  /** The objects around the value with their paths, from the outside in. */
  readonly around: readonly (readonly [value: object, path: string])[];
}

/** Returns the first fault of a value, in the order in which it is written; undefined if there is none. */
export function explainRefusal(value: unknown, refs: RefWriter): PlainFault | undefined {
  return faultOf(value, { path: "", around: [] }, refs);
}

function faultOf(value: unknown, place: Place, refs: RefWriter): PlainFault | undefined {
  const { path } = place;
  switch (typeof value) {
    case "function":
      return { path, got: "a function", hint: `pass data instead, ${inSchema}` };
    case "symbol":
      return { path, got: "a symbol", hint: "pass a string instead" };
    case "object":
      return value === null ? undefined : faultOfObject(value, place, refs);
    default:
      return undefined;
  }
}

function faultOfObject(value: object, place: Place, refs: RefWriter): PlainFault | undefined {
  const { path, around } = place;
  const [, outer] = around.find(([object]) => object === value) ?? [];
  if (outer !== undefined) {
    const got = `a cycle that returns to ${outer === "" ? "the outermost object" : outer}`;
    return { path, got, hint: "pass an array whose items refer to each other by index" };
  }
  if (around.length === MAX_DEPTH) {
    return { path, got: `a value nested deeper than ${MAX_DEPTH}`, hint: "pass a flatter value" };
  }
  const inside = [...around, [value, path] as const];
  const at = (segment: string): Place => ({ path: path + segment, around: inside });
  switch (kinds.kindOf(value)) {
    case kinds.RECORD:
    case kinds.NULL_RECORD:
      return faultOfRecord(value, path, at, refs);
    case kinds.LIST:
      return faultOfList(value as unknown[], at, refs);
    case kinds.ENTRIES:
      return faultOfMap(value as Map<unknown, unknown>, at, refs);
    case kinds.MEMBERS:
      return faultOfSet(value as Set<unknown>, at, refs);
    case kinds.BYTES:
      if (kinds.bytesOf(value as ArrayBuffer) !== undefined) return undefined;
      return { path, got: "a detached ArrayBuffer", hint: "pass it before its memory is transferred, or pass a copy" };
    case kinds.OTHER:
      return refs.isRef(value) ? undefined : { path, ...describeInstance(value) };
    default:
      return undefined;
  }
}

function faultOfRecord(
  value: object,
  path: string,
  at: (segment: string) => Place,
  refs: RefWriter,
): PlainFault | undefined {
  const [symbol] = Object.getOwnPropertySymbols(value);
  if (symbol !== undefined) {
    return { path, got: `an object with the key ${String(symbol)}`, hint: "use strings as keys" };
  }
  for (const key of Object.keys(value)) {
    const place = at(propertySegment(key));
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (property === undefined || !("value" in property)) {
      return { path: place.path, got: "an accessor property", hint: "copy the object with { ...object }" };
    }
    const fault = faultOf(property.value, place, refs);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfList(
  values: readonly unknown[],
  at: (segment: string) => Place,
  refs: RefWriter,
): PlainFault | undefined {
  for (let i = 0; i < values.length; i++) {
    const place = at(`[${i}]`);
    if (!Object.hasOwn(values, i)) {
      return { path: place.path, got: "a hole of a sparse array", hint: "fill it with undefined or null" };
    }
    const fault = faultOf(values[i], place, refs);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfMap(
  entries: ReadonlyMap<unknown, unknown>,
  at: (segment: string) => Place,
  refs: RefWriter,
): PlainFault | undefined {
  let index = 0;
  for (const [key, value] of entries) {
    const number = index++;
    const keyFault = faultOf(key, at(`.keys()[${number}]`), refs);
    if (keyFault !== undefined) return keyFault;
    const isNamed = typeof key === "string" || typeof key === "number";
    const segment = isNamed ? `.get(${JSON.stringify(key)})` : `.values()[${number}]`;
    const fault = faultOf(value, at(segment), refs);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfSet(
  members: ReadonlySet<unknown>,
  at: (segment: string) => Place,
  refs: RefWriter,
): PlainFault | undefined {
  let index = 0;
  for (const member of members) {
    const fault = faultOf(member, at(`.values()[${index++}]`), refs);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Advice for instances of some classes. */
const hints: ReadonlyMap<string, string> = new Map([
  ["Promise", "await it first"],
  ["RegExp", "pass its source and flags"],
  ["SharedArrayBuffer", "pass a typed array on it, which is copied"],
]);

/** Says what an instance of a class that plain values do not have is, and what to do about it. */
function describeInstance(value: object): { readonly got: string; readonly hint: string } {
  const hint = `copy its fields into a plain object, ${inSchema}`;
  const name = classNameOf(value);
  if (name === undefined) return { got: "an object with a prototype that is not a class", hint };
  if (value instanceof Error) return { got: `an instance of ${name}`, hint: "pass its message and stack, or throw it" };
  return { got: `an instance of ${name}`, hint: hints.get(name) ?? hint };
}

/** Returns the name of the class of an object without calling accessors. */
function classNameOf(value: object): string | undefined {
  for (let at: object | null = Object.getPrototypeOf(value); at !== null; at = Object.getPrototypeOf(at)) {
    const owner: unknown = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
    if (typeof owner === "function" && owner !== Object) return owner.name || "an anonymous class";
  }
  return undefined;
}

/** Returns the part of a path for a property: `.name`, or `["a name"]`. */
function propertySegment(key: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
