/** Tests of pipes in shared memory, step by step. Socket and channel are fakes, so the addon is not needed. */
import { describe, expect, test } from "vitest";
import type { Pipe, PipeSink } from "../../../../runtime/link/transport/pipe.js";
import {
  ANSWER_BYTES,
  classifyFirstBytes,
  OFFER_BYTES,
  readAnswer,
  readOffer,
  writeAnswer,
  writeOffer,
} from "../../../../runtime/link/transport/shared-memory/channel-offer.js";
import {
  joinSharedMemory,
  offerSharedMemory,
  RING_BYTES,
  usesSharedMemory,
} from "../../../../runtime/link/transport/shared-memory/pipe.js";
import type { NativeChannel, RdmaAddon } from "../../../../runtime/native/rdma-addon.js";
import { drawing } from "../../resumable/cut-world.js";

/** A socket that a test reads from and writes to. */
class HandSocket implements Pipe {
  sink!: PipeSink;
  readonly calls: string[] = [];
  written = Buffer.alloc(0);

  open(sink: PipeSink): void {
    this.sink = sink;
  }
  write(chunks: readonly Uint8Array[], done: () => void): void {
    this.written = Buffer.concat([this.written, ...chunks]);
    done();
  }
  close(): void {
    this.calls.push("close");
  }
  destroy(error?: Error): void {
    this.calls.push(`destroy: ${error?.message}`);
  }
  ref(): void {
    this.calls.push("ref");
  }
  unref(): void {
    this.calls.push("unref");
  }

  /** Delivers bytes of the other side. */
  give(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const target = this.sink.buffer();
      const size = Math.min(target.length, bytes.length - at);
      target.set(bytes.subarray(at, at + size));
      this.sink.received(size);
      at += size;
    }
  }
}

/** A fake of one side of a channel. It records the written bytes, and the test sets the bytes to read. */
class HandChannel implements NativeChannel {
  readonly made: readonly unknown[];
  began: number | undefined;
  ready: () => boolean = () => true;
  resumed = 0;
  closed = 0;
  room = Number.POSITIVE_INFINITY;
  sentBefore = -1;
  broken = false;
  written = Buffer.alloc(0);
  incoming = Buffer.alloc(0);

  constructor(...made: readonly unknown[]) {
    this.made = made;
  }
  descriptors() {
    return [11, 12, 13] as const;
  }
  begin(sent: number, ready: () => boolean): void {
    this.began = sent;
    this.ready = ready;
  }
  resume(): void {
    this.resumed++;
  }
  before(): number {
    if (this.closed > 0) throw new Error("asked after its end");
    return this.sentBefore;
  }
  write(bytes: Uint8Array, from: number): number {
    if (this.room < 0) return -1;
    const size = Math.min(this.room, bytes.length - from);
    this.written = Buffer.concat([this.written, bytes.subarray(from, from + size)]);
    this.room -= size;
    return size;
  }
  read(target: Uint8Array): number {
    if (this.closed > 0) throw new Error("read after its end");
    if (this.broken) return -1;
    const size = Math.min(target.length, this.incoming.length);
    target.set(this.incoming.subarray(0, size));
    this.incoming = this.incoming.subarray(size);
    return size;
  }
  close(): void {
    this.closed++;
  }
}

/** Records the received bytes and the ends of a pipe. */
class Notes implements PipeSink {
  text = "";
  size = 0;
  readonly ends: string[] = [];
  onBytes: () => void = () => {};
  readonly #memory = Buffer.alloc(64 * 1024);

  buffer(): Uint8Array {
    return this.#memory;
  }
  received(n: number): void {
    this.size += n;
    if (this.text.length < 1000) this.text += this.#memory.toString("latin1", 0, n);
    this.onBytes();
  }
  closed(error?: Error): void {
    this.ends.push(error?.message ?? "in order");
  }
}

function addonOf(made: HandChannel[]): RdmaAddon {
  class Channel extends HandChannel {
    constructor(...given: readonly unknown[]) {
      super(...given);
      made.push(this);
    }
  }
  return { Channel } as unknown as RdmaAddon;
}

/** Creates the side that offers a channel. It has received an answer if `taken` is given. */
function offering(taken?: boolean) {
  const socket = new HandSocket();
  const made: HandChannel[] = [];
  const pipe = offerSharedMemory(socket, drawing(1), () => addonOf(made));
  const [channel] = made;
  const notes = new Notes();
  pipe.open(notes);
  if (taken !== undefined) socket.give(writeAnswer(taken));
  return { socket, pipe, channel: channel!, notes };
}

const offer = {
  bytes: 4096,
  pid: 1,
  memory: 2,
  waker: 3,
  awaited: 4,
  token: Uint8Array.from({ length: 16 }, (_, i) => i),
};

