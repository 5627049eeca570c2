/**
 * A process that runs tests against one mutant after another. Its argument is the script that `bundle.mjs` has made.
 * Each run evaluates the modules again. The parent sends orders, and the process answers with results.
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

/** Returns the modules of the tests and of their imports before evaluation: the test modules by file. */
function freshModules() {
  const module = { exports: {} };
  evaluate(require, module, module.exports);
  return module.exports;
}

/** The object in which Stryker's instrumentation reads the active mutant and counts the reached mutants. */
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

/** Returns whether a test has already failed because of the mutant. */
function isDecided({ mutant }, errors, results) {
  return mutant !== undefined && (errors.length > 0 || results.some(({ error }) => error !== undefined));
}

/**
 * Returns the interface that Vitest's runner calls.
 * @param order see `run`
 */
function runnerFor(order, errors, results) {
  const wanted = order.tests === undefined ? undefined : new Set(order.tests);
  return {
    config,
    // Each file gets fresh modules, so no state of another file is visible.
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

/** Returns the resources that keep the process running: sockets, servers, timers, child processes. */
function resources() {
  return process
    .getActiveResourcesInfo()
    .filter((name) => name !== "Immediate")
    .sort()
    .join();
}

/** The errors of the present run that no test has caught. */
let uncaught = [];
process.on("uncaughtException", (error) => uncaught.push(String(error?.message ?? error)));
process.on("unhandledRejection", (error) => uncaught.push(String(error?.message ?? error)));

/**
 * @param order contains `mutant`, unless this is the run without a mutant, which counts what each test reaches;
 * `isStatic`, if the mutant is active during the evaluation of modules; `files` and `tests`, the ids of the tests to
 * run, by default all; `hitLimit`, the number of hits after which the mutant counts as an endless loop
 */
async function run(order, files) {
  const before = resources();
  const results = [];
  const errors = [];
  uncaught = errors;
  for (const name of Object.keys(stryker)) delete stryker[name];
  // A test that waits for an event that the mutant prevents must not delay the other tests for long.
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
