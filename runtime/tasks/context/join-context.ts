/** Makes a worker process a part of a context. */
import type { WorkerOptions } from "../../../generated/tasks.js";
import { makeMember } from "./make-member.js";
import type { ContextMember } from "./member.js";

export function joinContext(options: WorkerOptions): ContextMember {
  const { context, root, hostIndex, store } = options;
  return makeMember({
    ...{ id: context, host: hostIndex, objects: options },
    root: () => root,
    store: () => store,
    describe: () => root.describe.callOne(),
  });
}