/** Creates the side that joins a channel when it receives an offer. */
function joining() {
  const socket = new HandSocket();
  const made: HandChannel[] = [];
  let asked = 0;
  const pipe = joinSharedMemory(socket, () => {
    asked++;
    return addonOf(made);
  });
  const notes = new Notes();
  pipe.open(notes);
  return { socket, pipe, made, notes, asked: () => asked };
}

const bytes = (text: string) => Buffer.from(text);
const nothing = () => {};

describe("the side that offers a channel", () => {
  test("sends an offer with the process, the descriptors, the size and the token of the channel", () => {
    const { socket, channel } = offering();
    const said = readOffer(socket.written)!;
    expect([socket.written.length, said.pid, said.memory, said.waker, said.awaited]).toEqual([
      OFFER_BYTES,
      process.pid,
      11,
      12,
      13,
    ]);
    expect([said.bytes, channel.made]).toEqual([RING_BYTES, [RING_BYTES, Uint8Array.from(said.token)]]);
  });

  test("uses the plain socket when the channel cannot be created", () => {
    const socket = new HandSocket();
    const full = {
      Channel: class {
        constructor() {
          throw new Error("no descriptors are left");
        }
      },
    } as unknown as RdmaAddon;
    expect(offerSharedMemory(socket, drawing(1), () => full)).toBe(socket);
    expect(socket.written.length).toBe(0);
  });

  test("sends over the socket until its offer is accepted, and through the channel afterwards", () => {
    const { socket, pipe, channel } = offering();
    pipe.write([bytes("one, "), bytes("two, ")], nothing);
    expect([usesSharedMemory(pipe), String(socket.written.subarray(OFFER_BYTES))]).toEqual([false, "one, two, "]);
    socket.give(writeAnswer(true));
    expect([usesSharedMemory(pipe), channel.began]).toEqual([true, 10]);
    pipe.write([bytes("three")], nothing);
    expect([String(channel.written), socket.written.length]).toEqual(["three", OFFER_BYTES + 10]);
  });

  test("closes the channel when its offer is refused, and continues over the socket", () => {
    const { socket, pipe, channel, notes } = offering(false);
    expect([usesSharedMemory(pipe), channel.closed, channel.began]).toEqual([false, 1, undefined]);
    pipe.write([bytes("on")], nothing);
    socket.give(bytes("and back"));
    expect([String(socket.written.subarray(OFFER_BYTES)), notes.text]).toEqual(["on", "and back"]);
  });

  test("continues over the socket when the first bytes are no answer, and delivers these bytes", () => {
    for (const said of ["x", "hello, and more than an answer"]) {
      const { socket, pipe, channel, notes } = offering();
      socket.give(bytes(said));
      pipe.write([bytes("on")], nothing);
      expect([notes.text, channel.closed, String(socket.written.subarray(OFFER_BYTES))]).toEqual([said, 1, "on"]);
    }
  });

  test("uses the channel only after the last byte of the answer", () => {
    const { socket, pipe } = offering();
    const answer = writeAnswer(true);
    for (let i = 0; i < ANSWER_BYTES; i++) {
      expect(usesSharedMemory(pipe)).toBe(false);
      socket.give(answer.subarray(i, i + 1));
    }
    expect(usesSharedMemory(pipe)).toBe(true);
  });
});

describe("the side that joins a channel", () => {
  test("accepts a valid offer, answers, and sends its waiting writes through the channel", () => {
    const { socket, pipe, made } = joining();
    pipe.write([bytes("early")], nothing);
    expect(socket.written.length).toBe(0);
    socket.give(writeOffer(offer));
    expect([usesSharedMemory(pipe), readAnswer(socket.written), socket.written.length]).toEqual([
      true,
      true,
      ANSWER_BYTES,
    ]);
    expect([made[0]?.made, made[0]?.began, String(made[0]?.written)]).toEqual([
      [4096, offer.token, 1, 2, 3, 4],
      0,
      "early",
    ]);
  });

  test("refuses an offer of another version without asking for the addon", () => {
    const { socket, pipe, asked } = joining();
    pipe.write([bytes("early")], nothing);
    const other = writeOffer(offer);
    new DataView(other.buffer).setUint32(4, 2, true);
    socket.give(other);
    expect([usesSharedMemory(pipe), asked(), readAnswer(socket.written)]).toEqual([false, 0, false]);
    expect(String(socket.written.subarray(ANSWER_BYTES))).toBe("early");
    pipe.write([bytes(", late")], nothing);
    expect(String(socket.written.subarray(ANSWER_BYTES))).toBe("early, late");
  });

  test("refuses an offer if the channel cannot be joined or the addon is absent", () => {
    const broken = {
      Channel: class {
        constructor() {
          throw new Error("it is of another user");
        }
      },
    } as unknown as RdmaAddon;
    for (const addon of [broken, undefined]) {
      const socket = new HandSocket();
      const pipe = joinSharedMemory(socket, () => addon);
      pipe.open(new Notes());
      socket.give(writeOffer(offer));
      expect([usesSharedMemory(pipe), socket.written.length, readAnswer(socket.written)]).toEqual([
        false,
        ANSWER_BYTES,
        false,
      ]);
    }
  });

  test("does not answer an offer that comes after its close, and still receives bytes", () => {
    const { socket, pipe, asked, notes } = joining();
    pipe.write([bytes("last words")], nothing);
    pipe.close();
    socket.give(writeOffer(offer));
    expect([String(socket.written), asked(), socket.calls]).toEqual(["last words", 0, ["close"]]);
    socket.give(bytes("and still"));
    expect(notes.text).toBe("and still");
  });
});

