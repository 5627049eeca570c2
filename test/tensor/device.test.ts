/**
 * The devices of tensors. No graphics processor is needed: these tests check, with real processes, what happens on a machine
 * without one. On a machine with a graphics processor, a test that needs its absence is skipped.
 */
import { hostname } from "node:os";
import { context, onUnhandledFault, type Point, range, thisHost } from "viceroy";
import { inspect, libtorch, type TensorError, torch } from "viceroy/tensor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeTensors } from "./addon.js";
import "./project/generated/registry.js";
import { described } from "./project/src/tasks.js";

describeTensors("the device of a mesh", () => {
  let procs: ReturnType<typeof start>;
  const start = () => thisHost().spawnProcs({ gpus: 3 }, { name: "cards" });
  const faults: unknown[] = [];
  beforeAll(() => {
    onUnhandledFault((fault) => {
      faults.push(fault);
    });
    procs = start();
  });
  afterAll(() => procs.stop());

  const rejection = (of: Promise<unknown>) =>
    of.then(
      () => undefined,
      (error: TensorError) => error,
    );

  test("is the CPU unless another device is given", async () => {
    for (const options of [{}, { device: "cpu" }, { device: () => "cpu" }]) {
      const sum = await procs.activate(
        async () => inspect(torch.ones([2], { dtype: "float32" }).reduce("gpus", "sum")),
        options,
      );
      expect(sum.toArray()).toEqual([3, 3]);
    }
  });

  test("is refused before anything runs if a process does not have it, and the process goes on", async ({ skip }) => {
    let called = false;
    const activated = procs.activate(
      () => {
        called = true;
      },
      { device: "cuda" },
    );
    const error = await rejection(activated);
    skip(error === undefined, "this machine has a device of CUDA");
    expect(error).toMatchObject({ name: "TensorError", code: "ERR_TENSOR_DEVICE" });
    const [, rank, pid, host, why] =
      /^cannot activate mesh cards\{"gpus":3\}: .*rank (\d), process (\d+) of (\S+), (.*)$/s.exec(error!.message) ?? [];
    expect(host).toBe(hostname());
    expect(Number(rank)).toBeLessThan(3);
    expect(Number(pid)).not.toBe(process.pid);
    const { file, torch: version } = libtorch();
    if (why?.includes("has no CUDA")) {
      expect(why).toContain(`cannot hold tensors on cuda: libtorch ${version} in ${file} has no CUDA (`);
      expect(why).toMatch(
        /libtorch_cuda\.so\S*: .*\): install a libtorch with CUDA, and run `npx viceroy setup --tensor` again$/,
      );
    } else {
      // This libtorch has CUDA: it is the device that is missing.
      expect(why).toBe(
        `cannot hold tensors on cuda: libtorch ${version} finds no CUDA device: check the output of nvidia-smi; CUDA_VISIBLE_DEVICES is not set`,
      );
    }
    expect(called).toBe(false);
    expect((await procs.activate(async () => inspect(torch.ones([1])))).toArray()).toEqual([1]);
    expect(faults).toEqual([]);
  });

  test("fails the next awaited call if it is missing and functions are run later", async () => {
    // No machine has that many devices.
    await using mesh = procs.activate({ device: ({ rank }: Point) => (rank === 1 ? "cuda:999" : "cpu") });
    const ones = mesh.run(() => torch.ones([1]));
    for (const asked of [inspect(ones, { gpus: 1 }), inspect(ones, { gpus: 0 }), mesh.finish(), mesh.ready()]) {
      const error = await rejection(asked);
      expect(error).toMatchObject({ code: "ERR_TENSOR_DEVICE" });
      expect(error!.message).toContain(`rank 1, process `);
      expect(error!.message).toContain("cannot hold tensors on cuda:999: ");
    }
    // A part of the mesh without the failed process still has its tensors.
    const first = mesh.slice({ gpus: 0 });
    expect((await inspect(first.run(() => torch.ones([1])))).toArray()).toEqual([1]);
    const second = mesh.slice({ gpus: 1 });
    expect(await rejection(second.finish())).toMatchObject({ code: "ERR_TENSOR_DEVICE" });
    expect(faults).toEqual([]);
  });

  test("depends on the rank of a process in the whole mesh, which a slice keeps", async () => {
    const part = procs.slice({ gpus: range(1, 3) });
    await part.activate(async () => {
      const answers = await described.call({ of: torch.ones([1]), more: [] });
      expect([...answers.values()]).toMatchObject([
        { rank: 0, place: 1 },
        { rank: 1, place: 2 },
      ]);
    });
    expect(context().proc.rank).toBe(0);
  });

  test("is refused if its name is unknown", () => {
    const all: [string | (() => string), string][] = [
      ["gpu", '"gpu"'],
      ["cuda:", '"cuda:"'],
      ["cuda:-1", '"cuda:-1"'],
      ["cuda:1000", '"cuda:1000"'],
      [() => "meta", '"meta"'],
      [(() => undefined) as never, "undefined"],
    ];
    for (const [device, got] of all) {
      expect(() => procs.activate({ device })).toThrow(
        new RangeError(
          `cannot activate mesh cards{"gpus":3}: device must be "cpu", "cuda" or "cuda:" and a number, got ${got}`,
        ),
      );
    }
  });
});
