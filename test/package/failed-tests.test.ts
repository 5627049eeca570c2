/** Checks that the end of a run of tests names those that have failed, because the rest of the output may be cut. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
// @ts-expect-error: The script has no declarations.
import { failuresIn } from "../../.ci/tests.mjs";

const root = path.resolve(import.meta.dirname, "../..");
// Vitest is found from a folder of the checkout.
const folder = mkdtempSync(path.join(root, "node_modules/.failed-tests-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const script = `
  import { printEnd, runAgain, runTests } from ${JSON.stringify(path.join(root, ".ci/tests.mjs"))};
  const { code, passed, failed, failures, tests } = await runTests(process.argv.slice(1));
  const unsteady = await runAgain(tests, process.argv.slice(1));
  console.log("---");
  printEnd(passed, failed, failures, unsteady);
  process.exitCode = code;
`;

/** Runs the tests of one file as `npm run verify` does. @returns the exit code, and the last lines of the output */
function run(text: string, ...args: readonly string[]) {
  const file = path.join(folder, "some.check.ts");
  writeFileSync(file, `import { beforeAll, describe, expect, test } from "vitest";\n${text}`);
  writeFileSync(path.join(folder, "config.mjs"), `export default { test: { include: ["**/*.check.ts"] } };\n`);
  const vitest = ["--root", folder, "--config", path.join(folder, "config.mjs"), ...args];
  const node = ["--input-type=module", "--eval", script, "--", ...vitest];
  const { VITEST, VITEST_POOL_ID, VITEST_WORKER_ID, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, node, { encoding: "utf8", env });
  const shown = stdout.slice(stdout.lastIndexOf("---\n") + 4);
  const names: readonly string[] = failuresIn(stdout + stderr);
  return { status, shown: shown.replaceAll(path.relative(root, file), "some.check.ts"), names };
}

const tests = `
  test("one holds", () => {});
  describe("a group", () => {
    test("one fails", () => expect([1, 2]).toEqual([1, 3]));
  });
`;

test("a failed test is named with its file and the first line of its error, before the counts", () => {
  expect(run(tests)).toMatchObject({
    status: 1,
    shown:
      "\nFailed:\n  some.check.ts > a group > one fails: AssertionError: expected [ 1, 2 ] to deeply equal [ 1, 3 ]\n\n" +
      "1 passed, 1 failed\n",
  });
});

test("failed tests are found in the output of a step that has run beside others", () => {
  expect(run(tests).names).toEqual(["FAIL  some.check.ts > a group > one fails"]);
});

test("a filter that leaves out what fails leaves the counts alone", () => {
  expect(run(tests, "-t", "one holds")).toEqual({ status: 0, shown: "\n1 passed, 0 failed\n", names: [] });
});

test("a file that cannot be loaded, and one whose hook fails, are named", () => {
  expect(run('throw new Error("cannot load")').shown).toBe(
    "\nFailed:\n  some.check.ts: cannot load\n\n0 passed, 1 failed\n",
  );
  expect(run('beforeAll(() => { throw new Error("no server") });\ntest("one", () => {});').shown).toBe(
    "\nFailed:\n  some.check.ts: no server\n\n0 passed, 1 failed\n",
  );
});

test("failed tests are run again, and those that pass three times are named", () => {
  const file = path.join(folder, "runs");
  const unsteady = `
    import { appendFileSync, readFileSync } from "node:fs";
    const run = (name) => {
      appendFileSync(${JSON.stringify(file)}, name);
      return readFileSync(${JSON.stringify(file)}, "utf8").split(name).length - 1;
    };
    test("fails (at first)", () => expect(run("a")).toBeGreaterThan(1));
    test("fails twice", () => expect(run("b")).toBeGreaterThan(2));
    test("passes", () => expect(run("c")).toBe(1));
  `;
  const { shown } = run(unsteady);
  expect(shown).toMatch(
    /^\nFailed once, and passed three times when run again, which is a bug of the test or of Viceroy:\n {2}some.check.ts > fails \(at first\): .*\n\nFailed:/,
  );
  expect(readFileSync(file, "utf8")).toBe("abcaaab");
});
