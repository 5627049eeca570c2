/** Makes the `JobContext` of a worker process, whose class imports what worker processes import too. */
import type { ContextMember } from "./member.js";

let factory: ((member: ContextMember) => object) | undefined;

/** Sets what makes a context. The module of `JobContext` does it. */
export function setContextFactory(make: (member: ContextMember) => object): void {
  factory = make;
}

/** Returns a `JobContext` for tasks of this process. */
export function makeContext(member: ContextMember): object {
  return factory!(member);
}
