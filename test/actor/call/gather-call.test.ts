/** The answers of several actors to one call, in isolation: which answers it awaits, its end, and its result. */
import { beforeEach, describe, expect, test } from "vitest";
import type { CalledEndpoint } from "../../../runtime/actor/call/call-future.js";
import { GatherAll, type GatherCall, GatherReduced, GatherSettled } from "../../../runtime/actor/call/gather-call.js";
import type { RankCall } from "../../../runtime/actor/call/rank-call.js";
import { SingleCall } from "../../../runtime/actor/call/single-call.js";
import { setMainRoot } from "../../../runtime/actor/context.js";
import { RemoteError } from "../../../runtime/actor/delivery/error-codec.js";
import { type ActorError, DeliveryError, SupervisionError } from "../../../runtime/actor/errors.js";
import { portsRead } from "../../../runtime/actor/port/announce-holders.js";
import type { MeshView } from "../../../runtime/actor/reference/mesh-view.js";
import { type Region, wholeRegion } from "../../../runtime/shape/index.js";
import type { Codec } from "../../../runtime/wire/codec.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { Reader } from "../../../runtime/wire/reader.js";
import { StillClock, settled } from "../parts.js";

const list = codec.array(codec.int32) as Codec<unknown>;
let told: string[];
let clock: StillClock;
beforeEach(() => {
  told = [];
  clock = new StillClock();
  setMainRoot(undefined);
});

const viewOf = (size: number) =>
  ({
    size,
    extent: { gpus: size },
    answerRegion: wholeRegion({ gpus: size }) as Region,
    record: { name: "counters" },
    actorNames: (ranks: readonly number[]) => ranks.map((rank) => `counters[${rank}]`),
  }) satisfies Partial<Record<keyof MeshView, unknown>> as unknown as MeshView;

const calledOf = (view: MeshView, result: Codec<unknown> | undefined = list): CalledEndpoint => ({
  label: "counters.list",
  result,
  clock,
  view,
  isInternal: false,
});

/** Makes the calls to the ranks as if they had been sent. */
function sent(gather: GatherCall<unknown>, size: number): RankCall[] {
  return Array.from({ length: size }, (_, rank) => {
    const abandon = ({ rank }: RankCall, reason: number) => void told.push(`rank ${rank} given up: ${reason}`);
    return Object.assign(gather.callAt(rank), { id: rank + 1, session: { abandon } as never });
  });
}

function begin<G extends GatherCall<unknown>>(make: (called: CalledEndpoint, view: MeshView) => G, size: number) {
  const view = viewOf(size);
  const gather = make(calledOf(view), view);
  return { gather, calls: sent(gather, size) };
}

const all = (size: number) => begin((called, view) => new GatherAll<number[], string>(called, view), size);
const outcomes = (size: number) => begin((called, view) => new GatherSettled<number[], string>(called, view), size);

function reader(value: unknown, type = list): Reader {
  const bytes = value instanceof Uint8Array ? value : type.encode(value);
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length);
  return r;
}
const broken = () => reader(new Uint8Array([200]));
const thrown = (actor: string, message: string) => new RemoteError(actor, new RangeError(message));
const lost = new DeliveryError("failed", "it has failed");
const failure = (promise: Promise<unknown>): Promise<ActorError> => promise.then(undefined as never, (error) => error);

