/**
 * Tests of jobs over real servers of ssh in network namespaces. The driver runs on a machine of its own, as a program of
 * its own.
 */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { permitted } from "../permitted.js";
import { compileCrew } from "../proc/crew.js";
import { until } from "../proc/until.js";
import { type DriverEnd, type JobDriver, startJobDriver } from "./job-driver.js";
import { newCache } from "./job-program.js";
import { hasSsh, SshNetwork } from "./lab/ssh-network.js";

const ssh = permitted("jobs over ssh", "Debian's packages openssh-server and openssh-client", hasSsh);

let network: SshNetwork;
const drivers: JobDriver[] = [];

function startDriver(options: object = {}, how: DriverEnd = "kill"): JobDriver {
  const wanted = { cache: newCache(), ...options };
  const driver = startJobDriver(network.through, "on-ssh.ts", wanted, how, network.env);
  drivers.push(driver);
  return driver;
}

/** Returns the processes on a machine other than its server of ssh. */
function processesOn(name: string): number[] {
  const { cluster, server } = network.machines[name]!;
  return cluster.machine.pids.filter((pid) => pid !== server);
}

describe.runIf(networks && ssh)("a job over ssh", () => {
  beforeAll(async () => {
    await compileCrew();
    network = await SshNetwork.start({ n1: {}, n2: {} });
  });
  afterEach(async () => {
    for (const { child } of drivers.splice(0)) child.kill("SIGKILL");
    await until(() => ["n1", "n2"].every((name) => processesOn(name).length === 0));
  });

  test("runs its hosts on machines, and leaves nothing there when it is killed", async () => {
    const driver = startDriver();
    const { names, message } = await driver.outcome();
    expect(message).toBe(undefined);
    const [n1, n2] = ["n1", "n2"].map((name) => network.machines[name]!.cluster.machine.ip);
    expect(names).toEqual([n1, n1, n2, n2]);
    expect(await driver.exited).toBe(0);
    expect([...processesOn("n1"), ...processesOn("n2")]).toEqual([]);
  });
});
