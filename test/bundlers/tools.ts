/**
 * The tools of other projects that these tests need: bundlers, and other versions of Node.js. Where `.ci/bundlers` or
 * `.ci/node` is not installed, the tests that need them are skipped, unless VICEROY_PEERS is "required".
 */
import { copyFileSync, existsSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { root, run } from "../examples/program.js";
import { write } from "../examples/project.js";
import { succeed, temporaryFolder } from "./project.js";

/** Returns the path of a tool below the checkout, or undefined where it is not installed. */
export function installed(file: string): string | undefined {
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

/** Bundles a program and the runtime into one file. */
export async function bundleInline(
  project: string,
  entry: string,
  format: "esm" | "cjs",
  outfile: string,
): Promise<void> {
  await build({
    absWorkingDir: project,
    entryPoints: [entry],
    ...{ bundle: true, platform: "node", target: "node20", minify: true, keepNames: true, format },
    conditions: ["viceroy-inline"],
    logOverride: { "empty-import-meta": "silent" },
    outfile,
  });
}

/**
 * Makes a single executable application of a bundle of CommonJS modules. `postject` must be installed.
 * @param node the executable of Node.js that the application contains
 * @returns the path of the executable
 */
export async function makeExecutable(node: string, script: string): Promise<string> {
  const folder = temporaryFolder();
  const [config = "", blob = "", executable = ""] = ["sea.json", "sea.blob", "app"].map((name) =>
    path.join(folder, name),
  );
  write(config, JSON.stringify({ main: script, output: blob, disableExperimentalSEAWarning: true }));
  const prepared = await run(node, ["--experimental-sea-config", config], folder);
  if (prepared.code !== 0) throw new Error(`cannot prepare ${script}: ${prepared.stderr}`);
  copyFileSync(node, executable);
  const fuse = ["--sentinel-fuse", "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2"];
  await succeed(folder, postject ?? "", executable, "NODE_SEA_BLOB", blob, ...fuse);
  return executable;
}
