/** Messages in remote memory: only visited bytes are fetched, and they are read as if the message were local. */
import fc from "fast-check";
import { CapnpError, type RemoteMemory, RemoteMessage } from "viceroy/capnp/v1";
import { describe, expect, test } from "vitest";
import { compileCase } from "./compile.js";
import * as kinds from "./golden/kinds/capnp/kinds.js";
import type { Recording } from "./golden/kinds/kinds.js";
import { valuesOf } from "./values.js";

const marks = Array.from({ length: 50_000 }, (_, i) => ({ at: BigInt(i), text: `mark ${i}`, by: null }));
const recording: Recording = {
  title: "Whales",
  rate: 96_000,
  started: new Date(1_700_000_000_000),
  samples: Float64Array.from({ length: 100_000 }, (_, i) => i / 2),
  marks,
  raw: new Uint8Array(1_000_000).fill(7),
};
const large = kinds.writeRecordingCapnp(recording);

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array) => new Uint8Array(buffer, byteOffset, byteLength);

/** The memory of another process, which records every read as [offset, bytes]. */
class Afar implements RemoteMemory {
  readonly reads: [offset: number, bytes: number][] = [];
  bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get size(): number {
    return this.bytes.length;
  }

  async readInto(local: Uint8Array, { offset }: { offset: number }): Promise<void> {
    this.reads.push([offset, local.length]);
    await Promise.resolve();
    local.set(this.bytes.subarray(offset, offset + local.length));
  }
}

describe("one field", () => {
  test("of a large message needs only a few small reads", async () => {
    const afar = new Afar(large);
    const message = new RemoteMessage(afar);
    expect(message).toMatchObject({ fetched: 0, reads: 0 });
    expect(await message.read((bytes) => kinds.readRecordingCapnp(bytes).rate)).toBe(96_000);
    expect(afar.reads).toEqual([[0, 4096]]);
    expect(await message.read((bytes) => kinds.readRecordingCapnp(bytes).marks.at(-1)?.text)).toBe("mark 49999");
    // The reads fetch the header with the root, the start of the list, its last struct, and the text of that struct.
    expect(afar.reads).toHaveLength(4);
    expect(message).toMatchObject({ fetched: 4 * 4096, reads: 4 });
  });

  test("is fetched once and keeps its value when the memory changes", async () => {
    const afar = new Afar(large.slice());
    const message = new RemoteMessage(afar);
    const rate = () => message.read((bytes) => kinds.readRecordingCapnp(bytes).rate);
    expect(await rate()).toBe(96_000);
    afar.bytes.fill(0xff);
    expect(await rate()).toBe(96_000);
    expect(afar.reads).toHaveLength(1);
  });

  test("is read from a message at any offset of the memory", async () => {
    const memory = new Uint8Array(large.length + 8192).fill(0xaa);
    memory.set(large, 4104);
    const message = new RemoteMessage(new Afar(memory));
    const title = await message.read((bytes) => kinds.readRecordingCapnp(bytes.subarray(4104)).title);
    expect(title).toBe("Whales");
  });
});

test("decoding a whole message calls the read function a few times, not once for each piece", async () => {
  const afar = new Afar(large);
  const message = new RemoteMessage(afar);
  let looks = 0;
  const value = await message.read((bytes) => {
    looks++;
    return kinds.decodeRecordingCapnp(bytes);
  });
  expect(Buffer.compare(kinds.writeRecordingCapnp(value), large)).toBe(0);
  expect(looks).toBeLessThan(40);
  expect(afar.reads.reduce((sum, [, bytes]) => sum + bytes, 0)).toBe(message.fetched);
  expect(message.fetched).toBeLessThanOrEqual(large.length);
});

test("typed arrays are views of local memory and not of the remote memory", async () => {
  const afar = new Afar(large.slice());
  const message = new RemoteMessage(afar);
  const samples = await message.read((bytes) => kinds.readRecordingCapnp(bytes).samples);
  afar.bytes.fill(0);
  expect(Buffer.compare(bytesOf(samples), bytesOf(recording.samples))).toBe(0);
});

