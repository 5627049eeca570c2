/** Records of options, as users write them: a name that nobody knows is a mistake, not to be passed over in silence. */

import { describeValue } from "../../shared/text/describe-value.js";

/**
 * @param failed `cannot call counters.value`
 * @throws TypeError if it is no record, or has a name that is not among `names`
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
