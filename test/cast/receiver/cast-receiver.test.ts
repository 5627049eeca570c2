/** Tests of the data that a proc holds for a sender on another proc: replies until the root has them, and the newest trees. */
import { expect, test } from "vitest";
import { CastReceiver, CastReply, type ReplyRoute } from "../../../runtime/cast/receiver/cast-receiver.js";
import type { OrderedArrivals } from "../../../runtime/cast/receiver/ordered-arrivals.js";
import { AnswerKind } from "../../../runtime/cast/tree/answers.js";
import type { Session } from "../../../runtime/link/outbound/session.js";
import { Reader } from "../../../runtime/wire/reader.js";

function routeOf(lineage: number) {
  const answers: unknown[] = [];
  const route: ReplyRoute = {
    lineage,
    answered: (seq, rank, answer) => answers.push([seq, rank, String(answer.bytes)]),
    answerOfError: ({ message }) => ({
      kind: AnswerKind.error,
      isProtobuf: false,
      bytes: Buffer.from(message),
      blocks: [],
    }),
  };
  return { route, answers };
}

/** Creates the data for a sender, with one reply for each of the given casts. */
function endOf(casts: readonly number[]) {
  const end = new CastReceiver();
  const { route } = routeOf(1);
  for (const seq of casts) end.createReply(route, seq, 0);
  return end;
}

test("a reply keeps its answer, and sends the answer through the current part of the tree", () => {
  const [old, now] = [routeOf(1), routeOf(1)];
  const reply = new CastReply(old.route, 4, 2);
  reply.route = now.route;
  const bytes = Buffer.from("yes");
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length);
  reply.answered(r);
  expect([old.answers, now.answers]).toEqual([[], [[4, 2, "yes"]]]);
  expect(String(reply.answer?.bytes)).toBe("yes");
  expect(reply.answer?.kind).toBe(AnswerKind.value);
  const failed = new CastReply(now.route, 5, 3);
  failed.failed(new Error("no"));
  expect(now.answers.at(-1)).toEqual([5, 3, "no"]);
  expect(failed.answer?.kind).toBe(AnswerKind.error);
});

test("`abandon` cancels the call at the actor only if the call is pending", () => {
  const given: unknown[] = [];
  const reply = new CastReply(routeOf(1).route, 4, 2);
  expect([reply.id, reply.isAbandoned]).toEqual([0, false]);
  reply.abandon(3);
  reply.session = { abandon: (...what: unknown[]) => given.push(what) } as unknown as Session;
  reply.abandon(3);
  expect(given).toEqual([]);
  reply.id = 7;
  reply.abandon(3);
  expect(given).toEqual([[reply, 3]]);
});

test("a tree that arrives after a newer tree of its lineage is not the newest, and is not set up", () => {
  const end = new CastReceiver();
  expect([end.isNewest(1, 1), end.isNewest(1, 5), end.isNewest(1, 3), end.isNewest(1, 5)]).toEqual([
    true,
    true,
    false,
    true,
  ]);
  expect(end.isNewest(2, 2)).toBe(true);
  end.forgetLineage(1);
  expect(end.isNewest(1, 3)).toBe(true);
});

test("replies are found by cast and rank", () => {
  const end = new CastReceiver();
  const { route } = routeOf(1);
  const [a, b, c] = [end.createReply(route, 1, 0), end.createReply(route, 1, 1), end.createReply(route, 2, 0)];
  expect([end.replyOf(1, 0), end.replyOf(1, 1), end.replyOf(2, 0)]).toEqual([a, b, c]);
  expect([end.replyOf(2, 1), end.replyOf(3, 0)]).toEqual([undefined, undefined]);
  expect(end.pendingCasts).toEqual([1, 2]);
});

test.each([
  ["a run of one cast", [{ start: 2, count: 1 }], [1, 3, 4]],
  ["a run as long as the number of casts", [{ start: 3, count: 4 }], [1, 2]],
  ["a run longer than the number of casts", [{ start: 2, count: 100 }], [1]],
  ["a long run that wraps around and ends at a kept cast", [{ start: 0xffff_fff0, count: 18 }], [2, 3, 4]],
  [
    "several runs",
    [
      { start: 1, count: 1 },
      { start: 4, count: 1 },
    ],
    [2, 3],
  ],
])("`forgetCasts` removes the replies of finished casts: %s", (_, casts, left) => {
  const end = endOf([1, 2, 3, 4]);
  end.forgetCasts(casts);
  expect(end.pendingCasts).toEqual(left);
});

test("`forgetCasts` finds casts correctly when their numbers wrap around at 32 bits", () => {
  const end = endOf([0xffff_fffe, 0xffff_ffff, 0, 1]);
  end.forgetCasts([{ start: 0xffff_ffff, count: 2 }]);
  expect(end.pendingCasts).toEqual([0xffff_fffe, 1]);
});

test("`keepUnfinished` removes the finished casts of one lineage, and keeps the casts of other lineages", () => {
  const end = new CastReceiver();
  for (const [line, seq] of [
    [1, 10],
    [1, 11],
    [2, 12],
  ] as const) {
    for (const rank of [0, 1]) end.createReply(routeOf(line).route, seq, rank);
  }
  // A reply may have moved to another tree in the meantime; one reply of the tree is enough.
  end.replyOf(11, 0)!.route = routeOf(2).route;
  end.createReply(routeOf(2).route, 13, 0);
  end.keepUnfinished(1, [10]);
  expect(end.pendingCasts).toEqual([10, 12, 13]);
});

test("`cancel` cancels a cast in the queue and in its handler, and `cancelAll` cancels all casts", () => {
  const end = endOf([1, 2]);
  const cancelled: number[] = [];
  end.arrivals.set(0, { cancel: (seq: number) => cancelled.push(seq) } as unknown as OrderedArrivals);
  const abandoned: unknown[] = [];
  for (const seq of [1, 2]) {
    const reply = end.replyOf(seq, 0)!;
    reply.id = seq;
    reply.session = {
      abandon: (one: CastReply, reason: number) => abandoned.push([one.id, reason]),
    } as unknown as Session;
  }
  end.cancel(1, 4);
  end.cancel(7, 4);
  expect([cancelled, abandoned, end.pendingCasts]).toEqual([[1, 7], [[1, 4]], [2]]);
  end.cancelAll(5);
  expect([cancelled, abandoned, end.pendingCasts]).toEqual([
    [1, 7, 2],
    [
      [1, 4],
      [2, 5],
    ],
    [],
  ]);
});
