/** Error messages describe values in a short form, on one line. */
import { expect, test } from "vitest";
import { describeValue } from "../../../shared/text/describe-value.js";

class Account {}
class Invoice {}
const nameless = Object.create({ constructor: { name: "" } }) as object;
const odd = Object.create({ constructor: { name: 5 } }) as object;

test.each<[unknown, string]>([
  [undefined, "undefined"],
  [null, "null"],
  [true, "true"],
  [-0, "-0"],
  [0, "0"],
  [1.5, "1.5"],
  [Number.NaN, "NaN"],
  [7n, "7n"],
  ['a "b"\n', '"a \\"b\\"\\n"'],
  ["x".repeat(40), `"${"x".repeat(40)}"`],
  [`${"x".repeat(40)}y`, `"${"x".repeat(40)}"… (41 units)`],
  [() => 1, "a function"],
  [Symbol("secret"), "a symbol"],
  [[], "an array of 0"],
  [[1, 2], "an array of 2"],
  [{}, "an object"],
  [{ constructor: undefined }, "an object"],
  [Object.create(null), "an object"],
  [nameless, "an object"],
  [Object.create(Object.create(null)), "an object"],
  [new BigInt64Array(1), "a BigInt64Array"],
  [odd, "an object"],
  [new Map(), "a Map"],
  [new Account(), "an Account"],
  [new Invoice(), "an Invoice"],
  [new Uint8Array(2), "an Uint8Array"],
])("an error message shows the value %o briefly, on one line", (value, text) => {
  expect(describeValue(value)).toBe(text);
});
