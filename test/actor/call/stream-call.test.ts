/** The consuming side of a stream in isolation: order, the credit that it returns, and all ways in which it ends. */
import { beforeEach, describe, expect, test } from "vitest";
import type { RankCall } from "../../../runtime/actor/call/rank-call.js";
import { StreamCall } from "../../../runtime/actor/call/stream-call.js";
import type { Turn } from "../../../runtime/actor/cell/turn.js";
import { DeliveryError, SupervisionError } from "../../../runtime/actor/errors.js";
import { portsRead } from "../../../runtime/actor/port/announce-holders.js";
import type { MeshView } from "../../../runtime/actor/reference/mesh-view.js";
import type { Codec } from "../../../runtime/wire/codec.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { Reader } from "../../../runtime/wire/reader.js";
import { StillClock, settled } from "../parts.js";

const text = codec.string as Codec<unknown>;
/** A codec of strings that reads a port together with each string. */
const withPort = Object.assign(Object.create(text), {
  decodeFrom: (r: Reader) => {
    portsRead.push({} as never);
    return text.decodeFrom(r);
  },
}) as Codec<unknown>;
let told: string[];
let clock: StillClock;

beforeEach(() => {
  told = [];
  clock = new StillClock();
});

/** Makes a stream call to `size` actors as if it had been sent to all of them. */
function begin(size: number, { streamItems = 8, streamBytes = 1000, hasResult = true, hasPorts = false } = {}) {
  const view = {
    size,
    point: (rank: number) => `at ${rank}`,
    record: { name: "counters" },
    actorNames: (ranks: readonly number[]) => ranks.map((rank) => `counters[${rank}]`),
    target: (rank: number) => ({ rank, token: [0, 0] }),
  } satisfies Partial<Record<keyof MeshView, unknown>> as unknown as MeshView;
  const stream = new StreamCall("counters.watch", hasResult ? (hasPorts ? withPort : text) : undefined, view);
  stream.onFinished = () => void told.push("left");
  const calls = Array.from({ length: size }, (_, rank) => {
    const call = stream.callAt(rank);
    const link = {
      limits: { streamItems, streamBytes },
      sendStreamCredit: (id: number, items: number, bytes: number) =>
        void told.push(`room of ${id}: ${items} items, ${bytes} bytes`),
    };
    const abandon = ({ rank }: RankCall, reason: number) => void told.push(`rank ${rank} given up: ${reason}`);
    const ownDecoded = () => void told.push(`${portsRead.splice(0).length} ports of rank ${rank} held`);
    return Object.assign(call, {
      id: rank + 1,
      session: { link, abandon, sender: { ports: { ownDecoded } } } as never,
    }) as RankCall;
  });
  return { stream, calls };
}

/** A reader of an item that arrives: an encoded string, or the given bytes. */
function reader(value: unknown): Reader {
  const bytes = typeof value === "string" ? text.encode(value) : (value as Uint8Array);
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length);
  return r;
}

const at = (rank: number, value: unknown) => ({ done: false, value: [`at ${rank}`, value] });
const over = { done: true, value: undefined };
const failure = (promise: Promise<unknown>): Promise<Error> => promise.then(undefined as never, (error) => error);

describe("values of a stream", () => {
  test("come in the order of their arrival, each with the point of its rank", async () => {
    const { stream, calls } = begin(2);
    const first = stream.next();
    calls[1]!.item(reader("a"), 10);
    calls[0]!.item(reader("b"), 10);
    calls[1]!.item(reader("c"), 10);
    expect([await first, await stream.next(), await stream.next()]).toEqual([at(1, "a"), at(0, "b"), at(1, "c")]);
  });

  test("go to the waiting reads in the order in which these were made", async () => {
    const { stream, calls } = begin(1);
    const asked = [stream.next(), stream.next()];
    calls[0]!.item(reader("a"), 10);
    calls[0]!.item(reader("b"), 10);
    calls[0]!.item(reader("c"), 10);
    expect(await Promise.all([...asked, stream.next()])).toEqual([at(0, "a"), at(0, "b"), at(0, "c")]);
  });

  test("are undefined for an endpoint without a result", async () => {
    const { stream, calls } = begin(1, { hasResult: false });
    calls[0]!.answered(reader("ignored"));
    expect([await stream.next(), await stream.next()]).toEqual([at(0, undefined), over]);
  });

  test("may contain ports, which the reading actor then holds", async () => {
    const { stream, calls } = begin(2, { hasPorts: true });
    calls[1]!.item(reader("a"), 10);
    expect([await stream.next(), told, portsRead]).toEqual([at(1, "a"), ["1 ports of rank 1 held"], []]);
  });

  test("can be read by a loop, and the stream is given up when the loop is left", async () => {
    const { stream, calls } = begin(1);
    for (const each of ["a", "b", "c"]) calls[0]!.item(reader(each), 10);
    const seen = [];
    for await (const [, value] of stream) {
      seen.push(value);
      if (value === "b") break;
    }
    expect([seen, told]).toEqual([
      ["a", "b"],
      ["room of 1: 2 items, 20 bytes", "left", "rank 0 given up: 2"],
    ]);
  });
});

