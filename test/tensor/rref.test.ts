/** Tensors of a mesh as arguments of actors, and answers of actors as tensors of a mesh, between real processes. */
import { ActorError, onUnhandledFault, type ProcMesh, thisHost } from "viceroy";
import { float, inspect, type Tensor, type TensorError, type TensorMesh, torch } from "viceroy/tensor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeTensors } from "./addon.js";
import type { KeeperMesh } from "./project/generated/keeper.js";
import "./project/generated/registry.js";
import { LocalKeeper } from "./project/src/local-keeper.js";

/** A call in this file. */
const here = expect.stringMatching(/rref\.test\.ts:\d+:\d+$/);

async function parts(tensor: Tensor): Promise<unknown[]> {
  return Promise.all([0, 1].map(async (gpus) => (await inspect(tensor, { gpus })).toArray()));
}

/** Each process's rank, as one number. */
function ranks(procs: ProcMesh<"gpus">): Tensor {
  return procs.rank("gpus").to("float32");
}

async function failureOf(tensor: Tensor, gpus: number): Promise<TensorError> {
  const error = await inspect(tensor, { gpus }).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toMatchObject({ name: "TensorError", code: "ERR_TENSOR_FAILED" });
  return error as TensorError;
}

describeTensors("tensors and actors", () => {
  let procs: ProcMesh<"gpus">;
  let keepers: KeeperMesh<"gpus">;
  let mesh: TensorMesh;
  beforeAll(() => {
    onUnhandledFault(() => {});
    procs = thisHost().spawnProcs({ gpus: 2 });
    keepers = procs.spawn("keepers", LocalKeeper, 10);
    mesh = procs.activate();
  });
  afterAll(() => procs.stop());

  test("actors receive the part of their own process, as at the time of the call", async () => {
    const added = procs.spawn("added", LocalKeeper, 1);
    await mesh.run(async () => {
      const values = ranks(procs).add(1).expand([4]).clone();
      const called = added.add.call({ name: "first", parts: [values, values.mul(2)] });
      // Operations that are recorded later do not change the arguments of earlier calls.
      values.mul_(1000);
      await called;
      expect([...(await added.total.call()).values()]).toEqual([12, 24]);
      await added.slice({ gpus: 1 }).add.callOne({ name: "second", parts: [values] });
      expect([...(await added.total.call()).values()]).toEqual([12, 24 + 8000]);
    });
  });

  test("streaming endpoints and settled calls accept tensors as well", async () => {
    await mesh.run(async () => {
      const batch = torch.ones([2, 3]).mul(ranks(procs).add(1));
      const rows: [number, number][] = [];
      for await (const [{ rank }, row] of keepers.rows.stream(batch)) rows.push([rank, row]);
      expect(rows.sort(([a], [b]) => a - b)).toEqual([
        [0, 3],
        [0, 3],
        [1, 6],
        [1, 6],
      ]);
      const answers = await keepers.fail.callSettled(batch, 1);
      expect([...answers.values()].map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
      expect(answers.at({ gpus: 0 })).toMatchObject({ value: { shape: [2, 3], distributed: false } });
    });
  });

  test.each(["thread", "inline"] as const)("actors exchange tensors with isolation %s", async (isolation) => {
    await using alone = thisHost().spawnProcs({ gpus: 1 }, { isolation });
    const keeper = alone.spawn("keeper", LocalKeeper, 10);
    await alone.activate(async () => {
      const wide = keeper.widen.rref(torch.ones([1, 2]), 2).add(1);
      expect((await inspect(wide)).toArray()).toEqual([[21, 21]]);
      await keeper.add.call({ name: "some", parts: [wide] });
      expect(await keeper.total.callOne()).toBe(42);
    });
  });

  test("answers stay on their processes with the propagated shape, and can be used at once", async () => {
    await mesh.run(async () => {
      const batch = torch.ones([3, 2]).add(ranks(procs));
      const wide = keepers.widen.rref(batch, 4);
      expect(wide).toMatchObject({ shape: [3, 4], dtype: "float32", distributed: true });
      const scaled = wide.mul(2).sum();
      // Two columns, times 10 times rank + 1, in 12 elements, twice.
      expect(await parts(scaled)).toEqual([2 * 10 * 12 * 2, 4 * 20 * 12 * 2]);
      const [first, second] = keepers.halve.rref(torch.arange(4).add(procs.rank("gpus")));
      expect(await parts(first.mul(10).add(second))).toEqual([
        [2n, 13n],
        [13n, 24n],
      ]);
    });
  });

  test("answers without a propagated shape are known when all actors have answered", async () => {
    await mesh.run(async () => {
      const counted = await keepers.count.rref(3, false);
      expect(counted).toMatchObject({ shape: [3], dtype: "int64", distributed: true });
      expect(await parts(counted.add(procs.rank("gpus")))).toEqual([
        [0n, 1n, 2n],
        [1n, 2n, 3n],
      ]);
      const pieces = await keepers.pieces.rref(torch.arange(4));
      expect(await Promise.all(pieces.map(parts))).toEqual([
        [
          [0n, 1n],
          [0n, 1n],
        ],
        [
          [2n, 3n],
          [2n, 3n],
        ],
      ]);
      await expect(keepers.count.rref(3, true)).rejects.toThrow(
        "cannot rref keepers.count: rank 0 answered int64[3], rank 1 int64[4]; a tensor of a mesh has one shape and one type",
      );
      await expect(keepers.failLate.rref(1)).rejects.toThrow(ActorError);
      expect(await parts(torch.ones([]))).toEqual([1, 1]);
    });
  });

  test("two actors that wait for each other through tensors get an error, and go on", async () => {
    await using alone = thisHost().spawnProcs({ gpus: 1 });
    const [first, second] = [alone.spawn("first", LocalKeeper, 1), alone.spawn("second", LocalKeeper, 1)];
    await alone.activate(async () => {
      const asked = first.ask.rref(torch.ones([2]), second, true);
      // This call takes its place in the mailbox at once, but its tensor comes after the answer of the first actor.
      const added = second.add.call({ name: "after", parts: [asked] });
      await expect(added).rejects.toThrow(
        "cannot take the tensors of second[0].add: they come after the answer of first[0].ask, which waits for an answer of this actor; " +
          "neither could go on. Make this call before the rref, or let the other actor not wait",
      );
      expect((await inspect(asked)).toArray()).toEqual([1, 1]);
      // A handler that does not wait is not part of a cycle.
      const other = first.ask.rref(torch.ones([2]), second, false);
      await second.add.call({ name: "after", parts: [other] });
      expect(await second.total.callOne()).toBe(2);
    });
  }, 30_000);

  test("calls with tensors and calls without arrive in the order in which they were made", async () => {
    const ordered = procs.spawn("ordered", LocalKeeper, 1);
    await mesh.run(async () => {
      // This computation takes a while, and delays the batch.
      let slow = torch.ones([600, 600]);
      for (let i = 0; i < 4; i++) slow = slow.matmul(slow).mul(float(1e-3));
      ordered.note.broadcast("before");
      const wide = ordered.widen.rref(slow, 1);
      ordered.note.broadcast("after");
      ordered.add.broadcast({ name: "added", parts: [wide] });
      ordered.note.broadcast("last");
      expect([...(await ordered.noted.call()).values()]).toEqual([
        ["before", "widen", "after", "added", "last"],
        ["before", "widen", "after", "added", "last"],
      ]);
    });
  });

  test("a failed actor fails its tensor and the tensors that depend on it", async () => {
    await mesh.run(async () => {
      const batch = torch.ones([2]);
      const kept = keepers.fail.rref(batch, 1);
      const more = kept.add(1);
      expect((await inspect(more, { gpus: 0 })).toArray()).toEqual([2, 2]);
      const failure = await failureOf(more, 1);
      expect(failure).toMatchObject({ op: "keepers.fail", site: here, rank: 1 });
      expect(failure.message).toMatch(/rref\.test\.ts:\d+:\d+: keepers\.fail failed: rank 1 was told to$/);
      // This endpoint answers with a wrong shape.
      const lied = await failureOf(keepers.lie.rref(batch), 0);
      expect(lied.message).toMatch(/it answered float32\[2\] where @propagate says float32\[2, 1\]$/);
      expect(await parts(keepers.fail.rref(batch, 5))).toEqual([
        [1, 1],
        [1, 1],
      ]);
    });
  });

  test("failed tensors are not given to actors, and fail the answers of those actors", async () => {
    await mesh.run(async () => {
      // This operation fails on rank 1, because there is no row 5.
      const poisoned = torch.ones([2, 2]).index_select(0, procs.rank("gpus").mul(5).view([1]));
      const after = keepers.widen.rref(poisoned, 1);
      expect((await inspect(after, { gpus: 0 })).toArray()).toEqual([[20]]);
      expect((await failureOf(after, 1)).message).toMatch(/index out of range/);
      const called = keepers.add.call({ name: "poisoned", parts: [poisoned] });
      await expect(called).rejects.toThrow(/index out of range/);
    });
  });

  test("a call that takes too long fails the tensor, and the mesh goes on", async () => {
    const hanging = procs.spawn("hanging", LocalKeeper, 1);
    await mesh.run(async () => {
      const kept = hanging.hang.with({ timeout: 300 }).rref(torch.ones([1]), 1);
      const other = torch.ones([1]).add(1);
      expect((await failureOf(kept, 1)).message).toMatch(/no answer within 300 ms/);
      expect(await parts(other)).toEqual([[2], [2]]);
    });
  });

  test("rref throws if the actor was stopped, and the mesh goes on", async () => {
    const gone = procs.spawn("gone", LocalKeeper, 1);
    await mesh.run(async () => {
      await gone.ready;
      await gone.stop();
      expect(() => gone.widen.rref(torch.ones([1, 1]), 1)).toThrow('mesh "gone" was stopped');
      expect(await parts(torch.ones([]))).toEqual([1, 1]);
    });
  });

  test("invalid calls throw at the call", async () => {
    const one = keepers.slice({ gpus: 0 });
    await mesh.run(async () => {
      const batch = torch.ones([2, 2]);
      expect(() => one.widen.rref(batch, 1)).toThrow(
        "cannot rref keepers.widen: the processes of its actors are no mesh that is active; activate the mesh of processes that they were spawned on, and call all of them",
      );
      await using others = thisHost().spawnProcs({ gpus: 2 });
      const elsewhere = others.spawn("elsewhere", LocalKeeper, 1);
      expect(() => elsewhere.add.broadcast({ name: "", parts: [batch] })).toThrow(
        /^cannot encode Keeper\.add\(batch\)\.parts\[0\]: it is a tensor of mesh .*, and actors that are called are on other processes; send what await inspect\(tensor\) answers$/,
      );
      expect(() => (keepers.widen.rref as (...args: unknown[]) => unknown)(batch)).toThrow(
        "cannot call keepers.widen: expected 2 arguments, got 1",
      );
      // No tensor was lent, and nothing waits.
      expect(await parts(batch.sum())).toEqual([4, 4]);
    });
  });

  test("a process that is lost during an answer fails only its own part", async () => {
    await using lost = thisHost().spawnProcs({ gpus: 2 });
    const there = lost.spawn("there", LocalKeeper, 1);
    const active = lost.activate();
    await active.run(async () => {
      const kept = there.die.rref(torch.ones([1]), 1);
      expect((await inspect(kept, { gpus: 0 })).toArray()).toEqual([1]);
      await expect(inspect(kept, { gpus: 1 })).rejects.toThrow(/exited/);
      expect((await inspect(kept.add(1), { gpus: 0 })).toArray()).toEqual([2]);
    });
  });
});
