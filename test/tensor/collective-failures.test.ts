/** Failures of collective operations: all processes of a mesh get the error, and none waits for a process that has failed. */
import { onUnhandledFault, range, thisHost } from "viceroy";
import { grad, inspect, type Tensor, TensorError, tensor, torch } from "viceroy/tensor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeTensors, exchangeKinds } from "./addon.js";
import { processWith } from "./process-with.js";

const ranks = [0, 1, 2];
const failureOf = (of: Tensor, gpus: number) => inspect(of, { gpus }).catch((error: TensorError) => error);

describeTensors.each(exchangeKinds)("failures between processes that exchange by %s", (kind, env) => {
  let procs: ReturnType<typeof start>;
  const start = () =>
    thisHost().spawnProcs({ gpus: 3 }, { env: ({ rank }) => ({ ...env, VICEROY_TEST_MARK: `${kind} ${rank}` }) });
  beforeAll(() => {
    onUnhandledFault(() => {});
    procs = start();
  });
  afterAll(() => procs.stop());

  test("a failure on one process reaches all processes with its operation, rank and line, and they go on", async () => {
    await procs.activate(async () => {
      const index = procs.rank("gpus").sub(1).clamp(0).mul(99).unsqueeze(0);
      const bad = torch.ones([3]).index_select(0, index);
      const sums = [bad.reduce("gpus", "sum"), bad.allGather("gpus").add(1), bad.sendTo("gpus", [1, 2, 0])];
      for (const sum of sums) {
        for (const gpus of ranks) {
          const error = (await failureOf(sum, gpus)) as TensorError;
          expect(error).toBeInstanceOf(TensorError);
          expect(error).toMatchObject({ code: "ERR_TENSOR_FAILED", op: "aten::index_select", rank: 2 });
          expect(error.site).toMatch(/collective-failures\.test\.ts:\d+:\d+$/);
          const where = gpus === 2 ? "" : " (on rank 2)";
          expect(error.message).toBe(
            `cannot fetch a tensor from rank ${gpus}, called at ${error.site}: aten::index_select failed: index out of range in self${where}`,
          );
        }
      }
      expect((await inspect(bad, { gpus: 0 })).toArray()).toEqual([1]);
      expect((await inspect(torch.ones([2]).reduce("gpus", "sum"), { gpus: 1 })).toArray()).toEqual([3, 3]);
    });
  });

  test("a failure in a gradient reaches all processes", async () => {
    await procs.activate(async () => {
      const w = torch.ones([2]);
      w.requiresGrad = true;
      const index = procs.rank("gpus").mul(99).unsqueeze(0);
      const [gradient] = grad(w.reduce("gpus", "avg").index_select(0, index).sum(), [w]);
      for (const gpus of ranks) expect(await failureOf(gradient!, gpus)).toMatchObject({ rank: 1 });
    });
  });

  test("the loss of a killed process is reported by the other processes, which still answer and exchange", async () => {
    const mesh = procs.activate({ threads: 1 });
    const x = mesh.run(() => torch.ones([1 << 20]));
    expect((await inspect(x.reduce("gpus", "sum").sum(), { gpus: 1 })).item()).toBe(3 << 20);
    const pid = processWith(`VICEROY_TEST_MARK=${kind} 2`);
    process.kill(pid, "SIGSTOP");
    const sum = x.reduce("gpus", "sum");
    const lost = [0, 1].map((gpus) => failureOf(sum, gpus));
    const other = procs.slice({ gpus: 0 }).activate();
    expect((await inspect(other.run(() => torch.ones([1])))).toArray()).toEqual([1]);
    process.kill(pid, "SIGKILL");
    for (const error of await Promise.all(lost)) {
      expect(error).toMatchObject({ code: "ERR_TENSOR_FAILED", op: "viceroy::all_reduce" });
      expect((error as TensorError).message).toMatch(
        /viceroy::all_reduce failed: (the process of rank 2 has ended|rank [01] has lost another process|the connection to rank \d is lost)/,
      );
    }
    await other.end();
    // The remaining processes can exchange their tensors over connections of their own.
    const left = x
      .sliceMesh({ gpus: range(0, 2) })
      .reduce("gpus", "sum")
      .sum();
    for (const gpus of [0, 1]) expect((await inspect(left, { gpus })).item()).toBe(2 << 20);
    await mesh.end();
    const again = await procs
      .slice({ gpus: range(0, 2) })
      .activate(() => inspect(torch.ones([2]).reduce("gpus", "sum")));
    expect(again.toArray()).toEqual([2, 2]);
  });
});

