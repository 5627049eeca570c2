/** Tests of leases: which process a lease gets, and what becomes of leases when processes and holders end. */
import { describe, expect, test } from "vitest";
import { ResourceUnavailableError, WorkerLostError } from "../../../runtime/tasks/errors.js";
import { FakeHost, isPending, settled } from "./leasing-run.js";

const other = { environment: { env: { MODE: "other" } } };

describe("a host", () => {
  test("starts processes when they are needed, and uses them again", async () => {
    const host = new FakeHost({ cpus: 2 }, 2);
    expect(host.processes).toEqual([]);
    const first = await host.lease();
    expect(first).toEqual({ id: 1, worker: 1, gpus: [] });
    await host.leasing.giveBack(first.id);
    expect((await host.lease()).worker).toBe(1);
    expect((await host.lease()).worker).toBe(2);
  });

  test("replaces an idle process that has another environment", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    await host.leasing.giveBack((await host.lease()).id);
    const lease = await host.lease({ cpus: 1 }, other);
    expect(lease.worker).toBe(2);
    expect(host.processes.map(({ state }) => state)).toEqual(["stopped", "runs"]);
    expect(host.processes[1]!.order?.environment.env).toEqual({ MODE: "other" });
    expect(host.leasing.workerCount).toBe(1);
  });

  test("starts a process for each fresh lease, and ends it afterwards", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    const first = await host.lease({ cpus: 1 }, { fresh: true });
    const second = host.lease({ cpus: 1 }, { fresh: true });
    expect(await isPending(second)).toBe(true);
    await host.leasing.giveBack(first.id);
    expect((await second).worker).toBe(2);
    expect(host.processes[0]!.state).toBe("stopped");
  });

  test("assigns GPUs, which the processes see", async () => {
    const host = new FakeHost({ cpus: 4, gpus: 2 }, 4);
    const half = await host.lease({ gpus: 0.5 });
    const whole = await host.lease({ gpus: 1 });
    const otherHalf = await host.lease({ gpus: 0.5 });
    const none = await host.lease({ cpus: 1 });
    expect([half, whole, otherHalf, none].map(({ gpus }) => gpus)).toEqual([[0], [1], [0], []]);
    expect(host.processes.map(({ order }) => order?.gpus)).toEqual([[0], [1], [0], []]);
    await host.leasing.giveBack(whole.id);
    expect((await host.lease({ gpus: 1 })).worker).toBe(whole.worker);
  });

  test("refuses at once what it can never have", async () => {
    const host = new FakeHost({ cpus: 2, memory: 2 ** 30 }, 2);
    await expect(host.lease({ cpus: 3, gpus: 1 })).rejects.toThrow(
      new ResourceUnavailableError(
        "cannot run square on host 0: it needs 3 cpus, 1 gpu, and the host has 2 cpus, 1 GiB of memory in all",
      ),
    );
    await expect(host.lease({ cpus: 1 }, { group: 7n, bundle: 1 })).rejects.toThrow(
      "cannot run square on host 0: its placement group has no such bundle on this host, or has been removed",
    );
    await expect(host.lease({ cpus: -1 })).rejects.toThrow(RangeError);
  });

  test("passes on why a process could not be started, and frees what it had", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    host.startsAtOnce = false;
    const lease = host.lease();
    await settled();
    host.processes[0]!.start(new Error("the packages cannot be installed"));
    await expect(lease).rejects.toThrow("cannot run square on host 0: the packages cannot be installed");
    expect(host.allocations.free.get("cpus")).toBe(10_000);
    expect(host.leasing.workerCount).toBe(0);
    host.startsAtOnce = true;
    expect((await host.lease()).worker).toBe(2);
  });

  test("says when a process has ended while it started, because the next one may start", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    host.startsAtOnce = false;
    const lost = host.lease();
    await settled();
    host.end(host.processes[0]!, "process 5 was killed by SIGKILL");
    await expect(lost).rejects.toThrow(
      new WorkerLostError("square", "cannot run square on host 0: process 5 was killed by SIGKILL"),
    );
    host.startsAtOnce = true;
    expect((await host.lease()).worker).toBe(2);
  });

  test("puts a lease on a process whose tasks all wait if no other is free", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    const outer = await host.lease();
    const inner = host.lease({ cpus: 1 }, { holder: 2n });
    expect(await isPending(inner)).toBe(true);
    host.leasing.suspend(outer.id);
    expect((await inner).worker).toBe(1);
    host.leasing.resume(outer.id);
    expect(host.allocations.free.get("cpus")).toBe(-10_000);
    await host.leasing.giveBack((await inner).id);
    await host.leasing.giveBack(outer.id);
    expect(host.allocations.free.get("cpus")).toBe(10_000);
  });

  test("starts one process more if a process whose tasks all wait has another environment", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    const outer = await host.lease();
    host.leasing.suspend(outer.id);
    const inner = await host.lease({ cpus: 1 }, { holder: 2n, ...other });
    expect(inner.worker).toBe(2);
    await host.leasing.giveBack(inner.id);
    expect(host.processes.map(({ state }) => state)).toEqual(["runs", "stopped"]);
  });

  test("asks the holder that has had its lease longest to give it back when another one waits", async () => {
    const host = new FakeHost({ cpus: 2 }, 2);
    const [first] = [await host.lease(), await host.lease()];
    const waiting = host.lease({ cpus: 1 }, { holder: 2n });
    await settled();
    expect(host.notices).toEqual([{ holder: 1n, lease: first.id, kind: "wanted", reason: "" }]);
    await host.leasing.giveBack(first.id);
    expect((await waiting).worker).toBe(1);
  });
});

