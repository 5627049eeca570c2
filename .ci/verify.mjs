/**
 * `npm run verify`: runs all checks that a change must pass, in a fresh or a used clone. With `--full`, property tests
 * and fuzzers run longer, and the soak takes half an hour. The script continues after a failure, so that one run shows
 * all failures. A few failed tests are run again at the end, and those that pass three times are reported without failing
 * the run. It ends with the names of failed tests and steps, and a line `N passed, N failed`, in which a failed
 * step counts like a test.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { programsFolder } from "./kubernetes/programs.mjs";
import { testFiles } from "./kubernetes/test-files.mjs";
import { slowTestFiles } from "./slow-tests.mjs";
import {
  allOf,
  examples,
  hasOtherNodes,
  install,
  newestNode,
  node,
  otherNode,
  root,
  step,
  told,
  tool,
  viceroy,
} from "./steps.mjs";
import { failuresIn, pathTo, printEnd, runAgain, runTests } from "./tests.mjs";

const profile = process.argv.includes("--full") ? "long" : "short";
/** The tests that have failed. They are run again when no other step runs beside them. */
const failedTests = [];
let passed = 0;
let failed = 0;
const failures = [];
/** Tests that have failed once and passed three times afterwards. */
let unsteady = [];
/** For each failed step whose output was kept, its name and the last lines of the output. */
const lastLines = [];

async function check(name, command) {
  const ok = await step(name, command);
  if (!ok) {
    failed++;
    failures.push(`the step "${name}"`);
  }
  return ok;
}

/**
 * Runs a script in parallel to the following steps. Scripts that wait for each other leave processors for the tests.
 * @param after steps that this function has returned; the script starts when theirs have ended, whether or not they
 * have succeeded
 * @param program the executable of Node.js that runs the script and the programs that it starts
 * @returns the step that waits for the script and prints its output
 */
function beside(script, { after = [], env = {}, program = process.execPath } = {}) {
  const variables = { ...pathTo(program), ...env };
  const running = Promise.all(after.map(({ ended }) => ended)).then(() => told(program, script, { env: variables }));
  const step = async () => {
    const result = await running;
    console.log(`${result.text}took ${result.seconds} s beside other steps`);
    return explained(script, result);
  };
  return Object.assign(step, { ended: running });
}

/** Remembers why a script has failed, for those who read only the end of the output. */
function explained(script, { code, text }) {
  if (code === 0) return 0;
  failures.push(...failuresIn(text));
  lastLines.push({ name: script.join(" "), lines: text.trimEnd().split("\n").slice(-40) });
  return code;
}

/** The folder of the packed packages, which the first test that needs them packs for all runs of tests. */
const packed = mkdtempSync(path.join(tmpdir(), "viceroy-packed-"));
process.env.VICEROY_PACKED = packed;

function end() {
  rmSync(packed, { recursive: true, force: true });
  for (const { name, lines } of lastLines) {
    console.log(`\n${name} failed. The last lines of its output:`);
    for (const line of lines) console.log(`  ${line}`);
  }
  printEnd(passed, failed, failures, unsteady);
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

/**
 * Runs tests and counts them. They are a step of their own.
 * @param options options of `runTests`
 */
async function testsPass(args, options = {}) {
  const tests = await runTests(args, { profile, ...options });
  passed += tests.passed;
  failed += tests.failed;
  failures.push(...tests.failures);
  failedTests.push(...tests.tests);
  // Failed tests have already been counted one by one.
  return tests.failed > 0 ? 0 : tests.code;
}

const full = profile === "long" ? ["--full"] : [];
// What has passed with the same files passes again (passed.mjs).
const once = profile === "long" ? "--record" : "--unless-passed";
const torches = ["--import", "tsx", ".ci/torches.mjs", once, ...full];
/**
 * Whether the newest version of Node.js runs the tests whose processor time is mostly that of processes that start (vitest.config.ts): it starts
 * them in half of the time, and those with tsx in a fourth. The long profile runs all tests with this version.
 */
const usesNewest = profile === "short" && hasOtherNodes;

if (!(await check("install", install))) end();
// These scripts mostly wait for the network, so they start before everything that occupies the processors.
const downloads = beside([".ci/prepare.mjs", "--downloads", once]);
const torchesPrepared = beside([...torches, "--prepare"]);
if (!(await check("build", () => node("build.mjs")))) {
  await Promise.all([downloads.ended, torchesPrepared.ended]);
  end();
}
const addons = beside([".ci/prepare.mjs", "--addons"], { after: [downloads] });
// These checks occupy one processor each, so they run in two rows at the same time. The site waits for the pages of the API reference.
const reference = beside([".ci/api-reference.mjs", "--check", "--write"]);
const layers = beside([".ci/layers.mjs"], { after: [reference] });
const site = beside([".ci/site.mjs", "--with-written-api"], { after: [layers] });

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
      "test/fixtures/leaky",
      "test/host/publish/project",
      "test/fixtures/vault",
      "test/fixtures/vault-next",
      "test/gateway/project",
      "test/rdma/project",
      "test/tasks/meshes/project",
      "test/tensor/project",
    ].map((project) => () => viceroy(project, "compile")),
  ),
);
await check("README: the size of generated code", () => node(".ci/generated-size.mjs"));
await check("equivalent mutants name lines that exist", () => node(".ci/mutate/equivalent-mutants.mjs"));
await check("format of the C++ sources", () => node(".ci/clang-format.mjs"));
await check("types", () => tool("typescript/bin/tsc", "-p", ".", "--noEmit"));
await check("format, lint, import cycles", () => tool("@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."));
await check("the API reference describes everything", reference);
await check("layers", layers);
await check("programs for the tests", downloads);
if (profile === "long") await check("a second release of Slurm", () => node(".ci/slurm.mjs"));
await check("addons for the tests", addons);
// One script at a time, with one process of tests, so that the tests that run beside them have most of the processors.
const env = { VITEST_MAX_WORKERS: "1" };
const sanitized = beside([".ci/rdma-sanitizers.mjs", once], { after: [site], env });
const sanitizedTensors = beside([".ci/tensor-sanitizers.mjs", once, ...full], { after: [sanitized], env });
const torchesTested = beside(torches, { after: [sanitizedTensors, torchesPrepared], env });
const slowTests = beside([".ci/slow-tests.mjs", once], { after: [torchesTested], env });
// The tests run the examples with the newest version, or with this one.
const untested = ["20", "22", ...(usesNewest ? [] : [newestNode])];
const otherNodes = beside([".ci/nodes.mjs", "--at-a-time", "1", ...untested], { after: [slowTests] });
// From here on, a missing program is an error instead of a skipped test.
process.env.VICEROY_PEERS = "required";
// The short profile tests each promise about Kubernetes once: on a control plane where there is one, or else on the stand-in.
const hasControlPlane = existsSync(programsFolder());
// Most of the time of these tests is waiting. The programs that they start start faster with the newest version.
const onControlPlane = hasControlPlane
  ? beside([".ci/kubernetes.mjs", "--control-plane", "--beside"], {
      after: [otherNodes],
      program: usesNewest ? otherNode(newestNode) : process.execPath,
    })
  : undefined;
