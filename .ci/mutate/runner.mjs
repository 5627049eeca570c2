/**
 * Stryker's test runner for this project. Tests and sources are bundled once, and long-lived processes run them against
 * one mutant after another. This takes a tenth of the time of starting Vitest for each mutant.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { declareClassPlugin, PluginKind } from "@stryker-mutator/api/plugin";
import {
  DryRunStatus,
  determineHitLimitReached,
  MutantRunStatus,
  TestStatus,
  toMutantRunResult,
} from "@stryker-mutator/api/test-runner";
import { bundle } from "./bundle.mjs";

const program = fileURLToPath(new URL("executor.mjs", import.meta.url));

/** A process that runs tests. It has a folder for temporary files, which is removed with the process. */
class Executor {
  isFresh = true;
  #child;
  #ready;

  constructor(script) {
    this.#child = fork(program, [script], {
      execArgv: ["--no-warnings"],
      env: { ...process.env, VICEROY_LINKS: "socket", VITEST: "1" },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#ready = once(this.#child, "message");
    this.#ready.catch(() => undefined);
  }

  /** @returns the result, or "timeout" or "died" if the process must be replaced */
  async run(order, files, milliseconds) {
    await this.#ready;
    this.isFresh = false;
    return new Promise((resolve) => {
      const end = (result) => {
        clearTimeout(timer);
        this.#child.removeAllListeners();
        resolve(result);
      };
      const timer = setTimeout(() => end("timeout"), milliseconds);
      this.#child.once("message", end);
      this.#child.once("exit", () => end("died"));
      this.#child.send({ order, files });
    });
  }

  stop() {
    this.#child.removeAllListeners();
    this.#child.kill("SIGKILL");
  }
}

class BundledTestRunner {
  #folder = mkdtempSync(path.join(tmpdir(), "vm-"));
  #files;
  #script = path.join(this.#folder, "tests.cjs");
  #executor;
  #spare;

  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    process.env["TMPDIR"] = this.#folder;
    const { files, script } = await bundle(process.cwd(), JSON.parse(process.env["VICEROY_MUTATION_TESTS"]));
    this.#files = files;
    writeFileSync(this.#script, script);
  }

  async dryRun({ timeout }) {
    const outcome = await this.#run({}, timeout);
    if (outcome === "timeout") return { status: DryRunStatus.Timeout };
    if (outcome === "died") return { status: DryRunStatus.Error, errorMessage: "the process of the tests died" };
    if (outcome.errors.length > 0) return { status: DryRunStatus.Error, errorMessage: outcome.errors.join("\n") };
    this.#count(outcome);
    return { status: DryRunStatus.Complete, tests: testResults(outcome), mutantCoverage: outcome.coverage };
  }

  async mutantRun({ activeMutant, testFilter, hitLimit, mutantActivation, timeout }) {
    const order = {
      mutant: activeMutant.id,
      isStatic: mutantActivation === "static",
      files: this.#inOrder(testFilter),
      tests: testFilter,
      hitLimit,
    };
    let outcome = await this.#run(order, timeout);
    // An earlier mutant may have caused the error in this process.
    const isDoubtful = outcome.errors?.length > 0 && !this.#wasFresh;
    if (isDoubtful) {
      this.#replace();
      outcome = await this.#run(order, timeout);
    }
    if (outcome === "timeout") return { status: MutantRunStatus.Timeout };
    if (outcome === "died") return { status: MutantRunStatus.Error, errorMessage: "the process of the tests died" };
    const { errors, hitCount } = outcome;
    const limit = determineHitLimitReached(hitCount, hitLimit);
    if (limit !== undefined) return toMutantRunResult(limit);
    this.#count(outcome);
    if (errors.length > 0) return { status: MutantRunStatus.Error, errorMessage: errors.join("\n") };
    return toMutantRunResult({ status: DryRunStatus.Complete, tests: testResults(outcome) });
  }

  dispose() {
    this.#executor?.stop();
    this.#spare?.stop();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Returns the files of these tests, starting with those that kill most mutants in the least time. */
  #inOrder(tests) {
    const files = tests === undefined ? this.#files : [...new Set(tests.map(fileOf))];
    const worth = (file) => {
      const { kills, milliseconds } = this.#record(file);
      return (kills + 1) / (milliseconds + 50);
    };
    return [...files].sort((a, b) => worth(b) - worth(a));
  }

  #count({ results }) {
    for (const { id, milliseconds, error } of results) {
      const record = this.#record(fileOf(id));
      record.milliseconds += milliseconds;
      if (error !== undefined) record.kills++;
    }
  }

  #record(file) {
    const known = this.#records.get(file);
    if (known !== undefined) return known;
    const record = { kills: 0, milliseconds: 0 };
    this.#records.set(file, record);
    return record;
  }

  /** The number of mutants that the tests of each file have killed, and their duration. */
  #records = new Map();
  #wasFresh = true;

  async #run(order, milliseconds) {
    this.#executor ??= this.#takeSpare();
    this.#wasFresh = this.#executor.isFresh;
    const outcome = await this.#executor.run(order, this.#files, milliseconds);
    if (typeof outcome === "string" || !outcome.isClean) this.#replace();
    return outcome;
  }

  #replace() {
    this.#executor?.stop();
    this.#executor = undefined;
  }

  /** Takes the spare process and starts another one, so that the next process starts while the present one works. */
  #takeSpare() {
    const executor = this.#spare ?? new Executor(this.#script);
    this.#spare = new Executor(this.#script);
    return executor;
  }
}

/** Returns the file of a test. `executor.mjs` creates the ids of tests. */
function fileOf(test) {
  return test.slice(0, test.indexOf("#"));
}

function testResults({ results }) {
  return results.map(({ id, milliseconds, error }) => ({
    id,
    name: id,
    timeSpentMs: milliseconds,
    ...(error === undefined ? { status: TestStatus.Success } : { status: TestStatus.Failed, failureMessage: error }),
  }));
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, "bundled", BundledTestRunner)];
