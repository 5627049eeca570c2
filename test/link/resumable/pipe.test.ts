/**
 * Tests of a pipe that outlives its connections, step by step. The connections are recorded, and time passes only when
 * the test says so.
 */
import { expect, test } from "vitest";
import { type ResumableLimits, resumableLimits } from "../../../runtime/link/resumable/limits.js";
import { ResumablePipe } from "../../../runtime/link/resumable/pipe.js";
import {
  newAckSegment,
  newEndSegment,
  newResetSegment,
  SEGMENT_HEADER,
  SegmentKind,
  writeSegmentHeader,
} from "../../../runtime/link/resumable/segment.js";
import type { Pipe, PipeSink } from "../../../runtime/link/transport/pipe.js";
import { ManualClock } from "./cut-world.js";

/** A connection whose writes complete when the test says so. */
class Connection implements Pipe {
  readonly log: string[] = [];
  readonly #done: (() => void)[] = [];
  sink: PipeSink | undefined;

  open(sink: PipeSink): void {
    this.sink = sink;
    this.log.push("open");
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    this.log.push(...segments(Buffer.concat(chunks)));
    this.#done.push(done);
  }

  close(): void {
    this.log.push("close");
  }

  destroy(error?: Error): void {
    this.log.push(error === undefined ? "destroy" : `destroy: ${error.message}`);
  }

  ref(): void {
    this.log.push("ref");
  }

  unref(): void {
    this.log.push("unref");
  }

  /** Completes the oldest write. */
  took(): void {
    this.#done.shift()!();
  }

  get waiting(): number {
    return this.#done.length;
  }

  says(...all: readonly Uint8Array[]): void {
    for (const bytes of all) {
      for (let at = 0; at < bytes.length; ) {
        const into = this.sink!.buffer();
        const size = Math.min(into.length, bytes.length - at);
        into.set(bytes.subarray(at, at + size));
        this.sink!.received(size);
        at += size;
      }
    }
  }

  /** Returns the recorded calls since the last time. */
  news(): string[] {
    return this.log.splice(0);
  }
}

function segments(bytes: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const word = bytes.readUInt32LE(at);
    const [kind, size] = [word >>> 24, word & 0xff_ffff];
    const body = bytes.subarray(at + SEGMENT_HEADER, at + SEGMENT_HEADER + size);
    if (kind === SegmentKind.data) found.push(size > 40 ? `${size} bytes` : `data ${body}`);
    else if (kind === SegmentKind.ack) found.push(`ack ${body.readBigUInt64LE()}`);
    else if (kind === SegmentKind.end) found.push("end");
    else found.push(`reset ${body}`);
    at += SEGMENT_HEADER + size;
  }
  return found;
}

function data(text: string | Uint8Array): Uint8Array {
  const body = Buffer.from(text);
  const header = new Uint8Array(SEGMENT_HEADER);
  writeSegmentHeader(header, 0, SegmentKind.data, body.length);
  return Buffer.concat([header, body]);
}

const given: Partial<ResumableLimits> = { resendBytes: 640, giveUpMs: 1000, ackMs: 50, overdueMs: 300 };

/** Creates a pipe without a connection. */
function lasting(more: Partial<ResumableLimits> = {}, watches = true) {
  const clock = new ManualClock();
  const told: string[] = [];
  const received: Buffer[] = [];
  const memory = Buffer.alloc(64 * 1024);
  const sink: PipeSink = {
    buffer: () => memory,
    received: (n) => void received.push(Buffer.from(memory.subarray(0, n))),
    closed: (error) => void told.push(`closed ${error?.message ?? "in order"}`),
  };
  const overdue = watches ? { ackOverdue: () => void told.push("overdue") } : {};
  const pipe = new ResumablePipe({
    clock,
    limits: resumableLimits({ ...given, ...more }),
    peer: "the peer",
    connectionLost: () => void told.push("lost"),
    pipeEnded: () => void told.push("over"),
    ...overdue,
  });
  const write = (text: string | Uint8Array): void =>
    pipe.write([Buffer.from(text)], () => void told.push(`wrote ${text.length > 40 ? text.length : text}`));
  const connect = (offset = 0, hears?: number): Connection => {
    const connection = new Connection();
    pipe.resume(connection, offset, hears);
    return connection;
  };
  const news = (): string[] => told.splice(0);
  return { clock, pipe, write, connect, sink, news, heard: () => Buffer.concat(received.splice(0)).toString() };
}

