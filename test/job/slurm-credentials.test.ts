/** Tests of the certificates that jobs of Slurm make, on a real cluster of Slurm in network namespaces. */
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createEnrolmentSecret } from "../../runtime/job/credentials/enrolment-secret.js";
import { portOf } from "../../runtime/job/slurm/batch-script.js";
import { networks } from "../faults/network.js";
import { permitted } from "../permitted.js";
import { compileCrew } from "../proc/crew.js";
import { until } from "../proc/until.js";
import { type DriverEnd, type JobDriver, startJobDriver } from "./job-driver.js";
import { newCache } from "./job-program.js";
import { attachAs } from "./lab/attach-as.js";
import { type SlurmCluster, withCluster } from "./lab/slurm-cluster.js";
import { findSlurm } from "./lab/slurm-release.js";
import { hasFaketime, wrongClock } from "./lab/wrong-clock.js";

const release = findSlurm("22.05");
const slurm = permitted(
  "jobs on a cluster of Slurm",
  "Debian's packages slurmctld, slurmd and munge",
  release !== undefined,
);
const clocks = permitted("jobs on machines with wrong clocks", "Debian's package faketime", hasFaketime);
const commandLine = join(import.meta.dirname, "../../dist/cli/viceroy.js");

let cluster: SlurmCluster;
const drivers: JobDriver[] = [];

function startDriver(options: object, how: DriverEnd = "kill", env: NodeJS.ProcessEnv = cluster.env): JobDriver {
  const driver = startJobDriver(cluster.login.through, "on-slurm.ts", { cache: newCache(), ...options }, how, env);
  drivers.push(driver);
  return driver;
}

/** Returns the jobs of the cluster that have not ended: their ids. */
function living(): string[] {
  return cluster
    .run("squeue", "--noheader", "--format=%i")
    .split("\n")
    .filter((line) => line !== "");
}

/** Returns the processes of issuers on a node. */
function issuersOn(node: string): number[] {
  return cluster.nodes[node]!.machine.pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("viceroy issuer");
    } catch {
      return false;
    }
  });
}

/** Returns the folder with the certificate of a host. The nodes of the tests share their files. */
function hostFolder(uri: string): string | undefined {
  const folders = readdirSync(tmpdir())
    .filter((name) => name.startsWith("viceroy-host-"))
    .map((name) => join(tmpdir(), name));
  return folders.find((folder) => {
    const file = join(folder, "certificate.pem");
    return existsSync(file) && new X509Certificate(readFileSync(file)).subjectAltName === `URI:${uri}`;
  });
}

/** Starts a job that stays, and returns what is known of it. */
async function startJob(options: object = {}) {
  const cache = newCache();
  const driver = startDriver({ cache, ...options }, "wait");
  const { applyId, message } = await driver.outcome();
  expect(message).toBe(undefined);
  const [id] = living();
  const folder = join(dirname(cache), "jobs", applyId!, "credentials");
  const uri = (rank: number) => `viceroy://${applyId}/hosts/workers/${rank}`;
  return { cache, driver, applyId: applyId!, folder, uri, port: portOf(Number(id)) };
}

type Running = Awaited<ReturnType<typeof startJob>>;

/** Starts a host of a job by hand on the third node, and returns its complaint. */
async function complaint(job: Running, secrets: string, uri = job.uri(0)): Promise<string> {
  const issuer = `tcp://n1:${job.port + 1}`;
  const own = ["--issuer", issuer, "--identity", uri, "--secret-file", secrets];
  const command = [process.execPath, commandLine, "host", "--listen", "tls://0.0.0.0:0", ...own];
  const [file, ...args] = [...cluster.nodes["n3"]!.through, ...command];
  const { code, stderr } = await promisify(execFile)(file!, args).catch((error) => error);
  expect(code).toBe(3);
  return stderr;
}

