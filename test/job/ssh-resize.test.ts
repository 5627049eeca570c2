/** Tests of jobs over ssh that get more and fewer hosts while they run: network namespaces with servers of ssh. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { permitted } from "../permitted.js";
import { compileCrew } from "../proc/crew.js";
import { until } from "../proc/until.js";
import type { DriverEnd, JobDriver } from "./job-driver.js";
import { newCache } from "./job-program.js";
import { running, SshDrivers } from "./lab/ssh-drivers.js";
import { hasSsh, ownTmp, SshNetwork } from "./lab/ssh-network.js";

const ssh = permitted(
  "jobs over ssh that get more hosts",
  "Debian's packages openssh-server and openssh-client",
  hasSsh,
);
const machines = { n1: { prepare: ownTmp }, n2: { prepare: ownTmp }, n3: { prepare: ownTmp } };
const network = networks && ssh ? new SshNetwork(machines) : (undefined as unknown as SshNetwork);
const drivers = new SshDrivers(network, { TMPDIR: mkdtempSync(join(tmpdir(), "vt-")) });

/** Starts a program with a job that has one host and two spare machines. */
function start(options: object, how: DriverEnd = "wait"): JobDriver {
  const meshes = { workers: { hosts: ["n1"], spare: ["n2", "n3"] } };
  return drivers.startProgram("on-resized-hosts.ts", { ssh: true, meshes, ...options }, how);
}

/** Resolves with the driver when it has resized its hosts. */
async function resized(driver: JobDriver): Promise<JobDriver> {
  await until(() => driver.printed.some(({ words }) => words !== undefined) || driver.child.exitCode !== null);
  expect(driver.complaints()).toMatch(/^(viceroy job viceroy: WARNING: tls is false: .*\n)?$/);
  return driver;
}

/** The lines that the program prints, one after each step: the ranks of the hosts, or the message of an error. */
const stepsOf = ({ printed }: JobDriver) =>
  printed.flatMap(({ places, message }) => (places ? [places.join(",")] : message === undefined ? [] : [message]));
const namesOf = ({ printed }: JobDriver) => printed.filter(({ names }) => names !== undefined).at(-1)!.names!;
const daemonsOn = (...names: string[]) => running(/^viceroy host/, drivers.processesOn(...names));

describe.runIf(networks && ssh)("the hosts of a job over ssh", () => {
  beforeAll(async () => {
    await compileCrew();
    await network.listening();
  });
  afterEach(() => drivers.end());

  test.each([
    ["certificates", {}],
    ["a token", { tls: false }],
  ])("get the spare machines of their mesh, in order, with %s, and all end with the job", async (_, options) => {
    const driver = await resized(start({ sizes: [2, 3], cache: null, ...options }));
    expect(stepsOf(driver)).toEqual(["0", "0,1", "0,1,2"]);
    expect(["n1", "n2", "n3"].map((name) => daemonsOn(name).length)).toEqual([1, 1, 1]);
    const [first, second, third] = namesOf(driver).map(Number);
    expect(drivers.processesOn("n1")).toContain(first);
    expect(drivers.processesOn("n2")).toContain(second);
    expect(drivers.processesOn("n3")).toContain(third);
    driver.child.kill("SIGKILL");
    await until(() => drivers.processesOn("n1", "n2", "n3").length === 0);
  });

  test("are given back, and the same machines can be got again", async () => {
    const driver = await resized(start({ sizes: [3, 2, 1, 3] }));
    expect(stepsOf(driver)).toEqual(["0", "0,1,2", "0,1", "0", "0,1,2"]);
    const smaller = await resized(start({ sizes: [3, 1] }));
    expect(stepsOf(smaller)).toEqual(["0", "0,1,2", "0"]);
    // The program reads the last event and all later ones.
    expect(smaller.events().filter((event) => event.startsWith("host-lost"))).toEqual([]);
  });

  test("leave nothing on a machine that is given back", async () => {
    const driver = await resized(start({ sizes: [3, 1] }));
    expect(stepsOf(driver)).toEqual(["0", "0,1,2", "0"]);
    await until(() => drivers.processesOn("n2", "n3").length === 0);
    expect(daemonsOn("n1")).toHaveLength(1);
  });

  test("are as before when there are not enough machines, or the mesh would get smaller than it was asked for", async () => {
    const meshes = { workers: { hosts: ["n1", "n2"], spare: ["n3"] } };
    const driver = await resized(start({ meshes, sizes: [4, 1] }));
    expect(stepsOf(driver)).toEqual([
      "0,1",
      'cannot resize job "viceroy": mesh "workers" has machines for 3 hosts, got 4; name further machines in the option spare ' +
        "of the mesh, and submit the job again",
      'cannot resize job "viceroy": a job keeps the first 2 hosts of mesh "workers", for which it was submitted; leave hosts with ' +
        "workers.resize({ hosts: 1 }), and they stay until the job ends",
    ]);
    expect(daemonsOn("n1", "n2", "n3")).toHaveLength(2);
  });

  test("are as before when a machine cannot be reached", async () => {
    const meshes = { workers: { hosts: ["n1"], spare: ["n9"] } };
    const driver = await resized(start({ meshes, sizes: [2, 1] }));
    expect(stepsOf(driver)).toEqual([
      "0",
      expect.stringMatching(
        /^cannot resize job "viceroy": host workers\[1\] is gone: it ended with exit code 255; .*Could not resolve hostname n9.*; on host "n9": /s,
      ),
      "0",
    ]);
  });

  test("come back when they are lost, also those that the job has got later", async () => {
    const driver = await resized(start({ sizes: [2, 1, 2] }));
    const [first, second] = namesOf(driver);
    for (const pid of daemonsOn("n2")) process.kill(pid, "SIGKILL");
    await until(() => driver.printed.some(({ event }) => event?.kind === "host-replaced" && event.rank === 1));
    await until(() => namesOf(driver)[1] !== second);
    expect(namesOf(driver)[0]).toBe(first);
    for (const pid of daemonsOn("n2")) process.kill(pid, "SIGKILL");
    await until(() => driver.printed.filter(({ event }) => event?.kind === "host-replaced").length === 2);
  });

  test("are got once by two programs that ask at the same time, and by the next run", async () => {
    const cache = newCache();
    await resized(start({ cache, sizes: [] }));
    const both = await Promise.all([start({ cache, sizes: [3] }), start({ cache, sizes: [2] })].map(resized));
    expect(both.map(stepsOf)).toEqual([
      ["0", "0,1,2"],
      ["0", "0,1"],
    ]);
    expect(daemonsOn("n1", "n2", "n3")).toHaveLength(3);
    const next = await resized(start({ cache, sizes: [3] }));
    expect(stepsOf(next)).toEqual(["0", "0,1,2"]);
    expect(new Set([...both, next].map(({ printed }) => printed[0]!.applyId)).size).toBe(1);
  });
});