describe("call", () => {
  test("resolves with the values in rank order when all actors have answered", async () => {
    const { gather, calls } = all(3);
    gather.allSent();
    calls[2]!.answered(reader([2]));
    calls[0]!.answered(reader([0]));
    await settled();
    expect(gather.settled).toBe(false);
    calls[1]!.answered(reader([1]));
    const values = await gather;
    expect([[...values.values()], values.extent]).toEqual([[[0], [1], [2]], { gpus: 3 }]);
  });

  test("to no actors resolves when it has been sent", async () => {
    const { gather } = all(0);
    expect(gather.settled).toBe(false);
    gather.allSent();
    expect([...(await gather).values()]).toEqual([]);
  });

  test("decodes an answer only once if it equals one of the last four different answers", async () => {
    const { gather, calls } = all(8);
    for (const [rank, value] of [1, 2, 1, 3, 4, 5, 2, 1].entries()) calls[rank]!.answered(reader([value]));
    const values = [...(await gather).values()];
    expect(values).toEqual([[1], [2], [1], [3], [4], [5], [2], [1]]);
    expect(values[2]).toBe(values[0]);
    expect(values[6]).toBe(values[1]);
    // An answer is compared with four earlier ones, and the first is no longer among them.
    expect(values[7]).not.toBe(values[0]);
  });

  test("keeps an answer although its memory is overwritten later", async () => {
    const { gather, calls } = all(2);
    const r = reader([1]);
    calls[0]!.answered(r);
    r.bytes.fill(0);
    calls[1]!.answered(reader([1]));
    expect([...(await gather).values()]).toEqual([[1], [1]]);
  });

  test("rejects with the error of the lowest rank when all have ended, and lists the other errors", async () => {
    const { gather, calls } = all(4);
    calls[3]!.failed(thrown("counters[3]", "three"));
    calls[1]!.failed(thrown("counters[1]", "one"));
    calls[0]!.answered(reader([0]));
    await settled();
    expect(gather.settled).toBe(false);
    calls[2]!.answered(broken());
    const error = await failure(gather);
    expect([error.message, error.rank, error.actor, error.remoteName]).toEqual(["one", 1, "counters[1]", "RangeError"]);
    expect(error.others.map(({ message }) => message)).toEqual(["three"]);
  });

  test("rejects with a CodecError if the answer of the lowest rank cannot be decoded", async () => {
    const { gather, calls } = all(2);
    calls[1]!.failed(thrown("counters[1]", "one"));
    calls[0]!.answered(broken());
    expect((await failure(gather)).name).toBe("CodecError");
  });

  test("rejects at once when an actor has failed, and ignores later answers", async () => {
    const { gather, calls } = all(3);
    calls[1]!.failed(lost);
    expect(gather.settled).toBe(true);
    const error = await failure(gather);
    expect(error).toBeInstanceOf(SupervisionError);
    expect(error.message).toBe("cannot call counters.list on rank 1: it has failed");
    calls[0]!.answered(reader([0]));
    calls[2]!.failed(thrown("counters[2]", "late"));
    gather.allSent();
    gather.answeredBy([0], reader([0]));
    gather.reset();
    expect(await failure(gather)).toBe(error);
  });

  test("that is abandoned gives up its cast down the tree and the calls to all ranks once", async () => {
    const { gather } = all(2);
    gather.castStarted((reason) => void told.push(`cast given up: ${reason}`), {} as never);
    gather.abandon(new Error("enough"), 1);
    gather.abandon(new Error("again"), 1);
    expect((await failure(gather)).message).toBe("enough");
    expect(told).toEqual(["cast given up: 1", "rank 0 given up: 1", "rank 1 given up: 1"]);
  });

  test("of an endpoint without a result resolves with undefined for each rank", async () => {
    const view = viewOf(2);
    const called = { ...calledOf(view), result: undefined };
    const gather = new GatherAll<void, string>(called, view);
    for (const call of sent(gather as GatherCall<unknown>, 2)) call.answered(reader([1]));
    expect([...(await gather).values()]).toEqual([undefined, undefined]);
  });

  test("accepts one answer for several ranks that a process on the way has combined", async () => {
    const { gather } = all(3);
    gather.answeredBy([0, 2], reader([7]));
    expect(gather.settled).toBe(false);
    gather.answeredBy([1], reader([8]));
    expect([...(await gather).values()]).toEqual([[7], [8], [7]]);
  });

  test("rejects with a CodecError if one answer for several ranks cannot be decoded", async () => {
    const { gather } = all(2);
    gather.answeredBy([0, 1], broken());
    expect((await failure(gather)).name).toBe("CodecError");
  });

  test("discards earlier answers when it is reset", async () => {
    const { gather } = all(2);
    gather.answeredBy([0], reader([1]));
    gather.reset();
    gather.answeredBy([1], reader([2]));
    await settled();
    expect(gather.settled).toBe(false);
    gather.answeredBy([0], reader([3]));
    expect([...(await gather).values()]).toEqual([[3], [2]]);
  });

  test("discards earlier errors when it is reset", async () => {
    const { gather, calls } = all(2);
    calls[0]!.failed(thrown("counters[0]", "once"));
    gather.reset();
    for (const call of calls) call.answered(reader([5]));
    expect([...(await gather).values()]).toEqual([[5], [5]]);
  });
});

describe("callSettled", () => {
  test("resolves with the outcome of each rank, including ranks whose actor has failed", async () => {
    const { gather, calls } = outcomes(3);
    calls[0]!.failed(lost);
    calls[2]!.failed(thrown("counters[2]", "two"));
    expect(gather.settled).toBe(false);
    calls[1]!.answered(reader([1]));
    const values = [...(await gather).values()];
    expect(values).toMatchObject([
      { status: "rejected", reason: { name: "SupervisionError", ranks: [0] } },
      { status: "fulfilled", value: [1] },
      { status: "rejected", reason: { name: "ActorError", message: "two" } },
    ]);
  });
});

