/** Tests of the devices that processes get of those that their host has. */
import { describe, expect, test } from "vitest";
import { gpusOfCommand, gpuVariables } from "../../../runtime/host/daemon/host-gpus.js";
import type { Extent } from "../../../runtime/shape/index.js";

describe("the processes of a mesh with the dimension gpus", () => {
  const visible = (env: NodeJS.ProcessEnv, gpus = 2, asked = {}) =>
    Array.from(
      { length: gpus },
      (_, rank) => gpuVariables({ gpus } as Extent, rank, env, asked)["CUDA_VISIBLE_DEVICES"],
    );

  test.each<[string, NodeJS.ProcessEnv, (string | undefined)[]]>([
    ["of CUDA", { CUDA_VISIBLE_DEVICES: "4,6", NVIDIA_VISIBLE_DEVICES: "GPU-a,GPU-b" }, ["4", "6"]],
    ["of Slurm", { SLURM_STEP_GPUS: "2,3" }, ["2", "3"]],
    ["of a container, by their ids", { NVIDIA_VISIBLE_DEVICES: "GPU-a,MIG-b" }, ["GPU-a", "MIG-b"]],
    ["of a container, by their numbers on the machine", { NVIDIA_VISIBLE_DEVICES: "5,7:1" }, ["0", "1"]],
    ["of a container that does not list them", { NVIDIA_VISIBLE_DEVICES: "all" }, [undefined, undefined]],
    ["of a container that has none", { NVIDIA_VISIBLE_DEVICES: "void" }, [undefined, undefined]],
    ["of a container that lists a folder", { NVIDIA_VISIBLE_DEVICES: "/var/run/devices" }, [undefined, undefined]],
    ["of nobody", { NVIDIA_VISIBLE_DEVICES: "" }, [undefined, undefined]],
  ])("get one each of the devices %s", (_, env, expected) => {
    expect(visible(env)).toEqual(expected);
  });

  test("keep what the user selects, and are an error where the host has too few", () => {
    expect(visible({ CUDA_VISIBLE_DEVICES: "4,6" }, 2, { CUDA_VISIBLE_DEVICES: "6" })).toEqual([undefined, undefined]);
    expect(() => visible({ NVIDIA_VISIBLE_DEVICES: "GPU-a" })).toThrow(
      'cannot start a process: the mesh has 2 processes along "gpus", and this host has 1 GPUs (NVIDIA_VISIBLE_DEVICES=GPU-a); ' +
        "set CUDA_VISIBLE_DEVICES with the option env to share GPUs",
    );
  });
});

test("a command gets its range of the devices, and an error names the variables that could list them", () => {
  expect(gpusOfCommand({ first: 1, count: 1 } as never, { NVIDIA_VISIBLE_DEVICES: "GPU-a,GPU-b" })).toEqual({
    CUDA_VISIBLE_DEVICES: "GPU-b",
  });
  expect(() => gpusOfCommand({ first: 0, count: 1 } as never, {})).toThrow(
    "the command needs GPUs 0 to 0 of this host, which has 0 (none of CUDA_VISIBLE_DEVICES, SLURM_STEP_GPUS, SLURM_JOB_GPUS, " +
      "NVIDIA_VISIBLE_DEVICES lists any)",
  );
});
