/**
 * Ends one child proc in steps. Its agent is asked to stop the actors and leave, as long as the agent responds. Then
 * the process gets a termination signal, and at last it is killed.
 */

import type { ProcAgentMesh } from "../../../generated/proc-agent.js";
import type { StopOptions } from "../../actor/reference/stop-options.js";
import type { Clock } from "../../link/clock.js";
import { settlesWithin } from "../time-limit.js";
import type { ChildProc } from "./child-proc.js";

/** Time limits in ms. `cleanup` covers the cleanups of actors (3 s) and the exits of the processes that they own. */
const limits = { answer: 250, cleanup: 8000, leave: 2000, terminated: 2000, output: 1000 };

/**
 * Ends a child proc. Never rejects.
 * @param agent the agent of the child; the caller runs as root
 * @param deliver whether the child leaves only when the messages of its actors have reached the processes of the
 * receivers
 */
export async function stopChild(
  child: ChildProc,
  agent: ProcAgentMesh,
  options: StopOptions,
  deliver = false,
): Promise<void> {
  if (child.exit !== undefined) return;
  const { backend, clock } = child;
  child.isExitExpected = true;
  backend.ref();
  const { reason, drain } = options;
  const asked = agent.shutdown.callOne({ reason, drain, ...(deliver && { deliver }) });
  const over = await waitWhileAlive(clock, agent, drain, Promise.race([asked.catch(() => {}), backend.exited]));
  if (over && (await settlesWithin(clock, limits.leave, backend.exited))) return waitForOutput(child);
  backend.terminate();
  if (!(await settlesWithin(clock, limits.terminated, backend.exited))) backend.kill();
  await backend.exited;
  return waitForOutput(child);
}

/**
 * Waits until a request to an agent is done: for `drain` ms in any case, and for the time of cleanups if the agent
 * responds. Never rejects.
 * @returns whether the request is done
 */
export async function waitWhileAlive(
  clock: Clock,
  agent: ProcAgentMesh,
  drain: number,
  done: PromiseLike<unknown>,
): Promise<boolean> {
  let alive = false;
  const answered = () => {
    alive = true;
  };
  agent.alive.callOne().then(answered, () => {});
  if (await settlesWithin(clock, Math.max(drain, limits.answer), done)) return true;
  return alive && settlesWithin(clock, limits.cleanup, done);
}

/** Waits until the last output of the child has been printed, before the caller continues. */
async function waitForOutput({ backend, clock }: ChildProc): Promise<void> {
  await settlesWithin(clock, limits.output, backend.outputEnded);
}