describe("reduce", () => {
  const text = codec.string as Codec<unknown>;
  const joinedTexts = (size: number, fold?: (values: readonly string[]) => string) => {
    const view = viewOf(size);
    const gather = new GatherReduced<string, string>(
      calledOf(view, text),
      view,
      fold ?? ((values) => values.join("|")),
      "join",
    );
    return { gather, calls: sent(gather as GatherCall<unknown>, size) };
  };

  test("folds all answers in rank order", async () => {
    const { gather, calls } = joinedTexts(3);
    expect(gather.reduction).toBe("join");
    for (const rank of [2, 0, 1]) calls[rank]!.answered(reader(`${rank}`, text));
    expect(await gather).toBe("0|1|2");
  });

  test("puts a result that was folded on the way at the position of its first rank", async () => {
    const { gather } = joinedTexts(5);
    gather.foldedBy([3, 4], reader("3+4", text));
    gather.foldedBy([0], reader("0", text));
    gather.foldedBy([1, 2], reader("1+2", text));
    expect(await gather).toBe("0|1+2|3+4");
  });

  test("rejects with the error of a handler, of the fold function, or of a failed actor", async () => {
    const failed = joinedTexts(2);
    failed.calls[1]!.failed(thrown("counters[1]", "one"));
    failed.calls[0]!.answered(reader("0", text));
    expect((await failure(failed.gather)).message).toBe("one");
    let folds = 0;
    const unfolded = joinedTexts(2, () => `${++folds}`);
    unfolded.calls[1]!.failed(thrown("counters[1]", "one"));
    unfolded.calls[0]!.answered(reader("0", text));
    await failure(unfolded.gather);
    expect(folds).toBe(0);
    const refusing = joinedTexts(1, () => {
      throw new TypeError("cannot fold");
    });
    refusing.calls[0]!.answered(reader("0", text));
    expect((await failure(refusing.gather)).message).toBe("cannot fold");
    const lostOne = joinedTexts(2);
    lostOne.calls[0]!.failed(lost);
    expect(await failure(lostOne.gather)).toBeInstanceOf(SupervisionError);
  });

  test("call and callSettled have no reduction, so their answers are not folded on the way", () => {
    expect([all(1).gather.reduction, outcomes(1).gather.reduction]).toEqual(["", ""]);
  });
});

/** Decodes numbers with a port in each, as far as its owner can tell. */
const withPorts = Object.assign(Object.create(list) as Codec<unknown>, {
  decodeFrom: (r: Reader) => {
    told.push("decoded");
    portsRead.push({ target: {} as never });
    return list.decodeFrom(r);
  },
});
const owner = { ownDecoded: () => told.push(`owns ${portsRead.splice(0).length}`) };

describe("an answer with ports", () => {
  const gathered = () => {
    const view = viewOf(2);
    return new GatherAll<number[], string>(calledOf(view, withPorts), view);
  };
  const answeringCall = (gather: GatherCall<unknown>, rank: number) =>
    Object.assign(gather.callAt(rank), { id: rank + 1, session: { sender: { ports: owner } } as never });

  test("makes the caller the holder of the ports, whether it comes directly or by a tree", async () => {
    const direct = gathered();
    answeringCall(direct, 0).answered(reader([1]));
    expect(told).toEqual(["decoded", "owns 1"]);
    told.length = 0;
    const byTree = gathered();
    byTree.castStarted(() => {}, owner as never);
    byTree.answeredBy([0, 1], reader([1]));
    expect(told).toEqual(["decoded", "owns 1"]);
    expect([...(await byTree).values()]).toEqual([[1], [1]]);
  });

  test("is not decoded if the call has been given up", async () => {
    const gather = gathered();
    const call = answeringCall(gather, 0);
    Object.assign(call, { id: 0 });
    gather.cancel();
    call.answered(reader([1]));
    gather.answeredBy([0, 1], reader([1]));
    expect(told).toEqual([]);
    expect((await failure(gather)).name).toBe("AbortError");
  });

  test("without ports changes no holder", () => {
    const { gather, calls } = all(2);
    Object.assign(calls[0]!, { session: { sender: { ports: owner } } });
    gather.castStarted(() => {}, owner as never);
    calls[0]!.answered(reader([1]));
    gather.answeredBy([1], reader([1]));
    expect(told).toEqual([]);
  });
});

