/**
 * The internal signal that a value is not of its type, or that bytes are not a message. Generated code throws it without a
 * reason, and composed codecs with one. The code that handles the whole message converts it to a CodecError.
 */
import { describeValue } from "../../shared/text/describe-value.js";
import { errorMessage } from "../../shared/text/error-message.js";

/** One step of a path: a property, an index, or literal text (`.keys()[2]`). */
export type PathSegment = string | number | { readonly text: string };

export class CodecRefusal extends Error {
  /** The reason; empty if generated code threw the refusal. */
  readonly reason: string;
  /** Whether the reason is complete, so that no second attempt is made. */
  readonly isFinal: boolean;
  readonly path: PathSegment[] = [];

  constructor(reason = "", options: { readonly isFinal?: boolean; readonly cause?: unknown } = {}) {
    super(reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.isFinal = options.isFinal ?? false;
  }
}

/** Returns `error` with `segment` at the start of its path. */
export function withPathSegment(error: unknown, segment: PathSegment): CodecRefusal {
  const refused = error instanceof CodecRefusal ? error : new CodecRefusal(errorMessage(error), { cause: error });
  refused.path.unshift(segment);
  return refused;
}

/** Created on first use, since compiling the Unicode character classes takes longer than loading this file. */
let plainName: RegExp | undefined;

function isPlainIdentifier(segment: string): boolean {
  plainName ??= /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
  return plainName.test(segment);
}

/** The number of steps that are shown at the start and at the end of a long path. */
const SHOWN_STEPS = 12;

/** Formats a path as `Rec.items[3].qty`. */
export function formatPathOf(root: string, path: readonly PathSegment[]): string {
  const steps = path.map((segment) => {
    if (typeof segment === "number") return `[${segment}]`;
    if (typeof segment === "object") return segment.text;
    return isPlainIdentifier(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
  });
  if (steps.length <= 2 * SHOWN_STEPS) return root + steps.join("");
  const left = steps.length - 2 * SHOWN_STEPS;
  return `${root}${steps.slice(0, SHOWN_STEPS).join("")} … ${left} more … ${steps.slice(-SHOWN_STEPS).join("")}`;
}

/** The value is not a `type`: `invalid int32: expected an integer from …, got NaN`. @param type empty: an object without a name */
export function invalidValue(type: string, expected: string, got: unknown): CodecRefusal {
  return new CodecRefusal(`invalid ${type || "object"}: expected ${expected}, got ${describeValue(got)}`);
}