describe("bytes received through the channel", () => {
  test("are delivered after the bytes that the peer has sent over the socket before", () => {
    const { socket, channel, notes } = offering(true);
    channel.incoming = bytes("last");
    expect([channel.ready(), notes.text]).toEqual([true, ""]);
    channel.sentBefore = 11;
    expect([channel.ready(), notes.text]).toEqual([false, ""]);
    socket.give(bytes("first, "));
    expect([channel.resumed, channel.ready(), notes.text]).toEqual([1, false, "first, "]);
    socket.give(bytes("then"));
    expect([channel.resumed, channel.ready(), notes.text]).toEqual([2, true, "first, thenlast"]);
    channel.incoming = bytes(", more");
    expect([channel.ready(), notes.text]).toEqual([true, "first, thenlast, more"]);
  });

  test("end the connection if the socket has delivered more bytes than the peer announced", () => {
    const { socket, channel, notes } = offering(true);
    socket.give(bytes("too much"));
    channel.sentBefore = 3;
    channel.incoming = bytes("x");
    channel.ready();
    const why = "the connection was ended: the peer has sent bytes by the socket after those in shared memory";
    expect([socket.calls, notes.text, channel.closed]).toEqual([[`destroy: ${why}`], "too much", 1]);
  });

  test("are the last valid bytes: later bytes of the socket or a broken ring end the connection", () => {
    for (const [breaks, why] of [
      [
        ({ socket }: ReturnType<typeof offering>) => socket.give(bytes("and more")),
        "the peer has sent bytes by the socket after those in shared memory",
      ],
      [
        ({ channel }: ReturnType<typeof offering>) => {
          channel.broken = true;
          channel.ready();
        },
        "the peer has written positions that cannot be into shared memory",
      ],
    ] as const) {
      const made = offering(true);
      const { channel, socket, notes } = made;
      channel.sentBefore = 0;
      channel.incoming = bytes("in memory");
      channel.ready();
      breaks(made);
      expect([notes.text, socket.calls]).toEqual(["in memory", [`destroy: the connection was ended: ${why}`]]);
    }
  });

  test("are read up to about the size of one ring before the end of the socket is reported", () => {
    const { socket, channel, notes } = offering(true);
    channel.sentBefore = 0;
    // This peer never stops writing.
    channel.incoming = Buffer.alloc(100 * RING_BYTES);
    socket.sink.closed(new Error("lost"));
    expect([notes.ends, channel.closed]).toEqual([["lost"], 1]);
    expect(notes.size >= RING_BYTES && notes.size < 2 * RING_BYTES).toBe(true);
  });

  test("are read in turns of one megabyte, so that other connections get their turn", () => {
    const { channel, notes } = offering(true);
    channel.sentBefore = 0;
    channel.incoming = Buffer.alloc(10_000_000);
    expect([channel.ready(), notes.size]).toEqual([true, 1 << 20]);
    expect([channel.ready(), notes.size]).toEqual([true, 2 << 20]);
  });

  test("are not delivered after the reader destroys the pipe, and neither are bytes of the socket", () => {
    const memory = offering(true);
    memory.channel.sentBefore = 0;
    memory.channel.incoming = Buffer.alloc(200_000);
    memory.notes.onBytes = () => memory.pipe.destroy(new Error("enough"));
    memory.channel.ready();
    expect([memory.notes.size, memory.channel.closed > 0]).toEqual([64 * 1024, true]);
    const socket = offering(true);
    socket.notes.onBytes = () => socket.pipe.destroy(new Error("enough"));
    socket.socket.give(bytes("x"));
    expect([socket.notes.text, socket.channel.resumed]).toEqual(["x", 0]);
    socket.socket.give(bytes("y"));
    expect(socket.notes.text).toBe("x");
  });

  test("are not read from a channel that is closed during a write", () => {
    const { pipe, channel, notes } = offering(true);
    channel.sentBefore = 0;
    channel.room = 0;
    pipe.write([bytes("waits")], () => pipe.destroy());
    channel.room = 100;
    channel.incoming = bytes("x");
    channel.ready();
    expect([String(channel.written), notes.text]).toEqual(["waits", ""]);
  });
});

