/**
 * Tests tensors with versions of PyTorch from PyPI (wheels.mjs), each with its own addon: `node --import tsx
 * .ci/torches.mjs`. By default, it runs the tests that depend most on the version with the newest one, and checks
 * whether the declarations of operations match its schemas. With `--full`, it runs all tests with all versions and with
 * addons that are built like those of users.
 *
 * `--prepare` only unpacks and builds. `--declare` writes the declarations of operations from the newest version. `--unless-passed` and
 * `--record` are those of passed.mjs.
 */
import { readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { addonFile } from "../native/addon-location.ts";
import { buildAddon } from "../native/build.ts";
import { isLeftOut, unlessPassed } from "./passed.mjs";
import { run, told } from "./steps.mjs";
import { runTests } from "./tests.mjs";
import { newestTorch, noWheels, prepareWheels, torchFolder, torchVersions, versionFolder } from "./wheels.mjs";

const full = process.argv.includes("--full");
const versions = full ? torchVersions : [newestTorch];
const few = ["recorded", "gradients", "local", "hostile", "replay", "not-replayed", "gloo", "mesh", "nn"].map(
  (name) => `test/tensor/${name}.test.ts`,
);

/** The files that decide the result: those of the addon and of its build, of the runtime that drives it, and of the tests. */
const places = [
  "native/addon-location.ts",
  "native/build.ts",
  "native/build-sources.ts",
  "native/c-library.ts",
  "native/libtorch.ts",
  "native/source-key.ts",
  "native/tensor",
  "runtime/native",
  "runtime/tensor",
  "test/tensor",
  ".ci/tensor-ops.mjs",
  ".ci/tensor-since.txt",
  ".ci/torches.mjs",
  ".ci/wheels.mjs",
];

/** Returns the path of the addon for a version. It changes with the sources. */
function fileFor(version) {
  return path.join(versionFolder(version), `${full ? "" : "plain-"}${path.basename(addonFile("tensor"))}`);
}

/**
 * Returns the libtorch version of an addon, or undefined if the addon cannot be loaded. It is loaded in a child
 * process, because a broken addon can end the process.
 */
async function versionOf(file) {
  const { code, text } = await told(process.execPath, ["-p", "require(process.argv[1]).versions().torch", file]);
  return code === 0 ? text.trim().split("\n").at(-1) : undefined;
}

/** @returns why there is no addon for a version, or undefined if there is one */
async function prepare(version) {
  const file = fileFor(version);
  const why = await prepareWheels(version);
  if (why !== undefined) return `its wheels cannot be had (${why}): make PyPI reachable by python3 -m pip download`;
  if ((await versionOf(file))?.startsWith(version)) return undefined;
  for (const name of readdirSync(versionFolder(version)).filter((one) => one.endsWith(".node"))) {
    rmSync(path.join(versionFolder(version), name));
  }
  process.env.VICEROY_LIBTORCH = torchFolder(version);
  // Optimization would triple the compile time of the templates.
  await buildAddon("tensor", { file, flags: full ? [] : ["-O0"] });
  const found = await versionOf(file);
  return found?.startsWith(version) ? undefined : `${file} is linked to ${found}`;
}

async function test(version) {
  // Tests that need Gloo are skipped, because the wheels contain no headers of Gloo.
  Object.assign(process.env, { VICEROY_TENSOR_ADDON: fileFor(version), VICEROY_PEERS: "" });
  const { code, passed, failed } = await runTests(full ? ["test/tensor"] : few, { profile: full ? "long" : "short" });
  console.log(`PyTorch ${version}: ${passed} passed, ${failed} failed`);
  return code;
}

async function declare(...options) {
  const script = ["--import", "tsx", ".ci/tensor-ops.mjs", ...options];
  return run(process.execPath, script, { env: { VICEROY_TENSOR_ADDON: fileFor(newestTorch) } });
}

async function all() {
  const isPrepared = process.argv.includes("--prepare");
  if (isPrepared && (await isLeftOut("torches", places))) return 0;
  for (const version of versions) {
    const why = await prepare(version);
    if (why === undefined) continue;
    console.error(`cannot test with PyTorch ${version}: ${why}`);
    return 1;
  }
  if (isPrepared) return 0;
  if (process.argv.includes("--declare")) return declare("--write");
  let code = await declare();
  for (const version of versions) code = (await test(version)) || code;
  return code;
}

const isCheck = !["--prepare", "--declare"].some((option) => process.argv.includes(option));
if (noWheels() === undefined) process.exitCode = await (isCheck ? unlessPassed("torches", places, all) : all());
else console.log(`skipped: tests of tensors with PyTorch from PyPI (they need ${noWheels()})`);