describe("a rejection that nobody handles", () => {
  test("is reported for errors of handlers, of decoding and of a fold", async () => {
    const unhandled: string[] = [];
    const before = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    process.on("unhandledRejection", (error) => unhandled.push((error as Error).name));
    try {
      const handler = all(1);
      handler.calls[0]!.failed(thrown("counters[0]", "zero"));
      const decoding = all(1);
      decoding.calls[0]!.answered(broken());
      const view = viewOf(1);
      const fold = () => {
        throw new TypeError("cannot fold");
      };
      const folding = new GatherReduced<number[], string>(calledOf(view), view, fold, "");
      folding.callAt(0).answered(reader([1]));
      const single = new SingleCall<unknown>(calledOf(view), 0);
      single.answered(broken());
      for (let turns = 0; turns < 3; turns++) await settled();
      expect(unhandled.sort()).toEqual(["ActorError", "CodecError", "CodecError", "TypeError"]);
    } finally {
      process.removeAllListeners("unhandledRejection");
      for (const listener of before) process.on("unhandledRejection", listener);
    }
  });
});

describe("callOne", () => {
  const one = (result: Codec<unknown> | undefined = list) => {
    const view = viewOf(3);
    const call = new SingleCall<unknown>(calledOf(view, result), 2);
    const abandon = (_call: unknown, reason: number) => void told.push(`given up: ${reason}`);
    return Object.assign(call, { id: 5, session: { abandon } as never });
  };

  test("resolves with the value of the answer", async () => {
    const call = one();
    call.answered(reader([3]));
    expect([call.settled, await call]).toEqual([true, [3]]);
  });

  test("rejects with the error of the handler, the failure of the actor, or a decoding error", async () => {
    const [threw, ended, unread] = [one(), one(), one()];
    threw.failed(thrown("counters[2]", "two"));
    ended.failed(lost);
    unread.answered(broken());
    expect(await failure(threw)).toMatchObject({ name: "ActorError", rank: 2, message: "two" });
    expect(await failure(ended)).toMatchObject({ name: "SupervisionError", ranks: [2], actors: ["counters[2]"] });
    expect((await failure(unread)).name).toBe("CodecError");
  });

  test("that is cancelled, even twice, notifies the actor once, and only if the call has been sent", async () => {
    const [call, unsent] = [one(), Object.assign(one(), { id: 0 })];
    for (const each of [call, unsent]) {
      each.cancel();
      each.cancel();
      expect(await failure(each)).toMatchObject({ name: "AbortError", message: "the call was cancelled" });
    }
    expect(told).toEqual(["given up: 0"]);
  });

  test("rejects when its timeout ends on its own clock, unless it was answered before", async () => {
    const [late, early] = [one(), one()];
    for (const call of [late, early]) call.guard(50, undefined);
    early.answered(reader([1]));
    expect(clock.waiting).toBe(1);
    clock.pass(50);
    expect((await failure(late)).message).toBe("cannot call counters.list: no answer within 50 ms");
    expect([await early, told]).toEqual([[1], ["given up: 1"]]);
  });

  test("rejects with its own timeout if an error of the actor comes after the timeout", async () => {
    const [call, other] = [one(), one()];
    for (const each of [call, other]) each.guard(50, undefined);
    clock.sleep(49);
    other.failed(thrown("counters[2]", "in time"));
    clock.sleep(1);
    call.failed(thrown("counters[2]", "aborted"));
    expect((await failure(call)).message).toBe("cannot call counters.list: no answer within 50 ms");
    expect((await failure(other)).message).toBe("in time");
  });

  test("with a signal and no timeout rejects with the error of the actor, however late it comes", async () => {
    const call = one();
    call.guard(0, new AbortController().signal);
    clock.sleep(60_000);
    call.failed(thrown("counters[2]", "slow"));
    expect((await failure(call)).message).toBe("slow");
  });

  test("has the stack of its caller if it was refused, and gets the functions that await it otherwise", async () => {
    async function awaitsTheCall(call: Promise<unknown>): Promise<unknown> {
      return await call;
    }
    const [refused, answered] = [one(), one()];
    const error = new SupervisionError("counters.list", [2], "it has failed");
    const { stack } = error;
    const outcomes = [failure(awaitsTheCall(refused)), failure(awaitsTheCall(answered))];
    refused.refuse(error);
    answered.failed(lost);
    expect((await outcomes[0]!).stack).toBe(stack);
    expect((await outcomes[1]!).stack).toMatch(/\n {4}at (async )?awaitsTheCall \(/);
  });

  test("rejects without a cause if the actor has failed without one", async () => {
    const [without, withCause] = [one(), one()];
    without.failed(lost);
    const cause = new Error("why");
    withCause.failed(new DeliveryError("failed", "it has failed", { cause }));
    expect("cause" in (await failure(without))).toBe(false);
    expect((await failure(withCause)).cause).toBe(cause);
  });

  test("rejects with the reason of its abort signal when the signal is aborted", async () => {
    const given = new AbortController();
    const call = one();
    call.guard(0, given.signal);
    given.abort(new Error("enough"));
    expect((await failure(call)).message).toBe("enough");
    expect([told, clock.waiting]).toEqual([["given up: 0"], 0]);
  });
});
