/** Tests that sending tasks costs the same number of messages, and the same work, on any number of hosts. */
import { expect, test } from "vitest";
import { HostLostError } from "../../runtime/tasks/submit/ports.js";
import { CountedHosts } from "./counted-hosts.js";

const anyCalls = {
  resources: { cpus: 1 },
  environment: undefined,
  bundle: undefined,
  maxCalls: Number.POSITIVE_INFINITY,
};
const oneCall = { ...anyCalls, maxCalls: 1 };

/** Returns the numbers of messages, without the one that each host gets before its first lease. */
async function countFor(hosts: number): Promise<Record<string, number>> {
  const counted = new CountedHosts(hosts);
  await counted.runMany(10_000, 20, oneCall);
  counted.pass(100);
  const { listen = 0, ...messages } = Object.fromEntries(counted.messages);
  expect(listen).toBe(counted.runs.size);
  return messages;
}

test("a task that is placed by itself costs four messages, on 10 hosts as on 1,000", async () => {
  const each = { lease: 10_000, run: 10_000, endLease: 10_000, giveBack: 10_000 };
  expect(await countFor(10)).toEqual(each);
  expect(await countFor(1000)).toEqual(each);
});

test("tasks that share worker processes cost one message each, apart from those of at most as many leases as tasks at a time", async () => {
  for (const hosts of [10, 1000]) {
    const counted = new CountedHosts(hosts);
    await counted.runMany(10_000, 20, anyCalls);
    counted.pass(1000);
    const { run, lease, withdraw = 0, endLease, giveBack } = Object.fromEntries(counted.messages);
    expect(run).toBe(10_000);
    expect(lease).toBeLessThanOrEqual(20);
    expect([endLease, giveBack]).toEqual([lease! - withdraw, lease! - withdraw]);
  }
});

test("more tasks at a time than one host has processes are spread over the hosts", async () => {
  const counted = new CountedHosts(1000);
  await Promise.all(Array.from({ length: 4000 }, () => counted.run(oneCall)));
  expect(counted.runs.size).toBeGreaterThan(900);
});

test("the hosts that can run a class of tasks are found once, also if it is not used for a while", async () => {
  const counted = new CountedHosts(1000);
  for (let i = 0; i < 50; i++) {
    await counted.run(anyCalls);
    counted.pass(1000);
  }
  expect(Object.fromEntries(counted.messages)).toMatchObject({ run: 50, lease: 50, giveBack: 50 });
  expect(counted.reads).toBe(1000);
});

test("a host that has refused a class of tasks is asked again by later tasks, and one that has ended is not", async () => {
  const counted = new CountedHosts(1);
  counted.refusal = new Error("the registry of packages does not answer");
  await expect(counted.run(anyCalls)).rejects.toThrow(counted.refusal);
  counted.pass(1000);
  counted.refusal = undefined;
  await counted.run(anyCalls);
  counted.pass(1000);
  counted.refusal = new HostLostError("the connection was closed");
  await expect(counted.run(anyCalls)).rejects.toThrow("no host of the context is left: the connection was closed");
  counted.pass(1000);
  counted.refusal = undefined;
  await expect(counted.run(anyCalls)).rejects.toThrow("no host of the context is left: the connection was closed");
  expect(counted.messages.get("lease")).toBe(3);
});

test("the hosts of 32 classes are kept", async () => {
  const counted = new CountedHosts(10);
  const classes = Array.from({ length: 33 }, (_, i) => ({ ...anyCalls, maxCalls: i + 1 }));
  for (const taskClass of [...classes, ...classes.slice(-32), classes[0]!]) {
    await counted.run(taskClass);
    counted.pass(1000);
  }
  expect(counted.reads).toBe(34 * 10);
});
