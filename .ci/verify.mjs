/**
 * Everything that must hold before a change goes in, on a fresh clone or a used one: `npm run verify`. With `--full`, the
 * property tests and fuzzers try for longer, and the soak takes half an hour. Goes on after a failure, so that one run shows
 * all of them; ends with a line `N passed, N failed`, in which a step that failed counts like a test.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { allOf, examples, install, node, root, step, told, tool, viceroy } from "./steps.mjs";
import { runTests } from "./tests.mjs";

const profile = process.argv.includes("--full") ? "long" : "short";
let passed = 0;
let failed = 0;

async function check(name, command) {
  const ok = await step(name, command);
  if (!ok) failed++;
  return ok;
}

/** Runs a script beside the steps that follow. @returns the step that waits for it and shows what it has printed */
function beside(...script) {
  const running = told(process.execPath, script);
  return async () => {
    const { code, text } = await running;
    console.log(text);
    return code;
  };
}

function end() {
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}

/** The commit that this work and the published branch have in common; of a clone without one, the last commit. */
function publishedCommit() {
  const { status, stdout } = spawnSync("git", ["merge-base", "HEAD", "origin/HEAD"], { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : "HEAD";
}

const built = (await check("install", install)) && (await check("build", () => node("build.mjs")));
if (!built) end();
const prepared = beside(".ci/prepare.mjs");

await check("generated code is what the schemas say", () =>
  allOf([".", ...examples()].map((project) => () => viceroy(project, "compile", "--check"))),
);
if (existsSync(path.join(root, ".git"))) {
  await check("the schemas break nobody since they were published", () =>
    viceroy(".", "break", "--against", publishedCommit()),
  );
} else {
  console.log("skipped: viceroy break (this is no checkout of git, there is nothing to compare with)");
}
// The schemas of the tests are compiled anew: what they become is not kept.
await check("compile the schemas of the tests", () =>
  allOf(
    [
      "test/contract/project",
      "test/fixtures/crew",
      "test/fixtures/guild",
      "test/gateway/project",
      "test/rdma/project",
      "test/tensor/project",
    ].map((project) => () => viceroy(project, "compile")),
  ),
);
const sanitized = beside(".ci/rdma-sanitizers.mjs");
await check("README: the size of generated code", () => node(".ci/generated-size.mjs"));
await check("format, lint, import cycles", () => tool("@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."));
await check("format of the C++ sources", () => node(".ci/clang-format.mjs"));
await check("layers", () => node(".ci/layers.mjs"));
await check("the API reference describes everything", () => node(".ci/api-reference.mjs", "--check"));
await check("types", () => tool("typescript/bin/tsc", "-p", ".", "--noEmit"));
const site = beside(".ci/site.mjs");
await check("what tests need besides", prepared);
// What is missing is an error here, and not a test less.
process.env.VICEROY_PEERS = "required";
const torches = ["--import", "tsx", ".ci/torches.mjs", ...(profile === "long" ? ["--full"] : [])];
// Not before libtorch is there.
const sanitizedTensors = beside(".ci/tensor-sanitizers.mjs", ...(profile === "long" ? ["--full"] : []));
const torchesPrepared = beside(...torches, "--prepare");
await check("the addon for one-sided memory under sanitizers", sanitized);
await check("the addon for tensors under sanitizers", sanitizedTensors);
if (await check("addons for PyTorch from PyPI", torchesPrepared)) {
  await check("tensors with PyTorch from PyPI, and operations as its schemas declare them", () => node(...torches));
}
if (profile === "long")
  await check("the addon for one-sided memory under the sanitizer of threads", () =>
    node(".ci/rdma-sanitizers.mjs", "--threads"),
  );
if (await check("documentation site", site)) process.env.VICEROY_SITE = "built";
await check("tests", async () => {
  const tests = await runTests([], profile);
  passed += tests.passed;
  failed += tests.failed;
  // The failed tests have been counted one by one.
  return tests.failed > 0 ? 0 : tests.code;
});
const soak = [".ci/soak.mjs", "--minutes", ...(profile === "long" ? ["30"] : ["0.35", "--every", "2"])];
const soaked = profile === "long" ? () => node(...soak) : beside(...soak);
if (profile === "long") await check("soak", soaked);
if (profile === "long") await check("mutants of what has changed", () => node(".ci/mutate.mjs", "--changed"));
if (profile === "long") await check("sim 10000", () => node(".ci/sim.mjs", "--seeds", "10000"));
if (profile === "long") await check("sim: planted bugs are found", () => node(".ci/sim.mjs", "--planted"));
await check("examples, on all versions of Node.js", () => node(".ci/nodes.mjs"));
if (profile !== "long") await check("soak", soaked);
end();
