/**
 * The tools of other projects that these tests need: bundlers, and other versions of Node.js. Where `.ci/bundlers` or
 * `.ci/node` is not installed, the tests that need them are skipped, unless VICEROY_PEERS is "required".
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { root } from "../examples/program.js";

/** Returns the path of a tool below the checkout, or undefined where it is not installed. */
function installed(file: string): string | undefined {
  const place = path.join(root, file);
  if (existsSync(place)) return place;
  if (process.env["VICEROY_PEERS"] !== "required") return undefined;
  throw new Error(`cannot find ${file}: run \`node .ci/prepare.mjs\`, which installs it`);
}

export const webpack = installed(".ci/bundlers/node_modules/webpack-cli/bin/cli.js");
export const postject = installed(".ci/bundlers/node_modules/postject/dist/cli.js");

const hasBinaries = process.platform === "linux" && process.arch === "x64";

/** Returns the executable of a version of Node.js, or undefined where it is not installed. */
export function nodeOf(version: "20" | "22" | "24"): string | undefined {
  return hasBinaries ? installed(`.ci/node/node_modules/node${version}/bin/node`) : undefined;
}
