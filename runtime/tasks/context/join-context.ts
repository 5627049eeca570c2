/** Makes a worker process a part of a context. */
import type { WorkerOptions } from "../../../generated/tasks.js";
import { makeMember } from "./make-member.js";
import type { ContextMember } from "./member.js";

export function joinContext({ context, root, hostIndex, objects }: WorkerOptions): ContextMember {
  return makeMember({
    ...{ id: context, host: hostIndex },
    root: () => root,
    store: () => objects,
    describe: () => root.describe.callOne(),
  });
}
