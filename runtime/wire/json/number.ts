/**
 * Numbers in the JSON mapping: JSON numbers, or strings of the same form. Integers may have an exponent or a fraction of
 * zeros (`1e5`, `7.0`), and are exact in strings, however long.
 */

const numeral = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** The largest number of digits of an integer of 64 bits. */
const MAX_DIGITS = 20;

/** Parses an integer. Returns undefined if `json` is not one, or has more than 20 digits. */
export function parseInteger(json: unknown): bigint | undefined {
  if (typeof json === "number") return Number.isInteger(json) ? BigInt(json) : undefined;
  if (typeof json !== "string") return undefined;
  const found = numeral.exec(json);
  if (found === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = found;
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return 0n;
  const significant = withoutTrailingZeros(digits);
  const zeros = Number(exponent) - fraction.length + digits.length - significant.length;
  if (zeros < 0 || significant.length + zeros > MAX_DIGITS) return undefined;
  return BigInt(sign + significant + "0".repeat(zeros));
}

/** Removes trailing zeros in linear time. `replace(/0+$/, "")` takes quadratic time for a run of zeros inside. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end--;
  return digits.slice(0, end);
}

/** Parses a number, `"NaN"` and `"-Infinity"` included. Returns undefined if `json` is not one, or is out of range. */
export function parseDouble(json: unknown): number | undefined {
  if (json === "NaN") return Number.NaN;
  if (json === "Infinity") return Number.POSITIVE_INFINITY;
  if (json === "-Infinity") return Number.NEGATIVE_INFINITY;
  const value = typeof json === "string" && numeral.test(json) ? Number(json) : json;
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Parses a number like `parseDouble`, and rounds it to single precision. */
export function parseFloat32(json: unknown): number | undefined {
  const value = parseDouble(json);
  if (value === undefined) return undefined;
  const rounded = Math.fround(value);
  return Number.isFinite(value) && !Number.isFinite(rounded) ? undefined : rounded;
}

/** Returns a number as JSON: NaN and infinities as strings. */
export function formatDouble(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}