const others = hasControlPlane && profile === "short" ? testFiles() : [];
const elsewhere = { VICEROY_TESTS_ELSEWHERE: [...slowTestFiles, ...others].join(path.delimiter) };
if (usesNewest) {
  const options = { node: otherNode(newestNode), env: { ...elsewhere, VICEROY_TESTS: "newest" } };
  // From Node.js 24 on, handlers start in another way than before.
  await check(`contexts of messages, on Node.js ${newestNode}`, () =>
    testsPass(["--project", "together", "test/actor/context.test.ts"], { node: otherNode(newestNode) }),
  );
  await check(`tests that start processes, on Node.js ${newestNode}`, () =>
    testsPass(["--project", "sockets"], options),
  );
}
if (await check("documentation site", site)) process.env.VICEROY_SITE = "built";
if (usesNewest) await check("other tests", () => testsPass([], { env: { ...elsewhere, VICEROY_TESTS: "others" } }));
else await check("tests", () => testsPass([], { env: elsewhere }));
if (onControlPlane === undefined) {
  console.log(
    "Kubernetes: its tests have run on the stand-in of the API server alone, because the programs of the control plane have " +
      "not been built here. npm run test:kubernetes -- --prepare builds them",
  );
}
await check("the RDMA addon under sanitizers", sanitized);
await check("the tensor addon under sanitizers", sanitizedTensors);
if (await check("addons for PyTorch from PyPI", torchesPrepared)) {
  await check("tensors with PyTorch from PyPI, and the declarations of operations", torchesTested);
}
await check("tests in emulated machines and on emulated processors", slowTests);
await check("examples, on other versions of Node.js", otherNodes);
if (onControlPlane !== undefined) await check("Kubernetes: a control plane", onControlPlane);
if (profile === "short") {
  // Alone: hosts that are cut off count as lost after 4 seconds, and on a busy machine they are lost without being cut off.
  await check("soak", () => node(".ci/soak.mjs", "--minutes", "0.35", "--every", "2"));
}
if (failedTests.length > 0) {
  await check("failed tests, once more", async () => {
    unsteady = await runAgain(failedTests);
    for (const { text } of unsteady) failures.splice(failures.indexOf(text), 1);
    passed += unsteady.length;
    failed -= unsteady.length;
    return 0;
  });
}
if (profile === "long") {
  await check("Kubernetes: a cluster", () => node(".ci/kubernetes.mjs"));
  await check("SkyPilot: its API server", () => node(".ci/skypilot.mjs"));
  await check("SkyPilot: machines of a cluster", () => node(".ci/skypilot.mjs", "--cluster"));
  await check("the RDMA addon under the thread sanitizer", () => node(".ci/rdma-sanitizers.mjs", "--threads", once));
  await check("soak", () => node(".ci/soak.mjs", "--minutes", "30"));
  const gatewaySoak = (file, amount) => node("--import", "tsx", `test/soak/gateway/${file}.ts`, amount);
  await check("soak of gateways: reconnects", () => gatewaySoak("reconnects", "10000"));
  await check("soak of gateways: a driver that does not read", () => gatewaySoak("slow-driver", "10"));
  await check("mutants of changed lines", () => node(".ci/mutate.mjs", "--changed"));
  await check("sim 10000", () => node(".ci/sim.mjs", "--seeds", "10000"));
  await check("sim: planted bugs are found", () => node(".ci/sim.mjs", "--planted"));
  await check("sim of returns 1000", () => node(".ci/sim.mjs", "--workload", "returns", "--seeds", "1000"));
  await check("sim of gateways 1000", () => node(".ci/sim.mjs", "--workload", "through", "--seeds", "1000"));
  await check("sim of tasks 3000", () => node(".ci/sim.mjs", "--workload", "tasks", "--seeds", "3000"));
}
end();
