/** Tensor files: the format byte by byte, round trips, and the old file after a failed write. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, test } from "vitest";
import { loadTensors, saveTensors, tensor, tensorMemory, tensorsIn, torch } from "../../runtime/tensor/index.js";
import { describeTensors } from "./addon.js";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "vst-"));
  file = path.join(folder, "some.safetensors");
});

/** Written by hand, from the description of the format. */
const header =
  '{"__metadata__":{"by":"hand"},' +
  '"n":{"dtype":"I64","shape":[],"data_offsets":[0,8]},' +
  '"a":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]},' +
  '"é\\n":{"dtype":"BF16","shape":[1],"data_offsets":[16,18]},' +
  '"b":{"dtype":"BOOL","shape":[3],"data_offsets":[18,21]},' +
  '"e":{"dtype":"BOOL","shape":[0,5],"data_offsets":[21,21]}} ';
const byHand = Buffer.concat([
  Buffer.from([0x38, 0x01, 0, 0, 0, 0, 0, 0]),
  Buffer.from(header),
  Buffer.from([0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), // -2
  Buffer.from([0x00, 0x00, 0xc0, 0x3f, 0x00, 0x00, 0x00, 0xc1]), // 1.5, -8
  Buffer.from([0x80, 0x3f]), // 1
  Buffer.from([1, 0, 1]),
]);
const tensorsByHand = () => ({
  e: torch.zeros([0, 5], { dtype: "bool" }),
  b: tensor([true, false, true]),
  "é\n": tensor([1]).to("bfloat16"),
  a: tensor([[1.5], [-8]]),
  n: tensor(-2n),
});

// This test runs first in its process, so that no garbage of other tests is collected during it.
describeTensors("elements in files", () => {
  test("are those at the time of saving, and loaded tensors are freed by dispose", async () => {
    const one = torch.ones([1 << 16]);
    const saved = saveTensors(file, { one });
    one.zero_();
    await saved;
    one.dispose();
    const before = tensorMemory().live;
    const { one: loaded } = await loadTensors(file);
    expect(tensorMemory().live - before).toBe(4 << 16);
    loaded!.dispose();
    expect(tensorMemory().live).toBe(before);
    await expect(loadTensors(file, { names: ["one", "x", "toString"] })).rejects.toThrow(
      new RangeError(`cannot load tensors from ${file}: it has no "x", "toString"`),
    );
    // The memory from which the file was written may have been collected meanwhile.
    expect(tensorMemory().live).toBeLessThanOrEqual(before);
    const { one: again } = await loadTensors(file);
    expect(again!.data<"float32">().every((value) => value === 1)).toBe(true);
  });
});

describeTensors("safetensors files", () => {
  test("are written byte for byte as the format specifies", async () => {
    expect(Buffer.byteLength(header)).toBe(0x138);
    await saveTensors(file, tensorsByHand(), { metadata: { by: "hand" } });
    expect(readFileSync(file).equals(byHand)).toBe(true);
  });

  test("are read as the format specifies", async () => {
    writeFileSync(file, byHand);
    const loaded = await loadTensors(file);
    const shown = Object.entries(loaded).map(([name, { dtype, shape }]) => [name, dtype, shape]);
    expect(shown).toEqual([
      ["n", "int64", []],
      ["a", "float32", [2, 1]],
      ["é\n", "bfloat16", [1]],
      ["b", "bool", [3]],
      ["e", "bool", [0, 5]],
    ]);
    expect(Object.values(loaded).map((one) => one.toArray())).toEqual([
      -2n,
      [[1.5], [-8]],
      [1],
      [true, false, true],
      [],
    ]);
    expect(await tensorsIn(file)).toEqual({
      metadata: { by: "hand" },
      tensors: Object.fromEntries(shown.map(([name, dtype, shape]) => [name, { dtype, shape }])),
    });
  });

  test("keep tensors of all supported types, in any memory order", async () => {
    const dtypes = [
      "int64",
      "float64",
      "float32",
      "int32",
      "bfloat16",
      "float16",
      "int16",
      "int8",
      "uint8",
      "bool",
    ] as const;
    const source = torch.randint(2, [3, 4]);
    const tensors = Object.fromEntries(dtypes.map((dtype) => [dtype, source.to(dtype)]));
    const turned = { turned: source.t(), part: source.select(1, 2), trained: tensor([1, 2], { requiresGrad: true }) };
    await saveTensors(file, { ...tensors, ...turned });
    const loaded = await loadTensors(file);
    for (const [name, one] of Object.entries({ ...tensors, ...turned })) {
      expect([loaded[name]!.dtype, loaded[name]!.toArray()]).toEqual([one.dtype, one.toArray()]);
    }
    expect(loaded["trained"]!.requiresGrad).toBe(false);
  });

  test("can have tensors of any name, and no tensor at all", async () => {
    const names = ["__proto__", "constructor", "", '"\\\u0000\u001f', "𝒳", "0"];
    await saveTensors(file, Object.fromEntries(names.map((name, i) => [name, tensor(i)])));
    const loaded = await loadTensors(file);
    expect(Object.keys(loaded).sort()).toEqual([...names].sort());
    for (const [i, name] of names.entries()) expect(loaded[name]!.item()).toBe(i);
    expect(loaded["toString"]).toBeUndefined();
    await saveTensors(file, {});
    expect(readFileSync(file).toString()).toBe("\b\0\0\0\0\0\0\0{}      ");
    expect(Object.keys(await loadTensors(file))).toEqual([]);
  });

  test("are loaded in part if names are given", async () => {
    writeFileSync(file, byHand);
    expect(Object.keys(await loadTensors(file, { names: ["b", "a"] }))).toEqual(["b", "a"]);
  });

  test("are replaced only by a complete file, and stay if saving fails", async () => {
    writeFileSync(file, "before");
    await expect(saveTensors(file, { a: torch.zeros([2], { dtype: "complex64" }) })).rejects.toThrow(
      'cannot save tensor "a": safetensors files have no complex64, only int64, float64,',
    );
    await expect(saveTensors(file, { __metadata__: tensor(1) })).rejects.toThrow(
      'cannot save a tensor with the name "__metadata__": safetensors files cannot have it',
    );
    await expect(saveTensors(file, { "\ud800": tensor(1) })).rejects.toThrow('with the name "\\ud800"');
    await expect(saveTensors(file, {}, { metadata: { step: 3 as unknown as string } })).rejects.toThrow(
      `cannot save tensors to ${file}: metadata "step" must be text, got 3`,
    );
    const gone = tensor(1);
    gone.dispose();
    await expect(saveTensors(file, { gone })).rejects.toThrow("disposed of");
    expect(readFileSync(file, "utf8")).toBe("before");
    // A file cannot replace a folder, which is detected only at the end.
    const taken = path.join(folder, "taken");
    mkdirSync(taken);
    await expect(saveTensors(taken, { a: tensor(1) })).rejects.toMatchObject({ syscall: "rename" });
    await expect(saveTensors(path.join(folder, "no/where"), { a: tensor(1) })).rejects.toMatchObject({
      code: "ENOENT",
    });
    expect(readdirSync(folder).sort()).toEqual(["some.safetensors", "taken"]);
    await saveTensors(file, { a: tensor(1) });
    expect(readdirSync(folder).sort()).toEqual(["some.safetensors", "taken"]);
    expect(Object.keys(await loadTensors(file))).toEqual(["a"]);
  });
});