test("a holder is asked for a lease when it knows it, not while the process starts", async () => {
  const host = new FakeHost({ cpus: 1 }, 1);
  host.startsAtOnce = false;
  const first = host.lease();
  const second = host.lease({ cpus: 1 }, { holder: 2n });
  await settled();
  expect(host.notices).toEqual([]);
  host.processes[0]!.start();
  const { id } = await first;
  expect(host.notices).toEqual([{ holder: 1n, lease: id, kind: "wanted", reason: "" }]);
  await host.leasing.giveBack(id);
  await second;
});

describe("a request that is withdrawn", () => {
  test("waits no more", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    const first = await host.lease();
    const request = host.request();
    const second = host.leasing.lease(request);
    host.leasing.withdraw(1n, request.number);
    await expect(second).rejects.toThrow("the request has been withdrawn");
    const third = host.lease();
    await host.leasing.giveBack(first.id);
    await third;
  });

  test("frees everything while its process starts, which others use then", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    host.startsAtOnce = false;
    const request = host.request();
    const first = host.leasing.lease(request);
    await settled();
    host.leasing.withdraw(1n, request.number);
    await expect(first).rejects.toThrow("the request has been withdrawn");
    const second = host.lease();
    host.processes[0]!.start();
    expect((await second).worker).toBe(1);
  });

  test("ends its lease if it has been granted, as if the answer were under way", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    const request = host.request();
    await host.leasing.lease(request);
    host.leasing.withdraw(1n, request.number);
    expect(host.allocations.free.get("cpus")).toBe(10_000);
  });
});

describe("when a process ends", () => {
  test("the holders of its leases are told why, and another one is started", async () => {
    const host = new FakeHost({ cpus: 2 }, 1);
    const lease = await host.lease();
    host.end(host.processes[0]!, "process 4711 was killed by SIGSEGV");
    expect(host.notices).toEqual([
      { holder: 1n, lease: lease.id, kind: "ended", reason: "process 4711 was killed by SIGSEGV" },
    ]);
    await host.leasing.giveBack(lease.id);
    expect(host.allocations.free.get("cpus")).toBe(20_000);
    expect((await host.lease()).worker).toBe(2);
  });

  test("because it was killed, the reason of that is told", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    const lease = await host.lease();
    host.leasing.kill(lease.id, "square was cancelled");
    expect(host.processes[0]!.state).toBe("killed");
    expect(host.notices).toEqual([]);
    host.end(host.processes[0]!, "process 4711 was killed by SIGKILL");
    expect(host.notices[0]).toMatchObject({ kind: "ended", reason: "square was cancelled" });
  });

  test("it gets no more leases from the moment at which it is killed", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    const lease = await host.lease();
    host.leasing.kill(lease.id, "square was cancelled");
    await host.leasing.giveBack(lease.id);
    expect((await host.lease()).worker).toBe(2);
  });

  test("that used too much memory, the text says which task, the use and the limit", async () => {
    const host = new FakeHost({ cpus: 2, memory: 2 ** 30 }, 2);
    const lease = await host.lease({ cpus: 1, memory: 2 ** 28 });
    await host.lease({ cpus: 1 });
    expect(host.processes.map(({ limit }) => limit)).toEqual([2 ** 28, undefined]);
    host.processes[0]!.exceeded(300 * 2 ** 20);
    expect(host.processes[0]!.state).toBe("killed");
    host.end(host.processes[0]!, "process 4711 was killed by SIGKILL");
    expect(host.notices).toEqual([
      {
        ...{ holder: 1n, lease: lease.id, kind: "ended" },
        reason: "square used 300 MiB of memory, and has 256 MiB; run it with more memory",
      },
    ]);
  });
});

