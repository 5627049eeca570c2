/** Tests of the certificates that jobs over ssh make: real servers of ssh in network namespaces, some with wrong clocks. */
import { spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { permitted } from "../permitted.js";
import { compileCrew, project } from "../proc/crew.js";
import { until } from "../proc/until.js";
import { type DriverEnd, type JobDriver, startJobDriver } from "./job-driver.js";
import { newCache } from "./job-program.js";
import { attachAs } from "./lab/attach-as.js";
import { hasSsh, SshNetwork } from "./lab/ssh-network.js";
import { hasFaketime, wrongClock } from "./lab/wrong-clock.js";

const ssh = permitted("jobs over ssh", "Debian's packages openssh-server and openssh-client", hasSsh);
const clocks = permitted("jobs on machines with wrong clocks", "Debian's package faketime", hasFaketime);

// Hooks that a hook registers do not run, so the machines are made here.
const network = networks && ssh ? new SshNetwork(machines()) : (undefined as unknown as SshNetwork);
const drivers: JobDriver[] = [];

function machines() {
  const wrong = (offset: string) => {
    const variables = Object.entries(wrongClock(offset)).map((pair) => pair.join("="));
    return { sshd: [`SetEnv ${variables.join(" ")}`] };
  };
  const all = { n1: {}, n2: {} };
  return clocks ? { ...all, ahead: wrong("+1h"), behind: wrong("-1h"), days: wrong("+3d") } : all;
}

function startDriver(options: object = {}, how: DriverEnd = "kill", ...further: string[]): JobDriver {
  const wanted = { cache: newCache(), ...options };
  const driver = startJobDriver(network.through, "on-ssh.ts", wanted, how, network.env, ...further);
  drivers.push(driver);
  return driver;
}

const hostsOf = (...hosts: string[]) => ({ meshes: { workers: { hosts } } });
const newFile = () => join(mkdtempSync(join(tmpdir(), "vt-")), "lines");

/** Returns the folder of the credentials of a run. */
const credentialsOf = (cache: string, applyId: string) => join(dirname(cache), "jobs", applyId, "credentials");

/** Returns the folder of the certificate of a host. The machines of the tests share their files. */
const hostFolder = (applyId: string, index: number) => `/tmp/vj-${applyId.slice(0, 13)}-${index}/credentials`;

/** Returns the addresses at which the hosts of a job listen, by rank. */
function addressesOf(driver: JobDriver): string[] {
  const found = driver.events().flatMap((event) => /it listens at (tls:[^,\s]+)/.exec(event)?.[1] ?? []);
  return found.sort((left, right) => Number(left.split("/").at(-1)) - Number(right.split("/").at(-1)));
}

function processesOn(...names: string[]): number[] {
  return names.flatMap((name) => {
    const { cluster, server } = network.machines[name]!;
    return cluster.machine.pids.filter((pid) => pid !== server);
  });
}

const keepers = () =>
  network.driver.machine.pids.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("job-keeper"));

