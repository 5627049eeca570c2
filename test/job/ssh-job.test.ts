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
import { type DriverEnd, type JobDriver, type Printed, startJobDriver } from "./job-driver.js";
import { newCache } from "./job-program.js";
import { hasSsh, oldNode, type SshMachineOptions, SshNetwork } from "./lab/ssh-network.js";

const ssh = permitted("jobs over ssh", "Debian's packages openssh-server and openssh-client", hasSsh);

// Hooks that a hook registers do not run, so the machines are made here.
const network = networks && ssh ? new SshNetwork(machines()) : (undefined as unknown as SshNetwork);
const drivers: JobDriver[] = [];

function startDriver(options: object = {}, how: DriverEnd = "kill", ...further: string[]): JobDriver {
  const wanted = { cache: newCache(), ...options };
  const driver = startJobDriver(network.through, "on-ssh.ts", wanted, how, network.env, ...further);
  drivers.push(driver);
  return driver;
}

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

/** Returns the processes on a machine other than its server of ssh. */
function processesOn(...names: string[]): number[] {
  return names.flatMap((name) => {
    const { cluster, server } = network.machines[name]!;
    return cluster.machine.pids.filter((pid) => pid !== server);
  });
}

/** Returns the processes of a program, among given ones. */
function running(program: RegExp, pids: readonly number[]): number[] {
  return pids.filter((pid) => program.test(readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ")));
}

/** Describes a name in the driver's configuration of ssh. */
function configure(name: string, address: string): void {
  appendFileSync(network.config, `Host ${name}\n  HostName ${address}\n`);
}

const onDriver = () => network.driver.machine.pids;
const receivedBytes = (name: string) =>
  Number(network.machines[name]!.cluster.machine.run("cat", "/sys/class/net/eth0/statistics/rx_bytes"));
const ipOf = (name: string) => network.machines[name]!.cluster.machine.ip;

describe.runIf(networks && ssh)("a job over ssh", () => {
  beforeAll(async () => {
    await compileCrew();
    await network.listening();
  });
  afterEach(async () => {
    for (const { child } of drivers.splice(0)) child.kill("SIGKILL");
    for (const pid of running(/job-keeper/, onDriver())) process.kill(pid, "SIGTERM");
    await until(() => processesOn("n1", "n2", "dash", "bare", "old", "closed", "jump", "strict").length === 0);
  });

  test("runs its hosts on machines, and leaves nothing there when it is killed", async () => {
    const driver = startDriver();
    const { names, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(names).toEqual([ipOf("n1"), ipOf("n1"), ipOf("n2"), ipOf("n2")]);
    expect(await driver.exited).toBe(0);
    expect(processesOn("n1", "n2")).toEqual([]);
    expect(driver.events().at(-1)).toBe("ended: it was killed");
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
    const first = startDriver({ cache }, "wait");
    const { applyId } = await first.outcome();
    first.child.kill("SIGKILL");
    await first.exited;
    const second = startDriver({ cache });
    expect((await second.outcome()).applyId).toBe(applyId);
    expect(await second.exited).toBe(0);
    expect(processesOn("n1", "n2")).toEqual([]);
  });

  test("installs the daemon once, and again when a file of it was changed", async () => {
    const cache = join(network.machines["n1"]!.home, ".cache/viceroy");
    const run = async () => {
      const driver = startDriver(oneHost("n1"));
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
    const { words, message } = await startDriver({ ...oneHost(host), setup }).outcome();
    expect(message).toBe(undefined);
    expect(words).toEqual(Array(2).fill(`it's \\\\ "50%" für $5!`));
  });

  test("shows the secrets of its hosts to nobody", async () => {
    const cache = newCache();
    const driver = startDriver({ cache }, "wait");
    const { applyId, message } = await driver.outcome();
    expect(message).toBe(undefined);
    const lines = readFileSync(join(dirname(cache), "jobs", applyId!, "credentials/secrets"), "latin1").split("\n");
    const secrets = lines.filter((line) => line !== "").map((line) => line.split(" ")[1]!);
    expect(secrets).toEqual(Array(2).fill(expect.stringMatching(/^[\w-]{43}$/)));
    const shown = [...processesOn("n1", "n2"), ...onDriver()].flatMap((pid) =>
      ["cmdline", "environ"].map((file) => readFileSync(`/proc/${pid}/${file}`, "latin1")),
    );
    expect(shown.length).toBeGreaterThan(20);
    expect(shown.filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([]);
  });

  test("understands a host whose login shell greets", async () => {
    const greeting = join(network.machines["n2"]!.home, ".bashrc");
    writeFileSync(greeting, "printf 'Welcome to n2! No newline here'\n");
    const { names, message } = await startDriver().outcome();
    writeFileSync(greeting, "");
    expect(message).toBe(undefined);
    expect(names).toHaveLength(4);
  });

  describe("ends everything on its hosts", () => {
    const runaway = `setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' > /dev/null 2>&1 &`;

    test("with the driver, if nothing is cached", async () => {
      const driver = startDriver({ cache: null, setup: runaway }, "wait");
      await driver.outcome();
      expect(processesOn("n1").length).toBeGreaterThan(4);
      driver.child.kill("SIGKILL");
      await until(() => processesOn("n1", "n2").length === 0);
    });

    test("with the keeper", async () => {
      const driver = startDriver({ setup: runaway }, "wait");
      await driver.outcome();
      const [keeper] = running(/job-keeper/, onDriver());
      process.kill(keeper!, "SIGKILL");
      await until(() => processesOn("n1", "n2").length === 0);
      await until(() => driver.events().includes("ended: its keeper has ended"));
    });

    test("with their ssh", async () => {
      const driver = startDriver({ setup: runaway }, "wait");
      await driver.outcome();
      const clients = running(/^(?:\S*\/)?ssh .* n1 /, onDriver());
      for (const pid of clients) process.kill(pid, "SIGKILL");
      await until(() => processesOn("n1").length === 0);
      await until(() =>
        driver
          .events()
          .some((event) => event.startsWith("host-lost: host workers[0] is gone: it was ended by SIGKILL")),
      );
      expect(processesOn("n2")).not.toEqual([]);
    });

    test("with the session of their server of ssh", async () => {
      const driver = startDriver({ setup: runaway }, "wait");
      await driver.outcome();
      for (const pid of running(/^sshd: root/, processesOn("n1"))) process.kill(pid, "SIGKILL");
      await until(() => processesOn("n1").length === 0);
      await until(() => driver.events().some((event) => event.startsWith("host-lost: host workers[0] is gone: ")));
    });

    test("when the network loses them", async () => {
      const driver = startDriver({ setup: runaway }, "wait");
      await driver.outcome();
      const { machine } = network.machines["n1"]!.cluster;
      const own = processesOn("n1").filter((pid) => !running(/^sshd: /, [pid]).length);
      machine.isolate();
      await until(() => own.every(gone));
      await until(() => driver.events().some((event) => event.startsWith("host-lost: host workers[0] is gone: ")));
      machine.heal();
      for (const pid of running(/^sshd: root/, processesOn("n1"))) process.kill(pid, "SIGKILL");
    });
  });

  describe("tells the user what ssh and the host say", () => {
    /** Returns the error of a job with one host. */
    async function complaint(options: object): Promise<Printed> {
      const { name, message } = await startDriver(options).outcome();
      // The only host of the job is also the last one.
      return { name: name!, message: message!.replace("all its hosts have ended; ", "") };
    }

    const gonePrefix = (code: number) =>
      `cannot start job "viceroy": host workers[0] is gone: it ended with exit code ${code}; its output ends with: `;

    test("when the key of a host is not known", async () => {
      // Another name of the same machine.
      configure("stranger", ipOf("n1"));
      const keys = join(network.home, ".ssh/known_hosts");
      const known = readFileSync(keys);
      writeFileSync(keys, "");
      const { name, message } = await complaint(oneHost("stranger")).finally(() => writeFileSync(keys, known));
      expect(name).toBe("JobStartError");
      expect(message).toBe(
        `${gonePrefix(255)}Host key verification failed.; on host "stranger": its key is not a known one; ` +
          'run "ssh stranger" once and check the key, or add it to ~/.ssh/known_hosts. A job never accepts a key by itself',
      );
    });

    test("when ssh would have to ask for a password", async () => {
      // Another configuration of ssh, which names no key.
      const { message } = await complaint({ ...oneHost("n1"), sshOptions: ["-F", "none"] });
      expect(message).toBe(
        gonePrefix(255) +
          'root@n1: Permission denied (publickey).; on host "n1": ssh would have to ask for a password or a passphrase, ' +
          'which a job cannot answer; set up a key and an agent until "ssh -o BatchMode=yes n1 true" works',
      );
    });

    test("when a name does not resolve", async () => {
      const { message } = await complaint(oneHost("nowhere.invalid"));
      expect(message).toMatch(
        /^cannot start job "viceroy": host workers\[0\] is gone: it ended with exit code 255; its output ends with: ssh: Could not resolve hostname nowhere\.invalid: .+; on host "nowhere\.invalid": check its name, or describe it in ~\/\.ssh\/config$/,
      );
    });

    test("when no server listens", async () => {
      const { message } = await complaint({ ...oneHost("n1"), sshOptions: ["-p", "2222"] });
      expect(message).toBe(
        gonePrefix(255) +
          'ssh: connect to host n1 port 2222: Connection refused; on host "n1": check with "ssh n1" that it is up and ' +
          "that its port of ssh can be reached",
      );
    });

    test("when a host has no Node.js, or not the one that the job names", async () => {
      const advice =
        "install Node.js 20.9 or later there, name it with the option node, or make it available with the option setup";
      const { message } = await complaint(oneHost("bare"));
      expect(message).toBe(
        'cannot start job "viceroy": host workers[0] is gone: it ended with exit code 69; its output ends with: viceroy ' +
          `host: there is no Node.js here: the shell finds no program node; on host "bare": ${advice}`,
      );
      const named = await complaint({ ...oneHost("n1"), node: "/opt/it's/node" });
      expect(named.message).toContain(
        'there is no Node.js here: the shell finds no program /opt/it\'s/node; on host "n1": install Node.js 20.9',
      );
    });

    test("when the Node.js of a host is too old", async () => {
      const { message } = await complaint(oneHost("old"));
      expect(message).toContain(
        "it ended with exit code 69; its output ends with: viceroy host: Node.js 18.20.4 is too old, 20.9 is the oldest " +
          'that works; on host "old": install Node.js 20.9 or later there, name it with the option node',
      );
    });

    test("when the login shell of a host refuses", async () => {
      const { message } = await complaint(oneHost("closed"));
      expect(message).toBe(
        'cannot start job "viceroy": host workers[0] is gone: it ended with exit code 1; its output ends with: This ' +
          'account is currently not available.; on host "closed": try "ssh closed node --version"',
      );
    });

    test("when a line of setup fails", async () => {
      const { message } = await complaint({ ...oneHost("n1"), setup: "echo no such module >&2\nfalse" });
      expect(message).toContain('it ended with exit code 1; its output ends with: no such module; on host "n1": try');
    });

    test("when the server of a host forbids the forwarding of sockets", async () => {
      const { message } = await complaint(oneHost("strict"));
      expect(message).toMatch(
        /^cannot start job "viceroy": host workers\[0\] is gone: it ended with exit code 255; .*\nchannel \d+: open failed: connect failed: open failed.*; on host "strict": its server of ssh must allow "AllowStreamLocalForwarding yes", through which a driver reaches a host$/s,
      );
    });
  });

  test("passes jump hosts, behind which its hosts reach each other without the driver", async () => {
    const { machine } = network.driver;
    for (const name of ["n1", "n2"]) machine.dropTo(network.machines[name]!.cluster.machine);
    try {
      const file = join(mkdtempSync(join(tmpdir(), "vt-")), "lines");
      const before = receivedBytes("n2");
      const driver = startDriver({ sshOptions: ["-J", "jump"] }, "kill", file);
      const { names, message, bytes } = await driver.outcome();
      expect(message).toBe(undefined);
      expect(names).toEqual([ipOf("n1"), ipOf("n1"), ipOf("n2"), ipOf("n2")]);
      expect(receivedBytes("n2") - before).toBeGreaterThan(2_000_000);
      expect(bytes).toBeLessThan(200_000);
      expect(await driver.exited).toBe(0);
      expect(processesOn("n1", "n2")).toEqual([]);
    } finally {
      machine.heal();
    }
  });
});
