/**
 * Converts a bundle of ES modules into a script, whose value is a function with the parameters of a CommonJS module. V8 compiles the text as it
 * is in the file, so that a process does not need a second copy of it to add the function (`runtime/bundle/load.ts`).
 */
import { createRequire } from "node:module";
import { lateModuleFunction } from "./late-modules.mjs";

const require = createRequire(import.meta.url);

/** The scheme by which bundles name modules that they import dynamically. */
export const deferredScheme = "deferred:";

/**
 * Converts a bundle of ES modules.
 *
 * @param core the script whose modules the bundle uses
 * @param tail returns the last lines of the script for the exports of the bundle
 */
export function toScript(bundle, core, tail) {
  const { imports, exports, ranges } = statements(bundle);
  const required = new Map();
  for (const { from, names } of imports) required.set(from, [...(required.get(from) ?? []), ...names]);
  const head = [...required]
    .filter(([, names]) => names.length > 0)
    .map(([from, names]) => `const ${objectOf(names)} = ${requireCall(from, core)};`);
  for (const { from, wholes } of imports)
    head.push(...wholes.map((name) => `const ${name} = ${requireCall(from, core)};`));
  const text = withoutComments(keepClassNames(blank(bundle, ranges)));
  const map = text.lastIndexOf("//# sourceMappingURL");
  const body = text.slice(0, map).replaceAll(`import("${deferredScheme}`, 'importDeferred("');
  if (/\bimport\(/.test(body)) {
    throw new Error("cannot bundle the runtime: expected import() in runtime/proc/platform/import-module.ts alone");
  }
  return [
    '(function (exports, require, module, __filename, __dirname) { "use strict"; ',
    // The numbers of lines stay those of the source map.
    ...head,
    'const import_meta_url = require("node:url").pathToFileURL(__filename).href; ',
    lateModuleFunction,
    'const importDeferred = async (file) => require("./load.cjs").loadRest().deferred[file](); ',
    `${body.trimEnd()}\n`,
    ...tail(exports).map((line) => `${line}\n`),
    `})\n${text.slice(map)}`,
  ].join("");
}

function requireCall(from, core) {
  return from === `./${core}` ? `require("${from}").shared()` : `require("${from}")`;
}

/** Returns the text of an object, or of a pattern that takes one apart. */
export function objectOf(names) {
  return `{ ${names.map(([name, variable]) => (name === variable ? name : `${name}: ${variable}`)).join(", ")} }`;
}

/** Returns the imports and exports of a bundle, as pairs of a name and a variable, and where they are in its text. */
export function statements(text) {
  const { ts } = require("ts-morph");
  const found = { imports: [], exports: [], ranges: [] };
  const file = ts.createSourceFile("bundle.js", text, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) {
      const { name, namedBindings } = statement.importClause;
      const list = namedBindings === undefined || !ts.isNamedImports(namedBindings) ? [] : namedBindings.elements;
      const names = list.map((each) => [(each.propertyName ?? each.name).text, each.name.text]);
      // The default export of a module of Node.js is the module.
      const wholes = [name, list === namedBindings?.elements ? undefined : namedBindings?.name].flatMap(
        (each) => each?.text ?? [],
      );
      found.imports.push({ from: statement.moduleSpecifier.text, names, wholes });
    } else if (ts.isExportDeclaration(statement)) {
      const { elements } = statement.exportClause;
      found.exports.push(...elements.map((each) => [each.name.text, (each.propertyName ?? each.name).text]));
    } else continue;
    found.ranges.push([statement.getStart(file), statement.end]);
  }
  return found;
}

/** Removes parts of a text. Their line breaks stay. */
function blank(text, ranges) {
  let kept = "";
  let from = 0;
  for (const [begin, end] of ranges) {
    kept += text.slice(from, begin) + text.slice(begin, end).replace(/[^\n]/g, "");
    from = end;
  }
  return kept + text.slice(from);
}

/**
 * Empties the lines of comments, which are a seventh of the bundle: every process reads all of it when it starts. esbuild
 * keeps comments inside classes unless it also joins all lines. The numbers of lines stay, for stack traces and the source map.
 */
export function withoutComments(text) {
  const { ts } = require("ts-morph");
  const comments = new Map();
  const visit = (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? []) comments.set(pos, end);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("bundle.js", text, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS));
  const ranges = [];
  for (const [pos, end] of [...comments].sort(([left], [right]) => left - right)) {
    const begin = text.lastIndexOf("\n", pos) + 1;
    const isOwnLine = text.slice(begin, pos).trim() === "" && /^[ \t]*(?:\n|$)/.test(text.slice(end, end + 80));
    // The last comment names the source map.
    if (isOwnLine && begin >= (ranges.at(-1)?.[1] ?? 0) && !text.startsWith("//#", pos)) ranges.push([begin, end]);
  }
  return blank(text, ranges);
}

/**
 * Restores class names. esbuild prints a class that refers to itself as `var Point = class _Point`, whose name would be
 * `_Point` in every error. The option `keepNames` would cost a call for each function of the bundle at load time.
 */
function keepClassNames(text) {
  let named = text;
  for (const [, variable, name] of text.matchAll(/\bvar (\w+) = class (_\w+)\b/g)) {
    if (name !== `_${variable}`) throw new Error(`cannot bundle the runtime: two things are called ${variable}`);
    named = named.replaceAll(new RegExp(`(?<![\\w.$])${name}\\b`, "g"), variable);
  }
  return named;
}
