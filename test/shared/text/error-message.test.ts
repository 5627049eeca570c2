/** Any caught value can be converted to a message and to an Error. */
import { expect, test } from "vitest";
import { errorMessage, toError } from "../../../shared/text/error-message.js";

test("the message of an error is its message, and that of any other value its text", () => {
  expect(errorMessage(new TypeError("no disk"))).toBe("no disk");
  expect(errorMessage("no disk")).toBe("no disk");
  expect(errorMessage(undefined)).toBe("undefined");
});

test("an error stays the same error, and any other value becomes the message of a new one", () => {
  const error = new TypeError("no disk");
  expect(toError(error)).toBe(error);
  expect(toError(7)).toEqual(new Error("7"));
});
