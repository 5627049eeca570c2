/** Values whose hosts end: they are read from other hosts, made again, or reported as lost with the reason. */
import { describe, expect, test } from "vitest";
import { networks } from "../../faults/network.js";
import { type Cluster, startCluster, storedBytes } from "./machines.js";

const mebibyte = 2 ** 20;
const size = 8 * mebibyte;
const isShared = process.env["VICEROY_LINKS"] === "memory";

/** Returns the numbers of the hosts that have large values. */
function hostsWithValues({ hosts }: Cluster): number[] {
  return hosts.flatMap((host, i) => (storedBytes(host) >= size ? [i] : []));
}

/** Ends all processes of a host at once. */
function kill({ hosts }: Cluster, index: number): void {
  for (const pid of hosts[index]!.pids) process.kill(pid, "SIGKILL");
}

describe.skipIf(!networks || !isShared)("hosts on machines of their own", () => {
  test("a value that a lost host had is made again, to any depth; what cannot be is lost, and says why", async () => {
    const cluster = await startCluster(3);
    const { call } = cluster;
    await call("put", "seed", 1, 7);
    await call("makeOf", "first", size, "seed");
    await call("makeOf", "second", size, "first");
    // It is near its argument, unless the host had no time for it.
    const having = hostsWithValues(cluster);
    expect(having.length).toBeLessThan(3);
    await call("makeOf", "released", size, "seed");
    await call("makeOf", "ofReleased", size, "released");
    await call("release", "released");
    await call("make", "once", size, 3, having[0]);
    await call("drop", "first");
    for (const host of having) kill(cluster, host);
    const others = [0, 1, 2].filter((host) => !having.includes(host));
    expect(await call("read", "second", others, 1)).toEqual(others.map(() => 7));
    expect(await call("get", "second")).toBe(7);
    expect(await call("get", "ofReleased")).toBe(7);
    await expect(call("get", "once")).rejects.toThrow(
      "ObjectLostError: the result of filled is lost: all hosts that had it have ended; a task that may run again is defined with { idempotent: true }",
    );
    await expect(call("read", "once", others, 1)).rejects.toThrow(
      "argument 1, the result of filled, has failed: the result of filled is lost: all hosts that had it have ended",
    );
  });

  test("readers go on when the host from which they read ends", async () => {
    const cluster = await startCluster(3);
    const { call, hosts } = cluster;
    await call("warm");
    await call("make", "value", 16 * size, 5, 0);
    expect(await call("read", "value", [1], 1)).toEqual([5]);
    const reading = call("read", "value", [2], 1);
    while (storedBytes(hosts[2]!) === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    kill(cluster, 0);
    expect(await reading).toEqual([5]);
  });
});
