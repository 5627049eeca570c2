/** Runs vitest and counts tests, for `verify` and `npm test`. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { root, run } from "./steps.mjs";

/**
 * Prints the longest test files, which are those that test/longest-first.ts should name.
 * @param args further arguments of vitest
 * @param profile `short` or `long`; property tests and fuzzers read it from VICEROY_TEST_PROFILE and choose their
 * number of cases
 * @param through the command prefix with which vitest runs, by default none
 * @param node the executable of Node.js that runs vitest, the tests and the programs that they start; by default, the one that runs
 * this script
 * @param env variables that are added to the environment
 * @returns the exit code, the counts of vitest's JSON report, the texts of the failures, and the failed tests with the
 * name of each, its text and these options; a run without a report counts as one failure
 */
export async function runTests(args, { profile = "short", through = [], node = process.execPath, env = {} } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-tests-"));
  const report = path.join(folder, "report.json");
  const unhandled = path.join(folder, "unhandled.json");
  try {
    const reporters = ["default", "json", "./.ci/unhandled-errors.mjs"].map((name) => `--reporter=${name}`);
    reporters.push(`--outputFile.json=${report}`);
    const vitest = ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...args];
    const [file, ...command] = [...through, node, ...vitest];
    const own = { VICEROY_TEST_PROFILE: profile, VICEROY_UNHANDLED_ERRORS: unhandled };
    const variables = { ...own, ...certificatesForNpm(), ...pathTo(node), ...env };
    const code = await run(file, command, { env: variables });
    for (const line of longest(report)) console.log(line);
    const { tests, ...counts } = countsOf(report, unhandled);
    return { code, ...counts, tests: tests.map((test) => ({ ...test, options: { profile, through, node } })) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns variables with which npm alone gets the certificates of NODE_EXTRA_CA_CERTS. With the file of a distribution, Node.js 20 takes
 * 110 of 150 ms of each start for parsing them (`time node -e 0`), and tests start thousands of processes that need none.
 */
function certificatesForNpm() {
  const { NODE_EXTRA_CA_CERTS: file, npm_config_cafile: known = file } = process.env;
  return file === undefined ? {} : { NODE_EXTRA_CA_CERTS: undefined, npm_config_cafile: known };
}

/** Returns a variable of the environment with which programs that are started by name get an executable of Node.js. */
export function pathTo(node) {
  if (node === process.execPath) return {};
  return { PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ""}` };
}

/**
 * Returns the counts of a report, and the file, the title and the message of each failed test; a file that fails without a failed test
 * has no title. An error that belongs to no test counts as a failure.
 */
function countsOf(report, unhandled) {
  try {
    const { numPassedTests, testResults } = JSON.parse(readFileSync(report, "utf8"));
    const isFailed = ({ status }) => status === "failed";
    // A file that cannot be loaded, or whose hook fails, has no failed test and counts as a failure.
    const broken = testResults.filter((file) => isFailed(file) && !file.assertionResults.some(isFailed));
    const tests = testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.filter(isFailed).map(({ ancestorTitles, title, failureMessages }) => ({
        file: path.relative(root, name),
        fullName: [...ancestorTitles, title].join(" "),
        text: failure([path.relative(root, name), ...ancestorTitles, title], failureMessages[0]),
      })),
    );
    const { hooks, unhandled: errors } = JSON.parse(readFileSync(unhandled, "utf8"));
    for (const { name, message } of broken) {
      const file = path.relative(root, name);
      tests.push({ file, text: failure([file], message || hooks[name]) });
    }
    const failures = [...tests.map(({ text }) => text), ...errors];
    return { passed: numPassedTests, failed: tests.length + errors.length, failures, tests };
  } catch {
    return { passed: 0, failed: 1, failures: ["vitest has written no report"], tests: [] };
  }
}

/** How many failed tests are run again. More are no accident. */
const maxRunAgain = 10;

/**
 * Runs failed tests three more times, each by itself. A test that then passes three times has failed because the machine
 * was busy, or because of a race that happens rarely.
 * @param tests the failed tests that `runTests` has returned; each runs with the options with which it has failed, except `env`
 * @param args further arguments of vitest
 * @returns those that have passed three times
 */
export async function runAgain(tests, args = []) {
  const unsteady = [];
  if (tests.length > maxRunAgain) return unsteady;
  for (const test of tests) {
    const only = test.fullName === undefined ? [] : ["-t", `^${test.fullName.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`];
    let passes = 0;
    // A name that matches no test passes nothing.
    const passesNow = async () => {
      const { code, passed } = await runTests([test.file, ...only, ...args], test.options);
      return code === 0 && passed > 0;
    };
    while (passes < 3 && (await passesNow())) passes++;
    if (passes === 3) unsteady.push(test);
  }
  return unsteady;
}

/**
 * Runs tests, and those that have failed three more times. A test that passes then has failed because the machine was busy.
 * @param args like that of `runTests`
 * @param options like that of `runTests`
 * @returns what `runTests` returns, without the failures of the tests that have passed then, and these tests
 */
export async function runUntilSteady(args, options = {}) {
  const { failures, tests, ...result } = await runTests(args, options);
  const unsteady = await runAgain(tests);
  const passed = result.passed + unsteady.length;
  const failed = result.failed - unsteady.length;
  return {
    passed,
    failed,
    code: failed === 0 && unsteady.length > 0 ? 0 : result.code,
    failures: failures.filter((text) => !unsteady.some((test) => test.text === text)),
    unsteady,
  };
}

function failure(names, message = "") {
  const lines = stripVTControlCharacters(message).trim().split("\n");
  const stack = lines.findIndex((line) => /^\s+at /.test(line));
  // In the stack, vitest gives this message to all errors about time limits.
  const text = lines
    .slice(0, stack < 0 ? undefined : stack)
    .join("\n    ")
    .replace(/^Error: STACK_TRACE_ERROR/, "it has reached its time limit");
  return `${names.join(" > ")}: ${text.slice(0, 1500)}`;
}

/** Returns the lines in which the output of vitest names failed tests. */
export function failuresIn(output) {
  const lines = stripVTControlCharacters(output).split("\n");
  return [...new Set(lines.filter((line) => /^\s*FAIL\s/.test(line)).map((line) => line.trim()))];
}

/**
 * Prints what has failed, and then the line `N passed, N failed`. Whoever reads only the end of a long output sees both.
 * @param failures a text for each failed test or step
 * @param unsteady the tests that have failed, and passed when they were run again
 */
export function printEnd(passed, failed, failures, unsteady = []) {
  if (unsteady.length > 0) {
    console.log("\nFailed once, and passed three times when run again, which is a bug of the test or of Viceroy:");
    for (const { text } of unsteady) console.log(`  ${text}`);
  }
  console.log(failures.length === 0 ? "" : `\nFailed:\n${failures.map((line) => `  ${line}\n`).join("")}`);
  console.log(`${passed} passed, ${failed} failed`);
}

/** Returns a line for each test file that took 20 s or more, the longest first. */
function longest(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    return testResults
      .map(({ name, startTime, endTime }) => ({
        name: path.relative(root, name),
        seconds: (endTime - startTime) / 1000,
      }))
      .filter(({ seconds }) => seconds >= 20)
      .sort((a, b) => b.seconds - a.seconds)
      .map(({ name, seconds }) => `${seconds.toFixed(0).padStart(4)} s: ${name}`);
  } catch {
    return [];
  }
}
