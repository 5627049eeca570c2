/** Functions that the processes of a mesh run, with tensors of the mesh. */
import { type ProcMesh, thisHost } from "viceroy";
import { inspect, remote, type Tensor, torch } from "viceroy/tensor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeTensors } from "./addon.js";
import "./project/generated/registry.js";
import { described, failing, made, scaled, wrong } from "./project/src/tasks.js";

async function parts(tensor: Tensor): Promise<unknown[]> {
  return Promise.all([0, 1].map(async (gpus) => (await inspect(tensor, { gpus })).toArray()));
}

describeTensors("remote functions", () => {
  let procs: ProcMesh<"gpus">;
  beforeAll(() => {
    procs = thisHost().spawnProcs({ gpus: 2 });
  });
  afterAll(() => procs.stop());

  test("return the values and the tensors that they have computed", async () => {
    await procs.activate(async () => {
      const x = procs.rank("gpus").add(1).to("float32").expand([2]).clone();
      const answers = await described.call({ of: x, more: [torch.ones([2, 3]), null] });
      expect(answers.extent).toEqual({ gpus: 2 });
      expect([...answers.values()]).toMatchObject([
        { rank: 0, sum: 2, more: [[2, 3], null], calls: 1 },
        { rank: 1, sum: 4, more: [[2, 3], null], calls: 1 },
      ]);
      expect(answers.at({ gpus: 1 }).back.toArray()).toEqual([2, 2]);
      // The module was loaded once.
      expect((await described.call({ of: x, more: [] })).at({ gpus: 0 }).calls).toBe(2);
    });
  });

  test("leave their results on the processes, in order with other operations", async () => {
    await procs.activate(async () => {
      const x = torch.ones([2]).mul(procs.rank("gpus"));
      const twice = scaled.rref(x, 2).add(1);
      x.mul_(100);
      expect(await parts(twice)).toEqual([
        [1, 1],
        [3, 3],
      ]);
      const [ones, none] = await made.rref({ size: 3, names: [] });
      expect([ones, none]).toMatchObject([{ shape: [3], distributed: true }, { shape: [0] }]);
      expect(await parts(ones!.add(procs.rank("gpus")))).toEqual([
        [1, 1, 1],
        [2, 2, 2],
      ]);
    });
  });

  test("that fail make their tensors fail, with the line of the call", async () => {
    await procs.activate(async () => {
      const x = torch.ones([1]);
      await expect(failing.rref(x, "it was told to")).rejects.toThrow("it was told to");
      await expect(failing.call(x, "it was told to")).rejects.toThrow("it was told to");
      const after = scaled.rref(x, "not a number" as unknown as number);
      await expect(inspect(after)).rejects.toThrow(/remote\.test\.ts:\d+:\d+: scaled failed: /);
      expect(await parts(await failing.rref(x, ""))).toEqual([[1], [1]]);
    });
  });

  test("take and return tensors and JSON values, and refuse other values", async () => {
    const anything = described.call.bind(described) as (value: unknown) => Promise<unknown>;
    expect(() => anything({ of: 1 })).toThrow(
      "cannot run described on a mesh: none is active; call it in the function that procs.activate() runs",
    );
    await procs.activate(async () => {
      const refused = (got: string) =>
        `cannot send to or from described: expected tensors and what JSON has, got ${got}`;
      expect(() => anything(new Map())).toThrow(refused("a Map"));
      expect(() => anything([Number.NaN])).toThrow(refused("NaN"));
      expect(() => anything(1n)).toThrow(refused("a bigint"));
      expect(() => anything([undefined])).toThrow(refused("undefined in a list"));
      expect(() => anything({ $tensor: 0 })).toThrow(refused('an object with the key "$tensor"'));
      await expect(wrong.call()).rejects.toThrow(
        "cannot send to or from wrong: expected tensors and what JSON has, got a Date",
      );
      await using others = thisHost().spawnProcs({ gpus: 1 });
      await others.activate(async () => {
        const elsewhere = torch.ones([1]);
        await procs.activate(() => {
          expect(() => scaled.rref(elsewhere, 2)).toThrow(/on other processes/);
        });
      });
    });
  });

  test("that their module does not register are not found", async () => {
    const url = new URL("project/src/tasks.ts", import.meta.url).href;
    const unknown = remote(url, "unknown", () => 1);
    await procs.activate(async () => {
      await expect(unknown.call()).rejects.toThrow(
        `cannot run unknown: ${url} does not make it known; call remote(import.meta.url, "unknown", …) there`,
      );
      const nowhere = remote("file:///nowhere/tasks.js", "some", () => 1);
      await expect(nowhere.call()).rejects.toThrow(/nowhere\/tasks\.js/);
    });
  });
});
