/** Ends all procs of a mesh, after the orders and messages that are on their way. `stop-child.ts` ends one of them. */
import type { StopOptions } from "../../actor/reference/stop-options.js";
import { agentOf, type ProcAgents, runAsRoot } from "../proc-agents.js";
import { countdown, settlesWithin } from "../time-limit.js";
import type { ChildProc } from "./child-proc.js";
import { whenOrdersDelivered } from "./order-actors.js";
import type { ReplaceableProcs } from "./replace-child.js";
import { stopChild } from "./stop-child.js";

/** Never rejects. @param children the procs of the mesh; those that are leaving or were replaced end, too */
export async function stopProcs(
  { proc, meshes, retiring }: ReplaceableProcs,
  children: readonly ChildProc[],
  agents: ProcAgents,
  options: StopOptions,
): Promise<void> {
  const { clock } = proc;
  // Failures that have already been noticed are reported before the stop is complete.
  await new Promise<void>((resolve) => clock.nextTurn(resolve));
  const left = countdown(clock, options.drain);
  // Answers pass through other processes of the mesh, so none may leave before all orders have been answered.
  const answered = Promise.all([...meshes].map((mesh) => whenOrdersDelivered(proc, mesh)));
  if (options.drain > 0) await settlesWithin(clock, options.drain, answered);
  const rest = { ...options, drain: left() };
  await runAsRoot(proc, () =>
    Promise.all([
      ...children.map((child) => stopChild(child, agents.atRank(child.rank), rest)),
      ...[...retiring].map((child) => stopChild(child, agentOf(child.id), rest)),
    ]),
  );
}
