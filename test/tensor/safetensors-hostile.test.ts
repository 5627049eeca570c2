/** Invalid and hostile safetensors files: each is refused with a reason. */
import { mkdtempSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  loadTensors,
  saveTensors,
  TensorError,
  tensor,
  tensorMemory,
  tensorsIn,
  torch,
} from "../../runtime/tensor/index.js";
import { cases } from "../profile.js";
import { describeTensors } from "./addon.js";

const folder = mkdtempSync(path.join(tmpdir(), "vsh-"));
const file = path.join(folder, "hostile.safetensors");

/** @param length that the file claims for its header */
function bytesOf(header: string | Uint8Array, data = 0, length?: bigint): Buffer {
  const text = Buffer.from(header);
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(length ?? BigInt(text.length));
  return Buffer.concat([prefix, text, Buffer.alloc(data)]);
}

const one = (fields: string) => `{"a":{${fields}}}`;
const f32 = (shape: string, offsets: string) => one(`"dtype":"F32","shape":${shape},"data_offsets":${offsets}`);
const two = (first: string, second: string) =>
  `{"a":{"dtype":"U8","shape":[4],"data_offsets":${first}},"b":{"dtype":"U8","shape":[4],"data_offsets":${second}}}`;
const twice = `{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`;
const deep = "[".repeat(100_000);

const refused: [string, Buffer, string | RegExp][] = [
  ["no bytes", Buffer.alloc(0), "expected a safetensors file, got 0 bytes"],
  ["less than a length", Buffer.alloc(7), "expected a safetensors file, got 7 bytes"],
  ["a header beyond the file", bytesOf("{}", 0, 3n), "its header has 3 bytes, and only 2 follow"],
  ["a header over the limit", bytesOf("{}", 0, (16n << 20n) + 1n), "its header has 16777217 bytes, more than 16777216"],
  ["the largest length", bytesOf("{}", 0, 2n ** 64n - 1n), "its header has 18446744073709551615 bytes, more than"],
  ["no header", bytesOf(""), 'at character 0 of its header: expected "{", got the end'],
  ["a list as header", bytesOf("[]"), 'at character 0 of its header: expected "{", got "[]"'],
  ["invalid UTF-8", bytesOf(Buffer.from([0x7b, 0x22, 0xff, 0x22])), "its header is not UTF-8"],
  ["a byte order mark", bytesOf("\ufeff{}"), 'expected "{", got "\ufeff{}"'],
  ["text behind the header", bytesOf("{} x"), 'at character 3 of its header: expected the end, got "x"'],
  ["an incomplete object", bytesOf('{"a"'), 'expected ":", got the end'],
  ["an incomplete name", bytesOf('{"a'), 'expected "\\"", got the end'],
  ["a comma at the end", bytesOf(one('"dtype":"F32",')), 'expected "\\"", got "}}"'],
  ["a control character", bytesOf('{"\n":1}'), "expected text without control characters"],
  ["a lone surrogate", bytesOf('{"\\ud800":1}'), "expected text without control characters"],
  ["an invalid escape", bytesOf('{"\\x":1}'), "expected text without control characters, with escapes of JSON"],
  ["deep arrays", bytesOf(`{"a":${deep}`), 'expected "{", got "[[[[[[[[[[[["'],
  ["deep shapes", bytesOf(f32(deep, "[0,0]")), "expected an integer from 0 to 2^53 - 1, got"],
  ["deep objects", bytesOf('{"a":'.repeat(50_000)), 'tensor "a" has a field "a" that the format does not have'],
  ["deep metadata", bytesOf('{"__metadata__":{"a":{"b":1}}}'), 'expected "\\"", got "{'],
  ["metadata that is no text", bytesOf('{"__metadata__":{"a":1}}'), 'expected "\\"", got "1}}"'],
  ["a tensor twice", bytesOf(twice), 'it has the key "a" twice'],
  ["metadata twice", bytesOf('{"__metadata__":{},"__metadata__":{}}'), 'it has the key "__metadata__" twice'],
  ["a metadata key twice", bytesOf('{"__metadata__":{"a":"1","\\u0061":"2"}}'), 'it has the key "a" twice'],
  ["a field twice", bytesOf(one('"dtype":"F32","dtype":"F64"')), 'it has the key "dtype" twice'],
  ["an unknown field", bytesOf(one('"strides":[1]')), 'tensor "a" has a field "strides" that the format does not have'],
  ["no offsets", bytesOf(one('"dtype":"F32","shape":[]')), 'tensor "a" lacks dtype, shape or data_offsets'],
  [
    "an unknown type",
    bytesOf(f32("[0]", "[0,0]").replace("F32", "F8_E4M3")),
    'tensor "a" has the dtype "F8_E4M3": expected one of I64, F64,',
  ],
  [
    "an inherited property name as type",
    bytesOf(f32("[0]", "[0,0]").replace("F32", "constructor")),
    'has the dtype "constructor"',
  ],
  ["a negative size", bytesOf(f32("[-1]", "[0,4]"), 4), 'expected an integer from 0 to 2^53 - 1, got "-1]'],
  ["a fractional size", bytesOf(f32("[1.5]", "[0,6]"), 6), "expected an integer from 0 to 2^53 - 1"],
  ["a size with an exponent", bytesOf(f32("[1e0]", "[0,4]"), 4), "expected an integer from 0 to 2^53 - 1"],
  ["a size with a zero before it", bytesOf(f32("[01]", "[0,4]"), 4), "expected an integer from 0 to 2^53 - 1"],
  ["a size above 2^53 - 1", bytesOf(f32("[9007199254740992]", "[0,4]"), 4), "expected an integer from 0 to 2^53 - 1"],
  [
    "sizes whose product wraps",
    bytesOf(f32("[4294967296,4294967296]", "[0,0]")),
    'tensor "a" has a shape that no memory could hold',
  ],
  [
    "sizes whose strides wrap",
    bytesOf(f32("[0,4294967296,4294967296]", "[0,0]")),
    'tensor "a" has a shape that no memory could hold',
  ],
  ["too many dimensions", bytesOf(f32(`[${"0,".repeat(64)}0]`, "[0,0]")), "expected at most 64 numbers"],
  ["one offset", bytesOf(f32("[0]", "[0]")), 'tensor "a" has the offsets [0]: expected its begin and its end'],
  ["three offsets", bytesOf(f32("[0]", "[0,0,0]")), "expected at most 2 numbers"],
  ["an end before its begin", bytesOf(f32("[1]", "[4,0]"), 4), 'tensor "a" has the offsets [4, 0]'],
  ["too few bytes", bytesOf(f32("[2]", "[0,4]"), 4), 'tensor "a" has 4 bytes: F32 of shape [2] has 8'],
  ["too many bytes", bytesOf(f32("[]", "[0,8]"), 8), 'tensor "a" has 8 bytes: F32 of shape [] has 4'],
  [
    "more data than the file",
    bytesOf(f32("[1000000000]", "[0,4000000000]"), 4),
    "its tensors have 4000000000 bytes, and 4 bytes follow its header",
  ],
  [
    "tensors that overlap",
    bytesOf(two("[0,4]", "[2,6]"), 6),
    'tensor "b" begins at 2, and overlaps with the one before, which ends at 4',
  ],
  [
    "the same bytes twice",
    bytesOf(two("[0,4]", "[0,4]"), 4),
    'tensor "b" begins at 0, and overlaps with the one before',
  ],
  [
    "a gap",
    bytesOf(two("[0,4]", "[5,9]"), 9),
    'tensor "b" begins at 5, and leaves a gap after the one before, which ends at 4',
  ],
  ["a gap at the begin", bytesOf(f32("[1]", "[4,8]"), 8), 'tensor "a" begins at 4, and leaves a gap'],
  [
    "bytes behind all tensors",
    bytesOf(f32("[1]", "[0,4]"), 5),
    "its tensors have 4 bytes, and 5 bytes follow its header",
  ],
];

