/**
 * Tests of jobs over real servers of ssh in network namespaces. The driver runs on a machine of its own, as a program of
 * its own.
 */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { permitted } from "../permitted.js";
import { compileCrew } from "../proc/crew.js";
import { gone, until } from "../proc/until.js";
import { type JobPlace, viceroyJob } from "./batch-driver.js";
import { newCache } from "./job-program.js";
import { askThroughPort } from "./lab/forwarded-port.js";
import { running, SshDrivers } from "./lab/ssh-drivers.js";
import { hasSsh, oldNode, type SshMachineOptions, SshNetwork } from "./lab/ssh-network.js";

const ssh = permitted("jobs over ssh", "Debian's packages openssh-server and openssh-client", hasSsh);

// Hooks that a hook registers do not run, so the machines are made here.
const network = networks && ssh ? new SshNetwork(machines()) : (undefined as unknown as SshNetwork);
const drivers = network && new SshDrivers(network);

/** Returns what is special about each machine. */
function machines(): Record<string, SshMachineOptions> {
  return {
    n1: {},
    n2: {},
    dash: { shell: "/bin/dash" },
    bare: { sshd: ["SetEnv PATH=/nowhere"] },
    old: { sshd: [`SetEnv PATH=${oldNode()}`] },
    closed: { shell: "/usr/sbin/nologin" },
    jump: {},
    strict: { sshd: ["AllowStreamLocalForwarding no"] },
  };
}

const oneHost = (host: string) => ({ meshes: { workers: { hosts: [host] } } });

const receivedBytes = (name: string) =>
  Number(network.machines[name]!.cluster.machine.run("cat", "/sys/class/net/eth0/statistics/rx_bytes"));
const ipOf = (name: string) => network.machines[name]!.cluster.machine.ip;

