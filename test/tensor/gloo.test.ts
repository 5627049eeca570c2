/** Processes of several machines exchange elements by Gloo; an addon without Gloo reports that. */
import { thisHost } from "viceroy";
import { inspect, libtorch, torch } from "viceroy/tensor";
import { expect, test } from "vitest";
import { describeTensors } from "./addon.js";

describeTensors("processes that count as several machines", () => {
  test("reach each other by Gloo, or report that the addon was built without Gloo", async () => {
    // Without shared memory, each process counts as a machine.
    const env = { VICEROY_TENSOR_LINES: "tcp", VICEROY_TENSOR_ADDRESS: "127.0.0.1" };
    await using procs = thisHost().spawnProcs({ gpus: 2 }, { env });
    const sum = procs.activate(async () => inspect(torch.ones([2]).reduce("gpus", "sum")));
    if (libtorch().gloo) {
      expect((await sum).toArray()).toEqual([2, 2]);
      return;
    }
    await expect(sum).rejects.toThrow(
      "processes of several machines exchange tensors through Gloo, and the addon was built without Gloo: PyTorch of PyPI has no headers of " +
        "it. Install libtorch and Gloo (on Debian: apt-get install libtorch-dev libgloo-dev), set VICEROY_LIBTORCH to its folder if there is " +
        "another libtorch, and run `npx viceroy setup --tensor` again",
    );
    // Elements that stay in their process need no Gloo.
    expect((await procs.activate(async () => inspect(torch.ones([2])))).toArray()).toEqual([1, 1]);
  });
});
