/** Breaking changes that a lock says are accepted. */
import type { Break } from "../evolve/index.js";
import type { AcceptedBreak, Lock } from "../lock/index.js";

export function toAcceptedBreak({ code, text }: Break): AcceptedBreak {
  return { code, text: text.replace(/\s+/g, " ") };
}

/** The text has to be the same: whoever accepts a change of a member has not accepted the next one. */
export function isAccepted(found: Break, { accepted }: Lock): boolean {
  const { code, text } = toAcceptedBreak(found);
  return accepted.some((known) => known.code === code && known.text === text);
}
