/** The breaking changes that a lock lists as accepted. */
import type { Break } from "../evolve/index.js";
import type { AcceptedBreak, Lock } from "../lock/index.js";

export function toAcceptedBreak({ code, text }: Break): AcceptedBreak {
  return { code, text: text.replace(/\s+/g, " ") };
}

/**
 * Returns whether a breaking change is accepted. Its text must be equal, because another change of the same member
 * needs its own acceptance.
 */
export function isAccepted(found: Break, { accepted }: Lock): boolean {
  const { code, text } = toAcceptedBreak(found);
  return accepted.some((known) => known.code === code && known.text === text);
}
