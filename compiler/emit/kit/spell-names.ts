/**
 * Spells the names of one file so that no two names share a spelling. Exported names keep their spelling, and imports
 * and locals change on a clash. An import from Viceroy becomes `viceroyCodec`, an import from another generated file
 * gets the name of its file as prefix (`forestTree`), and a local gets a number.
 */

import { basename } from "./import-specifier.js";
import type { ImportedName, ImportSource } from "./name.js";

/** Reserved words and the names that strict mode does not allow as bindings. */
const reserved: ReadonlySet<string> = new Set(
  (
    "abstract any arguments as async await bigint boolean break case catch class const continue debugger declare " +
    "default delete do else enum eval export extends false finally for from function get if implements import in " +
    "infer instanceof interface is keyof let module namespace never new null number object of package private " +
    "protected public readonly require return satisfies set static string super switch symbol this throw true try " +
    "type typeof undefined unique unknown using var void while with yield globalThis NaN Infinity exports"
  ).split(" "),
);

/**
 * Globals and the properties that the global object inherits. Linters reject imports and variables that shadow them.
 */
const globals: ReadonlySet<string> = new Set(
  (
    "AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView " +
    "Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Int16Array " +
    "Int32Array Int8Array Intl Iterator JSON Map Math Number Object Promise Proxy RangeError ReferenceError Reflect " +
    "RegExp Set SharedArrayBuffer String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array " +
    "Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent " +
    "escape isFinite isNaN parseFloat parseInt unescape constructor hasOwnProperty isPrototypeOf propertyIsEnumerable " +
    "toLocaleString toString valueOf __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ __proto__"
  ).split(" "),
);

const forbidden: ReadonlySet<string> = new Set([...reserved, ...globals]);

const none: ReadonlySet<string> = new Set();

/** The requested names, in the order of the requests. */
export interface RequestedNames {
  /** Exported names, whose spelling is fixed. */
  readonly declared: ReadonlySet<string>;
  readonly imports: readonly ImportedName[];
  readonly globals: Iterable<string>;
  /** The wanted spellings of names that are private to the file. */
  readonly locals: readonly string[];
  /** The wanted spellings of the locals of each function. Different functions can use the same spelling. */
  readonly scopes: readonly (readonly string[])[];
}

export interface Spellings {
  /** The spellings of imports, by `importKey`. */
  readonly imports: ReadonlyMap<string, string>;
  readonly locals: readonly string[];
  readonly scopes: readonly (readonly string[])[];
}

/** Decides every spelling. The result depends on the input only. Imports are processed in the given order. */
export function spellNames(names: RequestedNames): Spellings {
  const taken = new Set([...names.declared, ...names.globals]);
  const imports = new Map<string, string>();
  for (const name of names.imports) {
    const key = importKey(name);
    if (!imports.has(key)) imports.set(key, claimImport(name, taken));
  }
  const locals = names.locals.map((wanted) => claimLocal(wanted, taken));
  const scopes = names.scopes.map((scope) => {
    const inScope = new Set<string>();
    return scope.map((wanted) => claimLocal(wanted, inScope, taken));
  });
  return { imports, locals, scopes };
}

/** Returns the key of an import. Equal keys mean the same import. */
export function importKey(name: ImportedName): string {
  return `${sourceKey(name.from)}\n${name.name}`;
}

export function sourceKey(source: ImportSource): string {
  return typeof source === "string" ? source : `./${source.file}`;
}

export function claimImport(name: ImportedName, taken: Set<string>): string {
  return claim(importSpellings(name), taken, none);
}

/** @param outer the names that must not be hidden */
export function claimLocal(wanted: string, taken: Set<string>, outer: ReadonlySet<string> = none): string {
  if (!isForbidden(wanted, taken, outer)) {
    taken.add(wanted);
    return wanted;
  }
  return claim(numberedSpellings(wanted), taken, outer);
}

function claim(candidates: Iterable<string>, taken: Set<string>, outer: ReadonlySet<string>): string {
  for (const candidate of candidates) {
    if (isForbidden(candidate, taken, outer)) continue;
    taken.add(candidate);
    return candidate;
  }
  throw new Error("unreachable: the candidates never end");
}

function isForbidden(name: string, taken: ReadonlySet<string>, outer: ReadonlySet<string>): boolean {
  return taken.has(name) || outer.has(name) || forbidden.has(name);
}

function* importSpellings({ from, name }: ImportedName): Iterable<string> {
  yield name;
  const prefix = typeof from === "string" ? "viceroy" : camelCase(basename(from.file).replace(/\.ts$/, ""));
  const lower = /^\p{Lu}/u.test(name) ? prefix[0]!.toUpperCase() + prefix.slice(1) : prefix;
  const alias = lower + name[0]!.toUpperCase() + name.slice(1);
  yield* numberedSpellings(alias);
}

function* numberedSpellings(name: string): Iterable<string> {
  yield name;
  const separator = /\d$/.test(name) ? "_" : "";
  for (let i = 2; ; i++) yield `${name}${separator}${i}`;
}

/** Converts a file name to camel case: `my-file.v2` -> `myFileV2`. */
function camelCase(text: string): string {
  const words = text.split(/[^\p{ID_Continue}$]+/u).filter((word) => word !== "");
  const joined = words.map((word, i) => (i === 0 ? word : word[0]!.toUpperCase() + word.slice(1))).join("");
  return /^[\p{ID_Start}$_]/u.test(joined) ? joined : `_${joined}`;
}
