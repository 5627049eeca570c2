/** Unknown options are refused, and so are values that are not records of options. */
import { expect, test } from "vitest";
import { checkOptionNames } from "../../runtime/shape/index.js";

const failed = "cannot call counters.value";

test.each([
  [null, "cannot call counters.value: expected options like { timeout }, got null"],
  [undefined, "cannot call counters.value: expected options like { timeout }, got undefined"],
  [5, "cannot call counters.value: expected options like { timeout }, got 5"],
  [["timeout"], "cannot call counters.value: expected options like { timeout }, got an array of 1"],
])("checkOptionNames refuses %o, which is not a record of options", (options, text) => {
  expect(() => checkOptionNames(failed, options, ["timeout", "retry"])).toThrow(new TypeError(text));
});

test("an unknown option is refused with a list of the known options", () => {
  expect(() => checkOptionNames(failed, { timeout: 1, retries: 2 }, ["timeout", "retry"])).toThrow(
    new TypeError('cannot call counters.value: expected one of the options timeout, retry, got "retries"'),
  );
  expect(() => checkOptionNames(failed, { retries: 2 }, ["timeout"])).toThrow(
    new TypeError('cannot call counters.value: expected the option timeout, got "retries"'),
  );
});

test("known options and an empty record are accepted", () => {
  expect(() => checkOptionNames(failed, { timeout: 1, retry: 2 }, ["timeout", "retry"])).not.toThrow();
  expect(() => checkOptionNames(failed, {}, ["timeout"])).not.toThrow();
});