describe("stream credit", () => {
  test("is returned to the rank of the items when a quarter of the item window was taken", async () => {
    const { stream, calls } = begin(2);
    for (const each of ["a", "b", "c", "d", "e"]) calls[0]!.item(reader(each), 10);
    calls[1]!.item(reader("x"), 7);
    await stream.next();
    expect(told).toEqual([]);
    await stream.next();
    expect(told).toEqual(["room of 1: 2 items, 20 bytes"]);
    await stream.next();
    await stream.next();
    expect(told).toEqual(["room of 1: 2 items, 20 bytes", "room of 1: 2 items, 20 bytes"]);
    await stream.next();
    await stream.next();
    expect(told).toHaveLength(2);
  });

  test("is returned when a quarter of the byte window was taken", async () => {
    const { stream, calls } = begin(1, { streamItems: 100 });
    for (const size of [249, 1, 250]) calls[0]!.item(reader("a"), size);
    await stream.next();
    expect(told).toEqual([]);
    await stream.next();
    expect(told).toEqual(["room of 1: 2 items, 250 bytes"]);
    await stream.next();
    expect(told.slice(1)).toEqual(["room of 1: 1 items, 250 bytes"]);
  });

  test("is returned for an item that a waiting read takes", async () => {
    const { stream, calls } = begin(1, { streamItems: 4 });
    const asked = stream.next();
    calls[0]!.item(reader("a"), 10);
    await asked;
    expect(told).toEqual(["room of 1: 1 items, 10 bytes"]);
  });

  test("is not returned for an answer that a waiting read takes", async () => {
    const { stream, calls } = begin(1, { streamItems: 4 });
    const asked = stream.next();
    calls[0]!.answered(reader("an answer"));
    expect([await asked, told]).toEqual([at(0, "an answer"), ["left"]]);
  });

  test("is not returned for an answer, nor to a rank that has ended, is given up or has no session", async () => {
    const { stream, calls } = begin(4, { streamItems: 4 });
    calls[0]!.answered(reader("an answer"));
    calls[1]!.item(reader("its last"), 10);
    calls[1]!.ended();
    Object.assign(calls[2]!, { id: 0 });
    calls[2]!.item(reader("given up"), 10);
    Object.assign(calls[3]!, { session: undefined });
    calls[3]!.item(reader("nobody's"), 10);
    for (let i = 0; i < 4; i++) await stream.next();
    expect(told).toEqual([]);
  });
});

describe("the end of a stream", () => {
  test("comes when all ranks have ended, each by an end or by an answer", async () => {
    const { stream, calls } = begin(3);
    const asked = [stream.next(), stream.next(), stream.next()];
    calls[0]!.ended();
    calls[1]!.answered(reader("a"));
    await settled();
    expect(told).toEqual([]);
    calls[2]!.ended();
    expect(await Promise.all(asked)).toEqual([at(1, "a"), over, over]);
    expect(told).toEqual(["left"]);
    expect(await stream.next()).toEqual(over);
  });

  test("comes after the values that have arrived", async () => {
    const { stream, calls } = begin(1);
    calls[0]!.item(reader("a"), 10);
    calls[0]!.ended();
    expect([await stream.next(), await stream.next(), await stream.next()]).toEqual([at(0, "a"), over, over]);
  });

  test("comes at once for a call to no actors, which can also be left", async () => {
    const { stream } = begin(0);
    expect([await stream.next(), await stream.return()]).toEqual([over, over]);
  });

  test("by return() gives up the ranks that still run and discards the values that have arrived", async () => {
    const { stream, calls } = begin(3);
    calls[1]!.ended();
    calls[0]!.item(reader("a"), 10);
    expect(await stream.return()).toEqual(over);
    expect(told).toEqual(["left", "rank 0 given up: 2", "rank 2 given up: 2"]);
    expect(await stream.next()).toEqual(over);
    calls[2]!.item(reader("late"), 10);
    expect(await stream.next()).toEqual(over);
    expect(await stream.return()).toEqual(over);
    expect(told).toHaveLength(3);
  });

  test("by its disposal ends all reads that wait", async () => {
    const { stream } = begin(1);
    const asked = [stream.next(), stream.next()];
    await stream[Symbol.asyncDispose]();
    expect(await Promise.all(asked)).toEqual([over, over]);
  });

  test("by return() does not give up ranks that the call was not sent to", async () => {
    const { stream, calls } = begin(1);
    Object.assign(calls[0]!, { id: 0 });
    await stream.return();
    expect(told).toEqual(["left"]);
  });
});

