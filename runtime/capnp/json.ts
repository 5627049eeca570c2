/** JSON values, which a message contains as text. */
import { describeValue } from "../../shared/text/describe-value.js";
import { text } from "./blob.js";
import { memberStep, PathError, rethrowAt } from "./error.js";
import { malformed, wordText } from "./message.js";
import { ListSize, type PointerType } from "./type.js";

/**
 * Returns the type of a JSON value, which the message contains as text.
 *
 * @param absent the JSON text that is read if the pointer is null
 */
export function json<T>(absent: string): PointerType<T> {
  return {
    kind: "pointer",
    size: ListSize.pointer,
    view(message, segment, at, depth) {
      const found = text.view(message, segment, at, depth);
      try {
        return JSON.parse(found === "" ? absent : found) as T;
      } catch {
        throw malformed(`the text at ${wordText(segment, at)} is not JSON`);
      }
    },
    empty: () => JSON.parse(absent) as T,
    value: (view) => view,
    write(builder, at, value, depth) {
      check(value);
      const isOther = (absent === "{}" && !isObject(value)) || (absent === "[]" && !Array.isArray(value));
      if (isOther)
        throw new PathError("write", `invalid JSON: expected something like ${absent}, got ${describeValue(value)}`);
      text.write(builder, at, JSON.stringify(value), depth);
    },
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @throws {PathError} when JSON does not have the value */
function check(value: unknown): void {
  if (value === null || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) return;
  if (typeof value === "string" && value.isWellFormed()) return;
  const isPlain = isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
  if (!isPlain && !Array.isArray(value)) {
    throw new PathError("write", `invalid JSON: expected a value that JSON has, got ${describeValue(value)}`);
  }
  for (const [key, part] of Object.entries(value as object)) {
    try {
      check(part);
    } catch (error) {
      rethrowAt(Array.isArray(value) ? `[${key}]` : memberStep(key), error);
    }
  }
}