describe("limits of memory", () => {
  test("by which the system has killed a process are named with its tasks", async () => {
    const host = new FakeHost({ cpus: 2, memory: 2 ** 30 }, 1);
    const outer = await host.lease({ memory: 2 ** 28 });
    host.leasing.suspend(outer.id);
    await host.lease({ memory: 2 ** 28 }, { holder: 2n });
    host.processes[0]!.exceeded(undefined);
    host.end(host.processes[0]!, "process 4711 was killed by SIGKILL: it needed more memory than its limit");
    const reason =
      "square and square were killed by the system when they needed more memory than the 512 MiB that they have; run it with more memory";
    expect(host.notices.filter(({ kind }) => kind === "ended").map((notice) => notice.reason)).toEqual([
      reason,
      reason,
    ]);
  });

  test("are lifted when the lease ends", async () => {
    const host = new FakeHost({ cpus: 2, memory: 2 ** 30 }, 1);
    const lease = await host.lease({ memory: 1000 });
    await host.leasing.giveBack(lease.id);
    expect(host.processes[0]!.limit).toBeUndefined();
  });

  test("of leases that share a process are added", async () => {
    const host = new FakeHost({ cpus: 2, memory: 2 ** 30 }, 1);
    const outer = await host.lease({ memory: 1000 });
    host.leasing.suspend(outer.id);
    const inner = await host.lease({ memory: 500 }, { holder: 2n });
    expect(host.processes[0]!.limit).toBe(1500);
    await host.leasing.giveBack(inner.id);
    expect(host.processes[0]!.limit).toBe(1000);
  });

  test("are not used up by earlier tasks: a process that has much memory is replaced", async () => {
    const host = new FakeHost({ cpus: 2, memory: 2 ** 30 }, 1);
    await host.leasing.giveBack((await host.lease()).id);
    host.processes[0]!.used = 600;
    expect((await host.lease({ memory: 1000 })).worker).toBe(2);
    expect(host.processes[0]!.state).toBe("stopped");
  });
});

describe("when a holder ends", () => {
  test("the processes that only it has used are killed, and others wait for their resources until then", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    await host.lease();
    const next = host.lease({ cpus: 1 }, { holder: 2n });
    await settled();
    host.leasing.holderEnded(1n);
    expect(host.processes[0]!.state).toBe("killed");
    expect(await isPending(next)).toBe(true);
    host.end(host.processes[0]!, "process 4711 was killed by SIGKILL");
    expect((await next).worker).toBe(2);
  });

  test("its requests wait no more", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    const lease = await host.lease({ cpus: 1 }, { holder: 2n });
    const dead = host.lease();
    host.leasing.holderEnded(1n);
    await expect(dead).rejects.toThrow("the process that has asked has ended");
    await host.leasing.giveBack(lease.id);
    expect(host.allocations.waitingCount).toBe(0);
  });

  test("leases of others on the same process go on", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    const outer = await host.lease();
    host.leasing.suspend(outer.id);
    await host.lease({ cpus: 1 }, { holder: 2n });
    host.leasing.holderEnded(2n);
    await settled();
    expect(host.processes[0]!.state).toBe("runs");
    expect(host.allocations.free.get("cpus")).toBe(10_000);
  });

  test("its tasks on a process with leases of others keep their resources until they have ended", async () => {
    const host = new FakeHost({ cpus: 1 }, 1);
    const outer = await host.lease();
    host.leasing.suspend(outer.id);
    const inner = await host.lease({ cpus: 1 }, { holder: 2n });
    let end = () => {};
    host.processes[0]!.busy.set(inner.id, new Promise((resolve) => (end = resolve)));
    host.leasing.holderEnded(2n);
    const next = host.lease({ cpus: 1 }, { holder: 3n });
    await settled();
    expect(await isPending(next)).toBe(true);
    end();
    await next;
  });
});

