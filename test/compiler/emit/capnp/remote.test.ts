/** Messages in memory that is read from afar: what is looked at is fetched, and nothing else; and it reads as if all were here. */
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

/** What another process would hold, and every read of it, as [offset, bytes]. */
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
  test("of a large message takes a few small reads", async () => {
    const afar = new Afar(large);
    const message = new RemoteMessage(afar);
    expect(message).toMatchObject({ fetched: 0, reads: 0 });
    expect(await message.read((bytes) => kinds.readRecordingCapnp(bytes).rate)).toBe(96_000);
    expect(afar.reads).toEqual([[0, 4096]]);
    expect(await message.read((bytes) => kinds.readRecordingCapnp(bytes).marks.at(-1)?.text)).toBe("mark 49999");
    // The header and the root; where the list begins; its last struct; the text of that.
    expect(afar.reads).toHaveLength(4);
    expect(message).toMatchObject({ fetched: 4 * 4096, reads: 4 });
  });

  test("that was fetched is not fetched again, and stays as it was", async () => {
    const afar = new Afar(large.slice());
    const message = new RemoteMessage(afar);
    const rate = () => message.read((bytes) => kinds.readRecordingCapnp(bytes).rate);
    expect(await rate()).toBe(96_000);
    afar.bytes.fill(0xff);
    expect(await rate()).toBe(96_000);
    expect(afar.reads).toHaveLength(1);
  });

  test("is read in a message anywhere in the memory", async () => {
    const memory = new Uint8Array(large.length + 8192).fill(0xaa);
    memory.set(large, 4104);
    const message = new RemoteMessage(new Afar(memory));
    const title = await message.read((bytes) => kinds.readRecordingCapnp(bytes.subarray(4104)).title);
    expect(title).toBe("Whales");
  });
});

test("the whole of a message takes some reads and some looks, not one for each piece", async () => {
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

test("views are of memory of this process", async () => {
  const afar = new Afar(large.slice());
  const message = new RemoteMessage(afar);
  const samples = await message.read((bytes) => kinds.readRecordingCapnp(bytes).samples);
  afar.bytes.fill(0);
  expect(Buffer.compare(bytesOf(samples), bytesOf(recording.samples))).toBe(0);
});

describe("what goes wrong", () => {
  test("a reader that is kept says that it looks at what is not there", async () => {
    const message = new RemoteMessage(new Afar(large));
    const kept = await message.read((bytes) => kinds.readRecordingCapnp(bytes));
    expect(kept.rate).toBe(96_000);
    expect(() => kept.marks.at(40_000)).toThrow(
      /^cannot read the message: bytes \d+ to \d+ have not been fetched: look at them within RemoteMessage.read$/,
    );
  });

  test("errors of a look are passed on, and what a look has caught is fetched all the same", async () => {
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

  test("a look that waits is refused", async () => {
    const message = new RemoteMessage(new Afar(large));
    await expect(message.read(async (bytes) => kinds.readRecordingCapnp(bytes).title)).rejects.toThrow(
      "cannot read a remote message: expected a function that looks at it at once, got a promise",
    );
  });

  test("a read that fails is said, and tried again by the next who looks", async () => {
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

  test("options reach the memory, and reads take turns", async () => {
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

  test("memory that is too large for this process, and pieces that are none", () => {
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
  // The number of segments and their sizes. The root leads to two words in segment 1, and those to a struct in segment 2.
  const words = [2, 1, 2, 1, 6, 1, 2, 2, 0, 1, 77, 0];
  const bytes = new Uint8Array(Uint32Array.from(words).buffer);
  const look = (from: Uint8Array) => kinds.readNamesCapnp(from).twoWords;
  expect(look(bytes)).toBe(77);
  expect(await new RemoteMessage(new Afar(bytes), { piece: 8 }).read(look)).toBe(77);
});

test("whatever the bytes are, they read as if all were here", async () => {
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
        // What is not asked for is not there: with pieces of a word nothing comes along by chance.
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
