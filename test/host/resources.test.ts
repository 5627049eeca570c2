/**
 * Tests of hosts and processes without free file descriptors or disk space: requests fail, and everything else
 * continues.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logs, type ProcMesh, thisHost } from "viceroy";
import { beforeAll, describe, expect, test } from "vitest";
import type { WorkerMesh } from "../fixtures/crew/generated/worker.js";
import { permitted } from "../permitted.js";
import { type Crew, loadCrew } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { until } from "../proc/until.js";
import { attachPatiently } from "./attach-patiently.js";
import { runHost, startHost } from "./start-host.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

const hasLimits = permitted(
  "running out of file descriptors",
  "prlimit",
  spawnSync("prlimit", ["--version"]).status === 0,
);

describe.skipIf(!hasLimits)("file descriptors", () => {
  const limited = (most: number) => startHost("tcp://127.0.0.1:0", [], {}, ["prlimit", `--nofile=${most}:${most}`]);

  test("of a daemon run out: a start fails with the reason, other processes continue, and later ones start", async () => {
    const host = await limited(44);
    await using hosts = attachPatiently([host.address]);
    const started: { procs: ProcMesh<"hosts">; worker: WorkerMesh<never> }[] = [];
    let refused: Error | undefined;
    while (refused === undefined && started.length < 20) {
      const procs = hosts.spawnProcs({}, { name: `procs${started.length}` });
      const worker = procs.spawn(`workers${started.length}`, crew.SteelWorker).slice({ hosts: 0 });
      refused = await worker.echo.callOne("there").then(
        () => undefined,
        (error: Error) => error,
      );
      if (refused === undefined) started.push({ procs, worker });
    }
    expect(refused?.message).toMatch(/the process could not be started: .*EMFILE.* on host tcp:/);
    expect(started.length).toBeGreaterThan(1);
    for (const { worker } of started) expect(await worker.echo.callOne("still there")).toBe("still there");
    await started.pop()!.procs.stop();
    await started.pop()!.procs.stop();
    const again = hosts.spawnProcs({}, { name: "again" }).spawn("again", crew.SteelWorker).slice({ hosts: 0 });
    expect(await again.echo.callOne("there again")).toBe("there again");
    expect(host.child.exitCode).toBe(null);
  });

  test("of a daemon are used up by strangers: known drivers continue, and others are accepted when the strangers have left", async () => {
    const host = await limited(44);
    await using hosts = attachPatiently([host.address]);
    const worker = hosts.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 });
    await worker.echo.callOne("there");
    const port = Number(/:(\d+)$/.exec(host.address)?.[1]);
    const strangers: Socket[] = [];
    for (let i = 0; i < 60; i++) strangers.push(connect(port, "127.0.0.1").on("error", () => {}));
    for (let i = 0; i < 20; i++) expect(await worker.echo.callOne(`${i}`)).toBe(`${i}`);
    for (const stranger of strangers) stranger.destroy();
    const driver = attachPatiently([(await limited(256)).address, host.address.replace("127.0.0.1", "localhost")]);
    // The other address belongs to the same host. The refusal shows that the driver was accepted.
    await expect(driver.ready).rejects.toThrow("it is the same host as");
    await driver.stop();
    expect(host.child.exitCode).toBe(null);
    expect(faults).toEqual([]);
  });

  test("of a process run out: a start fails, its actors continue, and later starts succeed", async () => {
    await using procs = thisHost().spawnProcs();
    const worker = procs.spawn("workers", crew.SteelWorker).slice({});
    const { pid } = await worker.where.callOne();
    const most = readdirSync(`/proc/${pid}/fd`).length + 1;
    const limit = (soft: number) => execFileSync("prlimit", ["--pid", String(pid), `--nofile=${soft}:`]);
    await worker.decide.callOne("handled");
    limit(most);
    const crowd = await worker.hire.callOne(2);
    await expect(worker.order.callOne(crowd, "never")).rejects.toThrow(/the process could not be started: .*EMFILE/);
    expect(await worker.echo.callOne("still there")).toBe("still there");
    limit(1024);
    const others = await worker.hire.callOne(2);
    expect([...(await others.echo.call("there")).values()]).toEqual(["there", "there"]);
    expect(faults).toEqual([]);
  });
});

describe.skipIf(!existsSync("/dev/full"))("a full disk", () => {
  test("below the logs of a mesh is reported once, and actors continue", async () => {
    const warnings: string[] = [];
    const warned = ({ name, message }: Error) => void (name === "ViceroyLogs" && warnings.push(message));
    process.on("warning", warned);
    const stdio = logs({ file: "/dev/full", console: false });
    await using procs = thisHost().spawnProcs({ gpus: 2 }, { stdio });
    const workers = procs.spawn("workers", crew.SteelWorker);
    for (let i = 0; i < 100; i++) await workers.print.call(`${i}\n`);
    await until(() => warnings.length > 0);
    expect([...(await workers.echo.call("still there")).values()]).toEqual(["still there", "still there"]);
    await stdio.flush();
    process.off("warning", warned);
    expect(warnings).toEqual([expect.stringMatching(/^cannot write logs to \/dev\/full: ENOSPC/)]);
  });

  test("below the output of a daemon does not end the daemon", async () => {
    const folder = mkdtempSync(join(tmpdir(), "vh-"));
    const address = `unix://${folder}/host.sock`;
    const full = ["sh", "-c", 'exec "$@" > /dev/full 2>&1', "sh"];
    const host = runHost(folder, ["--listen", address], {}, full);
    await until(() => existsSync(`${folder}/host.sock`) || host.child.exitCode !== null);
    const hosts = attachPatiently([address]);
    const worker = hosts.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 });
    await worker.print.callOne("to the driver\n");
    expect(await worker.echo.callOne("there")).toBe("there");
    await hosts.shutdown();
    expect(await host.exited).toEqual({ code: 0, signal: null });
  });
});

const mounted = mkdtempSync(join(tmpdir(), "full-"));
const canMount = permitted(
  "a full disk under a daemon",
  "root, and permission to mount",
  spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", mounted]).status === 0,
);
if (canMount) execFileSync("umount", [mounted]);

/** Takes all free descriptors. */
function fill(): string[] {
  const files: string[] = [];
  try {
    for (let i = 0; i < 100; i++) {
      const file = join(mounted, `ballast${i}`);
      writeFileSync(file, Buffer.alloc(4096));
      files.push(file);
    }
  } catch (error) {
    expect(error).toMatchObject({ code: "ENOSPC" });
  }
  return files;
}

test.skipIf(!canMount)(
  "a full disk below the directory of a daemon: spawning fails with the reason, and succeeds when there is room",
  async () => {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k,nr_inodes=8", "tmpfs", mounted]);
    try {
      const socket = join(mkdtempSync(join(tmpdir(), "vh-")), "host.sock");
      const host = await startHost(`unix://${socket}`, [], { TMPDIR: mounted });
      const ballast = fill();
      const hosts = attachPatiently([host.address]);
      const worker = hosts.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 });
      const outcome = await worker.echo.callOne("x").then(
        (text) => text,
        (error: Error) => error.message,
      );
      expect(outcome).toContain("ENOSPC");
      for (const file of ballast) rmSync(file);
      const again = hosts.spawnProcs({}, { name: "again" }).spawn("again", crew.SteelWorker).slice({ hosts: 0 });
      expect(await again.echo.callOne("there")).toBe("there");
      await hosts.stop();
      host.child.kill("SIGTERM");
      expect((await host.exited).code).toBe(0);
    } finally {
      execFileSync("umount", ["-l", mounted]);
    }
  },
);
