/**
 * `npm run verify`: runs all checks that a change must pass, in a fresh or a used clone. With `--full`, property tests
 * and fuzzers run longer, and the soak takes half an hour. The script continues after a failure, so that one run shows
 * all failures. It ends with a line `N passed, N failed`, in which a failed step counts like a test.
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

/**
 * Runs a script in parallel to the following steps.
 * @returns the step that waits for the script and prints its output
 */
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

/**
 * Returns the newest common commit of this branch and the published branch, or the last commit of a clone without a
 * published branch.
 */
function publishedCommit() {
  const { status, stdout } = spawnSync("git", ["merge-base", "HEAD", "origin/HEAD"], { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : "HEAD";
}

const built = (await check("install", install)) && (await check("build", () => node("build.mjs")));
if (!built) end();
const prepared = beside(".ci/prepare.mjs");

await check("generated code is up to date", () =>
  allOf([".", ...examples()].map((project) => () => viceroy(project, "compile", "--check"))),
);
if (existsSync(path.join(root, ".git"))) {
  await check("the schemas have no breaking change since they were published", () =>
    viceroy(".", "break", "--against", publishedCommit()),
  );
} else {
  console.log("skipped: viceroy break (this folder is not a git checkout)");
}
// Checks that the schemas of the tests can be compiled. Their output is not committed.
await check("compile the schemas of the tests", () =>
  allOf(
    [
      "test/contract/project",
      "test/fixtures/crew",
      "test/fixtures/guild",
      "test/host/publish/project",
      "test/fixtures/vault",
      "test/fixtures/vault-next",
      "test/gateway/project",
      "test/rdma/project",
      "test/tensor/project",
    ].map((project) => () => viceroy(project, "compile")),
  ),
);
const sanitized = beside(".ci/rdma-sanitizers.mjs");
await check("README: the size of generated code", () => node(".ci/generated-size.mjs"));
await check("format, lint, import cycles", () => tool("@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."));
await check("equivalent mutants name lines that exist", () => node(".ci/mutate/equivalent-mutants.mjs"));
await check("format of the C++ sources", () => node(".ci/clang-format.mjs"));
await check("layers", () => node(".ci/layers.mjs"));
await check("the API reference describes everything", () => node(".ci/api-reference.mjs", "--check"));
await check("types", () => tool("typescript/bin/tsc", "-p", ".", "--noEmit"));
const site = beside(".ci/site.mjs");
await check("programs and addons for the tests", prepared);
// From here on, a missing program is an error instead of a skipped test.
process.env.VICEROY_PEERS = "required";
const torches = ["--import", "tsx", ".ci/torches.mjs", ...(profile === "long" ? ["--full"] : [])];
// The sanitized tests need libtorch, which the previous step has installed.
const sanitizedTensors = beside(".ci/tensor-sanitizers.mjs", ...(profile === "long" ? ["--full"] : []));
const torchesPrepared = beside(...torches, "--prepare");
await check("the RDMA addon under sanitizers", sanitized);
await check("the tensor addon under sanitizers", sanitizedTensors);
if (await check("addons for PyTorch from PyPI", torchesPrepared)) {
  await check("tensors with PyTorch from PyPI, and the declarations of operations", () => node(...torches));
}
if (profile === "long")
  await check("the RDMA addon under the thread sanitizer", () => node(".ci/rdma-sanitizers.mjs", "--threads"));
if (await check("documentation site", site)) process.env.VICEROY_SITE = "built";
await check("tests", async () => {
  const tests = await runTests([], profile);
  passed += tests.passed;
  failed += tests.failed;
  // Failed tests have already been counted one by one.
  return tests.failed > 0 ? 0 : tests.code;
});
const soak = [".ci/soak.mjs", "--minutes", ...(profile === "long" ? ["30"] : ["0.35", "--every", "2"])];
const soaked = profile === "long" ? () => node(...soak) : beside(...soak);
if (profile === "long") await check("soak", soaked);
if (profile === "long") await check("mutants of changed lines", () => node(".ci/mutate.mjs", "--changed"));
if (profile === "long") await check("sim 10000", () => node(".ci/sim.mjs", "--seeds", "10000"));
if (profile === "long") await check("sim: planted bugs are found", () => node(".ci/sim.mjs", "--planted"));
await check("examples, on all versions of Node.js", () => node(".ci/nodes.mjs"));
if (profile !== "long") await check("soak", soaked);
end();