async function refusal(bytes: Uint8Array): Promise<unknown> {
  writeFileSync(file, bytes);
  return loadTensors(file).catch((error) => error);
}

describeTensors("a hostile file", () => {
  test.each(refused)("with %s is refused", async (_, bytes, why) => {
    const before = tensorMemory().live;
    const error = await refusal(bytes);
    expect(error).toMatchObject({ name: "TensorError", code: "ERR_TENSOR_FILE" });
    expect((error as Error).message).toContain(`cannot load tensors from ${file}: `);
    expect((error as Error).message).toContain(why);
    await expect(tensorsIn(file)).rejects.toThrow((error as Error).message);
    expect(tensorMemory().live).toBe(before);
  });

  test("with invalid booleans is refused, and tensors that were loaded before are freed", async () => {
    const before = tensorMemory().live;
    const header =
      '{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"BOOL","shape":[2],"data_offsets":[8,10]}}';
    const bytes = bytesOf(header, 10);
    bytes[bytes.length - 1] = 2;
    const error = await refusal(bytes);
    expect(error).toMatchObject({
      code: "ERR_TENSOR_FILE",
      message: `cannot load tensors from ${file}: a tensor of BOOL has bytes that are neither 0 nor 1`,
    });
    expect(tensorMemory().live).toBe(before);
  });

  test("that is truncated during the read is refused", async () => {
    await saveTensors(file, { a: torch.zeros([1 << 20]), b: torch.zeros([1 << 20]) });
    const loading = loadTensors(file, { names: ["b"] });
    truncateSync(file, 1 << 20);
    await expect(loading).rejects.toThrow(/it was cut while it was read|bytes follow its header/);
  });

  test("that cannot be read fails with the error of the system", async () => {
    await expect(loadTensors(path.join(folder, "none"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(loadTensors(folder)).rejects.toMatchObject({ code: "EISDIR" });
  });

  test("with random changes is loaded or refused with a TensorError", async () => {
    await saveTensors(file, { a: tensor([1, 2]), b: tensor([3n]), c: tensor([true]) }, { metadata: { d: "e" } });
    const valid = readFileSync(file);
    const change = fc.record({
      at: fc.nat(valid.length - 1),
      to: fc.oneof(fc.nat(255), fc.constantFrom(...'{}[]",:0129 '.split("").map((c) => c.charCodeAt(0)))),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), fc.nat(valid.length), async (changes, cut) => {
        const bytes = Buffer.from(cut % 4 === 0 ? valid.subarray(0, cut) : valid);
        for (const { at, to } of changes) if (at < bytes.length) bytes[at] = to;
        const result = await refusal(bytes);
        if (result instanceof Error) expect(result).toBeInstanceOf(TensorError);
        else for (const one of Object.values(result as object)) one.dispose();
      }),
      { numRuns: cases(300) },
    );
  });
});
