/**
 * NCCL as Viceroy finds it, calls it and aborts it, with a stand-in library (nccl/stand_in.cc): between real processes, but
 * without a graphics processor. collectives.test.ts runs with the stand-in as well and checks the results.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onUnhandledFault, thisHost } from "viceroy";
import { grad, inspect, nccl, type Tensor, type TensorError, torch } from "viceroy/tensor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeTensors, hasTensors, networkVariables } from "./addon.js";
import { standIn } from "./nccl/stand-in.js";
import { processWith } from "./process-with.js";

const folder = mkdtempSync(path.join(tmpdir(), "viceroy-nccl-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(() => onUnhandledFault(() => {}));
const file = hasTensors ? standIn() : "";
/** The time limit for the start of processes. */
const soon = { timeout: 20_000 };
let logs = 0;

/** Spawns two processes, and records the names of the functions that they call. */
function spawn(env: Readonly<Record<string, string>> = {}, env1: Readonly<Record<string, string>> = {}) {
  const log = path.join(folder, `log-${logs++}`);
  writeFileSync(log, "");
  const said: string[] = [];
  const mark = `${process.pid} ${log}`;
  const procs = thisHost().spawnProcs(
    { gpus: 2 },
    {
      stdio: (line) => {
        said.push(line);
      },
      env: ({ rank }) => ({
        VICEROY_NCCL: file,
        STAND_IN_LOG: log,
        VICEROY_TEST_MARK: `${mark} ${rank}`,
        ...env,
        ...(rank === 1 ? env1 : {}),
      }),
    },
  );
  const calls = () => readFileSync(log, "utf8").trim().split("\n").filter(Boolean);
  return {
    procs,
    /** The lines that the processes have printed. */
    said,
    /** Returns the number of calls of a function in both processes. */
    count: (name: string) => calls().filter((line) => line.endsWith(` ${name}`)).length,
    pid: (rank: number) => processWith(`VICEROY_TEST_MARK=${mark} ${rank}`),
    [Symbol.asyncDispose]: () => procs.stop(),
  };
}

const failures = (of: Tensor) =>
  Promise.all([0, 1].map((gpus) => inspect(of, { gpus }).then(String, (error: TensorError) => error)));

