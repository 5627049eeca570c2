/** Tests of detached meshes on machines that ssh reaches: the controller reaches the hosts without the driver's routes. */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { loadProject, project, startOrdered } from "../host/publish/programs.js";
import { permitted } from "../permitted.js";
import { gone, limitUnderLoad, until } from "../proc/until.js";
import { newCache } from "./job-program.js";
import { hasSsh, SshNetwork } from "./lab/ssh-network.js";

const ssh = permitted("jobs over ssh", "Debian's packages openssh-server and openssh-client", hasSsh);
const network = networks && ssh ? new SshNetwork({ n1: {}, n2: {} }) : (undefined as unknown as SshNetwork);

/** The time in ms after which a job without a driver ends. Drivers come within it. */
const idle = limitUnderLoad(2000);
/** Hosts that live answer within this time. */
const attach = { silence: limitUnderLoad(4000) };

function startOwner(cache: string) {
  const options = {
    kind: "ssh",
    meshes: { workers: { hosts: ["n1", "n2"] } },
    cache,
    idle,
    attach,
    progress: "silent",
  };
  return startOrdered(
    project,
    [...network.through, process.execPath],
    "job-owner.ts",
    [JSON.stringify(options)],
    network.env,
  );
}

/** Returns the processes on a machine other than its server of ssh. */
function processesOn(name: string): number[] {
  const { cluster, server } = network.machines[name]!;
  return cluster.machine.pids.filter((pid) => pid !== server);
}

describe.runIf(networks && ssh)("a mesh on machines that ssh reaches", () => {
  beforeAll(async () => {
    await loadProject();
    await network.listening();
  });
  afterEach(async () => {
    await until(() => [...processesOn("n1"), ...processesOn("n2")].length === 0);
  });

  test("outlives its driver, and keeps the keeper from being idle", async () => {
    const cache = newCache();
    const first = await startOwner(cache);
    const { applyId } = (await first.order("state")) as { applyId: string };
    const restart = JSON.stringify({ restart: { policy: "on-failure", backoff: 0 } });
    await first.order("spawn", "shelves", "workers", "1", restart);
    await first.order("actors", "index", "shelves");
    await first.order("publish", "index", "index");
    expect(await first.order("add", "index", "tea")).toEqual([1, 1]);
    const pids = (await first.order("where", "index")) as number[];
    await first.order("detach");
    first.child.kill("SIGKILL");
    await first.exited;
    await new Promise((resolve) => setTimeout(resolve, idle + 2000));
    const second = await startOwner(cache);
    expect(await second.order("attach")).toMatchObject({ applyId });
    await second.order("lookup", "index");
    expect(await second.order("add", "index", "tea")).toEqual([2, 2]);
    process.kill(pids[1]!, "SIGKILL");
    await until(async () => {
      const now = (await second.order("where", "index").catch(() => pids)) as number[];
      return now[1] !== pids[1];
    });
    expect(await second.order("add", "index", "tea")).toEqual([3, 1]);
    await second.order("kill");
    expect(pids.every(gone)).toBe(true);
  });
});
