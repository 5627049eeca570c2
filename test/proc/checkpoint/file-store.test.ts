/** These tests check the files of checkpoints: how they are named, and which damage is detected. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Checkpoint } from "../../../generated/checkpoint.js";
import { fileStore } from "../../../runtime/proc/checkpoint/file-store.js";
import type { CheckpointStore } from "../../../runtime/supervise/checkpoint-store.js";

let directory: string;
let store: CheckpointStore;
const place = { mesh: "counters", rank: 1 };

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "file-store-"));
  store = fileStore(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function checkpoint(size = 10, fill = 1): Checkpoint {
  const actor = { actor: "shop/schemas/counter#Counter", actorId: 4_000_000_000, ...place };
  const type = { fingerprint: 0xffff_ffff_ffff_ffffn, schema: '{"messages":[]}' };
  return { ...actor, at: new Date(1_700_000_000_123), ...type, state: new Uint8Array(size).fill(fill) };
}

test("a checkpoint is read as it was written, and replaced by the next one, also if it is empty or large", async () => {
  expect(await store.read(place)).toBe(undefined);
  for (const size of [10, 0, 9 * 1024 * 1024 + 1]) {
    await store.write(place, checkpoint(size));
    const { state, ...others } = (await store.read(place))!;
    const { state: written, ...expected } = checkpoint(size);
    expect(others).toEqual(expected);
    // Comparing large arrays element by element takes minutes.
    expect(Buffer.compare(state, written)).toBe(0);
    expect(state.constructor).toBe(Uint8Array);
  }
  expect(readdirSync(directory)).toEqual(["counters-1.checkpoint"]);
  await store.delete(place);
  await store.delete(place);
  expect(await store.read(place)).toBe(undefined);
});

test("each actor has a file of its own inside of the directory, whatever the name of its mesh", async () => {
  const names = ["a", "a-1", "a/b", "../a", "..", "ü", "%2F", "a".repeat(300), "a".repeat(301), "*"];
  const places = names.flatMap((mesh) => [0, 11].map((rank) => ({ mesh, rank })));
  for (const [i, each] of places.entries()) await store.write(each, checkpoint(1, i));
  const read = await Promise.all(places.map((each) => store.read(each)));
  expect(read.map((each) => each?.state[0])).toEqual(places.map((_, i) => i));
  expect(readdirSync(directory).length).toBe(places.length);
});

test("a file that is incomplete, damaged or not a checkpoint is refused, wherever it was cut or changed", async () => {
  await store.write(place, checkpoint());
  const file = join(directory, "counters-1.checkpoint");
  const whole = readFileSync(file);
  const refusal = async (bytes: Uint8Array) => {
    writeFileSync(file, bytes);
    return store.read(place).then(String, ({ message }: Error) => message);
  };
  for (let length = 0; length < whole.length; length++) {
    const why =
      length < 7
        ? "the file is not a checkpoint"
        : `the file is incomplete: expected ${length < 20 ? 24 : whole.length} bytes, got ${length}`;
    expect(await refusal(whole.subarray(0, length))).toBe(`cannot read checkpoint ${file}: ${why}`);
  }
  for (let i = 20; i < whole.length; i++) {
    const damaged = Buffer.from(whole);
    damaged[i]! ^= 1;
    const why = "the file is damaged: its checksum does not match its content";
    expect(await refusal(damaged)).toBe(`cannot read checkpoint ${file}: ${why}`);
  }
  expect(await refusal(Buffer.concat([whole, Buffer.from([0])]))).toMatch(/: the file is damaged: its checksum/);
  const newer = Buffer.from(whole);
  newer[7] = 2;
  expect(await refusal(newer)).toBe(
    `cannot read checkpoint ${file}: the file has version 2 of the format, and this version of Viceroy reads up to 1`,
  );
});

test("a file that a killed process has left half written is ignored and overwritten", async () => {
  await store.write(place, checkpoint());
  const left = join(directory, "counters-1.checkpoint.tmp");
  writeFileSync(left, "half");
  expect(await store.read(place)).toEqual(checkpoint());
  await store.write(place, checkpoint(5));
  expect(await store.read(place)).toEqual(checkpoint(5));
  expect(existsSync(left)).toBe(false);
});

test("a disk that is full, or a directory that cannot be made, fails the write with its reason and keeps the file", async () => {
  await store.write(place, checkpoint());
  // Writing to /dev/full fails as on a full disk.
  const file = join(directory, "counters-1.checkpoint");
  rmSync(`${file}.tmp`, { force: true });
  symlinkSync("/dev/full", `${file}.tmp`);
  await expect(store.write(place, checkpoint(5))).rejects.toThrow(
    `cannot write checkpoint ${file}: ENOSPC: no space left on device, write`,
  );
  expect(await store.read(place)).toEqual(checkpoint());
  await store.write(place, checkpoint(6));
  expect(await store.read(place)).toEqual(checkpoint(6));
  const blocked = fileStore(join(file, "inside"));
  await expect(blocked.write(place, checkpoint())).rejects.toThrow(/^cannot write checkpoint .*: ENOTDIR: /);
  mkdirSync(join(directory, "counters-2.checkpoint"));
  await expect(store.read({ ...place, rank: 2 })).rejects.toThrow(/^cannot read checkpoint .*-2\.checkpoint: EISDIR: /);
});

test("a store needs the path of a directory", () => {
  expect(() => fileStore("")).toThrow('cannot make a file store: expected the path of a directory, got ""');
  expect(() => fileStore(undefined as never)).toThrow("expected the path of a directory, got undefined");
});
