/**
 * How one proc is brought to its end, step by step: it is asked to stop its actors and leave, as long as it gives signs of
 * life; then it is told by a signal; then it is killed.
 */

import type { ProcAgentMesh } from "../../generated/proc-agent.js";
import type { StopOptions } from "../actor/hooks.js";
import type { Member } from "./member.js";
import { within } from "./within.js";

/** All in ms. `cleanup`: for actors' cleanups (3 s), and for the ends of processes that they own. */
const limits = { answer: 250, cleanup: 8000, leave: 2000, terminated: 2000, output: 1000 };

/** Never rejects. @param agent the member's, to be called as root */
export async function stopMember(member: Member, agent: ProcAgentMesh, options: StopOptions): Promise<void> {
  if (member.end !== undefined) return;
  const { body } = member;
  member.stopping = true;
  body.ref();
  const { reason, drain } = options;
  let alive = false;
  const asked = agent.shutdown.callOne({ reason, drain });
  agent.alive.callOne().then(
    () => {
      alive = true;
    },
    () => {},
  );
  const done = Promise.race([asked.catch(() => {}), body.ended]);
  let over = await within(Math.max(drain, limits.answer), done);
  if (!over && alive) over = await within(limits.cleanup, done);
  if (over && (await within(limits.leave, body.ended))) return finish(member);
  body.terminate();
  if (!(await within(limits.terminated, body.ended))) body.kill();
  await body.ended;
  return finish(member);
}

/** What it printed last is printed before anyone goes on. */
async function finish({ body }: Member): Promise<void> {
  await within(limits.output, body.finished);
}