describeTensors("a mesh with NCCL's stand-in", () => {
  test("runs each operation with the NCCL function for that operation", async () => {
    await using crew = spawn();
    const functions: [string, number, (x: Tensor) => Tensor][] = [
      ["ncclAllReduce", 1, (x) => x.reduce("gpus", "sum")],
      ["ncclAllReduce", 1, (x) => x.reduce("gpus", "avg")],
      ["ncclAllGather", 1, (x) => x.allGather("gpus", { dim: 1 })],
      ["ncclReduceScatter", 1, (x) => x.reduceScatter("gpus", "max")],
      ["ncclBroadcast", 1, (x) => x.broadcastFrom("gpus", 1)],
      ["ncclSend", 2, (x) => x.allToAll("gpus")],
      ["ncclRecv", 1, (x) => x.sendTo("gpus", [1, 0])],
    ];
    await crew.procs.activate(async (mesh) => {
      const x = torch.ones([4, 2], { dtype: "bfloat16" });
      for (const [name, times, run] of functions) {
        const before = crew.count(name);
        run(x);
        await mesh.finish();
        expect([name, crew.count(name) - before]).toEqual([name, 2 * times]);
      }
      // Only one process sends.
      const sent = crew.count("ncclSend");
      x.sendTo("gpus", [1, null]);
      await mesh.finish();
      expect(crew.count("ncclSend") - sent).toBe(1);
      const leaf = torch.ones([2]);
      leaf.requiresGrad = true;
      const [gradient] = grad(leaf.broadcastFrom("gpus", 0).sum(), [leaf]);
      expect((await inspect(gradient!)).toArray()).toEqual([2, 2]);
      expect(crew.count("ncclReduce")).toBe(2);
      // The group has one communicator, whose id comes from its first process.
      expect(crew.count("ncclCommInitRankConfig")).toBe(2);
      expect(crew.count("ncclGetUniqueId")).toBe(1);
      // An empty tensor needs no call of NCCL.
      await inspect(torch.ones([0, 2]).reduce("gpus", "sum"));
      expect(crew.count("ncclAllReduce")).toBe(4);
      expect(crew.count("ncclCommAbort")).toBe(0);
    });
    await expect.poll(() => crew.count("ncclCommAbort"), soon).toBe(2);
  });

  test("reduces types that NCCL lacks without NCCL", async () => {
    await using crew = spawn();
    await crew.procs.activate(async () => {
      const all: [Tensor, number[]][] = [
        [torch.ones([2], { dtype: "int16" }), [2, 2]],
        [torch.ones([2], { dtype: "int32" }), [2, 2]],
      ];
      const counts: number[] = [];
      for (const [x, sum] of all) {
        expect((await inspect(x.reduce("gpus", "sum"))).toArray()).toEqual(sum);
        counts.push(crew.count("ncclAllReduce"));
      }
      expect(counts).toEqual([0, 2]);
      // Moving elements needs no type of NCCL.
      expect((await inspect(torch.ones([1], { dtype: "int16" }).allGather("gpus"))).toArray()).toEqual([1, 1]);
      expect(crew.count("ncclAllGather")).toBe(2);
    });
  });

  test("reduces bfloat16 without NCCL if NCCL is too old for that type", async () => {
    await using crew = spawn({ STAND_IN_VERSION: "2708" });
    await crew.procs.activate(async () => {
      const sum = torch.ones([2], { dtype: "bfloat16" }).reduce("gpus", "sum");
      expect((await inspect(sum.to("float32"))).toArray()).toEqual([2, 2]);
      expect(crew.count("ncclAllReduce")).toBe(0);
    });
  });

  test("makes communicators in a thread if NCCL would block", async () => {
    await using crew = spawn({ VICEROY_NCCL: standIn("NO_CONFIG") });
    await crew.procs.activate(async () => {
      expect((await inspect(torch.ones([2]).reduce("gpus", "sum"))).toArray()).toEqual([2, 2]);
      expect(crew.count("ncclCommInitRank")).toBe(2);
    });
  });

  test("reports a failure of one process on all processes, and goes on", async () => {
    await using crew = spawn();
    await crew.procs.activate(async () => {
      const index = crew.procs.rank("gpus").mul(99).unsqueeze(0);
      const bad = torch.ones([3]).index_select(0, index).reduce("gpus", "sum");
      for (const error of await failures(bad)) expect(error).toMatchObject({ op: "aten::index_select", rank: 1 });
      expect(crew.count("ncclAllReduce")).toBe(0);
      expect((await inspect(torch.ones([2]).reduce("gpus", "sum"), { gpus: 1 })).toArray()).toEqual([2, 2]);
    });
  });
});

