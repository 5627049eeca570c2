/** Makes a worker process a part of a context. */
import type { WorkerOptions } from "../../../generated/tasks.js";
import { callInTurn } from "../objects/piece-sources.js";
import { makeMember } from "./make-member.js";
import type { ContextMember } from "./member.js";

export function joinContext(options: WorkerOptions): ContextMember {
  const { context, root, hostIndex, store } = options;
  const member = makeMember({
    ...{ id: context, host: hostIndex, objects: options },
    root: () => root,
    store: () => store,
    // A task starts the first task of this process. The call must not end with the caller of that task: others use the answer, too.
    describe: () =>
      callInTurn(
        (body) => member.inTurn(body),
        () => root.describe.callOne(),
      ),
  });
  return member;
}
