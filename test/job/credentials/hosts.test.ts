/** Tests of hosts of jobs as processes: who may attach them, and how their processes reach each other. */
import { thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { Authority } from "../../../runtime/job/credentials/authority.js";
import type { TlsFiles } from "../../../runtime/link/transport/tls/credentials.js";
import type { WorkerMesh } from "../../fixtures/crew/generated/worker.js";
import { attachPatiently } from "../../host/attach-patiently.js";
import { startHost } from "../../host/start-host.js";
import { areConnected } from "../../host/tcp-connections.js";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { until } from "../../proc/until.js";
import { issueFiles } from "./issue-files.js";

let crew: Crew;
beforeAll(async () => {
  crew = await loadCrew();
});

/** A time limit in ms longer than that of a test, so that a test with further attempts fails. */
const timeout = 2_000_000;

/** Starts the hosts of a job. @returns their addresses, with the identities that are expected there */
async function startJob(name: string, hosts: number) {
  const authority = Authority.create(name);
  const started = await Promise.all(
    Array.from({ length: hosts }, async (_, rank) => {
      const identity = `viceroy://${name}/hosts/trainers/${rank}`;
      const host = await startHost("tls://127.0.0.1:0", argsOf(issueFiles(authority, identity)));
      expect(host.address.split("#")[1]).toBe(identity);
      return host;
    }),
  );
  const driver = issueFiles(authority, `viceroy://${name}/driver`);
  return { authority, hosts: started, addresses: started.map(({ address }) => address), driver };
}

function argsOf({ cert, key, ca }: TlsFiles): string[] {
  return ["--cert", cert, "--key", key, "--ca", ca];
}

test("actors of two jobs work side by side in one program, and reach the hosts of their own job directly", async () => {
  const [first, second] = await Promise.all([startJob("job-1", 2), startJob("job-2", 1)]);
  await using ownProcs = thisHost().spawnProcs();
  const own = ownProcs.spawn("own", crew.SteelWorker);
  await own.ready;
  await using one = attachPatiently(first.addresses, { tls: first.driver });
  await using two = attachPatiently(second.addresses, { tls: second.driver });
  const ones = one.spawnProcs().spawn("ones", crew.SteelWorker);
  const twos = two.spawnProcs().spawn("twos", crew.SteelWorker);
  await Promise.all([ones.ready, twos.ready]);
  const [zero, next] = [ones.slice({ hosts: 0 }), ones.slice({ hosts: 1 })];
  for (const [asker, asked] of [
    [own, zero],
    [own, twos],
    [zero, next],
    [zero, twos],
    [twos, next],
  ] as [WorkerMesh, WorkerMesh][]) {
    expect(await asker.order.callOne(asked, "hello")).toEqual(["hello"]);
  }
  const pidOf = async (mesh: WorkerMesh) => (await mesh.where.callOne()).pid;
  const [asker, onOne, nextOnOne, onTwo] = await Promise.all([
    pidOf(own as WorkerMesh),
    pidOf(zero as WorkerMesh),
    pidOf(next as WorkerMesh),
    pidOf(twos as unknown as WorkerMesh),
  ]);
  expect([areConnected(asker, onOne), areConnected(asker, onTwo)]).toEqual([true, true]);
  expect([areConnected(onOne, nextOnOne), areConnected(onOne, onTwo)]).toEqual([true, false]);
});

test("the controller of a job may attach its hosts, and a host may not", async () => {
  const { authority, hosts, addresses } = await startJob("job-1", 1);
  await using controlled = attachPatiently(addresses, { tls: issueFiles(authority, "viceroy://job-1/controller") });
  await controlled.ready;
  const host = "viceroy://job-1/hosts/trainers/1";
  await using attached = attachPatiently(addresses, { tls: issueFiles(authority, host), timeout });
  await expect(attached.ready).rejects.toThrow(
    `cannot attach host ${addresses[0]}: ${host} is a host; only the driver and the controller of the job may attach`,
  );
  await until(() => hosts[0]!.output.text.includes(`: ${host} is a host; only the driver`));
  expect(hosts[0]!.drivers()).toHaveLength(0);
});

test("a driver refuses a host that is another one than its address says", async () => {
  const { hosts, driver } = await startJob("job-1", 2);
  const [zero, one] = hosts.map(({ address }) => address.split("#") as [string, string]);
  const address = `${zero![0]}#${one![1]}`;
  await using attached = attachPatiently([address], { tls: driver, timeout });
  await expect(attached.ready).rejects.toThrow(
    `cannot attach host ${address}: another process answers at the address of the host: expected ${one![1]}, got ${zero![1]}`,
  );
});
