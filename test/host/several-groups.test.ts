/** Tests of programs that use several groups of hosts, each with credentials of its own. */
import { attachHosts, thisHost } from "viceroy";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WorkerMesh } from "../fixtures/crew/generated/worker.js";
import { Authority } from "../link/transport/tls/certificates.js";
import { type Crew, loadCrew } from "../proc/crew.js";
import { startHost } from "./start-host.js";
import { areConnected } from "./tcp-connections.js";

let crew: Crew;
const authorities: Authority[] = [];
beforeAll(async () => {
  crew = await loadCrew();
});
afterAll(() => {
  for (const authority of authorities) authority.remove();
});

/** How a host is started, and how it is attached. */
interface Access {
  readonly listen: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly options: Parameters<typeof attachHosts>[1];
}

function withToken(token: string): Access {
  return { listen: "tcp://127.0.0.1:0", args: [], env: { VICEROY_TOKEN: token }, options: { token } };
}

function withAuthority(): Access {
  const authority = new Authority();
  authorities.push(authority);
  const { cert, key, ca } = authority.issue("host");
  const args = ["--cert", cert, "--key", key, "--ca", ca];
  return { listen: "tls://127.0.0.1:0", args, env: {}, options: { tls: authority.issue("driver") } };
}

test.each<readonly [string, () => readonly [Access, Access]]>([
  ["tokens", () => [withToken("the token of the first group"), withToken("the token of the second group")]],
  ["authorities", () => [withAuthority(), withAuthority()]],
])("actors of a program reach each other on hosts with different %s", async (_, accesses) => {
  const [first, second] = await Promise.all(
    accesses().map(async ({ listen, args, env, options }) => {
      const hosts = await Promise.all([startHost(listen, args, env), startHost(listen, args, env)]);
      return { addresses: hosts.map(({ address }) => address), options };
    }),
  );
  // This process exists before any host is attached, the next one only after both groups are.
  await using earlyProcs = thisHost().spawnProcs();
  const early = earlyProcs.spawn("early", crew.SteelWorker);
  await early.ready;
  await using one = attachHosts(first!.addresses, first!.options);
  await using two = attachHosts(second!.addresses, second!.options);
  await using lateProcs = thisHost().spawnProcs();
  const late = lateProcs.spawn("late", crew.SteelWorker);
  const ones = one.spawnProcs().spawn("ones", crew.SteelWorker);
  const twos = two.spawnProcs().spawn("twos", crew.SteelWorker);
  await Promise.all([late.ready, ones.ready, twos.ready]);

  for (const asker of [early, late, ones.slice({ hosts: 0 })] as WorkerMesh[]) {
    expect(await asker.order.callOne(ones.slice({ hosts: 1 }), "hello")).toEqual(["hello"]);
    expect(await asker.order.callOne(twos, "hello")).toEqual(["hello", "hello"]);
  }
  expect(await twos.slice({ hosts: 0 }).order.callOne(ones, "back")).toEqual(["back", "back"]);

  const pidOf = async (mesh: WorkerMesh) => (await mesh.where.callOne()).pid;
  const [onOne, nextOnOne] = await Promise.all([pidOf(ones.slice({ hosts: 0 })), pidOf(ones.slice({ hosts: 1 }))]);
  const onTwo = await pidOf(twos.slice({ hosts: 0 }));
  expect(await (early as WorkerMesh).order.callOne(ones, "hello")).toEqual(["hello", "hello"]);
  expect(await (late as WorkerMesh).order.callOne(ones, "hello")).toEqual(["hello", "hello"]);
  // Processes of this machine have the credentials of both groups, and those on hosts have the ones of their group.
  for (const asker of [await pidOf(early as WorkerMesh), await pidOf(late as WorkerMesh)]) {
    expect([areConnected(asker, onOne), areConnected(asker, onTwo)]).toEqual([true, true]);
  }
  expect([areConnected(onOne, nextOnOne), areConnected(onOne, onTwo)]).toEqual([true, false]);
});

test("processes of this machine have the credentials of hosts that join a group later", async () => {
  const { listen, args, env, options } = withToken("the token of a group that grows");
  const [first, joining] = await Promise.all([startHost(listen, args, env), startHost(listen, args, env)]);
  await using ownProcs = thisHost().spawnProcs();
  const own = ownProcs.spawn("own", crew.SteelWorker) as WorkerMesh;
  await own.ready;
  await using hosts = attachHosts([first.address], options);
  const procs = hosts.spawnProcs();
  const more = hosts.resize({ hosts: 2 }, { addresses: [joining.address] });
  await more.ready;
  const grown = procs.resize({ hosts: 2 });
  const workers = grown.spawn("workers", crew.SteelWorker);
  // Messages to processes that take long to start may go through the daemon.
  await workers.ready;
  expect(await own.order.callOne(workers, "hello")).toEqual(["hello", "hello"]);
  const places = [...(await workers.where.call()).values()];
  const { pid } = await own.where.callOne();
  expect(places.map((place) => areConnected(pid, place.pid))).toEqual([true, true]);
});