describe("errors of a remote message", () => {
  test("a reader that is used after read() reports the bytes that were not fetched", async () => {
    const message = new RemoteMessage(new Afar(large));
    const kept = await message.read((bytes) => kinds.readRecordingCapnp(bytes));
    expect(kept.rate).toBe(96_000);
    expect(() => kept.marks.at(40_000)).toThrow(
      /^cannot read the message: bytes \d+ to \d+ have not been fetched: look at them within RemoteMessage.read$/,
    );
  });

  test("an error of the read function is passed on, and bytes are fetched even if it catches their error", async () => {
    const message = new RemoteMessage(new Afar(large));
    const own = new Error("mine");
    await expect(
      message.read(() => {
        throw own;
      }),
    ).rejects.toBe(own);
    const title = await message.read((bytes) => {
      try {
        return kinds.readRecordingCapnp(bytes).title;
      } catch {
        return "not there";
      }
    });
    expect(title).toBe("Whales");
  });

  test("an asynchronous read function is refused", async () => {
    const message = new RemoteMessage(new Afar(large));
    await expect(message.read(async (bytes) => kinds.readRecordingCapnp(bytes).title)).rejects.toThrow(
      "cannot read a remote message: expected a function that looks at it at once, got a promise",
    );
  });

  test("a failed read of the memory rejects the call, and the next call tries again", async () => {
    const afar = new Afar(large);
    const { readInto } = Afar.prototype;
    const gone = new Error("the cable was cut");
    afar.readInto = () => Promise.reject(gone);
    const message = new RemoteMessage(afar);
    const rate = () => message.read((bytes) => kinds.readRecordingCapnp(bytes).rate);
    await expect(rate()).rejects.toBe(gone);
    afar.readInto = readInto;
    expect(await rate()).toBe(96_000);
  });

  test("options are passed to the memory, and reads run one after another", async () => {
    const afar = new Afar(large);
    const seen: object[] = [];
    let under = 0;
    afar.readInto = async (local, options) => {
      expect(++under).toBe(1);
      seen.push(options);
      await Afar.prototype.readInto.call(afar, local, options);
      under--;
    };
    const message = new RemoteMessage(afar);
    const { signal } = new AbortController();
    const at = (i: number) =>
      message.read((bytes) => kinds.readRecordingCapnp(bytes).marks.at(i)?.at, { signal, timeout: 5 });
    expect(await Promise.all([at(1), at(30_000), at(49_000)])).toEqual([1n, 30_000n, 49_000n]);
    for (const options of seen) expect(options).toEqual({ signal, timeout: 5, offset: expect.any(Number) });
  });

  test("a memory that is too large and an invalid piece size are refused", () => {
    const readInto = () => Promise.resolve();
    expect(() => new RemoteMessage({ size: 2 ** 53 - 1, readInto })).toThrow(
      "cannot read the message: there is no address space for 9007199254740991 bytes here",
    );
    for (const piece of [0, -8, 12, 4096.5, Number.NaN]) {
      expect(() => new RemoteMessage({ size: 8, readInto }, { piece })).toThrow(
        `invalid piece: expected a multiple of 8 above 0, got ${piece}`,
      );
    }
  });
});

test("a message of several segments is fetched through its far pointers", async () => {
  // The number of segments and their sizes come first. The root points to two words in segment 1, and these words to a
  // struct in segment 2.
  const words = [2, 1, 2, 1, 6, 1, 2, 2, 0, 1, 77, 0];
  const bytes = new Uint8Array(Uint32Array.from(words).buffer);
  const look = (from: Uint8Array) => kinds.readNamesCapnp(from).twoWords;
  expect(look(bytes)).toBe(77);
  expect(await new RemoteMessage(new Afar(bytes), { piece: 8 }).read(look)).toBe(77);
});

test("a damaged message gives the same value or error from remote memory as from local memory", async () => {
  const values = valuesOf(compileCase("kinds").schema, "Everything");
  const look = (bytes: Uint8Array) => kinds.decodeEverythingCapnp(bytes, { traversal: 1e6 });
  const outcome = async (read: () => unknown) => {
    try {
      return { value: await read() };
    } catch (error) {
      if (!(error instanceof CapnpError)) throw error;
      return { refused: error.message };
    }
  };
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      values,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 }),
      fc.option(fc.nat(), { nil: undefined }),
      async (value, changes, cut) => {
        const whole = kinds.writeEverythingCapnp(value as never).slice();
        for (const [at, byte] of changes) whole[at % whole.length] = byte;
        const bytes = cut === undefined ? whole : whole.slice(0, cut % whole.length);
        // With pieces of one word no byte is fetched by chance: only the requested bytes are present.
        const message = new RemoteMessage(new Afar(bytes), { piece: 8 });
        const [here, there] = [await outcome(() => look(bytes)), await outcome(() => message.read(look))];
        expect(there).toStrictEqual(here);
        if ("refused" in here) refused++;
      },
    ),
    { numRuns: 500 },
  );
  expect(refused).toBeGreaterThan(20);
});