describe.runIf(networks && ssh)("a job over ssh", () => {
  beforeAll(async () => {
    await compileCrew();
    await network.listening();
  });
  afterEach(async () => {
    for (const { child } of drivers.splice(0)) child.kill("SIGKILL");
    for (const pid of keepers()) process.kill(pid, "SIGTERM");
    await until(() => processesOn(...Object.keys(network.machines)).length === 0);
  });

  test("makes certificates in files that only the user can read, and removes them when it is killed", async () => {
    const cache = newCache();
    const first = startDriver({ cache }, "leave");
    const { applyId, message } = await first.outcome();
    expect(message).toBe(undefined);
    const folder = credentialsOf(cache, applyId!);
    expect(readdirSync(folder).sort()).toEqual(["authority.key", "authority.pem", "driver", "secrets"]);
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
    expect(files.map((file) => [file, modeOf(file)])).toEqual(
      files.map((file) => [file, statSync(file).isDirectory() ? "700" : "600"]),
    );
    const own = hostFolder(applyId!, 1);
    expect([own, ...readdirSync(own).map((name) => join(own, name))].map(modeOf)).toEqual(["700", "600", "600", "600"]);
    const certificate = new X509Certificate(readFileSync(join(own, "certificate.pem")));
    expect(certificate.subjectAltName).toBe(`URI:viceroy://${applyId}/hosts/workers/1`);
    expect(addressesOf(first)).toEqual(
      [0, 1].map((rank) => expect.stringMatching(`^tls://10\\..*#viceroy://${applyId}/hosts/workers/${rank}$`)),
    );
    first.child.kill("SIGKILL");
    const second = startDriver({ cache });
    expect((await second.outcome()).applyId).toBe(applyId);
    expect(await second.exited).toBe(0);
    expect([existsSync(folder), existsSync(own)]).toEqual([false, false]);
  });

  test("refuses drivers with the certificate of a host, and of another job", async () => {
    const caches = [newCache(), newCache()];
    const [one, other] = ["n1", "n2"].map((host, index) =>
      startDriver({ ...hostsOf(host), cache: caches[index] }, "wait"),
    ) as [JobDriver, JobDriver];
    const [oneId, otherId] = [(await one.outcome()).applyId!, (await other.outcome()).applyId!];
    const [address] = addressesOf(one) as [string];
    // The driver's own certificate shows that nothing else keeps others out.
    const asDriver = await attachAs(network.through, address, join(credentialsOf(caches[0]!, oneId), "driver"));
    expect(asDriver).toEqual({ pid: expect.any(Number) });
    const { through } = network.machines["n2"]!.cluster;
    const uri = `viceroy://${oneId}/hosts/workers/0`;
    const asHost = await attachAs(network.machines["n1"]!.cluster.through, address, hostFolder(oneId, 0));
    expect(asHost.message).toBe(
      `cannot attach host ${address}: ${uri} is a host; only the driver and the controller of the job may attach`,
    );
    const asOther = await attachAs(through, address, join(credentialsOf(caches[1]!, otherId), "driver"));
    expect(asOther.message).toBe(
      `cannot attach host ${address}: ${uri} is of another job than this process, which is viceroy://${otherId}/driver`,
    );
    // An address without an identity, and one with an identity of the other job, lead to the certificate of the host.
    const lied = address.replace(oneId, otherId);
    const asLiar = await attachAs(through, lied, join(credentialsOf(caches[1]!, otherId), "driver"));
    expect(asLiar.message).toMatch(/^cannot attach host .*: this process does not trust the certificate of the host: /);
  });

  test("works beside another one in the same program, each with an authority of its own", async () => {
    const caches = [newCache(), newCache()];
    const options = ["n1", "n2"].map((host, index) => JSON.stringify({ ...hostsOf(host), cache: caches[index] }));
    const [file, ...args] = [
      ...network.through,
      process.execPath,
      "--import",
      "tsx",
      "programs/two-jobs.ts",
      ...options,
    ];
    const child = spawn(file!, args, { cwd: project, env: network.env, stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    await until(() => printed.endsWith("\n") || child.exitCode !== null);
    child.kill("SIGKILL");
    const { applyIds, names, words, message } = JSON.parse(printed);
    expect(message).toBe(undefined);
    expect(names).toEqual(["n1", "n2"].map((name) => network.machines[name]!.cluster.machine.ip));
    expect(words).toEqual(["hello"]);
    const authorities = applyIds.map((id: string, index: number) =>
      readFileSync(join(credentialsOf(caches[index]!, id), "authority.pem"), "utf8"),
    );
    expect(authorities[0]).not.toBe(authorities[1]);
  });

  test("renews certificates without its driver, and the next driver connects after the first ones have expired", async () => {
    const cache = newCache();
    const tls = { lifetime: "5s" };
    const first = startDriver({ cache, tls }, "wait");
    const { applyId, message } = await first.outcome();
    expect(message).toBe(undefined);
    const own = join(hostFolder(applyId!, 0), "certificate.pem");
    const read = () => new X509Certificate(readFileSync(own));
    const before = read();
    first.child.kill("SIGKILL");
    await until(() => Date.now() > Date.parse(before.validTo) && read().serialNumber !== before.serialNumber);
    const second = startDriver({ cache, tls }, "kill", newFile());
    const outcome = await second.outcome();
    expect(outcome.message).toBe(undefined);
    expect(outcome.applyId).toBe(applyId);
    expect(await second.exited).toBe(0);
    expect(existsSync(own)).toBe(false);
  });

  test.runIf(clocks)("works on machines whose clocks are an hour ahead and an hour behind", async () => {
    const driver = startDriver(hostsOf("ahead", "behind"), "kill", newFile());
    const { names, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(new Set(names)).toEqual(new Set(["ahead", "behind"].map((n) => network.machines[n]!.cluster.machine.ip)));
  });

  test.runIf(clocks)("says by how much the clock of a machine differs, if that is days", async () => {
    const { name, message } = await startDriver(hostsOf("days")).outcome();
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
    expect(name).toBe("JobStartError");
    expect(message).toMatch(
      new RegExp(
        `viceroy host: cannot enrol as viceroy://[^/]+/hosts/workers/0: the clock of this machine is 3 days ahead of that of ` +
          `the issuer: it says ${time}, and the issuer's ${time}; set the clock of one of them, for instance by NTP: at most ` +
          '12 hours are possible; on host "days": ',
      ),
    );
  });

  describe("whose credentials cannot be used any more is an error for the next driver that says what to do", () => {
    async function damaged(damage: (folder: string) => void) {
      const cache = newCache();
      const first = startDriver({ cache }, "leave");
      const { applyId } = await first.outcome();
      first.child.kill("SIGKILL");
      const folder = credentialsOf(cache, applyId!);
      damage(folder);
      const { name, message } = await startDriver({ cache }, "leave").outcome();
      expect(name).toBe("JobStartError");
      return { folder, message: message! };
    }
    const advice = 'end the job with kill() or "viceroy job kill", and submit it again';

    test("if they are lost", async () => {
      const { folder, message } = await damaged((path) => rmSync(path, { recursive: true }));
      const file = join(folder, "authority.key");
      expect(message).toBe(
        `cannot start job "viceroy": its credentials cannot be used: cannot read ${file}: ENOENT: no such file or ` +
          `directory, open '${file}'; ${advice}`,
      );
    });

    test("if other users can read them", async () => {
      const { folder, message } = await damaged((path) => chmodSync(join(path, "driver/key.pem"), 0o644));
      expect(message).toBe(
        `cannot start job "viceroy": its credentials cannot be used: cannot use ${join(folder, "driver/key.pem")}: other ` +
          `users have access to it; run chmod 600 on it, got mode 644; ${advice}`,
      );
    });
  });

  test("says on standard error that it uses no TLS, if the user wants none, and has a token instead", async () => {
    const driver = startDriver({ tls: false }, "wait", newFile());
    const { applyId, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(driver.complaints()).toBe(
      "viceroy job viceroy: WARNING: tls is false: connections between its machines are not encrypted, and whoever reads or " +
        "changes them can read messages and run programs on its hosts; leave the option tls out, unless the network is " +
        "trusted\n",
    );
    const token = readFileSync(join(tmpdir(), `vj-${applyId!.slice(0, 13)}`, "token"), "latin1");
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(existsSync(hostFolder(applyId!, 0))).toBe(false);
    const all = [...processesOn("n1", "n2"), ...network.driver.machine.pids];
    const shown = all.flatMap((pid) =>
      ["cmdline", "environ"].map((file) => readFileSync(`/proc/${pid}/${file}`, "latin1")),
    );
    expect(shown.length).toBeGreaterThan(20);
    expect(shown.filter((text) => text.includes(token))).toEqual([]);
  });
});