function secretFile(text: string, mode = 0o600): string {
  const file = join(mkdtempSync(join(tmpdir(), "vt-")), "secrets");
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

/** Returns the path of a Node.js for the hosts that differs by node. */
function nodeWithClocks(offsets: Readonly<Record<string, string>>): string {
  const cases = Object.entries(offsets).map(([node, offset]) => {
    const variables = Object.entries(wrongClock(offset)).map(([name, value]) => `export ${name}='${value}'`);
    return `${node}) ${variables.join("; ")};;`;
  });
  const file = join(mkdtempSync(join(tmpdir(), "vt-")), "node");
  // Only the hosts have wrong clocks: the issuer runs on the first node, too.
  const script = `#!/bin/sh\ncase "$1 $SLURMD_NODENAME" in *issuer*) ;; *) case "$SLURMD_NODENAME" in ${cases.join(" ")} esac;; esac\n`;
  writeFileSync(file, `${script}exec ${process.execPath} "$@"\n`, { mode: 0o755 });
  return file;
}

describe.runIf(networks && slurm)("a job of Slurm", () => {
  withCluster({ release }, (started) => {
    cluster = started;
  });
  beforeAll(async () => {
    await compileCrew();
  });
  afterEach(async () => {
    for (const { child } of drivers.splice(0)) child.kill("SIGKILL");
    cluster.run("scancel", "--user=root");
    await until(() => living().length === 0);
  });

  test("has an issuer that is started again, renews certificates without a driver, and leaves nothing", async () => {
    const job = await startJob({ tls: { lifetime: "6s" } });
    const own = hostFolder(job.uri(1))!;
    const read = () => new X509Certificate(readFileSync(join(own, "certificate.pem")));
    const before = read();
    job.driver.child.kill("SIGKILL");
    const [issuer] = issuersOn("n1");
    process.kill(issuer!, "SIGKILL");
    await until(() => issuersOn("n1").some((pid) => pid !== issuer));
    await until(() => Date.now() > Date.parse(before.validTo) && read().serialNumber !== before.serialNumber);
    const second = startDriver({ cache: job.cache, tls: { lifetime: "6s" } });
    const { applyId, message, names } = await second.outcome();
    expect(message).toBe(undefined);
    expect([applyId, names]).toEqual([job.applyId, ["n1", "n1", "n2", "n2"]]);
    expect(await second.exited).toBe(0);
    await until(() => issuersOn("n1").length === 0);
    expect([existsSync(job.folder), existsSync(own)]).toEqual([false, false]);
  });

  test("refuses hosts with a secret that was used, a wrong one, or none", async () => {
    const job = await startJob();
    const used = await complaint(job, join(job.folder, "secrets"));
    const refused = `cannot enrol as ${job.uri(0)}: the issuer refuses it: `;
    expect(used).toBe(
      `${refused}its secret has been used by a host with another key; if that was not you, stop the job\n`,
    );
    const wrong = secretFile(`${job.uri(0)} ${createEnrolmentSecret()}\n`);
    expect(await complaint(job, wrong)).toBe(`${refused}its secret is not the one for this identity\n`);
    const unknown = secretFile(`${job.uri(7)} ${createEnrolmentSecret()}\n`);
    expect(await complaint(job, unknown, job.uri(7))).toBe(
      `cannot enrol as ${job.uri(7)}: the issuer refuses it: no host with this identity is expected\n`,
    );
    expect(await complaint(job, unknown)).toBe(
      `cannot use the secrets in ${unknown}: there is none for ${job.uri(0)}\n`,
    );
    const open = secretFile(readFileSync(join(job.folder, "secrets"), "utf8"), 0o644);
    expect(await complaint(job, open)).toBe(
      `cannot use ${open}: other users have access to it; run chmod 600 on it, got mode 644\n`,
    );
    const malformed = secretFile("secret\n");
    expect(await complaint(job, malformed)).toBe(
      `cannot use the secrets in ${malformed}: expected an identity and a secret on each line\n`,
    );
  });

  test("refuses a driver with the certificate of a host", async () => {
    const job = await startJob();
    const address = `tls://n2:${job.port}#${job.uri(1)}`;
    expect(await attachAs(cluster.login.through, address, join(job.folder, "driver"))).toEqual({
      pid: expect.any(Number),
    });
    const { message } = await attachAs(cluster.nodes["n1"]!.through, address, hostFolder(job.uri(0))!);
    expect(message).toBe(
      `cannot attach host ${address}: ${job.uri(0)} is a host; only the driver and the controller of the job may attach`,
    );
  });

  test("that Slurm has queued again has hosts with new certificates", async () => {
    const job = await startJob();
    job.driver.child.kill("SIGKILL");
    const [id] = living();
    const before = new X509Certificate(readFileSync(join(hostFolder(job.uri(0))!, "certificate.pem"))).publicKey;
    cluster.run("scontrol", "requeue", id!);
    await until(() => cluster.run("squeue", "--noheader", "--format=%T").trim() === "PENDING");
    // Its processes end first. For a moment, the nodes refuse a job that they have just ended.
    await until(() => hostFolder(job.uri(0)) === undefined && issuersOn("n1").length === 0);
    cluster.run("scontrol", "update", `JobId=${id}`, "StartTime=now+4");
    const second = startDriver({ cache: job.cache }, "wait");
    const { applyId, message } = await second.outcome();
    expect(message).toBe(undefined);
    expect(applyId).toBe(job.applyId);
    const after = new X509Certificate(readFileSync(join(hostFolder(job.uri(0))!, "certificate.pem"))).publicKey;
    expect(after.equals(before)).toBe(false);
  });

  test("brings its credentials to a login node that has files of its own, and removes them", async () => {
    const home = mkdtempSync(join(tmpdir(), "vt-"));
    const bin = join(home, "bin");
    mkdirSync(bin);
    // The login node is this machine, with another home. Only the way of the files differs.
    const script = `#!/bin/sh\nfor command; do :; done\ncd ${home} && HOME=${home} exec /bin/sh -c "$command"\n`;
    writeFileSync(join(bin, "ssh"), script, { mode: 0o755 });
    const env = { ...cluster.env, PATH: `${bin}${delimiter}${cluster.env["PATH"]}` };
    const options = { cache: newCache(), login: "gate", node: process.execPath };
    const first = startDriver(options, "wait", env);
    const { applyId, message } = await first.outcome();
    expect(message).toBe(undefined);
    const folder = join(home, ".viceroy/jobs", applyId!, "credentials");
    const names = ["authority.key", "authority.pem", "secrets"];
    expect(readdirSync(folder).filter((name) => !name.startsWith("enrolled-"))).toEqual(names);
    expect(names.map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8))).toEqual(["600", "600", "600"]);
    first.child.kill("SIGKILL");
    const second = startDriver(options, "kill", env);
    expect((await second.outcome()).applyId).toBe(applyId);
    expect(await second.exited).toBe(0);
    expect(existsSync(folder)).toBe(false);
  });

  test.runIf(clocks)("works with nodes whose clocks are an hour ahead and an hour behind", async () => {
    const driver = startDriver({ meshes: { workers: { hosts: 3 } }, node: nodeWithClocks({ n2: "+1h", n3: "-1h" }) });
    const { names, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(names).toEqual(["n1", "n1", "n2", "n2", "n3", "n3"]);
  });

  test.runIf(clocks)("says which node has a clock that differs by days", async () => {
    const { name, message } = await startDriver({ node: nodeWithClocks({ n2: "-3d" }) }).outcome();
    expect(name).toBe("JobStartError");
    expect(message).toMatch(
      /^cannot start job "viceroy": Slurm has ended job \d+: FAILED .*workers 1: cannot enrol as viceroy:\/\/[^/]+\/hosts\/workers\/1: the clock of this machine is 3 days behind that of the issuer: /s,
    );
  });
});
