/**
 * The internal signal that a value is not of its type, or that bytes are not a message. Thrown bare by generated code
 * and with a reason by the composed codecs; a CodecError is made of it where the message as a whole is known.
 */

import { describeValue } from "../../shared/text/describe-value.js";
import { errorMessage } from "../../shared/text/error-message.js";

/** One step of a path: a property, an index, or something said in full (`.keys()[2]`). */
export type PathSegment = string | number | { readonly text: string };

export class CodecRefusal extends Error {
  /** Empty when thrown by generated code, which does not know. */
  readonly reason: string;
  /** Asking again for the reason would answer the same, at the same cost. */
  readonly isFinal: boolean;
  readonly path: PathSegment[] = [];

  constructor(reason = "", options: { readonly isFinal?: boolean; readonly cause?: unknown } = {}) {
    super(reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.isFinal = options.isFinal ?? false;
  }
}

/** `error`, thrown inside the part of a value that `segment` names. */
export function withPathSegment(error: unknown, segment: PathSegment): CodecRefusal {
  const refused = error instanceof CodecRefusal ? error : new CodecRefusal(errorMessage(error), { cause: error });
  refused.path.unshift(segment);
  return refused;
}

/** Made when first needed: the sets of characters take longer to build than most of this file. */
let plainName: RegExp | undefined;

function isPlainIdentifier(segment: string): boolean {
  plainName ??= /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
  return plainName.test(segment);
}

/** Steps shown of a long path, at its start and at its end. */
const SHOWN_STEPS = 12;

/** `Rec.items[3].qty`. */
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
