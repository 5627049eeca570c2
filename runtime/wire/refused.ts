/**
 * The internal signal that a value is not of its type, or that bytes are not a message. Thrown bare by generated code
 * and with a reason by the composed codecs; a CodecError is made of it where the message as a whole is known.
 */

/** One step of a path: a property, an index, or something said in full (`.keys()[2]`). */
export type Segment = string | number | { readonly text: string };

export class Refused extends Error {
  /** Empty when thrown by generated code, which does not know. */
  readonly reason: string;
  /** Asking again for the reason would answer the same, at the same cost. */
  readonly final: boolean;
  readonly path: Segment[] = [];

  constructor(reason = "", options: { readonly final?: boolean; readonly cause?: unknown } = {}) {
    super(reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.final = options.final ?? false;
  }
}

/** `error`, thrown inside the part of a value that `segment` names. */
export function located(error: unknown, segment: Segment): Refused {
  const refused = error instanceof Refused ? error : new Refused(messageOf(error), { cause: error });
  refused.path.unshift(segment);
  return refused;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Made when first needed: the sets of characters take longer to build than most of this file. */
let plainName: RegExp | undefined;

function isPlainName(segment: string): boolean {
  plainName ??= /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
  return plainName.test(segment);
}

/** Steps shown of a long path, at its start and at its end. */
const shown = 12;

/** `Rec.items[3].qty`. */
export function pathText(root: string, path: readonly Segment[]): string {
  const steps = path.map((segment) => {
    if (typeof segment === "number") return `[${segment}]`;
    if (typeof segment === "object") return segment.text;
    return isPlainName(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
  });
  if (steps.length <= 2 * shown) return root + steps.join("");
  const left = steps.length - 2 * shown;
  return `${root}${steps.slice(0, shown).join("")} … ${left} more … ${steps.slice(-shown).join("")}`;
}

/** A value as errors show it: short, on one line. */
export function show(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.length <= 40
        ? JSON.stringify(value)
        : `${JSON.stringify(value.slice(0, 40))}… (${value.length} units)`;
    case "bigint":
      return `${value}n`;
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "function":
      return "a function";
    case "symbol":
      return "a symbol";
    case "object":
      return value === null ? "null" : showObject(value);
    default:
      return String(value);
  }
}

function showObject(value: object): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  if (typeof name !== "string" || name === "" || name === "Object") return "an object";
  return `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}

/** The value is not a `type`: `invalid int32: expected an integer from …, got NaN`. @param type empty: an object without a name */
export function invalid(type: string, expected: string, got: unknown): Refused {
  return new Refused(`invalid ${type || "object"}: expected ${expected}, got ${show(got)}`);
}
