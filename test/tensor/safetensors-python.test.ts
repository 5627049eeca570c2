/** Tensor files and Python's library for the format, which `npm run peers` fetches: each reads the files of the other. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { tensorAddonState } from "../../runtime/native/tensor-addon.js";
import { loadTensors, saveTensors, tensor, tensorsIn, torch } from "../../runtime/tensor/index.js";

const library = fileURLToPath(new URL("../../.peers/python", import.meta.url));
const program = fileURLToPath(new URL("./read_and_write.py", import.meta.url));
const possible = existsSync(library) && tensorAddonState().addon !== undefined;

describe.skipIf(!possible)("Python", () => {
  test("reads files of Viceroy, and writes the same bytes", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "vsp-"));
    const [ours, theirs] = [path.join(folder, "ours"), path.join(folder, "theirs")];
    const dtypes = [
      "bool",
      "uint8",
      "int8",
      "int16",
      "float16",
      "bfloat16",
      "int32",
      "float32",
      "float64",
      "int64",
    ] as const;
    const some = torch.randint(2, [2, 3]);
    const tensors = {
      ...Object.fromEntries(dtypes.flatMap((dtype) => ["b", "a"].map((name) => [`${name}.${dtype}`, some.to(dtype)]))),
      "\u{1f600}": tensor(1.5),
      '\uffff é\n\u007f\u0001"\\': torch.zeros([0, 3]),
    };
    await saveTensors(ours, tensors, { metadata: { by: "python" } });
    const env = { ...process.env, PYTHONPATH: library };
    const report = JSON.parse(execFileSync("python3", [program, ours, theirs], { env, encoding: "utf8" }));
    expect(Object.keys(report).sort()).toEqual(Object.keys(tensors).sort());
    expect(report["\u{1f600}"]).toEqual(["F32", [], "0000c03f"]);
    expect(report["a.int16"]).toEqual(["I16", [2, 3], Buffer.from(some.to("int16").data().buffer).toString("hex")]);
    expect(readFileSync(theirs).equals(readFileSync(ours))).toBe(true);
    const loaded = await loadTensors(theirs);
    for (const [name, one] of Object.entries(tensors)) expect(loaded[name]!.toArray()).toEqual(one.toArray());
    expect((await tensorsIn(theirs)).metadata).toEqual({ by: "python" });
  });
});
