/** Tests of links over a pipe of real bytes: lanes, credit, calls and the end of a link. */
import { describe, expect, test } from "vitest";
import { RankCall, type RankCallOwner } from "../../runtime/actor/call/rank-call.js";
import { BackpressureError, DeliveryError, MessageSizeError } from "../../runtime/link/errors.js";
import { FrameKind } from "../../runtime/link/frame/frame.js";
import { codec } from "../../runtime/wire/composed/index.js";
import type { Reader } from "../../runtime/wire/reader.js";
import { bytes, iface, linked, settled, texts, waiter } from "./fake-host.js";
import { observeWrites } from "./pipe-pair.js";

/** Records the outcomes of calls, by the numbers that the test has given them. */
class Answers implements RankCallOwner {
  readonly log: string[] = [];
  call(rank: number): RankCall {
    return new RankCall(this, rank);
  }
  answered(rank: number, r: Reader): void {
    this.log.push(`${rank}: ${codec.string.decodeFrom(r)}`);
  }
  failed(rank: number, error: Error): void {
    this.log.push(`${rank} failed: ${error.message}`);
  }
  item(): void {}
  ended(): void {}
}

describe("messages", () => {
  test("sent before the peers have exchanged `hello` arrive in order, with their sender", async () => {
    const { far, open } = linked();
    const session = open();
    session.slotOf(iface);
    for (let i = 0; i < 100; i++) session.cast(0, 0, texts, `message ${i}`, waiter);
    await settled();
    expect(far.sink.received.map(({ text }) => text)).toEqual(Array.from({ length: 100 }, (_, i) => `message ${i}`));
    expect(far.requests[0]!.sender).toEqual({
      universe: 1n,
      proc: 10n,
      mesh: 2n,
      rank: 0,
      incarnation: 0,
      name: "sender",
    });
  });

  test("with large blocks arrive complete and in order between small messages", async () => {
    const { far, open } = linked();
    const session = open();
    const block = new Uint8Array(300_000).map((_, i) => i);
    const got: unknown[] = [];
    far.sink.message = (lane, _slot, _call, _flags, r, size) => {
      got.push(far.sink.received.length % 2 === 1 ? codec.bytes.decodeFrom(r) : codec.string.decodeFrom(r));
      far.sink.received.push({} as never);
      lane.consumed(size);
    };
    session.cast(0, 0, texts, "before", waiter);
    session.cast(0, 0, bytes, block, waiter);
    session.cast(0, 0, texts, "after", waiter);
    session.cast(0, 0, bytes, block.subarray(5, 40_005), waiter);
    await settled();
    expect([got.length, got[0], got[2]]).toEqual([4, "before", "after"]);
    expect(Buffer.compare(got[1] as Uint8Array, block)).toBe(0);
    expect(Buffer.compare(got[3] as Uint8Array, block.subarray(5, 40_005))).toBe(0);
    expect((got[1] as Uint8Array).constructor).toBe(Uint8Array);
  });

  test("with a large block hand the memory of the block to the pipe, without a copy of it", async () => {
    const { open, pipes } = linked();
    const session = open();
    await settled();
    const block = new Uint8Array(300_000).fill(7);
    const written: Uint8Array[] = [];
    const { write } = pipes[0];
    pipes[0].write = (chunks, done) => {
      written.push(...chunks);
      write.call(pipes[0], chunks, done);
    };
    session.cast(0, 0, bytes, block, waiter);
    await settled();
    const own = written.filter(({ buffer }) => buffer === block.buffer);
    expect(own.reduce((sum, { length }) => sum + length, 0)).toBe(block.length);
    expect(written.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(block.length + 1000);
  });

  test("over the frame limit are refused, and later messages are still sent", async () => {
    const { far, open } = linked({ maxFrame: 1000 });
    const session = open();
    const text = "x".repeat(2000);
    const size = codec.string.encode(text).length;
    expect(() => session.cast(0, 0, texts, text, waiter)).toThrow(
      new MessageSizeError(
        `cannot send sink.text: its message has ${size} bytes, more than the limit of 1000 for a frame; send it in parts`,
      ),
    );
    expect(() => session.cast(0, 0, bytes, new Uint8Array(40_000), waiter)).toThrow(MessageSizeError);
    session.cast(0, 0, texts, "small", waiter);
    await settled();
    expect(far.sink.received.map(({ text }) => text)).toEqual(["small"]);
  });
});

describe("credit", () => {
  test("limits the unconsumed messages, and further messages are queued in order without loss", async () => {
    const { far, open } = linked({ creditMessages: 8 });
    const session = open();
    far.sink.holds = true;
    let credited = 0;
    const count = { credited: () => void credited++ };
    for (let i = 0; i < 100; i++) if (session.cast(0, 0, texts, `${i}`, count)) credited++;
    await settled();
    expect(far.sink.received.length).toBe(8);
    expect(credited).toBe(8);
    for (let i = 0; i < far.sink.received.length; i++) {
      const { lane, size } = far.sink.received[i]!;
      lane.consumed(size);
      if (i % 3 === 0) await settled(3);
      if (i === far.sink.received.length - 1) await settled();
    }
    expect(far.sink.received.map(({ text }) => text)).toEqual(Array.from({ length: 100 }, (_, i) => `${i}`));
    expect(credited).toBe(100);
  });

  test("is counted in bytes too, and lets one large message through", async () => {
    const { far, open } = linked({ creditBytes: 1000 });
    const session = open();
    far.sink.holds = true;
    for (const size of [2000, 10, 10]) session.cast(0, 0, texts, "x".repeat(size), waiter);
    await settled();
    expect(far.sink.received.length).toBe(1);
    far.sink.received[0]!.lane.consumed(far.sink.received[0]!.size);
    await settled();
    expect(far.sink.received.length).toBe(3);
  });

  test("that is exhausted leads to BackpressureError at a full send window, and accepted messages arrive", async () => {
    const { far, open } = linked({ creditMessages: 4, sendWindowMessages: 10 });
    const session = open();
    far.sink.holds = true;
    for (let i = 0; i < 14; i++) session.cast(0, 0, texts, `${i}`, waiter);
    expect(() => session.cast(0, 0, texts, "one too many", waiter)).toThrow(BackpressureError);
    expect(() => session.cast(0, 0, texts, "one too many", waiter)).toThrow(
      /^cannot send sink\.text: 10 messages \(\d+ bytes\) already wait for the receiver, the send window being 10 messages/,
    );
    far.sink.holds = false;
    await settled();
    for (const { lane, size } of far.sink.received) lane.consumed(size);
    await settled();
    expect(far.sink.received.map(({ text }) => text)).toEqual(Array.from({ length: 14 }, (_, i) => `${i}`));
  });

  test("of a call is returned by the answer to the call", async () => {
    const { far, link, open } = linked({ creditMessages: 2 });
    const session = open();
    const answers = new Answers();
    for (let i = 0; i < 10; i++) session.call(0, texts, `${i}`, answers.call(i));
    for (let i = 0; i < 5; i++) {
      await settled();
      for (const { lane, call, text } of far.sink.received.splice(0)) {
        lane.link.sendReply(FrameKind.reply, call, false, codec.string, `re: ${text}`);
      }
    }
    await settled();
    expect(answers.log).toEqual(Array.from({ length: 10 }, (_, i) => `${i}: re: ${i}`));
    expect(link.calls.size).toBe(0);
  });
});

describe("calls", () => {
  test("a second answer to a call, or an answer to no call, has no effect", async () => {
    const { far, open } = linked();
    const session = open();
    const answers = new Answers();
    session.call(0, texts, "one", answers.call(0));
    await settled();
    const { lane, call } = far.sink.received[0]!;
    for (const text of ["first", "second"]) lane.link.sendReply(FrameKind.reply, call, false, codec.string, text);
    lane.link.sendReply(FrameKind.reply, 999, false, codec.string, "nobody");
    await settled();
    session.call(0, texts, "two", answers.call(1));
    await settled();
    lane.link.sendReply(FrameKind.reply, call, false, codec.string, "late");
    await settled();
    expect(answers.log).toEqual(["0: first"]);
  });

  test("all calls, including queued calls, fail if the pipe ends without `bye`", async () => {
    const { near, far, link, open, pipes, sender } = linked({ creditMessages: 2 });
    const session = open();
    session.slotOf(iface);
    const answers = new Answers();
    for (let i = 0; i < 4; i++) session.call(0, texts, `${i}`, answers.call(i));
    session.cast(0, 0, texts, "cast", waiter);
    await settled();
    pipes[1].destroy(new Error("killed"));
    await settled();
    const why = "failed: the connection was reset";
    expect(answers.log.sort()).toEqual([`0 ${why}`, `1 ${why}`, `2 ${why}`, `3 ${why}`]);
    expect(sender.bounces).toEqual([[0, "the connection was reset"]]);
    expect(near.ends.map((e) => e?.message)).toEqual(["the connection was reset"]);
    expect(far.sink.closed.length).toBe(1);
    expect(link.calls.size).toBe(0);
  });

  test("`bye` is not reported as a failure of the peer", async () => {
    const { near, link, other } = linked();
    await settled();
    other.close("done");
    await settled();
    expect(near.ends).toEqual([undefined]);
    expect(link.ended?.message).toBe("closed");
  });
});

describe("lanes", () => {
  test("the number of a closed lane is used again after the peer has confirmed the close", async () => {
    const { far, link, open } = linked();
    const first = open();
    first.cast(0, 0, texts, "first", waiter);
    link.closeSession(first);
    const second = open();
    expect(second.lane).toBe(2);
    await settled();
    expect(far.sink.closed.map(({ id }) => id)).toEqual([1]);
    const third = open();
    expect(third.lane).toBe(1);
    third.cast(0, 0, texts, "third", waiter);
    await settled();
    expect(far.sink.received.map(({ text, lane }) => [lane.id, text])).toEqual([
      [1, "first"],
      [1, "third"],
    ]);
  });

  test("a sender and its receiver that end at the same time close the lane once", async () => {
    const { near, far, open } = linked();
    const session = open();
    session.cast(0, 0, texts, "hello", waiter);
    await settled();
    far.sink.received[0]!.lane.sendGone("stopped", "it was stopped");
    session.close();
    await settled();
    expect(far.sink.closed.map(({ id }) => id)).toEqual([1]);
    expect([...near.ends, ...far.ends]).toEqual([]);
    expect(open().lane).toBe(1);
  });

  test("the end of a destination closes its sessions, and queued messages are returned", async () => {
    const { far, open, sender } = linked({ creditMessages: 1 });
    const session = open();
    session.slotOf(iface);
    far.sink.holds = true;
    const answers = new Answers();
    session.cast(0, 0, texts, "sent", waiter);
    session.cast(0, 0, texts, "waits", waiter);
    session.call(0, texts, "waits too", answers.call(0));
    await settled();
    far.sink.received[0]!.lane.sendGone("stopped", "it was stopped");
    await settled();
    expect(session.ended?.message).toBe("it was stopped");
    expect(sender.bounces).toEqual([[0, "it was stopped"]]);
    expect(answers.log).toEqual(["0 failed: it was stopped"]);
    expect(far.sink.closed.length).toBe(1);
  });
});

test("questions about meshes are answered in order", async () => {
  const { near, link } = linked();
  link.sendAsk(1, 5n);
  link.sendAsk(2, 6n);
  await settled();
  expect(near.answers).toEqual([
    [1, true],
    [2, false],
  ]);
});

test("frames that handlers send during a read leave in one write at the end of the read, in the same tick", async () => {
  const { near, far, link, pipes } = linked();
  await settled();
  const log: string[] = [];
  observeWrites(pipes[1], () => log.push("written"));
  far.meshQueried = (from, question) => {
    log.push("asked");
    queueMicrotask(() => log.push("microtask"));
    from.sendTell(question, true);
  };
  link.sendAsk(1, 5n);
  link.sendAsk(2, 5n);
  await settled();
  expect(log).toEqual(["asked", "asked", "written", "microtask", "microtask"]);
  expect(near.answers.length).toBe(2);
});

test("frames that are sent outside of a read leave in one write, after the ready microtasks", async () => {
  const { far, open, pipes } = linked();
  await settled();
  const session = open();
  let writes = 0;
  observeWrites(pipes[0], () => writes++);
  session.cast(0, 0, texts, "at once", waiter);
  queueMicrotask(() => queueMicrotask(() => session.cast(0, 0, texts, "soon", waiter)));
  await settled();
  expect(far.sink.received.map(({ text }) => text)).toEqual(["at once", "soon"]);
  expect(writes).toBe(1);
});

test("closing a link sends all queued messages first", async () => {
  const { far, link, open } = linked({ creditBytes: 1 << 30, creditMessages: 1000 });
  const session = open();
  for (let i = 0; i < 200; i++) session.cast(0, 0, texts, `${i} ${"x".repeat(5000)}`, waiter);
  link.close("done");
  link.end(new DeliveryError("closed", "done"));
  await settled();
  expect(far.sink.received.map(({ text }) => text.slice(0, 5).trimEnd())).toEqual(
    Array.from({ length: 200 }, (_, i) => `${i} xxxx`.slice(0, 5)),
  );
  expect(far.sink.received.map(({ text }) => text.length)).toEqual(
    Array.from({ length: 200 }, (_, i) => `${i} `.length + 5000),
  );
  expect(far.ends).toEqual([undefined]);
});
