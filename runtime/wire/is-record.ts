/**
 * Returns whether a value can be written as a `Record`: an object whose own properties are the entries. Maps and sets are
 * not, since they have no own properties and would be written as empty; arrays are lists.
 */
export function isRecord(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    !(value instanceof Map) &&
    !(value instanceof Set) &&
    !Array.isArray(value)
  );
}
