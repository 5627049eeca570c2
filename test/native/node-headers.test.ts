/** The search for the headers of Node.js, with which the addon `stack` is built. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findNodeHeaders } from "../../native/node-headers.js";

/** Makes the folder of a Node.js. @param version the version of modules in its headers, or undefined for no headers */
function nodeWith(version: string | undefined): string {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-headers-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  if (version === undefined) return folder;
  const headers = path.join(folder, "include/node");
  mkdirSync(headers, { recursive: true });
  writeFileSync(path.join(headers, "v8.h"), "");
  writeFileSync(path.join(headers, "node_version.h"), `#define NODE_MODULE_VERSION ${version}\n`);
  return folder;
}

test("headers are found beside the program, and in the folder that npm_config_nodedir names", () => {
  const folder = nodeWith(process.versions.modules);
  const headers = path.join(folder, "include/node");
  expect(findNodeHeaders({}, path.join(folder, "bin/node"))).toBe(headers);
  expect(findNodeHeaders({ npm_config_nodedir: folder }, "/nowhere/bin/node")).toBe(headers);
});

test("headers that are missing or of another version are refused, with the folder and the advice", () => {
  const missing = nodeWith(undefined);
  const advice =
    "Install them (`npx node-gyp install`), or set npm_config_nodedir to the folder of a Node.js that contains include/node";
  expect(() => findNodeHeaders({ npm_config_nodedir: missing })).toThrow(
    new Error(
      `cannot find the headers of Node.js ${process.version}:\n  ${missing}/include/node: there is no v8.h\n${advice}`,
    ),
  );
  const old = nodeWith("93");
  expect(() => findNodeHeaders({ npm_config_nodedir: old })).toThrow(
    `  ${old}/include/node: they are for modules of version 93, and this Node.js loads ${process.versions.modules}\n`,
  );
});
