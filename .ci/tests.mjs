/** Runs vitest and counts tests, for `verify` and `npm test`. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { root, run } from "./steps.mjs";

/**
 * Prints the longest test files, which are those that test/longest-first.ts should name.
 * @param args further arguments of vitest
 * @param profile `short` or `long`; property tests and fuzzers read it from VICEROY_TEST_PROFILE and choose their
 * number of cases
 * @returns the exit code and the counts of vitest's JSON report; a run without a report counts as one failure
 */
export async function runTests(args, profile = "short") {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-tests-"));
  const report = path.join(folder, "report.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const vitest = ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...args];
    const code = await run(process.execPath, vitest, { env: { VICEROY_TEST_PROFILE: profile } });
    for (const line of longest(report)) console.log(line);
    return { code, ...countsOf(report) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function countsOf(report) {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, "utf8"));
    // A file that cannot be loaded has no tests and counts as a failure.
    const broken = testResults.filter(
      ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
    );
    return { passed: numPassedTests, failed: numFailedTests + broken.length };
  } catch {
    return { passed: 0, failed: 1 };
  }
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
