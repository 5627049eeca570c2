/** Makes a worker process a part of a context. */
import type { WorkerOptions } from "../../../generated/tasks.js";
import { makeMember } from "./make-member.js";
import type { ContextMember } from "./member.js";

export function joinContext(objects: WorkerOptions): ContextMember {
  const { context, root, hostIndex } = objects;
  const describe = () => root.describe.callOne();
  return makeMember({ id: context, host: hostIndex, objects, root: () => root, describe });
}
