/**
 * Changes a transformed module so that it can be loaded from another folder: its imports name files by their URLs, and
 * `import.meta` and imports with computed targets go through the mirror (`mirror.ts`). The source map follows.
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
interface SourceMap {
  readonly mappings: string;
}

/** An import of a module. */
export interface Import {
  /** The specifier; undefined if it is computed. */
  readonly specifier: string | undefined;
  readonly isDynamic: boolean;
  readonly hasAttributes: boolean;
}

await init;

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

/**
 * Rewrites a module.
 * @param url the URL of the source
 * @param locate returns the new specifier of an import; undefined if tsx must find it when it is imported
 */
export function rewriteModule(code: string, url: string, locate: (imported: Import) => string | undefined): string {
  const match = inlineMap.exec(code);
  const body = match === null ? code : code.slice(0, match.index);
  const source = JSON.stringify(url);
  const edits = importsIn(body, url).flatMap(({ n, s, e, ss, se, d, a }): Edit[] => {
    if (d === -2) return [{ start: ss, end: se, text: `${mirror}.meta(import.meta,${source})` }];
    const to = locate({ specifier: n, isDynamic: d > -1, hasAttributes: a > -1 });
    // The lexer includes the quotes of the specifiers of dynamic imports only.
    if (to !== undefined) {
      if (to === n) return [];
      return [{ start: s, end: e, text: d > -1 ? JSON.stringify(to) : JSON.stringify(to).slice(1, -1) }];
    }
    return [{ start: ss, end: d + 1, text: `${mirror}.import(${source},` }];
  });
  // Dynamic imports in the arguments of others come later in the list, and are inside of them.
  const sorted = edits.sort((left, right) => left.start - right.start);
  const changed = applyEdits(body, sorted);
  if (match === null) return changed;
  const map = JSON.parse(Buffer.from(match[1]!, "base64").toString()) as SourceMap;
  const moved = JSON.stringify({ ...map, mappings: encode(moveColumns(decode(map.mappings), body, sorted)) });
  return `${changed}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(moved).toString("base64")}\n`;
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
