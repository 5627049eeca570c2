/** Tests of hosts over ssh that are lost and come back: network namespaces with servers of ssh, connections that are cut, and killed daemons. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { permitted } from "../permitted.js";
import { compileCrew } from "../proc/crew.js";
import { gone, until } from "../proc/until.js";
import type { JobDriver } from "./job-driver.js";
import { running, SshDrivers } from "./lab/ssh-drivers.js";
import { hasSsh, ownTmp, SshNetwork } from "./lab/ssh-network.js";

const ssh = permitted("lost hosts of jobs over ssh", "Debian's packages openssh-server and openssh-client", hasSsh);
const network =
  networks && ssh
    ? new SshNetwork({ n1: { prepare: ownTmp }, n2: { prepare: ownTmp } })
    : (undefined as unknown as SshNetwork);
const drivers = new SshDrivers(network, { TMPDIR: mkdtempSync(join(tmpdir(), "vt-")) });

/** The processes of the crew, as the program has printed them last. */
const crewOf = ({ printed }: JobDriver) => printed.filter(({ pids }) => pids !== undefined).at(-1)!.pids!;
const kindsOf = ({ printed }: JobDriver) =>
  printed.flatMap(({ event }) => (event?.rank === undefined ? [] : [`${event.kind} ${event.rank}`]));

describe.runIf(networks && ssh)("a host over ssh that is lost comes back at its rank", () => {
  beforeAll(async () => {
    await compileCrew();
    await network.listening();
  });
  afterEach(async () => {
    network.machines["n2"]!.cluster.machine.heal();
    await drivers.end();
  });

  test("after its daemon was killed, with a new key and certificate", async () => {
    const driver = drivers.startProgram("on-lost-hosts.ts");
    await driver.outcome();
    const [first, second] = crewOf(driver);
    const daemons = running(/^viceroy host/, drivers.processesOn("n2"));
    expect(daemons).not.toEqual([]);
    for (const pid of daemons) process.kill(pid, "SIGKILL");
    await until(() => kindsOf(driver).includes("host-replaced 1") && crewOf(driver)[1] !== second);
    expect(crewOf(driver)[0]).toBe(first);
    expect(kindsOf(driver).slice(-2)).toEqual(["host-lost 1", "host-replaced 1"]);
  });

  test("after the network was cut: what it still runs ends, and does not serve again", async () => {
    const driver = drivers.startProgram("on-lost-hosts.ts");
    await driver.outcome();
    const [first, second] = crewOf(driver);
    const isOld = new Set(drivers.processesOn("n2").filter((pid) => running(/^sshd: /, [pid]).length === 0));
    const { machine } = network.machines["n2"]!.cluster;
    machine.isolate();
    await until(() => kindsOf(driver).includes("host-lost 1"));
    // The old daemon still runs.
    expect([...isOld].every(gone)).toBe(false);
    machine.heal();
    await until(() => kindsOf(driver).includes("host-replaced 1") && crewOf(driver)[1] !== second);
    expect([...isOld].every(gone)).toBe(true);
    expect(crewOf(driver)[0]).toBe(first);
  });
});
