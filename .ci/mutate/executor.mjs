/**
 * A process that runs tests against one mutant after the other: its argument is the script that `bundle.mjs` has made. Each run
 * evaluates the modules anew. Messages from the parent say what to run, those to the parent what came of it.
 */
import { createRequire } from "node:module";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { startTests, vitest } from "./vitest.mjs";

const root = process.cwd();
const file = process.argv[2];
process.setSourceMapsEnabled(true);
const evaluate = createRequire(import.meta.url)(file);
const requireOfRoot = createRequire(path.join(root, "tests.cjs"));
const require = Object.assign((name) => (name === "vitest" ? vitest : requireOfRoot(name)), requireOfRoot);

/** The modules of the tests and of what they import, not yet run: tests by file. */
function freshModules() {
  const module = { exports: {} };
  evaluate(require, module, module.exports);
  return module.exports;
}

/** Where Stryker's instrumentation reads which mutant is active, and counts what is reached. */
globalThis.__stryker__ = {};
const stryker = globalThis.__stryker__;

function nameOf(task) {
  return task.suite === undefined || task.suite === task.file ? task.name : `${nameOf(task.suite)} ${task.name}`;
}

function idOf(test) {
  return `${path.relative(root, test.file.filepath)}#${nameOf(test)}`;
}

const config = {
  root,
  name: "",
  setupFiles: [],
  allowOnly: false,
  passWithNoTests: true,
  retry: 0,
  maxConcurrency: 1,
  sequence: { seed: 1, hooks: "stack", setupFiles: "list" },
  tags: [],
};

/** Whether a test has failed already because of the mutant. */
function isDecided({ mutant }, errors, results) {
  return mutant !== undefined && (errors.length > 0 || results.some(({ error }) => error !== undefined));
}

/** What Vitest's runner asks. @param order see `run` */
function runnerFor(order, errors, results) {
  const wanted = order.tests === undefined ? undefined : new Set(order.tests);
  return {
    config,
    // No file sees what the modules of another file have kept.
    importFile: (place) => freshModules()[path.relative(root, place)](),
    onCollected() {
      stryker.activeMutant = order.mutant;
    },
    onBeforeRunTask(test) {
      if (isDecided(order, errors, results) || wanted?.has(idOf(test)) === false) test.mode = "skip";
      else stryker.currentTestId = order.mutant === undefined ? idOf(test) : undefined;
    },
    onAfterRunTask(test) {
      stryker.currentTestId = undefined;
      if (test.result === undefined || test.mode === "skip") return;
      const error = test.result.state === "fail" ? (test.result.errors?.[0]?.message ?? "it failed") : undefined;
      results.push({ id: idOf(test), milliseconds: test.result.duration ?? 0, error });
    },
  };
}

function suiteErrors(suite) {
  const own = suite.result?.errors ?? [];
  const inner = (suite.tasks ?? []).filter(({ type }) => type === "suite").flatMap(suiteErrors);
  return [...own.map(({ message }) => message), ...inner];
}

/** What keeps the process running: sockets, servers, timers, children. */
function resources() {
  return process
    .getActiveResourcesInfo()
    .filter((name) => name !== "Immediate")
    .sort()
    .join();
}

/** Errors that no test has caught, of the present run. */
let uncaught = [];
process.on("uncaughtException", (error) => uncaught.push(String(error?.message ?? error)));
process.on("unhandledRejection", (error) => uncaught.push(String(error?.message ?? error)));

/**
 * @param order `mutant`, unless this is the run without any, which counts what each test reaches; `isStatic`, when it is
 *   active already while modules are evaluated; `files` and `tests`, the ids of those to run, all by default; `hitLimit`,
 *   how often the mutant may be reached before it counts as an endless loop
 */
async function run(order, files) {
  const before = resources();
  const results = [];
  const errors = [];
  uncaught = errors;
  for (const name of Object.keys(stryker)) delete stryker[name];
  // A test that waits for what a mutant never does must not hold up the others for long.
  config.testTimeout = order.mutant === undefined ? 60_000 : 4_000;
  config.hookTimeout = config.testTimeout;
  stryker.hitCount = order.mutant === undefined ? undefined : 0;
  stryker.hitLimit = order.hitLimit;
  const runner = runnerFor(order, errors, results);
  for (const name of order.files ?? files) {
    stryker.activeMutant = order.isStatic ? order.mutant : undefined;
    const suites = await startTests([path.join(root, name)], runner);
    await nextTurn();
    errors.push(...suites.flatMap(suiteErrors));
    if (isDecided(order, errors, results)) break;
  }
  const { hitCount, mutantCoverage } = stryker;
  stryker.activeMutant = undefined;
  return { results, errors, hitCount, coverage: mutantCoverage, isClean: resources() === before };
}

process.on("message", async ({ order, files }) => {
  try {
    process.send(await run(order, files));
  } catch (error) {
    process.send({ results: [], errors: [String(error?.stack ?? error)], isClean: false });
  }
});
process.on("disconnect", () => process.exit());
process.send("ready");
