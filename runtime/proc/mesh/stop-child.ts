/**
 * How one proc is brought to its end, step by step: it is asked to stop its actors and leave, as long as it gives signs of
 * life; then it is told by a signal; then it is killed.
 */

import type { ProcAgentMesh } from "../../../generated/proc-agent.js";
import type { StopOptions } from "../../actor/reference/proc-hooks.js";
import type { Clock } from "../../link/clock.js";
import { settlesWithin } from "../time-limit.js";
import type { ChildProc } from "./child-proc.js";

/** All in ms. `cleanup`: for actors' cleanups (3 s), and for the ends of processes that they own. */
const limits = { answer: 250, cleanup: 8000, leave: 2000, terminated: 2000, output: 1000 };

/**
 * Never rejects.
 * @param agent the member's; this is called as root
 * @param deliver whether it leaves only when what its actors have sent has come to the processes of the receivers
 */
export async function stopChild(
  member: ChildProc,
  agent: ProcAgentMesh,
  options: StopOptions,
  deliver = false,
): Promise<void> {
  if (member.exit !== undefined) return;
  const { backend: body, clock } = member;
  member.isExitExpected = true;
  body.ref();
  const { reason, drain } = options;
  const asked = agent.shutdown.callOne({ reason, drain, ...(deliver && { deliver }) });
  const over = await waitWhileAlive(clock, agent, drain, Promise.race([asked.catch(() => {}), body.exited]));
  if (over && (await settlesWithin(clock, limits.leave, body.exited))) return waitForOutput(member);
  body.terminate();
  if (!(await settlesWithin(clock, limits.terminated, body.exited))) body.kill();
  await body.exited;
  return waitForOutput(member);
}

/**
 * Waits for what an agent was asked for: `drain` in any case, and for as long as cleanups take if it gives signs of life.
 * Never rejects. @returns whether it has come to pass
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

/** What it printed last is printed before anyone goes on. */
async function waitForOutput({ backend: body, clock }: ChildProc): Promise<void> {
  await settlesWithin(clock, limits.output, body.outputEnded);
}
