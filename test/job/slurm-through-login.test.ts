/** Tests of drivers on a laptop that reaches the login node of a cluster of Slurm, and none of its nodes: ssh there connects them to one node, and that node to the others. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SlurmJob } from "viceroy/job";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { permitted } from "../permitted.js";
import { compileCrew } from "../proc/crew.js";
import { limitUnderLoad, until } from "../proc/until.js";
import { type DriverEnd, type JobDriver, startJobDriver } from "./job-driver.js";
import { newCache } from "./job-program.js";
import { askThroughPort } from "./lab/forwarded-port.js";
import { Laptop } from "./lab/laptop.js";
import { type SlurmCluster, withCluster } from "./lab/slurm-cluster.js";
import { findSlurm } from "./lab/slurm-release.js";
import { running } from "./lab/ssh-drivers.js";
import { hasSsh } from "./lab/ssh-network.js";

const release = findSlurm("22.05");
const slurm = permitted(
  "jobs on a cluster of Slurm behind a login node",
  "Debian's packages slurmctld, slurmd, munge, openssh-server and openssh-client",
  release !== undefined && hasSsh,
);

describe.runIf(networks && slurm)("a driver that reaches the login node alone", () => {
  let cluster: SlurmCluster;
  let laptop: Laptop;
  const drivers: JobDriver[] = [];
  const living = () => cluster.run("squeue", "--noheader", "--format=%i").trim();
  const throughLogin = { login: "login", reach: "ssh", node: process.execPath };

  withCluster({ release, nodes: 2, others: ["laptop"] }, (started) => {
    cluster = started;
  });
  beforeAll(async () => {
    await compileCrew();
    laptop = new Laptop(cluster);
    await laptop.ready();
  }, 60_000);
  afterEach(async () => {
    for (const { child } of drivers.splice(0)) child.kill("SIGKILL");
    laptop.connect();
    cluster.run("scancel", "--user=root");
    await until(() => living() === "");
    // Nothing of a driver is left, not even of one that was killed.
    await until(() => laptop.forwards().length === 0);
  });

  function start(options: object = {}, how: DriverEnd = "kill", program = "on-slurm.ts", ...further: string[]) {
    const wanted = { cache: newCache(), ...throughLogin, ...options };
    const driver = startJobDriver(laptop.through, program, wanted, how, laptop.env, ...further);
    drivers.push(driver);
    return driver;
  }

  test("uses all nodes, and connects to none of them", async () => {
    const driver = start({}, "wait");
    const { names, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(names).toEqual(["n1", "n1", "n2", "n2"]);
    expect(laptop.forwards().length).toBeGreaterThan(0);
  });

  test("works with a token in place of certificates", async () => {
    const driver = start({ tls: false });
    const { names, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(names).toEqual(["n1", "n1", "n2", "n2"]);
    expect(await driver.exited).toBe(0);
    expect(living()).toBe("");
  });

  test("finds out by itself that it reaches no node", async () => {
    const driver = start({ reach: undefined }, "wait");
    expect((await driver.outcome()).names).toHaveLength(4);
    expect(laptop.forwards().length).toBeGreaterThan(0);
  });

  test("uses the run of another program on the laptop", async () => {
    const cache = newCache();
    const first = start({ cache }, "leave");
    const { applyId } = await first.outcome();
    first.child.kill("SIGKILL");
    // What connected it ends with it.
    await until(() => laptop.forwards().length === 0);
    const second = start({ cache });
    expect((await second.outcome()).applyId).toBe(applyId);
    expect(await second.exited).toBe(0);
  });

  /** Starts a driver that talks until it is told to end. */
  async function talk(options: object = {}) {
    const file = join(mkdtempSync(join(tmpdir(), "vt-")), "end");
    const driver = start(options, "kill", "through-login.ts", file);
    const { names, heard, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(names).toEqual(["n1", "n1", "n2", "n2"]);
    expect(heard).toEqual(["hello"]);
    return {
      driver,
      end: async () => {
        writeFileSync(file, "");
        expect(await driver.exited).toBe(0);
        const { numbers, kept } = driver.printed.find(({ said }) => said !== undefined)!.said!;
        expect(numbers).toEqual(Array.from({ length: 20 }, (_, i) => i));
        // Each call was handled once, and in order.
        expect(kept).toEqual(kept.map((_, i) => (i === 0 ? 0 : (i - 1) % 200)));
        return kept.length;
      },
    };
  }

  test("loses nothing when its ssh is killed again and again", async () => {
    const { end } = await talk();
    for (let round = 0; round < 3; round++) {
      const killed = laptop.forwards();
      expect(killed.length).toBeGreaterThan(0);
      for (const pid of killed) process.kill(pid, "SIGKILL");
      await until(() => laptop.forwards().some((pid) => !killed.includes(pid)));
    }
    expect(await end()).toBeGreaterThan(0);
  });

  test("loses nothing while the login node refuses connections, and reports that it does", async () => {
    const { driver, end } = await talk();
    laptop.disconnect();
    for (const pid of laptop.forwards()) process.kill(pid, "SIGKILL");
    await until(() => driver.events().some((event) => event.startsWith("pending: Slurm does not answer: ")));
    expect(driver.events().find((event) => event.startsWith("pending: Slurm does not answer: "))).toMatch(
      /^pending: Slurm does not answer: ssh: connect to host login port 22: Connection refused; check with "ssh login" that it is up and that its port of ssh can be reached$/,
    );
    laptop.connect();
    await until(() => laptop.forwards().length > 0);
    await end();
    expect(driver.events().filter((event) => event.startsWith("host-lost"))).toEqual([]);
  });

  test("a host that is lost comes back, also the one that connects the driver to the others", async () => {
    const driver = start({ slurm: true }, "wait", "on-lost-hosts.ts");
    const { pids, message } = await driver.outcome();
    expect(message).toBe(undefined);
    const [daemon] = running(/^\S*node \S+viceroy\.js host /, cluster.nodes["n1"]!.machine.pids);
    process.kill(daemon!, "SIGKILL");
    const crews = () => driver.printed.flatMap((printed) => (printed.pids === undefined ? [] : [printed.pids]));
    await until(() => crews().some(([first]) => first !== pids![0]));
    // The process on the other host goes on.
    expect(crews().map(([, second]) => second)).toEqual(crews().map(() => pids![1]));
  });

  test("a login node that forwards no connections is an error that says what to do", async () => {
    const driver = start({ login: "closed" });
    const { name, message } = await driver.outcome();
    expect(`${name}: ${message}`).toContain(
      'ssh cannot connect to anything through "closed": channel 0: open failed: administratively prohibited: open failed; ' +
        'stdio forwarding failed; the server of ssh there must allow "AllowTcpForwarding yes", and no PermitOpen may exclude the ' +
        "hosts of the job",
    );
    await driver.exited;
    expect(living()).toBe("");
  });

  test("a login node that cannot be reached is an error that says what to do", async () => {
    const driver = start({ login: "away" });
    const { name, message } = await driver.outcome();
    expect(`${name}: ${message}`).toMatch(
      /^JobSubmitError: cannot submit job "viceroy": sh on away: ssh: connect to host login port 1: Connection (?:refused|timed out); check with "ssh away" that it is up and that its port of ssh can be reached$/,
    );
  });

  test("a host that does not answer is named, with what the login node says", async () => {
    const limit = limitUnderLoad(4000);
    const driver = start({ hostTimeout: limit, setup: "port=1; exec sleep 600" });
    const { name, message } = await driver.outcome();
    expect(`${name}: ${message}`).toMatch(
      /^JobStartTimeoutError: .*workers\[0\] runs on node n1, and does not answer at port \d+: Connection refused; it has printed nothing/,
    );
  });

  test("`viceroy job port` reaches ports of nodes", async () => {
    const options = { meshes: { workers: { hosts: 2 } }, ...throughLogin, cache: newCache(), progress: "silent" };
    const driver = start(options, "wait");
    expect((await driver.outcome()).message).toBe(undefined);
    const host = cluster.nodes["n2"]!;
    expect(await askThroughPort({ driver: laptop, kind: "slurm", options, rank: 1, host })).toEqual([
      "n2 hears hello",
      'cannot connect to port 9 of workers[1]: ssh cannot connect to n2:9 through "login": channel 0: open failed: connect ' +
        'failed: Connection refused; stdio forwarding failed; see whether something listens there, and whether "login" reaches it',
    ]);
  });
});

test("ways to nodes that do not exist are refused", () => {
  const make = (options: object) => () => new SlurmJob({ meshes: { workers: { hosts: 1 } }, ...options });
  expect(make({ reach: "tunnel" })).toThrow('cannot make a job: expected reach as "direct" or "ssh", got "tunnel"');
  expect(make({ reach: "ssh" })).toThrow(
    'cannot make a job: reach "ssh" goes through the login node, and there is none; name it with the option login',
  );
});
