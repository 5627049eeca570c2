/** Options that nobody knows are refused, and so is what is no record of options. */
import { expect, test } from "vitest";
import { checkOptionNames } from "../../runtime/shape/index.js";

const failed = "cannot call counters.value";

test.each([
  [null, "cannot call counters.value: expected options like { timeout }, got null"],
  [undefined, "cannot call counters.value: expected options like { timeout }, got undefined"],
  [5, "cannot call counters.value: expected options like { timeout }, got 5"],
  [["timeout"], "cannot call counters.value: expected options like { timeout }, got an array of 1"],
])("%o is no record of options", (options, text) => {
  expect(() => checkOptionNames(failed, options, ["timeout", "retry"])).toThrow(new TypeError(text));
});

test("a name that is not among the known ones is refused, and the known ones are listed", () => {
  expect(() => checkOptionNames(failed, { timeout: 1, retries: 2 }, ["timeout", "retry"])).toThrow(
    new TypeError('cannot call counters.value: expected one of the options timeout, retry, got "retries"'),
  );
  expect(() => checkOptionNames(failed, { retries: 2 }, ["timeout"])).toThrow(
    new TypeError('cannot call counters.value: expected the option timeout, got "retries"'),
  );
});

test("known options, and none at all, are accepted", () => {
  expect(() => checkOptionNames(failed, { timeout: 1, retry: 2 }, ["timeout", "retry"])).not.toThrow();
  expect(() => checkOptionNames(failed, {}, ["timeout"])).not.toThrow();
});
