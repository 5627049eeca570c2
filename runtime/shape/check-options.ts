/** Checks the names of options that users pass. An unknown name is an error. */
import { describeValue } from "../../shared/text/describe-value.js";

/**
 * Checks the names of options.
 *
 * @param failed the start of the error message: `cannot call counters.value`
 * @param names the allowed names
 * @throws {TypeError} when `options` is not an object, or has another name
 */
export function checkOptionNames(failed: string, options: unknown, names: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`${failed}: expected options like { ${names[0]} }, got ${describeValue(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const known = names.length === 1 ? `the option ${names[0]}` : `one of the options ${names.join(", ")}`;
    throw new TypeError(`${failed}: expected ${known}, got ${describeValue(name)}`);
  }
}
