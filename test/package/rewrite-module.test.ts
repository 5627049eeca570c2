/** Checks how transformed modules are changed so that they can be loaded from another folder. */
import { decode, encode } from "@jridgewell/sourcemap-codec";
import { expect, test } from "vitest";
import {
  listImports,
  listRequires,
  rewriteCommonJs,
  rewriteModule,
} from "../../runtime/bundle/typescript/rewrite-module.js";

const name = "0-a.ts.mjs";
const mirror = `globalThis[Symbol.for("viceroy.typescript")]`;
const locate = ({ specifier }: { readonly specifier: string | undefined }) =>
  specifier?.startsWith("./known") ? `./0-${specifier.slice(2)}.mjs` : undefined;

function withMap(code: string, mappings: string): string {
  const map = JSON.stringify({ version: 3, sources: ["/app/src/a.ts"], mappings });
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString("base64")}`;
}

test("imports name other files, and computed imports and import.meta go through the mirror", () => {
  const rewritten = (code: string) => rewriteModule(code, name, locate).code;
  expect(rewritten(`import{a}from"./known.js";export*from'./known.js';`)).toBe(
    `import{a}from"./0-known.js.mjs";export*from'./0-known.js.mjs';`,
  );
  expect(rewritten(`import("./known.js").then(f);`)).toBe(`import("./0-known.js.mjs").then(f);`);
  expect(rewritten(`import(a+import.meta.url,{with:b});`)).toBe(
    `${mirror}.import("${name}",a+${mirror}.meta(import.meta,"${name}").url,{with:b});`,
  );
  expect(rewritten(`import(await import("./known.js"));`)).toBe(
    `${mirror}.import("${name}",await import("./0-known.js.mjs"));`,
  );
  expect(rewritten(`const text="import('./known.js')";`)).toBe(`const text="import('./known.js')";`);
});

test("CommonJS modules keep their names, strictness and what they require, and import the exports of others", () => {
  const { code } = rewriteCommonJs(`#!/usr/bin/env node\n"use strict";import("./known.js")`, "0-a.ts.cjs", locate, {
    a: "./1.cjs",
  });
  expect(code).toBe(
    `const __viceroyMeta=${mirror}.commonJsMeta("0-a.ts.cjs");__filename=__viceroyMeta.filename;` +
      `__dirname=__viceroyMeta.dirname;require=${mirror}.require("0-a.ts.cjs",require,{"a":"./1.cjs"});(()=>{\n` +
      `"use strict";import("./0-known.js.mjs").then(${mirror}.interop)\n})();`,
  );
});

test("positions in the source map move with the code behind a change, and with no other", () => {
  const line = `import{a}from"./known.js";a();import("./known.js");b();`;
  const columns = [line.indexOf("a}"), line.indexOf("a()"), line.indexOf("b()")];
  const mappings = encode([columns.map((column, i) => [column, 0, i, 0]), [[3, 0, 9, 0]]]);
  const { code, map } = rewriteModule(withMap(`${line}\nxx.c();`, mappings), name, locate);
  const first = code.split("\n")[0]!;
  const [moved, next] = decode(map!.mappings);
  expect(moved!.map(([column]) => column)).toEqual([first.indexOf("a}"), first.indexOf("a()"), first.indexOf("b()")]);
  expect(next).toEqual([[3, 0, 9, 0]]);
  expect(code).not.toContain("sourceMappingURL");
});

test("imports and calls of require are found by their specifiers", () => {
  expect(
    listImports(`import a from"a";import("b");import(c);import.meta;import d from"./d.json"with{type:"json"};`, name),
  ).toEqual([
    { specifier: "a", isDynamic: false, hasAttributes: false },
    { specifier: "b", isDynamic: true, hasAttributes: false },
    { specifier: undefined, isDynamic: true, hasAttributes: false },
    { specifier: "./d.json", isDynamic: false, hasAttributes: true },
  ]);
  expect(listRequires(`require("a");x.y=require('b');require("a");require(c);required("d")`)).toEqual(["a", "b"]);
});