describe("processes that the program has started", () => {
  test("are never replaced, and are fewer when one has ended", async () => {
    const host = new FakeHost({ cpus: 4 }, 0, {}, 2);
    const [first, second] = [await host.lease(), await host.lease()];
    expect([first.worker, second.worker]).toEqual([1, 2]);
    host.processes[0]!.lost = "its process has ended";
    await host.leasing.giveBack(first.id);
    expect(host.notices).toEqual([{ holder: 1n, lease: first.id, kind: "ended", reason: "its process has ended" }]);
    const third = host.lease();
    expect(await isPending(third)).toBe(true);
    await host.leasing.giveBack(second.id);
    expect((await third).worker).toBe(2);
    host.end(host.processes[1]!, "its process has ended");
    await expect(host.lease()).rejects.toThrow("cannot run square on host 0: the host has no worker processes left");
  });

  test("have no environments, are not fresh, and cannot be killed", async () => {
    const host = new FakeHost({ cpus: 4 }, 0, {}, 2);
    await expect(host.lease({}, { fresh: true })).rejects.toThrow(
      "cannot run square on host 0: it needs a process of its own, and the program has started the worker processes",
    );
    await expect(host.lease({}, other)).rejects.toThrow(
      "cannot run square on host 0: it has an environment, and the program has started the worker processes",
    );
    const lease = await host.lease();
    expect(() => host.leasing.kill(lease.id, "late")).toThrow(
      "cannot end square on host 0: the program has started its worker process, and only processes that the host has started can be killed",
    );
  });
});

describe("bundles", () => {
  test("have their resources for themselves, and give them back", async () => {
    const host = new FakeHost({ cpus: 2, gpus: 1 }, 4);
    expect(await host.bundles.reserve(7n, 0, { cpus: 2, gpus: 1 }, 0)).toBe(true);
    const outside = host.lease();
    expect(await isPending(outside)).toBe(true);
    const inside = await host.lease({ cpus: 1, gpus: 1 }, { group: 7n, bundle: 0 });
    expect(inside.gpus).toEqual([0]);
    await expect(host.lease({ cpus: 3 }, { group: 7n, bundle: 0 })).rejects.toThrow(
      "cannot run square on host 0: it needs 3 cpus, and the bundle of its placement group has 2 cpus, 1 gpu in all",
    );
    const queued = host.lease({ cpus: 2 }, { group: 7n, bundle: 0 });
    queued.catch(() => {});
    const removed = host.bundles.unreserve(7n);
    await expect(queued).rejects.toThrow("cannot run square on host 0: its placement group has been removed");
    expect(await isPending(removed)).toBe(true);
    host.end(host.processes[0]!, "process 4711 was killed by SIGKILL");
    await removed;
    expect(host.notices.at(-1)).toMatchObject({ lease: inside.id, reason: "its placement group has been removed" });
    await outside;
  });

  test("are not reserved if the resources are not free in time", async () => {
    const host = new FakeHost({ cpus: 2 }, 4);
    const lease = await host.lease({ cpus: 1 });
    const reserved = host.bundles.reserve(7n, 0, { cpus: 2 }, 50);
    await host.pass(49);
    expect(await isPending(reserved)).toBe(true);
    expect(host.notices).toEqual([{ holder: 1n, lease: lease.id, kind: "wanted", reason: "" }]);
    await host.pass(1);
    expect(await reserved).toBe(false);
    expect(host.allocations.waitingCount).toBe(0);
    await expect(host.bundles.reserve(8n, 0, { cpus: 3 }, 50)).rejects.toThrow(
      "cannot reserve a bundle of a placement group on host 0: it needs 3 cpus, and the host has 2 cpus in all",
    );
  });

  test("are reserved in two steps: a group that is removed meanwhile gets nothing", async () => {
    const host = new FakeHost({ cpus: 2 }, 4);
    const lease = await host.lease({ cpus: 1 });
    const reserved = host.bundles.reserve(7n, 0, { cpus: 2 }, 5000);
    await settled();
    await host.bundles.unreserve(7n);
    expect(await reserved).toBe(false);
    await host.leasing.giveBack(lease.id);
    expect(host.allocations.free.get("cpus")).toBe(20_000);
  });
});