describe.runIf(networks && ssh)("a job over ssh", () => {
  beforeAll(async () => {
    await compileCrew();
    await network.listening();
  });
  afterEach(() => drivers.end());

  test("runs its hosts on machines, and leaves nothing there when it is killed", async () => {
    const driver = drivers.start();
    const { names, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(names).toEqual([ipOf("n1"), ipOf("n1"), ipOf("n2"), ipOf("n2")]);
    expect(await driver.exited).toBe(0);
    expect(drivers.processesOn("n1", "n2")).toEqual([]);
    expect(driver.events().at(-1)).toBe("ended: it was killed");
  });

  test("tells a process on a host which job it is in, and that its machine cannot do anything else with it", async () => {
    const { applyId, thisJob, message } = await drivers
      .start({ sshOptions: ["-o", "ServerAliveInterval=7"] })
      .outcome();
    expect(message).toBe(undefined);
    const refusal =
      `JobElsewhereError: cannot use job "viceroy" on this machine: the machine "driver" has submitted it and ` +
      "holds its hosts; use the job in a program there";
    const refused = { state: refusal, find: refusal, kill: refusal, logs: refusal };
    expect(thisJob).toEqual({ applyId, meshes: { workers: { hosts: 2 } }, name: "viceroy", refused });
  });

  test("gives its hosts a record that only the user can read, and that has no options of ssh", async () => {
    const driver = drivers.start({ ...oneHost("n1"), sshOptions: ["-o", "ServerAliveInterval=7"] }, "wait");
    const { applyId } = await driver.outcome();
    const file = `/tmp/vj-${applyId!.slice(0, 13)}-0/job.json`;
    const text = network.machines["n1"]!.cluster.machine.run("cat", file);
    expect(JSON.parse(text)).toMatchObject({ applyId, allocation: null, heldOn: "driver" });
    expect(text).not.toContain("ServerAliveInterval");
    expect(network.machines["n1"]!.cluster.machine.run("stat", "-c", "%a", file).trim()).toBe("600");
  });

  test("runs commands of `viceroy job exec` on its hosts, and keeps what they print", async () => {
    const place: JobPlace = {
      job: "ssh",
      cache: newCache(),
      options: { meshes: { workers: { hosts: ["n1", "n2"] } } },
      env: network.env,
      through: network.through,
    };
    expect((await viceroyJob(place, "apply")).code).toBe(0);
    const { code, out } = await viceroyJob(place, "exec", "--", "hostname");
    expect([code, out.split("\n").sort()]).toEqual([0, ["", "workers[0] n1", "workers[1] n2"]]);
    const logs = (await viceroyJob(place, "logs")).out;
    expect(logs).toMatch(/^workers\[0\] viceroy host .* listens at tls:/m);
    expect(logs).toMatch(/^workers\[1\] viceroy host /m);
    expect((await viceroyJob(place, "kill")).code).toBe(0);
  });

  test("can be used by the next run of the program, also after the driver was killed", async () => {
    const cache = newCache();
    const first = drivers.start({ cache }, "wait");
    const { applyId } = await first.outcome();
    first.child.kill("SIGKILL");
    await first.exited;
    const second = drivers.start({ cache });
    expect((await second.outcome()).applyId).toBe(applyId);
    expect(await second.exited).toBe(0);
    expect(drivers.processesOn("n1", "n2")).toEqual([]);
  });

  test("installs the daemon once, and again when a file of it was changed", async () => {
    const cache = join(network.machines["n1"]!.home, ".cache/viceroy");
    const run = async () => {
      const driver = drivers.start(oneHost("n1"));
      expect((await driver.outcome()).message).toBe(undefined);
      await driver.exited;
      const folders = readdirSync(cache).filter((name) => statSync(join(cache, name)).isDirectory());
      expect(folders).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+-[\da-f]{16}$/)]);
      const folder = join(cache, folders[0]!);
      expect(statSync(folder).mode & 0o077).toBe(0);
      return { made: statSync(folder).ino, boot: join(folder, "boot.cjs") };
    };
    const first = await run();
    expect((await run()).made).toBe(first.made);
    const intact = readFileSync(first.boot);
    appendFileSync(first.boot, "throw new Error('changed');\n");
    expect((await run()).made).not.toBe(first.made);
    expect(readFileSync(first.boot)).toEqual(intact);
  });

  test.each(["n1", "dash"])("sets up its hosts by lines of the shell, whatever they contain (%s)", async (host) => {
    const setup = `# Exclamation marks!\nread nothing || WORD='it'"'"'s \\\\ "50%" für $5!'\nexport WORD`;
    const { words, message } = await drivers.start({ ...oneHost(host), setup }).outcome();
    expect(message).toBe(undefined);
    expect(words).toEqual(Array(2).fill(`it's \\\\ "50%" für $5!`));
  });

  test("shows the secrets of its hosts to nobody", async () => {
    const cache = newCache();
    const driver = drivers.start({ cache }, "wait");
    const { applyId, message } = await driver.outcome();
    expect(message).toBe(undefined);
    const lines = readFileSync(join(dirname(cache), "jobs", applyId!, "credentials/secrets"), "latin1").split("\n");
    const secrets = lines.filter((line) => line !== "").map((line) => line.split(" ")[1]!);
    expect(secrets).toEqual(Array(2).fill(expect.stringMatching(/^[\w-]{43}$/)));
    const shown = [...drivers.processesOn("n1", "n2"), ...drivers.onDriver()].flatMap((pid) =>
      ["cmdline", "environ"].map((file) => readFileSync(`/proc/${pid}/${file}`, "latin1")),
    );
    expect(shown.length).toBeGreaterThan(20);
    expect(shown.filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([]);
  });

  test("understands a host whose login shell greets", async () => {
    const greeting = join(network.machines["n2"]!.home, ".bashrc");
    writeFileSync(greeting, "printf 'Welcome to n2! No newline here'\n");
    const { names, message } = await drivers.start().outcome();
    writeFileSync(greeting, "");
    expect(message).toBe(undefined);
    expect(names).toHaveLength(4);
  });

  describe("ends everything on its hosts", () => {
    const runaway = `setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' > /dev/null 2>&1 &`;

    test("with the driver, if nothing is cached", async () => {
      const driver = drivers.start({ cache: null, setup: runaway }, "wait");
      await driver.outcome();
      expect(drivers.processesOn("n1").length).toBeGreaterThan(4);
      driver.child.kill("SIGKILL");
      await until(() => drivers.processesOn("n1", "n2").length === 0);
    });

    test("with the keeper", async () => {
      const driver = drivers.start({ setup: runaway }, "wait");
      await driver.outcome();
      const [keeper] = running(/job-keeper/, drivers.onDriver());
      process.kill(keeper!, "SIGKILL");
      await until(() => drivers.processesOn("n1", "n2").length === 0);
      await until(() => driver.events().includes("ended: its keeper has ended"));
    });

    test("with their ssh", async () => {
      const driver = drivers.start({ setup: runaway, hostTimeout: 0 }, "wait");
      await driver.outcome();
      const clients = running(/^(?:\S*\/)?ssh .* n1 /, drivers.onDriver());
      for (const pid of clients) process.kill(pid, "SIGKILL");
      await until(() => drivers.processesOn("n1").length === 0);
      await until(() =>
        driver
          .events()
          .some((event) => event.startsWith("host-lost: host workers[0] is gone: it was ended by SIGKILL")),
      );
      expect(drivers.processesOn("n2")).not.toEqual([]);
    });

    test("with the session of their server of ssh", async () => {
      const driver = drivers.start({ setup: runaway, hostTimeout: 0 }, "wait");
      await driver.outcome();
      for (const pid of running(/^sshd: root/, drivers.processesOn("n1"))) process.kill(pid, "SIGKILL");
      await until(() => drivers.processesOn("n1").length === 0);
      await until(() => driver.events().some((event) => event.startsWith("host-lost: host workers[0] is gone: ")));
    });

    test("when the network loses them", async () => {
      const driver = drivers.start({ setup: runaway, hostTimeout: 0 }, "wait");
      await driver.outcome();
      const { machine } = network.machines["n1"]!.cluster;
      const own = drivers.processesOn("n1").filter((pid) => !running(/^sshd: /, [pid]).length);
      machine.isolate();
      await until(() => own.every(gone));
      await until(() => driver.events().some((event) => event.startsWith("host-lost: host workers[0] is gone: ")));
      machine.heal();
      for (const pid of running(/^sshd: root/, drivers.processesOn("n1"))) process.kill(pid, "SIGKILL");
    });
  });

  describe("tells the user what ssh and the host say", () => {
    const gonePrefix = (code: number) =>
      `JobStartError: cannot start job "viceroy": host workers[0] is gone: it ended with exit code ${code}; its output ends with: `;

    test("when the key of a host is not known", async () => {
      // Another name of the same machine.
      drivers.configure("stranger", `HostName ${ipOf("n1")}`);
      const keys = join(network.home, ".ssh/known_hosts");
      const known = readFileSync(keys);
      writeFileSync(keys, "");
      const message = await drivers.complaint(["stranger"]).finally(() => writeFileSync(keys, known));
      expect(message).toBe(
        `${gonePrefix(255)}Host key verification failed.; on host "stranger": its key is not a known one; ` +
          'run "ssh stranger" once and check the key, or add it to ~/.ssh/known_hosts. A job never accepts a key by itself',
      );
    });

    test("when ssh would have to ask for a password", async () => {
      // Another configuration of ssh, which names no key.
      const message = await drivers.complaint(["n1"], { sshOptions: ["-F", "none"] });
      expect(message).toBe(
        gonePrefix(255) +
          'root@n1: Permission denied (publickey).; on host "n1": ssh would have to ask for a password or a passphrase, ' +
          'which a job cannot answer; set up a key and an agent until "ssh -o BatchMode=yes n1 true" works',
      );
    });

    test("when a name does not resolve", async () => {
      const message = await drivers.complaint(["nowhere.invalid"]);
      expect(message).toMatch(
        /^JobStartError: cannot start job "viceroy": host workers\[0\] is gone: it ended with exit code 255; its output ends with: ssh: Could not resolve hostname nowhere\.invalid: .+; on host "nowhere\.invalid": check its name, or describe it in ~\/\.ssh\/config$/,
      );
    });

    test("when no server listens", async () => {
      const message = await drivers.complaint(["n1"], { sshOptions: ["-p", "2222"] });
      expect(message).toBe(
        gonePrefix(255) +
          'ssh: connect to host n1 port 2222: Connection refused; on host "n1": check with "ssh n1" that it is up and ' +
          "that its port of ssh can be reached",
      );
    });

    test("when a host has no Node.js, or not the one that the job names", async () => {
      const advice =
        "install Node.js 20.9 or later there, name it with the option node, or make it available with the option setup";
      const message = await drivers.complaint(["bare"]);
      expect(message).toBe(
        `${gonePrefix(69)}viceroy host: there is no Node.js here: the shell finds no program node; on host "bare": ${advice}`,
      );
      const named = await drivers.complaint(["n1"], { node: "/opt/it's/node" });
      expect(named).toContain(
        'there is no Node.js here: the shell finds no program /opt/it\'s/node; on host "n1": install Node.js 20.9',
      );
    });

    test("when the Node.js of a host is too old", async () => {
      const message = await drivers.complaint(["old"]);
      expect(message).toContain(
        "it ended with exit code 69; its output ends with: viceroy host: Node.js 18.20.4 is too old, 20.9 is the oldest " +
          'that works; on host "old": install Node.js 20.9 or later there, name it with the option node',
      );
    });

    test("when the login shell of a host refuses", async () => {
      const message = await drivers.complaint(["closed"]);
      expect(message).toBe(
        `${gonePrefix(1)}This account is currently not available.; on host "closed": try "ssh closed node --version"`,
      );
    });

    test("when a line of setup fails", async () => {
      const message = await drivers.complaint(["n1"], { setup: "echo no such module >&2\nfalse" });
      expect(message).toContain('it ended with exit code 1; its output ends with: no such module; on host "n1": try');
    });

    test("when the server of a host forbids the forwarding of sockets", async () => {
      const message = await drivers.complaint(["strict"]);
      expect(message).toMatch(
        /^JobStartError: cannot start job "viceroy": host workers\[0\] is gone: it ended with exit code 255; .*\nchannel \d+: open failed: connect failed: open failed.*; on host "strict": its server of ssh must allow "AllowStreamLocalForwarding yes", through which a driver reaches a host$/s,
      );
    });
  });

  test("passes jump hosts, behind which its hosts reach each other without the driver", async () => {
    const { machine } = network.driver;
    for (const name of ["n1", "n2"]) machine.dropTo(network.machines[name]!.cluster.machine);
    try {
      const file = join(mkdtempSync(join(tmpdir(), "vt-")), "lines");
      const before = receivedBytes("n2");
      const driver = drivers.start({ sshOptions: ["-J", "jump"] }, "kill", file);
      const { names, message, bytes } = await driver.outcome();
      expect(message).toBe(undefined);
      expect(names).toEqual([ipOf("n1"), ipOf("n1"), ipOf("n2"), ipOf("n2")]);
      expect(receivedBytes("n2") - before).toBeGreaterThan(2_000_000);
      expect(bytes).toBeLessThan(200_000);
      expect(await driver.exited).toBe(0);
      expect(drivers.processesOn("n1", "n2")).toEqual([]);
    } finally {
      machine.heal();
    }
  });

  test("`viceroy job port` reaches ports of hosts behind a jump host", async () => {
    const { machine } = network.driver;
    for (const name of ["n1", "n2"]) machine.dropTo(network.machines[name]!.cluster.machine);
    try {
      const meshes = { workers: { hosts: ["n1", "n2"] } };
      const options = { meshes, sshOptions: ["-J", "jump"], cache: newCache(), progress: "silent" };
      expect((await drivers.start(options, "leave").outcome()).message).toBe(undefined);
      const host = network.machines["n2"]!.cluster;
      const answers = await askThroughPort({ driver: network, kind: "ssh", options, rank: 1, host });
      expect(answers).toEqual([
        "n2 hears hello",
        `cannot connect to port 9 of workers[1]: ssh cannot connect to ${ipOf("n2")}:9 through "n2": channel 0: open failed: connect ` +
          'failed: Connection refused; stdio forwarding failed; see whether something listens there, and whether "n2" reaches it',
      ]);
    } finally {
      machine.heal();
    }
  });
});
