/** Large values for processes on machines that are no hosts of the context: each machine gets a value once. */
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { networks } from "../../faults/network.js";
import { until } from "../../proc/until.js";
import { type Cluster, holders, received, startCluster, storedBytes } from "../objects/machines.js";
import { loadTrainers } from "./trainers.js";

const program = fileURLToPath(new URL("programs/driver.ts", import.meta.url));
const isShared = process.env["VICEROY_LINKS"] === "memory";
const length = 2 ** 21;
const size = 4 * length;
/** Messages, and what keeps connections alive. */
const little = size / 8;

describe.skipIf(!networks || !isShared)("a context on one host, and trainers on three", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    await loadTrainers();
    cluster = await startCluster(3, program);
    await cluster.call("warm");
  });

  test("eight processes on two other machines read a value of the program: it goes to each machine once", async () => {
    const { driver, hosts, call } = cluster;
    await call("put", "weights", length, 3);
    const sent = driver.sentBytes;
    const bytes = await received(hosts, async () => {
      expect(await call("load", "weights", "apart")).toEqual(Array(8).fill(3));
    });
    expect(bytes[0]).toBeLessThan(little);
    for (const each of bytes.slice(1)) {
      expect(each).toBeGreaterThan(size);
      expect(each).toBeLessThan(size + little);
    }
    expect(driver.sentBytes - sent).toBeLessThan(2 * size + little);
    // All processes of a machine have one piece of memory.
    expect(hosts.map(storedBytes)).toEqual([0, expect.closeTo(size, -4), expect.closeTo(size, -4)]);
    await call("release", "weights");
  });

  test("processes on a host of the context read what its store has, and tasks read what they have brought", async () => {
    const { hosts, call } = cluster;
    await call("put", "shared", length, 4);
    const bytes = await received(hosts, async () => {
      expect(await call("load", "shared", "beside")).toEqual(Array(4).fill(4));
      expect(await call("read", "shared")).toBe(4);
    });
    expect(bytes[0]).toBeGreaterThan(size);
    expect(bytes[0]).toBeLessThan(size + little);
    await call("make", "made", length, 5);
    const none = await received(hosts, async () => {
      expect(await call("load", "made", "beside")).toEqual(Array(4).fill(5));
    });
    expect(none[0]).toBeLessThan(little);
  });

  test("a result that is on a host goes from there to each other machine once, and not through the program", async () => {
    const { driver, hosts, call } = cluster;
    await call("make", "result", length, 6);
    const bytes = await received([driver, ...hosts], async () => {
      expect(await call("load", "result", "apart")).toEqual(Array(8).fill(6));
    });
    expect(bytes[0]).toBeLessThan(little);
    for (const each of bytes.slice(2)) {
      expect(each).toBeGreaterThan(size);
      expect(each).toBeLessThan(size + little);
    }
  });

  test("memory is freed on all machines when the value is released", async () => {
    const { hosts, call } = cluster;
    await call("put", "freed", length, 7);
    await call("load", "freed", "apart");
    await call("drop");
    // The stores of the machines keep what the program has.
    expect(hosts.slice(1).every((host) => storedBytes(host) >= size)).toBe(true);
    for (const name of ["shared", "made", "result", "freed"]) await call("release", name);
    await until(() => hosts.every((host) => storedBytes(host) === 0));
  });

  test("when the process that brings a value is killed, another one of the machine brings it", async () => {
    const { hosts, call } = cluster;
    const machine = hosts[1]!;
    const large = 16 * length;
    await call("put", "large", large, 9);
    const reading = call("loadEach", "large");
    await until(() => holders(machine, 4 * large).length > 0);
    process.kill(holders(machine, 4 * large)[0]!, "SIGKILL");
    const readings = (await reading) as (number | null)[];
    expect(readings.toSorted()).toEqual([9, 9, 9, null]);
    const [before] = await received([machine], async () => {
      await call("put", "next", length, 10);
      expect(((await call("loadEach", "next")) as (number | null)[]).toSorted()).toEqual([10, 10, 10, null]);
    });
    expect(before).toBeGreaterThan(size);
    expect(before).toBeLessThan(size + little);
  });
});