describeTensors("a lost process", () => {
  // The stand-in waits forever, as NCCL can, so that only Viceroy can end the wait.
  test.each([
    ["that moves elements", "ncclAllReduce", [], {}],
    ["that makes a communicator", "ncclCommInitRankConfig", [], {}],
    ["that makes a communicator in a thread", "ncclCommInitRank", ["NO_CONFIG"], {}],
    ...networkVariables.map((env) => ["over the network", "ncclAllReduce", [], env] as const),
  ] as const)("does not block the other process in a function of NCCL %s", async (_, stalls, lacks, env) => {
    await using crew = spawn({ VICEROY_NCCL: standIn(...lacks), ...env }, { STAND_IN_STALLS: stalls });
    const mesh = crew.procs.activate({ threads: 1 });
    const x = mesh.run(() => torch.ones([1 << 20]));
    const sum = x.reduce("gpus", "sum");
    const lost = inspect(sum, { gpus: 0 }).catch((error: TensorError) => error);
    await expect.poll(() => crew.count(stalls), soon).toBe(2);
    // The event loop of the waiting process still answers.
    const other = crew.procs.slice({ gpus: 0 }).activate();
    expect((await inspect(other.run(() => torch.ones([1])))).toArray()).toEqual([1]);
    process.kill(crew.pid(1), "SIGKILL");
    const error = (await lost) as TensorError;
    expect(error).toMatchObject({ code: "ERR_TENSOR_FAILED", op: "viceroy::all_reduce", rank: 0 });
    const ended = /viceroy::all_reduce failed: (the process of rank 1 has ended|the connection to rank 1 is lost)/;
    expect(error.message).toMatch(ended);
    const later = inspect(x.reduce("gpus", "sum"), { gpus: 0 });
    await expect(later).rejects.toThrow(ended);
    // The process aborts the communicator; a communicator that is still being made is aborted later.
    if (lacks.length === 0) expect(crew.count("ncclCommAbort")).toBe(1);
    await other.end();
    await mesh.end();
  });

  test("does not block the end of the mesh", async () => {
    await using crew = spawn({}, { STAND_IN_STALLS: "ncclAllReduce" });
    const mesh = crew.procs.activate();
    const sum = mesh.run(() => torch.ones([1])).reduce("gpus", "sum");
    const asked = inspect(sum).catch((error: TensorError) => error.message);
    await expect.poll(() => crew.count("ncclAllReduce"), soon).toBe(2);
    await mesh.end();
    expect(await asked).toMatch(/the mesh is not active any more|has left the mesh|ended|stopped|closed/);
    expect((await crew.procs.activate(async () => inspect(torch.ones([1])))).toArray()).toEqual([1]);
  });

  test("is reported by the processes that have given up", async () => {
    // The operation fails on rank 1, and rank 0 waits for it in NCCL.
    await using crew = spawn({}, { STAND_IN_BREAKS: "ncclAllReduce" });
    await crew.procs.activate(async () => {
      const [first, second] = (await failures(torch.ones([2]).reduce("gpus", "sum"))) as TensorError[];
      expect(first!.message).toContain("viceroy::all_reduce failed: rank 1 has lost another process");
      expect(second!.message).toContain(
        "viceroy::all_reduce failed: ncclAllReduce of NCCL 2.22.3 failed: remote process exited or there was a network error " +
          "(by the stand-in); set NCCL_DEBUG=INFO in the environment of the processes for details",
      );
      expect(crew.count("ncclCommAbort")).toBe(2);
    });
  });
});

describeTensors("an error of NCCL", () => {
  test.each([
    ["ncclCommInitRankConfig", "all_reduce", (x: Tensor) => x.reduce("gpus", "sum"), "ncclCommInitRankConfig"],
    ["ncclAllReduce", "all_reduce", (x: Tensor) => x.reduce("gpus", "sum"), "ncclAllReduce"],
    ["ncclSend", "all_to_all", (x: Tensor) => x.allToAll("gpus"), "ncclSend and ncclRecv"],
    ["ncclGroupEnd", "permute", (x: Tensor) => x.sendTo("gpus", [1, 0]), "ncclSend and ncclRecv"],
  ])("fails the operation and names the function: %s", async (refuses, op, run, name) => {
    await using crew = spawn({ STAND_IN_REFUSES: refuses });
    await crew.procs.activate(async () => {
      for (const error of (await failures(run(torch.ones([2])))) as TensorError[]) {
        expect(error.message).toMatch(
          new RegExp(
            `viceroy::${op} failed: (rank \\d has lost another process|${name} of NCCL 2\\.22\\.3 failed: internal error \\(by the stand-in\\))`,
          ),
        );
      }
    });
  });

  test("during the creation of an id fails only that operation", async () => {
    await using crew = spawn({ STAND_IN_REFUSES: "ncclGetUniqueId" });
    await crew.procs.activate(async () => {
      for (const error of (await failures(torch.ones([2]).reduce("gpus", "sum"))) as TensorError[]) {
        expect(error).toMatchObject({ rank: 0 });
        expect(error.message).toContain("ncclGetUniqueId of NCCL 2.22.3 failed: internal error");
      }
      // A sum of int16 needs no NCCL, and still works.
      const sum = torch.ones([2], { dtype: "int16" }).reduce("gpus", "sum");
      expect((await inspect(sum, { gpus: 1 })).toArray()).toEqual([2, 2]);
    });
  });
});

