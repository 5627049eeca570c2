/** Describes values in error messages: `expected a string, got an array of 3`. */

/** Maximum number of UTF-16 code units of a string that are shown. */
const maxShownUnits = 40;

/**
 * Returns a short description of a value, on one line: numbers and short strings literally, objects by their class
 * (`a Map`, `an array of 3`).
 */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.length <= maxShownUnits
        ? JSON.stringify(value)
        : `${JSON.stringify(value.slice(0, maxShownUnits))}… (${value.length} units)`;
    case "bigint":
      return `${value}n`;
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "function":
      return "a function";
    case "symbol":
      return "a symbol";
    case "object":
      return value === null ? "null" : describeObject(value);
    default:
      return String(value);
  }
}

function describeObject(value: object): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  if (typeof name !== "string" || name === "" || name === "Object") return "an object";
  return `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}
