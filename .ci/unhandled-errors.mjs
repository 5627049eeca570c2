/**
 * A reporter for vitest. It writes the errors that belong to no test, as a JSON array of texts, to the file that VICEROY_UNHANDLED_ERRORS
 * names. Such errors fail the run, and the JSON report of vitest does not contain them.
 */
import { writeFileSync } from "node:fs";

export default class UnhandledErrors {
  onTestRunEnd(_modules, errors) {
    writeFileSync(process.env.VICEROY_UNHANDLED_ERRORS, JSON.stringify(errors.map(textOf)));
  }
}

/** Returns the stack of an error, and the file and the test that ran at the time, where vitest knows them. */
function textOf({ type = "Unhandled error", name, message, stack, VITEST_TEST_PATH: file, VITEST_TEST_NAME: test }) {
  const during = [file, test].filter((part) => part !== undefined).join(" > ");
  return `${type}${during === "" ? "" : ` during ${during}`}: ${stack ?? `${name}: ${message}`}`;
}
