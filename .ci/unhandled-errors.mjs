/**
 * A reporter for vitest. It writes the errors that belong to no test to the file that VICEROY_UNHANDLED_ERRORS names: an object with
 * `unhandled`, an array of texts, and `hooks`, the errors of `beforeAll` and `afterAll` by the path of their file. Such errors fail the
 * run, and the JSON report of vitest does not contain them.
 */
import { writeFileSync } from "node:fs";

export default class UnhandledErrors {
  #hooks = {};

  onTestModuleEnd(module) {
    const suites = [module, ...module.children.allSuites()];
    const [error] = suites.flatMap((suite) => suite.errors());
    if (error !== undefined) this.#hooks[module.moduleId] = error.stack ?? error.message;
  }

  onTestRunEnd(_modules, errors) {
    const found = { unhandled: errors.map(textOf), hooks: this.#hooks };
    writeFileSync(process.env.VICEROY_UNHANDLED_ERRORS, JSON.stringify(found));
  }
}

/** Returns the stack of an error, and the file and the test that ran at the time, where vitest knows them. */
function textOf({ type = "Unhandled error", name, message, stack, VITEST_TEST_PATH: file, VITEST_TEST_NAME: test }) {
  const during = [file, test].filter((part) => part !== undefined).join(" > ");
  return `${type}${during === "" ? "" : ` during ${during}`}: ${stack ?? `${name}: ${message}`}`;
}