/** Creates a pipe with a sink and a connection. */
function connected(more: Partial<ResumableLimits> = {}, watches = true) {
  const made = lasting(more, watches);
  made.pipe.open(made.sink);
  const connection = made.connect();
  expect(connection.news()).toEqual(["open"]);
  return { ...made, connection };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

test("writes without a connection go over the first connection, with at most two at a time", async () => {
  const { pipe, write, connect, news } = lasting();
  expect([pipe.isConnected, pipe.hasEnded, pipe.canResume(0), pipe.canResume(1)]).toEqual([false, false, true, false]);
  write("a");
  write("b");
  const connection = connect();
  expect(connection.news()).toEqual(["data ab"]);
  write("c");
  write("d");
  expect(connection.news()).toEqual(["data c"]);
  expect([pipe.isConnected, pipe.unconfirmedBytes, news()]).toEqual([true, 3, []]);
  connection.took();
  expect([connection.news(), news(), connection.waiting]).toEqual([["data d"], ["wrote a", "wrote b"], 2]);
  connection.took();
  connection.took();
  expect(news()).toEqual(["wrote c", "wrote d"]);
  pipe.write([new Uint8Array(0)], () => void write("x"));
  expect(connection.news()).toEqual([]);
  await soon();
  expect(connection.news()).toEqual(["data x"]);
});

test("received bytes are delivered, and acknowledged after ackMs or after a 64th of resendBytes", () => {
  const { connection, heard, clock, pipe } = connected();
  connection.says(data("hello"));
  expect([heard(), pipe.bytesReceived, connection.news()]).toEqual(["hello", 5, []]);
  clock.pass(49);
  expect(connection.news()).toEqual([]);
  clock.pass(1);
  expect(connection.news()).toEqual(["ack 5"]);
  connection.says(data("123456789"));
  expect(connection.news()).toEqual([]);
  connection.took();
  connection.says(data("0"));
  expect(connection.news()).toEqual(["ack 15"]);
  clock.pass(1000);
  expect(connection.news()).toEqual([]);
});

test("one acknowledgement is sent at a time, and bytes that arrive meanwhile are acknowledged later", () => {
  const { connection, clock } = connected();
  connection.says(data("0123456789"));
  connection.says(data("0123456789"));
  expect(connection.news()).toEqual(["ack 10"]);
  connection.took();
  clock.pass(49);
  expect(connection.news()).toEqual([]);
  clock.pass(1);
  expect(connection.news()).toEqual(["ack 20"]);
  connection.took();
  clock.pass(1000);
  expect(connection.news()).toEqual([]);
});

test("a replaced connection carries no acknowledgements, and its late bytes and its end are ignored", () => {
  const { connection, clock, connect, write, heard, pipe } = connected();
  connection.says(data("0123456789"), data("abc"));
  write("x");
  connection.news();
  const next = connect(0, 13);
  expect([connection.news(), next.news()]).toEqual([["destroy"], ["open", "data x"]]);
  connection.took();
  connection.took();
  clock.pass(40);
  expect([connection.news(), next.news(), pipe.bytesReceived]).toEqual([[], [], 13]);
  connection.says(data("late"));
  connection.sink!.closed();
  expect([heard(), pipe.isConnected]).toEqual(["0123456789abc", true]);
});

test("a new connection continues after the bytes that the peer has, and repeated bytes are dropped", () => {
  const { connection, connect, write, heard, pipe, clock } = connected();
  write("abc");
  write("def");
  connection.says(data("0123"));
  connection.news();
  expect([pipe.canResume(0), pipe.canResume(6), pipe.canResume(7)]).toEqual([true, true, false]);
  const next = connect(2, 1);
  expect(next.news()).toEqual(["open", "data cdef"]);
  expect([pipe.unconfirmedBytes, pipe.canResume(1), pipe.canResume(2)]).toEqual([4, false, true]);
  expect(heard()).toBe("0123");
  next.says(data("12"));
  expect([heard(), pipe.bytesReceived]).toEqual(["", 4]);
  clock.pass(50);
  // The acknowledgement counts the bytes of this connection, and no more.
  expect(next.news()).toEqual(["ack 3"]);
  next.says(data("345"));
  expect([heard(), pipe.bytesReceived]).toEqual(["45", 6]);
});

test("a large number of repeated bytes is dropped in pieces", () => {
  const { connection, connect, heard, pipe } = connected({ resendBytes: 1 << 20 });
  connection.says(data(new Uint8Array(40_000)));
  expect(heard().length).toBe(40_000);
  const next = connect(0, 0);
  next.says(data(new Uint8Array(40_000)), data("x"));
  expect([heard(), pipe.bytesReceived]).toEqual(["x", 40_001]);
});

test("a suspended pipe destroys its connection, ignores its bytes, and ends after the time limit", () => {
  const { connection, pipe, heard, news, clock } = connected();
  pipe.suspend();
  pipe.suspend();
  connection.says(data("x"));
  expect([connection.news(), heard(), pipe.isConnected, news()]).toEqual([["destroy"], "", false, []]);
  clock.pass(1000);
  expect(news()[0]).toBe("over");
});

test("acknowledged bytes are released and make room for waiting writes", () => {
  const { connection, pipe, write, news } = connected({ resendBytes: 10 });
  write("0123456789abc");
  expect([connection.news(), pipe.unconfirmedBytes]).toEqual([["data 0123456789"], 10]);
  connection.took();
  expect(news()).toEqual([]);
  connection.says(newAckSegment(2));
  expect([connection.news(), pipe.unconfirmedBytes]).toEqual([["data ab"], 10]);
  connection.says(newAckSegment(12));
  expect([connection.news(), pipe.unconfirmedBytes]).toEqual([["data c"], 1]);
  connection.took();
  connection.took();
  expect(news()).toEqual(["wrote 0123456789abc"]);
  connection.says(newAckSegment(13), newAckSegment(13));
  expect(pipe.unconfirmedBytes).toBe(0);
});

test.each([
  ["of what was not sent", 3, "cannot read ack: expected 1 to 2 bytes, got 3"],
  ["of less than before", 0, "cannot read ack: expected 1 to 2 bytes, got 0"],
])("an acknowledgement %s ends the link with an error, and the peer receives the reason", async (_, acked, why) => {
  const { connection, write, news, pipe } = connected();
  write("ab");
  connection.says(newAckSegment(1));
  connection.news();
  connection.says(newAckSegment(acked));
  expect(connection.news()).toEqual([`reset ${why}`, "close"]);
  await soon();
  expect([news(), pipe.hasEnded]).toEqual([["over", `closed ${why}`], true]);
});

test("large writes are passed to the connection in parts of about 256 KiB", () => {
  const { connection, write, news } = connected({ resendBytes: 10_000_000 });
  write(new Uint8Array(1_000_000));
  const [first, second] = connection.news().map((one) => Number.parseInt(one, 10));
  expect(first).toBeGreaterThanOrEqual(256 * 1024);
  expect(first).toBeLessThan(256 * 1024 + 64 * 1024);
  expect(second).toBeGreaterThanOrEqual(256 * 1024);
  expect([connection.waiting, news()]).toEqual([2, []]);
  for (let i = 0; i < 4; i++) connection.took();
  expect(news()).toEqual(["wrote 1000000"]);
});

test("a closed pipe sends all writes and its end, and ends without an error when the peer ends too", async () => {
  const { connection, pipe, write, news } = connected();
  write("a");
  write("b");
  write("c");
  pipe.close();
  pipe.close();
  expect(connection.news()).toEqual(["data a", "data b"]);
  connection.took();
  expect(connection.news()).toEqual(["data c", "end"]);
  news();
  write("late");
  await soon();
  expect([news(), connection.news()]).toEqual([["wrote late"], []]);
  // The peer ends the pipe, because it may not have received everything yet.
  expect(pipe.hasEnded).toBe(false);
  connection.says(newEndSegment());
  expect(connection.news()).toEqual(["end", "close"]);
  await soon();
  expect([news(), pipe.hasEnded]).toEqual([["over", "closed in order"], true]);
});

test("a closed pipe sends its end on each new connection, after the missing bytes", () => {
  const { connection, pipe, write, connect } = connected();
  pipe.close();
  expect(connection.news()).toEqual(["end"]);
  const other = connected();
  other.write("abc");
  other.pipe.close();
  other.connection.news();
  expect(other.connect(1).news()).toEqual(["open", "data bc", "end"]);
  write("x");
  expect(connect(0).news()).toEqual(["open", "end"]);
});

test("the loss of a connection is reported, and a new connection keeps the pipe alive", async () => {
  const { connection, pipe, news, connect, clock } = connected();
  connection.sink!.closed(new Error("cut"));
  expect([news(), pipe.isConnected, pipe.hasEnded]).toEqual([["lost"], false, false]);
  clock.pass(999);
  expect(connect().news()).toEqual(["open"]);
  clock.pass(5000);
  await soon();
  expect([news(), pipe.hasEnded]).toEqual([[], false]);
});

test.each([
  ["the last connection", (pipe: ResumablePipe) => void pipe, ": cut"],
  ["the last attempt", (pipe: ResumablePipe) => pipe.attemptFailed(new Error("nobody listens")), ": nobody listens"],
])("a link without a connection is given up after the time limit, with the reason of %s", async (_, fail, why) => {
  const { connection, pipe, news, clock, write } = connected();
  write("a");
  connection.sink!.closed(new Error("cut"));
  fail(pipe);
  news();
  write("b");
  clock.pass(999);
  expect(pipe.hasEnded).toBe(false);
  clock.pass(1);
  await soon();
  const text = `the connection to the peer was lost and not restored within 1000 ms${why}`;
  expect([news(), pipe.hasEnded, pipe.unconfirmedBytes]).toEqual([["over", "wrote b", `closed ${text}`], true, 0]);
});

test("a link that never had a connection is given up after the time limit, without a reason", async () => {
  const { pipe, sink, news, clock } = lasting();
  clock.pass(1000);
  pipe.open(sink);
  pipe.destroy();
  expect(news()).toEqual(["over", "closed the connection to the peer was lost and not restored within 1000 ms"]);
});

test("a destroyed pipe sends its reason to the peer once and drops all unsent bytes", async () => {
  for (const [error, said, heard] of [
    [new Error("broken here"), "broken here", "broken here"],
    [undefined, "the process at the other end has ended the link", "in order"],
  ] as const) {
    const { connection, pipe, write, news, clock } = connected();
    for (const text of ["a", "b", "c"]) write(text);
    connection.news();
    pipe.destroy(error);
    pipe.destroy(new Error("again"));
    expect(connection.news()).toEqual([`reset ${said}`, "close"]);
    expect([pipe.unconfirmedBytes, pipe.isConnected, pipe.hasEnded]).toEqual([0, false, true]);
    await soon();
    expect(news()).toEqual(["over", "wrote c", `closed ${heard}`]);
    connection.took();
    connection.took();
    write("late");
    await soon();
    expect([news(), connection.news()]).toEqual([["wrote a", "wrote b", "wrote late"], []]);
    clock.pass(999);
    expect(connection.news()).toEqual([]);
    clock.pass(1);
    expect(connection.news()).toEqual(["destroy"]);
    expect(clock.waiting).toBe(0);
  }
});

test("a pipe that the peer has ended reports the reason of the peer", async () => {
  const { connection, news } = connected();
  connection.says(newResetSegment("it is busy"));
  expect(connection.news()).toEqual(["end", "close"]);
  await soon();
  expect(news()).toEqual(["over", "closed the peer has ended the link: it is busy"]);
});

test("a connection that comes after the end of the pipe carries only this end and is closed", () => {
  for (const [error, word] of [
    [new Error("broken here"), "reset broken here"],
    [undefined, "end"],
  ] as const) {
    const { pipe, connect, clock } = lasting();
    pipe.destroy(error);
    const late = connect();
    expect(late.news()).toEqual([word, "close"]);
    clock.pass(1000);
    expect([late.news(), pipe.isConnected]).toEqual([["destroy"], false]);
  }
});

test("a sink that is opened late reads from the existing connection, or receives the end of the pipe", () => {
  const { pipe, sink, connect, news, heard } = lasting();
  const connection = connect();
  expect(connection.news()).toEqual([]);
  pipe.open(sink);
  expect(connection.news()).toEqual(["open"]);
  connection.says(data("x"));
  expect(heard()).toBe("x");
  const other = lasting();
  other.pipe.destroy(new Error("over"));
  other.pipe.open(other.sink);
  expect([news(), other.news()]).toEqual([[], ["over", "closed over"]]);
});

test("ref and unref of the pipe apply to its connection and to later connections", () => {
  const { pipe, connect } = lasting();
  pipe.ref();
  const one = connect();
  expect(one.news()).toEqual(["ref"]);
  pipe.unref();
  pipe.ref();
  pipe.unref();
  expect(one.news()).toEqual(["unref", "ref", "unref"]);
  expect(connect().news()).toEqual([]);
});

test("missing acknowledgements are reported after growing times, until an acknowledgement arrives", () => {
  const { connection, write, news, clock } = connected();
  clock.pass(10_000);
  expect(news()).toEqual([]);
  write("a");
  connection.took();
  news();
  clock.pass(299);
  expect(news()).toEqual([]);
  clock.pass(1);
  expect(news()).toEqual(["overdue"]);
  clock.pass(599);
  expect(news()).toEqual([]);
  clock.pass(1);
  expect(news()).toEqual(["overdue"]);
  // An acknowledgement resets the time.
  write("b");
  connection.says(newAckSegment(1));
  clock.pass(1200);
  expect(news()).toEqual([]);
  clock.pass(300);
  expect(news()).toEqual(["overdue"]);
  connection.says(newAckSegment(2));
  clock.pass(10_000);
  expect(news()).toEqual([]);
});

test("the time between two reports of a missing acknowledgement grows up to one minute", () => {
  const { write, news, clock } = connected();
  write("a");
  clock.pass(300 * 255);
  expect(news()).toHaveLength(8);
  for (let i = 0; i < 3; i++) {
    clock.pass(60_000);
    expect(news()).toHaveLength(1);
  }
});

test("missing acknowledgements are not reported without a listener or without a connection", () => {
  const { write, news, clock, connection } = connected({}, false);
  write("a");
  clock.pass(10_000);
  expect([news(), connection.news()]).toEqual([[], ["data a"]]);
  const other = connected();
  other.write("a");
  other.connection.sink!.closed();
  other.clock.pass(900);
  expect(other.news()).toEqual(["lost"]);
});

test("bytes that arrive after an acknowledgement are acknowledged after ackMs again", () => {
  const { connection, clock } = connected();
  connection.says(data("0123456789"));
  expect(connection.news()).toEqual(["ack 10"]);
  connection.took();
  connection.says(data("a"));
  expect(connection.news()).toEqual([]);
  clock.pass(50);
  expect(connection.news()).toEqual(["ack 11"]);
});

test("a repeated acknowledgement of the same offset is accepted", () => {
  const { connection, write, pipe } = connected();
  connection.says(newAckSegment(0));
  write("abc");
  connection.says(newAckSegment(2), newAckSegment(2));
  expect([pipe.hasEnded, pipe.unconfirmedBytes]).toEqual([false, 1]);
});

test("a pipe without unacknowledged bytes has no running timer", () => {
  const { clock, connection, write } = connected();
  expect(clock.waiting).toBe(0);
  write("a");
  expect(clock.waiting).toBe(1);
  connection.says(newAckSegment(1));
  clock.pass(300);
  expect(clock.waiting).toBe(0);
});

test("a pipe that its reader destroys sends its reason, no acknowledgement, and keeps one timer", () => {
  for (const text of ["a", "more than ten bytes"]) {
    const { connection, pipe, sink, clock } = connected();
    sink.received = () => pipe.destroy(new Error("enough"));
    connection.says(data(text));
    expect([connection.news(), clock.waiting]).toEqual([["reset enough", "close"], 1]);
  }
});

test("a pipe with ref and unref before its first connection does not call ref on that connection", () => {
  const { pipe, connect } = lasting();
  pipe.ref();
  pipe.unref();
  expect(connect().news()).toEqual([]);
});

test("the error at the end of a pipe has the error of the last attempt as its cause", async () => {
  const { pipe, clock, sink } = lasting();
  const causes: unknown[] = [];
  sink.closed = (error) => void causes.push(error?.cause);
  pipe.open(sink);
  const failure = new Error("nobody listens");
  pipe.attemptFailed(failure);
  clock.pass(1000);
  await soon();
  expect(causes).toEqual([failure]);
});

test("a closed pipe sends its end once per connection, after all other bytes", () => {
  const { connection, pipe, write } = connected();
  write("a");
  pipe.close();
  expect(connection.news()).toEqual(["data a", "end"]);
  connection.took();
  pipe.close();
  expect(connection.news()).toEqual([]);
});

test("a closed pipe sends all missing bytes on a new connection before its end", () => {
  const { connection, pipe, connect, write } = connected({ resendBytes: 1 << 21 });
  const large = new Uint8Array(900_000);
  write(large);
  while (connection.waiting > 0) connection.took();
  pipe.close();
  const next = connect(0);
  const first = next.news();
  expect([first.length, first.includes("end")]).toEqual([3, false]);
  while (next.waiting > 0) next.took();
  expect(next.news().at(-1)).toBe("end");
});

test("writes complete when the connection has taken them, and not when there is only room for them", () => {
  const { connect, write, news } = lasting({ resendBytes: 1 << 21 });
  write(new Uint8Array(300_000));
  write(new Uint8Array(300_001));
  const connection = connect();
  expect(news()).toEqual([]);
  connection.took();
  expect(news()).toEqual(["wrote 300000"]);
  while (connection.waiting > 0) connection.took();
  expect(news()).toEqual(["wrote 300001"]);
});

test("a connection that a done callback replaces gets no more bytes, and the next one gets all bytes", () => {
  /** A connection whose writes complete at once. */
  class Quick extends Connection {
    override write(chunks: readonly Uint8Array[], done: () => void): void {
      super.write(chunks, done);
      this.took();
    }
  }
  const { pipe, connect } = lasting({ resendBytes: 1 << 22 });
  const quick = new Quick();
  let next: Connection | undefined;
  const size = 300_000;
  pipe.write([new Uint8Array(size)], () => {
    next = connect(0);
  });
  pipe.write([new Uint8Array(2_000_000)], () => {});
  pipe.close();
  pipe.resume(quick, 0);
  const given = quick.news().map((text) => Number.parseInt(text, 10));
  expect(given.slice(0, -1).reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(2 * 400_000);
  expect(quick.log).toEqual([]);
  // The next connection gets all bytes from the beginning, and the end behind them.
  while (next!.waiting > 0) next!.took();
  const all = next!.news();
  const sum = all.slice(0, -1).reduce((total, text) => total + Number.parseInt(text, 10), 0);
  expect([sum, all.at(-1)]).toEqual([size + 2_000_000, "end"]);
});

test("a connection that the done callback of its last write replaces does not carry the end of the pipe", () => {
  class Quick extends Connection {
    override write(chunks: readonly Uint8Array[], done: () => void): void {
      super.write(chunks, done);
      this.took();
    }
  }
  const { pipe, connect } = lasting();
  const quick = new Quick();
  let next: Connection | undefined;
  pipe.write([Buffer.from("abc")], () => {
    next = connect(0);
  });
  pipe.close();
  pipe.resume(quick, 0);
  expect([quick.news(), next!.news()]).toEqual([
    ["data abc", "destroy"],
    ["data abc", "end"],
  ]);
});
