/** Tests of the extension of a message: it is written, read back, and refused if it is malformed. */
import { describe, expect, test } from "vitest";
import { AGENT_MESH, ROOT_MESH } from "../../../runtime/link/address.js";
import { ProtocolError } from "../../../runtime/link/frame/frame.js";
import {
  chainToken,
  emptyChain,
  extensionSize,
  isInChain,
  type MessageExtension,
  readExtension,
  writeExtension,
} from "../../../runtime/link/frame/message-extension.js";
import { TraceContext } from "../../../runtime/link/trace-context.js";
import { Reader } from "../../../runtime/wire/reader.js";
import { Writer } from "../../../runtime/wire/writer.js";

const trace = new TraceContext(0xf000_0001, 2, 3, 4, 0xf000_0005, 6, 0xff);
const full: MessageExtension = { rank: 7, extent: 8, timeout: 9, trace, chain: [10, 11, 0xf000_000c, 13] };

function written(extension: MessageExtension, behind: readonly number[] = []): Uint8Array {
  const w = new Writer(512);
  // The writer's memory is not zero, so every byte must be written.
  w.bytes.fill(0xee);
  writeExtension(w, extension);
  return Uint8Array.from([...w.bytes.subarray(0, w.position), ...behind]);
}

/** A reader of a message that does not stand at the beginning of its memory. */
function readerOf(bytes: Uint8Array, blocks?: readonly Uint8Array[]): Reader {
  const memory = Uint8Array.from([...new Uint8Array(8), ...bytes, ...new Uint8Array(128)]);
  const r = new Reader();
  r.reset(memory, new DataView(memory.buffer), 8, 8 + bytes.length, blocks);
  return r;
}

describe("an extension", () => {
  test.each([
    ["with everything", full],
    ["with nothing", { rank: 0, extent: 0, timeout: 0, trace: undefined, chain: emptyChain }],
    ["with a key", { ...full, key: "schlüssel" }],
    ["with a key that needs no padding", { ...full, chain: emptyChain, key: "12345678" }],
    ["with a trace whose first words are 0", { ...full, trace: new TraceContext(0, 0, 0, 1, 0, 1, 0), chain: [1, 2] }],
  ])("%s is read as it was written, and the message follows it", (_, extension) => {
    const bytes = written(extension, [1, 2, 3]);
    expect(bytes.length - 3).toBe(extensionSize(extension));
    const blocks = [new Uint8Array(1)];
    const r = readerOf(bytes, blocks);
    expect(readExtension(r)).toEqual(extension);
    expect([[...r.bytes.subarray(r.position, r.end)], r.blocks]).toEqual([[1, 2, 3], blocks]);
  });

  test("writes nothing behind its own bytes", () => {
    const w = new Writer(64);
    w.reserve(8);
    w.bytes.fill(0xee);
    writeExtension(w, { rank: 0, extent: 0, timeout: 0, trace: undefined, chain: emptyChain });
    expect([...w.bytes.subarray(8 + 48)]).toEqual(Array(w.bytes.length - 56).fill(0xee));
  });

  test("takes 48 bytes and 8 bytes for every actor of its chain, and a missing extension takes no bytes", () => {
    expect(extensionSize(undefined)).toBe(0);
    expect(extensionSize({ ...full, chain: emptyChain })).toBe(48);
    expect(extensionSize(full)).toBe(64);
  });

  test("that is cut off by the end of its message is refused", () => {
    const bytes = written(full);
    for (let size = 0; size < bytes.length; size++) {
      const found = size < 48 ? 0 : 64;
      expect(() => readExtension(readerOf(bytes.subarray(0, size)))).toThrow(
        new ProtocolError(`cannot read message: invalid extension of ${found} bytes`),
      );
    }
    expect(readExtension(readerOf(bytes))).toEqual(full);
  });

  test.each([0, 40, 47, 49, 52, 63, 72, 0xffff_fff8])("with length %i is refused in a message of 64 bytes", (size) => {
    const bytes = written(full);
    new DataView(bytes.buffer).setUint32(0, size, true);
    expect(() => readExtension(readerOf(bytes))).toThrow(
      new ProtocolError(`cannot read message: invalid extension of ${size} bytes`),
    );
  });

  test.each([9, 4096, 0xffff_ffff])("with a key of %i bytes is refused if it has fewer", (size) => {
    const bytes = written({ ...full, chain: emptyChain, key: "12345678" });
    new DataView(bytes.buffer).setUint32(44, size, true);
    expect(() => readExtension(readerOf(bytes))).toThrow(
      new ProtocolError(`cannot read message: invalid key of ${size} bytes in an extension of 56`),
    );
  });

  test("with a key that is no UTF-8 is refused", () => {
    const bytes = written({ ...full, chain: emptyChain, key: "abc" });
    bytes[48] = 0xff;
    expect(() => readExtension(readerOf(bytes))).toThrow(
      new ProtocolError("cannot read message: expected a key in UTF-8, got 3 other bytes"),
    );
  });

  test("without a chain shares one empty list", () => {
    expect(readExtension(readerOf(written({ ...full, chain: [] }))).chain).toBe(emptyChain);
  });
});

describe("an actor in a call chain", () => {
  const proc = 0x1111_2222_3333_4444n;

  test("is identified by its mesh and rank, and an agent or a root by its process", () => {
    const mesh = 0xaaaa_bbbb_cccc_ddddn;
    expect(chainToken({ proc, mesh, rank: 3 })).toEqual([0xcccc_dde0, 0xaaaa_bbbb]);
    expect(chainToken({ proc: 9n, mesh, rank: 3 })).toEqual([0xcccc_dde0, 0xaaaa_bbbb]);
    expect(chainToken({ proc, mesh: AGENT_MESH, rank: 0 })).toEqual([0x3333_4444, 0x1111_2222]);
    expect(chainToken({ proc, mesh: ROOT_MESH, rank: 0 })).toEqual([0x3333_4445, 0x1111_2222]);
    // Words are 32 bits.
    expect(chainToken({ proc, mesh: 0xffff_ffffn, rank: 2 })).toEqual([1, 0]);
  });

  test("is found at every position of the chain, and only if both words of its token match", () => {
    const chain = [1, 2, 3, 4, 5, 6];
    for (const token of [[1, 2] as const, [3, 4] as const, [5, 6] as const]) expect(isInChain(chain, token)).toBe(true);
    for (const token of [[2, 3] as const, [1, 4] as const, [3, 2] as const, [4, 5] as const, [7, 8] as const]) {
      expect(isInChain(chain, token)).toBe(false);
    }
    expect(isInChain(emptyChain, [0, 0])).toBe(false);
  });
});
