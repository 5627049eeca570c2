/** A host behind a real network interface of its own, which is taken down: packets vanish and nobody is told. */
import { execFileSync } from "node:child_process";
import { attachHosts, type MeshFailure, onUnhandledFault } from "viceroy";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Crew, loadCrew } from "../proc/crew.js";
import { gone, until } from "../proc/until.js";
import { startHost } from "./daemon.js";

const space = `viceroy-test-${process.pid}`;
const near = `vh${process.pid}`;
const subnet = `10.213.${process.pid % 256}`;
const token = "a token of more than enough characters";

function ip(...args: string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
}

/** Namespaces take root, and a system that has them. */
function hasNamespaces(): boolean {
  try {
    ip("netns", "add", space);
    return true;
  } catch {
    return false;
  }
}

const there = hasNamespaces();
if (!there) console.warn("skipped: a host in a network namespace (it takes root, and `ip` with network namespaces)");

describe.skipIf(!there)("a host in a network namespace", () => {
  let crew: Crew;
  const faults: MeshFailure[] = [];
  beforeAll(async () => {
    crew = await loadCrew();
    ip("link", "add", near, "type", "veth", "peer", "name", "eth0", "netns", space);
    ip("addr", "add", `${subnet}.1/30`, "dev", near);
    ip("link", "set", near, "up");
    ip("-n", space, "addr", "add", `${subnet}.2/30`, "dev", "eth0");
    ip("-n", space, "link", "set", "eth0", "up");
    ip("-n", space, "link", "set", "lo", "up");
  });
  afterAll(() => ip("netns", "del", space));
  beforeEach(() => {
    faults.length = 0;
    onUnhandledFault((failure) => void faults.push(failure));
  });

  const network = (state: "up" | "down") => ip("-n", space, "link", "set", "eth0", state);

  test("a short cut is nothing; a long one is the end of the host for the driver, and of the driver for the host", async () => {
    const host = await startHost(`tcp://${subnet}.2:26600`, [], { VICEROY_TOKEN: token }, [
      "ip",
      "netns",
      "exec",
      space,
    ]);
    const hosts = attachHosts([host.address], { token, silence: 2000, keepAlive: 2000 });
    const workers = hosts.spawnProcs({ gpus: 2 }).spawn("workers", crew.SteelWorker);
    const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
    network("down");
    const during = workers.echo.call("sent while it was down");
    await new Promise((resolve) => setTimeout(resolve, 500));
    network("up");
    expect([...(await during).values()]).toEqual(["sent while it was down", "sent while it was down"]);
    expect(faults).toEqual([]);

    network("down");
    const lost = workers.echo.call("never").then(undefined, (error: Error) => error.message);
    await until(() => faults.length === 2);
    expect(faults[0]!.cause.message).toMatch(`host ${host.address} is gone: it has not been heard of for 2000 ms: `);
    expect(await lost).toContain("cannot call workers.echo on rank");
    await until(() => pids.every(gone));
    expect(host.child.exitCode).toBe(null);
    network("up");
    await hosts.stop();
    // The kernel remembers for a while that nobody was there.
    ip("neigh", "flush", "dev", near);

    await using again = attachHosts([host.address], { token });
    const worker = again.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 });
    expect(await worker.echo.callOne("back")).toBe("back");
    await until(() => host.drivers().length === 1);
  });
});