describe("an error of a stream", () => {
  const lost = new DeliveryError("failed", "it has failed");
  const text = "cannot call counters.watch on rank 1: it has failed";

  test("comes once, after the values that have arrived, and gives up the other ranks", async () => {
    const { stream, calls } = begin(3);
    calls[0]!.item(reader("a"), 10);
    calls[1]!.failed(lost);
    expect(told).toEqual(["left", "rank 0 given up: 2", "rank 2 given up: 2"]);
    expect(await stream.next()).toEqual(at(0, "a"));
    const error = await failure(stream.next());
    expect(error).toBeInstanceOf(SupervisionError);
    expect(error.message).toBe(text);
    expect(await stream.next()).toEqual(over);
  });

  test("goes to the first waiting read, and the other reads get the end of the stream", async () => {
    const { stream, calls } = begin(2);
    const [first, second] = [failure(stream.next()), stream.next()];
    calls[1]!.failed(lost);
    expect([(await first).message, await second, await stream.next()]).toEqual([text, over, over]);
  });

  test("that abandons the stream reaches a waiting read or the next read unchanged", async () => {
    const error = new TypeError("no");
    const [waiting, later] = [begin(1), begin(1)];
    const asked = failure(waiting.stream.next());
    for (const { stream } of [waiting, later]) stream.abandon(error, 0);
    expect([await asked, await failure(later.stream.next())]).toEqual([error, error]);
    expect(told).toEqual(["left", "rank 0 given up: 0", "left", "rank 0 given up: 0"]);
  });

  test("is ignored if it follows another error or the end of the stream", async () => {
    const { stream, calls } = begin(2);
    stream.abandon(new Error("first"), 1);
    stream.abandon(new Error("second"), 1);
    calls[0]!.failed(lost);
    expect((await failure(stream.next())).message).toBe("first");
    expect(await stream.next()).toEqual(over);
    expect(told).toEqual(["left", "rank 0 given up: 1", "rank 1 given up: 1"]);
    const ended = begin(1);
    ended.calls[0]!.ended();
    ended.stream.abandon(new Error("late"), 1);
    expect(await ended.stream.next()).toEqual(over);
  });

  test("is discarded if the stream is left before the error was read", async () => {
    const { stream } = begin(1);
    stream.abandon(new Error("no"), 0);
    await stream.return();
    expect(await stream.next()).toEqual(over);
  });

  test("is a CodecError if an item cannot be decoded", async () => {
    const { stream, calls } = begin(2);
    calls[0]!.item(reader(new Uint8Array([9])), 10);
    expect((await failure(stream.next())).name).toBe("CodecError");
    expect(told).toEqual(["left", "rank 0 given up: 2", "rank 1 given up: 2"]);
  });
});

describe("a time limit of a stream", () => {
  test("ends the stream with a timeout error when the time has passed", async () => {
    const { stream } = begin(1);
    stream.guard(clock, 50, undefined);
    const asked = failure(stream.next());
    clock.pass(50);
    expect((await asked).message).toBe("cannot call counters.watch: no answer within 50 ms");
    expect(told).toEqual(["left", "rank 0 given up: 1"]);
  });

  test.each<[string, (begun: ReturnType<typeof begin>) => void]>([
    ["ended", ({ calls }) => calls[0]!.ended()],
    ["left", ({ stream }) => void stream.return()],
  ])("is removed when the stream was %s", (_, end) => {
    const begun = begin(1);
    begun.stream.guard(clock, 50, undefined);
    end(begun);
    expect(clock.waiting).toBe(0);
  });
});

test("a stream leaves its reading handler when it ends, and its timeout error names that handler", async () => {
  const unbound: unknown[] = [];
  const { stream, calls } = begin(1);
  expect(stream.waitText).toBe("");
  const turn = {
    removeOutstanding: (call: unknown) => unbound.push(call),
    call: 0,
    label: "others[0].read",
    cell: { name: "others[0]", isAwaitedBy: () => false },
  } satisfies Partial<Record<keyof Turn, unknown>>;
  stream.turn = turn as unknown as Turn;
  expect(stream.waitText).toBe("; it waited in the chain others[0].read > counters[0].watch");
  calls[0]!.ended();
  expect(unbound).toEqual([stream]);
  const late = begin(1).stream;
  late.turn = turn as unknown as Turn;
  late.guard(clock, 50, undefined);
  const asked = failure(late.next());
  clock.pass(50);
  expect((await asked).message).toBe(
    "cannot call counters.watch: no answer within 50 ms; it waited in the chain others[0].read > counters[0].watch",
  );
});