describe("a write into the channel", () => {
  test("completes at once if it is short, and in a microtask if it is long", async () => {
    const { pipe } = offering(true);
    const done: string[] = [];
    pipe.write([Buffer.alloc(10_000), Buffer.alloc(6384)], () => done.push("short"));
    expect(done).toEqual(["short"]);
    pipe.write([Buffer.alloc(10_000), Buffer.alloc(6385)], () => done.push("long"));
    expect(done).toEqual(["short"]);
    await Promise.resolve();
    expect(done).toEqual(["short", "long"]);
  });

  test("waits for room and keeps its order, and the socket is closed once after all writes", () => {
    const { socket, pipe, channel } = offering(true);
    const done: number[] = [];
    channel.room = 4;
    pipe.write([bytes("abc"), bytes("def")], () => done.push(1));
    pipe.write([bytes("ghi")], () => done.push(2));
    pipe.close();
    pipe.close();
    expect([String(channel.written), done, socket.calls]).toEqual(["abcd", [], []]);
    channel.room = 3;
    channel.ready();
    expect([String(channel.written), done, socket.calls]).toEqual(["abcdefg", [1], []]);
    channel.room = 100;
    channel.ready();
    expect([String(channel.written), done, socket.calls]).toEqual(["abcdefghi", [1, 2], ["close"]]);
  });

  test("ends the connection if the peer has broken the ring", async () => {
    const { socket, pipe, channel } = offering(true);
    let done = 0;
    channel.room = -1;
    pipe.write([bytes("x")], () => done++);
    const why = "the connection was ended: the peer has written positions that cannot be into shared memory";
    expect([socket.calls, channel.closed]).toEqual([[`destroy: ${why}`], 1]);
    await Promise.resolve();
    expect(done).toBe(1);
  });
});

describe("the end of a pipe", () => {
  test("is the end of its socket, is reported once, and stops all reads and writes", async () => {
    const { socket, pipe, notes } = offering(false);
    pipe.destroy(new Error("enough"));
    pipe.close();
    expect(socket.calls).toEqual(["destroy: enough"]);
    socket.give(bytes("late"));
    socket.sink.closed(new Error("enough"));
    expect([notes.text, notes.ends]).toEqual(["", ["enough"]]);
    let done = 0;
    const before = socket.written.length;
    pipe.write([bytes("late")], () => done++);
    expect([done, socket.written.length]).toEqual([0, before]);
    await Promise.resolve();
    expect(done).toBe(1);
  });

  test("by its own close leaves the pipe open for the last bytes of the other side", () => {
    const { socket, pipe, notes } = offering(false);
    pipe.close();
    pipe.close();
    expect(socket.calls).toEqual(["close"]);
    socket.give(bytes("last words"));
    expect(notes.text).toBe("last words");
  });

  test("can come before the first bytes, and an offered channel is then closed without a read", () => {
    const { socket, notes, made } = joining();
    socket.sink.closed();
    expect([notes.ends, made]).toEqual([["in order"], []]);
    const other = offering();
    other.channel.incoming = bytes("nobody has joined");
    other.channel.sentBefore = 0;
    other.socket.sink.closed();
    expect([other.notes.text, other.notes.ends, other.channel.closed]).toEqual(["", ["in order"], 1]);
  });
});

test("classifyFirstBytes recognises that bytes are no offer at the first different byte", () => {
  const said = writeOffer(offer);
  for (let fill = 0; fill < OFFER_BYTES; fill++) expect(classifyFirstBytes(said, fill, OFFER_BYTES)).toBe("more");
  expect(classifyFirstBytes(said, OFFER_BYTES, OFFER_BYTES)).toBe("whole");
  for (let at = 0; at < 4; at++) {
    const other = said.slice();
    other[at] = 0;
    expect([classifyFirstBytes(other, at, OFFER_BYTES), classifyFirstBytes(other, at + 1, OFFER_BYTES)]).toEqual([
      "more",
      "else",
    ]);
  }
});

test("ref and unref of a pipe call ref and unref of its socket", () => {
  const { socket, pipe } = offering();
  pipe.ref();
  pipe.unref();
  expect(socket.calls).toEqual(["ref", "unref"]);
});
