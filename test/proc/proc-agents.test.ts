/** Tests of the access to the agents of processes. */
import { afterEach, expect, test } from "vitest";
import { AGENT_MESH } from "../../runtime/link/address.js";
import { agentOf, runAsRoot } from "../../runtime/proc/proc-agents.js";
import { Counter } from "../actor/counter.js";
import { World } from "../actor/world.js";

let world: World;
afterEach(() => world.close());

test("all requests to an agent use one session", async () => {
  world = new World();
  const { proc } = world.root;
  const other = world.proc("other").proc;
  const { descriptor } = Counter;
  const place = { mesh: AGENT_MESH, rank: 0, incarnation: 0, name: "agent", extent: {}, owner: other.id };
  other.createActor({ ...place, descriptor, actorClass: Counter, args: [0] } as never);
  const say = () => runAsRoot(proc, () => agentOf(other.id, other.location).unwatchHost.callSettled(1n));
  for (let i = 0; i < 100; i++) await say();
  expect(proc.routes.existingLink(other.id)!.sessions.filter((session) => session !== undefined).length).toBe(1);
});
