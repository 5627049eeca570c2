/**
 * Stryker's test runner for this project. Tests and sources are bundled once, and processes that stay run them against one
 * mutant after the other: a tenth of the time that a start of Vitest for each mutant takes.
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

/** A process that runs tests. Its temporary files are in a folder that is removed with it. */
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

  /** @returns what came of it; "timeout" or "died" when the process has to be replaced */
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
    // It may be an error of what an earlier mutant has left behind.
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

  /** The files of these tests, first those that kill most mutants in least time. */
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

  /** How many mutants the tests of each file have killed, and how long they have taken. */
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

  /** The next process starts while the present one works. */
  #takeSpare() {
    const executor = this.#spare ?? new Executor(this.#script);
    this.#spare = new Executor(this.#script);
    return executor;
  }
}

/** Ids of tests are made in executor.mjs. */
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
