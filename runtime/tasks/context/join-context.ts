/** Makes a worker process a part of a context. */
import type { WorkerOptions } from "../../../generated/tasks.js";
import { JobContext } from "./job-context.js";
import { makeMember } from "./make-member.js";

export function joinContext({ context, root, hostIndex }: WorkerOptions): JobContext {
  const member = makeMember({ id: context, host: hostIndex, describe: () => root.describe.callOne() });
  return new JobContext(member, undefined);
}
