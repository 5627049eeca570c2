/** Large values between machines: each host gets a value once, from any host that has it, and results stay where they were made. */
import { beforeAll, describe, expect, test } from "vitest";
import { networks } from "../../faults/network.js";
import { until } from "../../proc/until.js";
import { type Cluster, received, startCluster, storedBytes } from "./machines.js";

const mebibyte = 2 ** 20;
const size = 8 * mebibyte;
/** Orders, outcomes and what keeps connections alive. */
const little = size / 8;
const isShared = process.env["VICEROY_LINKS"] === "memory";

describe.skipIf(!networks || !isShared)("a program and three hosts, each on a machine of its own", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(3);
    await cluster.call("warm");
  });

  test("a value that many tasks read goes to each host once, and leaves the program once", async () => {
    const { driver, hosts, call } = cluster;
    await call("put", "shared", size, 1);
    const sent = driver.sentBytes;
    const bytes = await received(hosts, async () => {
      expect(await call("read", "shared", [0, 1, 2], 4)).toEqual(Array(12).fill(1));
    });
    for (const each of bytes) {
      expect(each).toBeGreaterThan(size);
      expect(each).toBeLessThan(size + little);
    }
    expect(driver.sentBytes - sent).toBeLessThan(2 * size + little);
    const again = await received(hosts, () => call("read", "shared", [0, 1, 2], 2));
    expect(Math.max(...again)).toBeLessThan(little);
  });

  test("a result stays on its host, from which others read it", async () => {
    const { driver, hosts, call } = cluster;
    const bytes = await received([driver, ...hosts], async () => {
      await call("make", "result", size, 2, 0);
      expect(await call("read", "result", [1], 2)).toEqual([2, 2]);
    });
    expect(bytes[2]).toBeGreaterThan(size);
    expect(bytes[2]).toBeLessThan(size + little);
    for (const i of [0, 1, 3]) expect(bytes[i]).toBeLessThan(little);
    expect(await call("get", "result")).toBe(2);
  });

  test("memory is freed on all hosts when the value is released", async () => {
    const { hosts, call } = cluster;
    const before = hosts.map(storedBytes);
    await call("make", "freed", size, 3, 0);
    await call("read", "freed", [1, 2], 1);
    expect(hosts.map((host, i) => storedBytes(host) - before[i]! >= size)).toEqual([true, true, true]);
    await call("release", "freed");
    await until(() => hosts.every((host, i) => storedBytes(host) <= before[i]!));
  });

  test("a task whose result stays on its host has ended: cancelling it changes nothing", async () => {
    const { call } = cluster;
    await call("make", "ended", size, 4, 0);
    await call("cancel", "ended");
    expect(await call("read", "ended", [1], 1)).toEqual([4]);
    expect(await call("get", "ended")).toBe(4);
  });

  test("what only other hosts have is lost with the context", async () => {
    const { call } = cluster;
    await call("make", "left", size, 5, 0);
    await call("close");
    await expect(call("get", "left")).rejects.toThrow(
      "ObjectLostError: the result of filled is lost: the context is closed: context.close was called",
    );
  });
});
