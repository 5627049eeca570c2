/** A hash of what a job asks for. Two jobs with the same hash can use the same allocation. */
import { createHash } from "node:crypto";
import type { Json } from "../json.js";

/** Returns the SHA-256 of the canonical text of a value, as 64 hexadecimal digits. */
export function specHash(spec: Json): string {
  return createHash("sha256").update(canonicalJson(spec)).digest("hex");
}

/** Returns the JSON of a value with the keys of each object in order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  );
}