describeTensors("the NCCL library", () => {
  const empty = path.join(folder, "empty.so");

  test("is reported with its version and file", () => {
    process.env["VICEROY_NCCL"] = file;
    try {
      expect(nccl()).toEqual({ version: "2.22.3", file });
    } finally {
      delete process.env["VICEROY_NCCL"];
    }
  });

  test("is refused with a reason if it is missing, too old or incomplete", async () => {
    execFileSync("g++", ["-shared", "-x", "c++", "/dev/null", "-o", empty]);
    const lacking = standIn("NO_SEND");
    const unlike: [Record<string, string>, string][] = [
      [
        { VICEROY_NCCL: "/nowhere/libnccl.so.2" },
        "NCCL cannot be loaded (/nowhere/libnccl.so.2: cannot open shared object file: No such file or directory): install it (package libnccl2 of NVIDIA, or of Debian's contrib), set VICEROY_NCCL to its path, or set VICEROY_NCCL=off to use none",
      ],
      [{ VICEROY_NCCL: empty }, `${empty} is not NCCL: it has no function ncclGetVersion`],
      [
        { STAND_IN_VERSION: "2604" },
        `${file} is NCCL 2.6.4, which is older than 2.7.0: install a newer version, or set VICEROY_NCCL=off to use none`,
      ],
      [
        { VICEROY_NCCL: lacking },
        `${lacking}, NCCL 2.22.3, has no function ncclSend: the file is damaged, or is not NCCL`,
      ],
    ];
    for (const [env, why] of unlike) {
      await using crew = spawn(env);
      const error = await crew.procs
        .activate(async () => inspect(torch.ones([1]).reduce("gpus", "sum")))
        .catch((error: TensorError) => error);
      expect(error).toMatchObject({ code: "ERR_TENSOR_INACTIVE" });
      expect((error as TensorError).message).toContain(`cannot exchange tensors by NCCL: ${why}`);
    }
  });

  test("is not used for tensors that it does not take, or if it is off", async () => {
    for (const env of [{ VICEROY_NCCL: standIn("NO_HOST_MEMORY") }, { VICEROY_NCCL: "off" }]) {
      await using crew = spawn(env);
      await crew.procs.activate(async () => {
        expect((await inspect(torch.ones([2]).reduce("gpus", "sum"))).toArray()).toEqual([2, 2]);
      });
      expect(crew.count("ncclCommInitRankConfig")).toBe(0);
    }
  });

  test("must be the same for all processes; otherwise it is not used, and a warning gives the reason", async () => {
    for (const [other, has] of [
      [{ STAND_IN_VERSION: "21805" }, "21805"],
      [{ VICEROY_NCCL: "off" }, "none"],
    ] as const) {
      await using crew = spawn({}, other);
      await crew.procs.activate(async () => {
        expect((await inspect(torch.ones([2]).reduce("gpus", "sum"))).toArray()).toEqual([2, 2]);
      });
      expect(crew.count("ncclCommInitRankConfig")).toBe(0);
      await expect
        .poll(() => crew.said.join("\n"), soon)
        .toMatch(
          new RegExp(
            `VICEROY_TENSOR_NCCL\\] ViceroyWarning: tensors are exchanged by memory of processors, which is slow for those on CUDA: rank 0 has NCCL 22203, rank 1 ${has}: all processes of a mesh must have the same`,
          ),
        );
    }
  });
});