describeTensors("invalid collective operations", () => {
  let procs: ReturnType<typeof start>;
  const start = () => thisHost().spawnProcs({ hosts: 1, gpus: 2 });
  beforeAll(() => {
    procs = start();
  });
  afterAll(() => procs.stop());

  test("throw at the call", async () => {
    await procs.activate(async () => {
      const x = torch.ones([3, 4]);
      const all: [() => unknown, string][] = [
        [() => x.reduce("racks", "sum"), 'cannot reduce along "racks": the mesh has "hosts", "gpus"'],
        [() => x.reduce(["gpus", "gpus"], "sum"), "cannot reduce along gpus, gpus: a dimension is named twice"],
        [() => x.allGather([]), "cannot allGather: no dimension of the mesh is named"],
        [
          () => x.reduce("gpus", "median" as "sum"),
          'cannot run all_reduce: unknown reduction "median": expected sum, avg, max, min or prod',
        ],
        [
          () => x.to("int64").reduce("gpus", "avg"),
          "cannot run all_reduce: avg is not defined for integers: convert them, or use sum",
        ],
        [
          () => x.to("complex64").reduce("gpus", "max"),
          "cannot run all_reduce: max is not defined for complex numbers",
        ],
        [
          () => x.to("bool").reduce("gpus", "sum"),
          "cannot run all_reduce: sum is not defined for booleans: convert them to numbers",
        ],
        [
          () => x.reduceScatter("gpus", "sum"),
          "cannot run reduce_scatter: dimension 0 of shape [3, 4] cannot be cut into 2 equal parts",
        ],
        [
          () => x.allToAll("gpus", { dim: -2 }),
          "cannot run all_to_all: dimension -2 of shape [3, 4] cannot be cut into 2 equal parts",
        ],
        [() => x.allGather("gpus", { dim: 2 }), "cannot run all_gather: a tensor of shape [3, 4] has no dimension 2"],
        [() => x.broadcastFrom("gpus", 2), "cannot broadcastFrom: there is no process 2 among 2"],
        [() => x.sendTo("gpus", [1]), "cannot sendTo: it says where to for 1 of 2 processes"],
        [() => x.sendTo("gpus", [1, 1]), "cannot sendTo: process 1 would be sent more than one tensor"],
        [() => x.sendTo("gpus", [2, null]), "cannot sendTo: there is no process 2 among 2"],
        [
          () => torch.ones([1], { device: "cpu" }).reduce("gpus", "sum"),
          "cannot reduce: the tensor is of this process alone, and there is nobody to exchange elements with",
        ],
      ];
      for (const [call, message] of all) expect(call).toThrow(message);
      expect((await inspect(x.reduce("hosts", "sum").reduce("gpus", "sum").sum())).item()).toBe(24);
    });
    expect(() => tensor([1]).allGather("gpus")).toThrow("the tensor is of this process alone");
  });

  test("fail if VICEROY_TENSOR_LINES has an unknown value", async () => {
    await using odd = thisHost().spawnProcs({ gpus: 1 }, { env: { VICEROY_TENSOR_LINES: "pigeons" } });
    await using mesh = odd.activate();
    const sum = mesh.run(() => torch.ones([1])).reduce("gpus", "sum");
    await expect(inspect(sum)).rejects.toThrow('VICEROY_TENSOR_LINES must be "tcp" or not set, got "pigeons"');
  });
});
