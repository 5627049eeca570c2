/**
 * Changes a transformed module so that it can be loaded from another folder: its imports name other files, and `import.meta`
 * and imports with computed targets go through the mirror (`mirror.ts`), which knows the module by the name of its new file. The
 * text does not depend on the folder of the source. The source map follows.
 */
import { decode, encode, type SourceMapMappings } from "@jridgewell/sourcemap-codec";
import { type ImportSpecifier, init, parse } from "es-module-lexer";

/** A change of a text: the characters from `start` to `end` become `text`. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The parts of a source map that are used here. */
export interface SourceMap {
  readonly mappings: string;
  readonly sources: readonly string[];
}

export interface RewrittenModule {
  readonly code: string;
  readonly map: SourceMap | undefined;
}

/** An import of a module. */
export interface Import {
  /** The specifier; undefined if it is computed. */
  readonly specifier: string | undefined;
  readonly isDynamic: boolean;
  readonly hasAttributes: boolean;
}

await init;

/** Returns the new specifier of an import; undefined if tsx must find it when it is imported. */
export type Locate = (imported: Import) => string | undefined;

const mirror = `globalThis[Symbol.for("viceroy.typescript")]`;
const inlineMap = /\n?\/\/# sourceMappingURL=data:application\/json[^,]*;base64,([\w+/=]*)\s*$/;

function importsIn(code: string, name: string): readonly ImportSpecifier[] {
  return parse(code, name)[0];
}

/** Returns the imports of a module. */
export function listImports(code: string, name: string): Import[] {
  return importsIn(code, name)
    .filter(({ d }) => d !== -2)
    .map(({ n, d, a }) => ({ specifier: n, isDynamic: d > -1, hasAttributes: a > -1 }));
}

/** Returns the specifiers that a CommonJS module in the form of esbuild requires. */
export function listRequires(code: string): string[] {
  const calls = code.matchAll(/\brequire\(\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\)/g);
  return [...new Set([...calls].map(([, double, single]) => (double ?? single)!))];
}

/** The name in a CommonJS module by which its transformed code has what `import.meta` is in an ES module. */
export const commonJsMeta = "__viceroyMeta";

/**
 * Rewrites an ES module.
 * @param name the name of the file into which the module is written
 */
export function rewriteModule(code: string, name: string, locate: Locate): RewrittenModule {
  return rewrite(code, name, locate, { head: "", tail: "", afterImport: "" });
}

/**
 * Rewrites a CommonJS module. The names that Node.js gives to each CommonJS module get the values of the source.
 * @param name the name of the file into which the module is written
 * @param required the files that replace those that the module requires, by their specifiers
 */
export function rewriteCommonJs(
  code: string,
  name: string,
  locate: Locate,
  required: Readonly<Record<string, string>>,
): RewrittenModule {
  const file = JSON.stringify(name);
  const own = `const ${commonJsMeta}=${mirror}.commonJsMeta(${file});__filename=${commonJsMeta}.filename;__dirname=${commonJsMeta}.dirname`;
  const require = `require=${mirror}.require(${file},require,${JSON.stringify(required)})`;
  // "use strict" is a directive at the start of a function only.
  const head = `${own};${require};(()=>{`;
  return rewrite(code, name, locate, { head, tail: "\n})();", afterImport: `.then(${mirror}.interop)` });
}

/** Texts that are added to a module. */
interface Additions {
  readonly head: string;
  readonly tail: string;
  readonly afterImport: string;
}

function rewrite(code: string, name: string, locate: Locate, { head, tail, afterImport }: Additions): RewrittenModule {
  const match = inlineMap.exec(code);
  const body = match === null ? code : code.slice(0, match.index);
  const own = JSON.stringify(name);
  const hashbang = /^#!.*/.exec(body)?.[0].length ?? 0;
  const start = { start: 0, end: hashbang, text: head };
  const edits = importsIn(body, name).flatMap(({ n, s, e, ss, se, d, a }): Edit[] => {
    if (d === -2) return [{ start: ss, end: se, text: `${mirror}.meta(import.meta,${own})` }];
    const isDynamic = d > -1;
    const to = locate({ specifier: n, isDynamic, hasAttributes: a > -1 });
    const after = isDynamic ? [{ start: se, end: se, text: afterImport }] : [];
    if (to === undefined) return [{ start: ss, end: d + 1, text: `${mirror}.import(${own},` }, ...after];
    // The lexer includes the quotes of the specifiers of dynamic imports only.
    return [{ start: s, end: e, text: isDynamic ? JSON.stringify(to) : JSON.stringify(to).slice(1, -1) }, ...after];
  });
  const sorted = [start, ...edits.sort((left, right) => left.start - right.start)];
  const changed = `${applyEdits(body, sorted)}${tail}`;
  if (match === null) return { code: changed, map: undefined };
  const map = JSON.parse(Buffer.from(match[1]!, "base64").toString()) as SourceMap;
  return { code: changed, map: { ...map, mappings: encode(moveColumns(decode(map.mappings), body, sorted)) } };
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  let changed = "";
  let from = 0;
  for (const { start, end, text: replacement } of edits) {
    changed += text.slice(from, start) + replacement;
    from = end;
  }
  return changed + text.slice(from);
}

/** Moves the positions after edits, none of which contains a line break. */
function moveColumns(mappings: SourceMapMappings, text: string, edits: readonly Edit[]): SourceMapMappings {
  const byLine = new Map<number, { readonly end: number; readonly by: number }[]>();
  let line = 0;
  let lineStart = 0;
  for (const { start, end, text: replacement } of edits) {
    for (let next = text.indexOf("\n", lineStart); next !== -1 && next < start; next = text.indexOf("\n", lineStart)) {
      line++;
      lineStart = next + 1;
    }
    const moves = byLine.get(line) ?? [];
    moves.push({ end: end - lineStart, by: replacement.length - (end - start) });
    byLine.set(line, moves);
  }
  return mappings.map((segments, at) => {
    const moves = byLine.get(at);
    if (moves === undefined) return segments;
    return segments.map((segment) => {
      const by = moves.reduce((sum, move) => (move.end <= segment[0] ? sum + move.by : sum), 0);
      const [column, ...rest] = segment;
      return [column + by, ...rest] as typeof segment;
    });
  });
}
