/**
 * How one proc is brought to its end, step by step: it is asked to stop its actors and leave, as long as it gives signs of
 * life; then it is told by a signal; then it is killed.
 */

import type { ProcAgentMesh } from "../../generated/proc-agent.js";
import type { StopOptions } from "../actor/hooks.js";
import type { Clock } from "../link/clock.js";
import type { Member } from "./member.js";
import { within } from "./within.js";

/** All in ms. `cleanup`: for actors' cleanups (3 s), and for the ends of processes that they own. */
const limits = { answer: 250, cleanup: 8000, leave: 2000, terminated: 2000, output: 1000 };

/**
 * Never rejects.
 * @param agent the member's; this is called as root
 * @param deliver whether it leaves only when what its actors have sent has come to the processes of the receivers
 */
export async function stopMember(
  member: Member,
  agent: ProcAgentMesh,
  options: StopOptions,
  deliver = false,
): Promise<void> {
  if (member.end !== undefined) return;
  const { body, clock } = member;
  member.stopping = true;
  body.ref();
  const { reason, drain } = options;
  const asked = agent.shutdown.callOne({ reason, drain, ...(deliver && { deliver }) });
  const over = await whileAlive(clock, agent, drain, Promise.race([asked.catch(() => {}), body.ended]));
  if (over && (await within(clock, limits.leave, body.ended))) return finish(member);
  body.terminate();
  if (!(await within(clock, limits.terminated, body.ended))) body.kill();
  await body.ended;
  return finish(member);
}

/**
 * Waits for what an agent was asked for: `drain` in any case, and for as long as cleanups take if it gives signs of life.
 * Never rejects. @returns whether it has come to pass
 */
export async function whileAlive(
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
  if (await within(clock, Math.max(drain, limits.answer), done)) return true;
  return alive && within(clock, limits.cleanup, done);
}

/** What it printed last is printed before anyone goes on. */
async function finish({ body, clock }: Member): Promise<void> {
  await within(clock, limits.output, body.finished);
}
