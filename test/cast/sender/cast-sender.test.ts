/** Tests of a sender at the root of its trees: the frames that it sends, and the outcomes that it reports. */
import { expect, test } from "vitest";
import { AnswerKind } from "../../../runtime/cast/tree/answers.js";
import { FlushMode } from "../../../runtime/cast/tree/branch.js";
import { CastFlag, CastOrdering } from "../../../runtime/cast/tree/cast-frame.js";
import { BackpressureError, DeliveryError } from "../../../runtime/link/errors.js";
import { FrameFlag, FrameKind } from "../../../runtime/link/frame/frame.js";
import type { MessageSender } from "../../../runtime/link/outbound/message-sender.js";
import type { Session } from "../../../runtime/link/outbound/session.js";
import { UnhandledMessages } from "../../../runtime/link/outbound/unhandled-messages.js";
import { type DownFrame, describeCasts, ownProc, scriptedSender, turns } from "./scripted-sender.js";

const kindsIn = (frames: readonly DownFrame[], kind: number) =>
  frames.flatMap((one) => ("kind" in one && one.kind === kind ? [[one.to, one.b]] : []));
const setupsIn = (frames: readonly DownFrame[]) => frames.flatMap((one) => ("setup" in one ? [one] : []));
const placesIn = (frames: readonly DownFrame[]) => frames.flatMap((one) => ("cast" in one ? [one.head.positions] : []));
const flush = (to: bigint, what: number = FlushMode.tell) => ({ to, kind: FrameKind.treeFlush, b: what, slot: 0 });

test("the first cast sets up a tree, and is sent when all procs have reported their schemas", () => {
  const { castSender, cast, sent, from, whole, news, awake } = scriptedSender();
  expect(castSender.hasCredit(whole)).toBe(false);
  cast("a");
  expect(setupsIn(sent()).map(({ to, setup }) => [to, setup])).toEqual(
    [1n, 2n, 3n].map((proc, rank) => [
      proc,
      {
        root: ownProc,
        location: "root",
        tree: 1,
        lineage: 1,
        unfinished: [],
        sender: { universe: 7n, proc: ownProc, mesh: 2n, rank: 0, incarnation: 0, name: "sender" },
        mesh: 20n,
        owner: 21n,
        interface: whole.interface,
        size: 3,
        extent: undefined,
        window: { casts: 4096, bytes: 4 * 1024 * 1024 },
        procs: [{ proc, location: `at ${proc}`, ranks: [{ viewRank: rank, meshRank: rank }] }],
      },
    ]),
  );
  expect([news(), awake()]).toEqual([[["awake"]], 1]);
  from(1n).ready();
  from(2n).ready();
  expect([sent(), castSender.hasCredit(whole)]).toEqual([[], false]);
  from(3n).ready();
  const positions = [{ count: 3, index: 0, ordering: CastOrdering.plain }];
  const head = { finished: [], reduction: "", positions };
  const down = { cast: 1, flags: 0, endpoint: 0, head, message: [..."a"].map((char) => char.charCodeAt(0)) };
  expect(sent()).toEqual([1n, 2n, 3n].map((to) => ({ to, ...down })));
  expect([news(), awake(), castSender.hasCredit(whole)]).toEqual([[["a", "credited"]], 0, true]);
  cast("b");
  expect(describeCasts(sent())).toEqual(["1: 2 b", "2: 2 b", "3: 2 b"]);
});

test("actors on one proc share one part of the tree, and every slice has its own tree", () => {
  const { cast, sent, viewOf, ready } = scriptedSender({ size: 4, procOf: (rank) => BigInt((rank % 2) + 1) });
  cast("a", viewOf(3, 0, 1));
  expect(setupsIn(sent()).map(({ to, setup }) => [to, setup.procs[0]!.ranks])).toEqual([
    [
      2n,
      [
        { viewRank: 0, meshRank: 3 },
        { viewRank: 2, meshRank: 1 },
      ],
    ],
    [1n, [{ viewRank: 1, meshRank: 0 }]],
  ]);
  ready();
  cast("b", viewOf(2));
  cast("c", viewOf(3, 0, 1));
  const frames = sent();
  expect(setupsIn(frames).map(({ to, setup }) => [to, setup.tree, setup.procs[0]!.ranks])).toEqual([
    [1n, 2, [{ viewRank: 0, meshRank: 2 }]],
  ]);
  // The earlier cast is sent first, although the other tree can be used already.
  expect(describeCasts(frames)).toEqual(["2: 1 a", "1: 1 a"]);
});

test("a call ends when all ranks have answered, and the next cast reports that the call is finished", () => {
  const { call, ready, from, news, sent, awake, cast } = scriptedSender();
  const pending = call("a");
  ready();
  news();
  from(1n).answers(1, 0, "x");
  from(2n).answers(1, 1, "no", AnswerKind.error);
  expect([pending.isComplete, awake()]).toEqual([false, 1]);
  from(3n).answers(1, 2, "z", AnswerKind.folded);
  expect(news()).toEqual([
    ["a", [0], "x"],
    ["a", "failed", 1, "read no"],
    ["a", "folded", [2], "z"],
  ]);
  expect([pending.isComplete, pending.isTaken, awake()]).toEqual([true, true, 0]);
  from(1n).answers(1, 0, "again");
  expect(news()).toEqual([]);
  sent();
  // The next cast reports the finished cast, and the cast after it does not repeat the report.
  cast("b");
  cast("c");
  const heads = sent().flatMap((one) => ("cast" in one && one.to === 1n ? [one.head.finished] : []));
  expect(heads).toEqual([[{ start: 1, count: 1 }], []]);
});

test("finished casts with consecutive numbers are reported as one run", () => {
  const { call, ready, from, sent, cast, viewOf } = scriptedSender({ size: 1 });
  for (const text of ["a", "b", "c", "d"]) call(text, viewOf(0));
  ready();
  for (const seq of [1, 2, 4]) from(1n).answers(seq, 0, "x");
  sent();
  cast("e", viewOf(0));
  const finished = sent().flatMap((one) => ("cast" in one ? one.head.finished : []));
  expect(finished).toEqual([
    { start: 1, count: 2 },
    { start: 4, count: 1 },
  ]);
});

test("casts without credit wait until all actors have taken earlier casts", () => {
  const { cast, castSender, ready, sent, from, whole, news } = scriptedSender({ limits: { creditMessages: 2 } });
  for (const text of ["a", "b", "c", "d"]) cast(text);
  ready();
  expect(describeCasts(sent()).filter((one) => one.startsWith("1"))).toEqual(["1: 1 a", "1: 2 b"]);
  expect(castSender.hasCredit(whole)).toBe(false);
  news();
  from(1n).taken(1);
  from(2n).taken(2);
  expect(describeCasts(sent())).toEqual([]);
  from(3n).taken(1);
  expect(describeCasts(sent())).toEqual(["1: 3 c", "2: 3 c", "3: 3 c"]);
  expect(news()).toEqual([["c", "credited"]]);
  for (const proc of [1n, 2n, 3n]) from(proc).taken(3);
  expect(describeCasts(sent())).toEqual(["1: 4 d", "2: 4 d", "3: 4 d"]);
  expect(castSender.hasCredit(whole)).toBe(true);
});

test("casts without credit in bytes wait, and a cast that is larger than the limit is sent nevertheless", () => {
  const { cast, ready, sent, from, viewOf } = scriptedSender({ size: 1, limits: { creditBytes: 4 } });
  const view = viewOf(0);
  for (const text of ["aaa", "b", "c", "dddddddd", "e"]) cast(text, view);
  ready();
  expect(describeCasts(sent())).toEqual(["1: 1 aaa", "1: 2 b"]);
  from(1n).taken(2);
  expect(describeCasts(sent())).toEqual(["1: 3 c", "1: 4 dddddddd"]);
  from(1n).taken(3);
  expect(describeCasts(sent())).toEqual([]);
  from(1n).taken(4);
  expect(describeCasts(sent())).toEqual(["1: 5 e"]);
});

test("the send window limits the waiting casts and their bytes", () => {
  const { cast, castSender, ready, from, sent } = scriptedSender({
    limits: { sendWindowMessages: 2, sendWindowBytes: 10, creditMessages: 1 },
  });
  expect(() => castSender.checkRoom(1000, "b.one")).not.toThrow();
  cast("aaaa");
  expect(() => castSender.checkRoom(6, "b.one")).not.toThrow();
  expect(() => castSender.checkRoom(7, "b.one")).toThrow(
    new BackpressureError(
      "cannot send b.one: 1 messages (4 bytes) already wait for the receivers, the send window being 2 messages and " +
        "10 bytes; await what broadcast and send return",
    ),
  );
  cast("bb");
  expect(() => castSender.checkRoom(0, "b.one")).toThrow(/^cannot send b.one: 2 messages \(6 bytes\) already wait/);
  ready();
  expect(() => castSender.checkRoom(8, "b.one")).not.toThrow();
  expect(() => castSender.checkRoom(9, "b.one")).toThrow(/1 messages \(2 bytes\)/);
  for (const proc of [1n, 2n, 3n]) from(proc).taken(1);
  expect(() => castSender.checkRoom(1000, "b.one")).not.toThrow();
  expect(describeCasts(sent())).toHaveLength(6);
});

test("a call that is cancelled before it was sent keeps its place as an empty cast, and frees its room", () => {
  const { call, castSender, cast, ready, sent, from, news, awake } = scriptedSender({ limits: { sendWindowBytes: 5 } });
  const given = call("aaaa");
  cast("b");
  expect(() => castSender.checkRoom(1, "b.one")).toThrow(BackpressureError);
  castSender.cancel(given, 1);
  castSender.cancel(given, 1);
  expect(() => castSender.checkRoom(4, "b.one")).not.toThrow();
  ready();
  const frames = sent().flatMap((one) => ("cast" in one && one.to === 1n ? [[one.cast, one.flags, one.message]] : []));
  expect(frames).toEqual([
    [1, CastFlag.empty, []],
    [2, 0, [98]],
  ]);
  from(1n).answers(1, 0, "x");
  expect([news(), awake()]).toEqual([[["awake"], ["b", "credited"]], 0]);
});

test("a call that is cancelled after it was sent is cancelled on all procs, once", () => {
  const { call, castSender, ready, sent, from, news, awake, cast } = scriptedSender();
  const given = call("a");
  ready();
  cast("b");
  sent();
  news();
  castSender.cancel(given, 2);
  expect([1, 2, 3].map((n) => ({ to: BigInt(n), kind: FrameKind.castCancel, b: 1, slot: 2 }))).toEqual(sent());
  castSender.cancel(given, 2);
  from(1n).answers(1, 0, "x");
  expect([sent(), news(), awake(), given.isEmpty]).toEqual([[], [], 0, true]);
});

test("the cancellation of a broadcast or of an answered call has no effect", () => {
  const { call, cast, castSender, ready, sent, from, viewOf, awake } = scriptedSender({ size: 1 });
  const [one, other] = [cast("a", viewOf(0)), call("b", viewOf(0))];
  ready();
  from(1n).answers(2, 0, "x");
  sent();
  castSender.cancel(one, 1);
  castSender.cancel(other, 1);
  expect([sent(), one.isEmpty, other.isEmpty, awake()]).toEqual([[], false, false, 0]);
});

test("a cast without credit makes all trees report their taken casts, unless they were already asked", () => {
  const { cast, ready, sent, viewOf, from } = scriptedSender({ size: 2, limits: { creditMessages: 2 } });
  const [left, right] = [viewOf(0), viewOf(1)];
  cast("a", left);
  cast("b", right);
  ready();
  sent();
  cast("c", left);
  expect(sent()).toEqual([flush(1n), flush(2n)]);
  cast("d", left);
  expect(sent()).toEqual([]);
  from(1n).taken(1);
  // Only one tree has casts without a report, and that tree reports them by itself.
  expect(describeCasts(sent())).toEqual(["1: 3 c"]);
  from(1n).taken(2);
  expect(describeCasts(sent())).toEqual(["1: 4 d"]);
  cast("e", left);
  expect(sent()).toEqual([flush(1n)]);
});

test("a sender with a single tree does not request reports of taken casts", () => {
  const { cast, ready, sent } = scriptedSender({ size: 1, limits: { creditMessages: 1 } });
  cast("a");
  ready();
  sent();
  cast("b");
  expect(sent()).toEqual([]);
});

test("`whenTaken` resolves when all casts have been taken, and requests the reports at once", async () => {
  const { castSender, cast, ready, sent, from, viewOf } = scriptedSender({ size: 1, limits: { creditMessages: 1 } });
  await castSender.whenTaken();
  cast("a", viewOf(0));
  ready();
  sent();
  cast("b", viewOf(0));
  let done = 0;
  for (let i = 0; i < 2; i++) void castSender.whenTaken().then(() => done++);
  expect(sent()).toEqual([flush(1n), flush(1n)]);
  from(1n).taken(1);
  // The cast that is sent now is followed by another request for a report.
  expect(sent().slice(1)).toEqual([flush(1n)]);
  await turns();
  expect(done).toBe(0);
  from(1n).taken(2);
  await turns();
  expect(done).toBe(2);
  cast("c", viewOf(0));
  expect(sent()).toHaveLength(1);
});

test("`whenAnswered` resolves when all calls have been answered", async () => {
  const { castSender, call, ready, from, viewOf } = scriptedSender({ size: 1 });
  await castSender.whenAnswered();
  const given = call("a", viewOf(0));
  call("b", viewOf(0));
  ready();
  let done = 0;
  void castSender.whenAnswered().then(() => done++);
  from(1n).taken(2);
  await turns();
  from(1n).answers(1, 0, "x");
  await turns();
  expect([done, given.isComplete]).toEqual([0, true]);
  from(1n).answers(2, 0, "x");
  await turns();
  expect(done).toBe(1);
});

test("a sender that is closed cancels its calls, still sends all casts, and then ends its trees", () => {
  const { castSender, cast, call, ready, sent, from, news, awake } = scriptedSender({ limits: { creditMessages: 2 } });
  call("a");
  cast("b");
  call("c");
  ready();
  sent();
  news();
  castSender.close();
  expect(sent()).toEqual([1n, 2n, 3n].flatMap((to) => [{ to, kind: FrameKind.castCancel, b: 1, slot: 0 }, flush(to)]));
  expect([awake(), news()]).toEqual([1, []]);
  for (const proc of [1n, 2n, 3n]) from(proc).taken(2);
  const last = sent();
  expect(last.flatMap((one) => ("cast" in one ? [[one.to, one.cast, one.flags]] : []))).toEqual(
    [1n, 2n, 3n].map((to) => [to, 3, CastFlag.empty]),
  );
  expect(kindsIn(last, FrameKind.treeFlush)).toEqual([1n, 2n, 3n].map((to) => [to, FlushMode.tell]));
  expect([awake(), news()]).toEqual([0, []]);
  for (const proc of [1n, 2n, 3n]) from(proc).taken(3);
  expect([sent(), news()]).toEqual([[1n, 2n, 3n].map((to) => flush(to, FlushMode.end)), [["asleep", true]]]);
});

test("a sender without pending casts ends at once when it is closed", () => {
  const { castSender, news } = scriptedSender();
  castSender.close();
  expect(news()).toEqual([["asleep", true]]);
});

test("the trees of a stopped mesh end as soon as the pending calls have been answered", () => {
  const { castSender, call, ready, sent, from, news, viewOf } = scriptedSender({ size: 1 });
  call("a", viewOf(0));
  ready();
  sent();
  news();
  from(1n).taken(1);
  castSender.meshStopped();
  expect([sent(), news()]).toEqual([[], []]);
  from(1n).answers(1, 0, "x");
  expect([sent(), news()]).toEqual([
    [flush(1n, FlushMode.end)],
    [
      ["a", [0], "x"],
      ["asleep", true],
    ],
  ]);
});

test("`failCalls` rejects all pending calls, including the calls that wait for credit", () => {
  const { castSender, call, cast, ready, news, awake, from } = scriptedSender({
    size: 1,
    limits: { creditMessages: 1 },
  });
  const done = call("z");
  ready();
  from(1n).answers(1, 0, "x");
  call("a");
  cast("b");
  call("c");
  news();
  castSender.failCalls(new DeliveryError("closed", "the end"));
  expect(news()).toEqual([
    ["c", "failed", 0, "the end"],
    ["a", "failed", 0, "the end"],
  ]);
  expect([awake(), done.isComplete]).toEqual([1, true]);
});

test("a cast is marked as coming after direct messages only for the ranks that got such messages", () => {
  const { castSender, cast, sent, ready } = scriptedSender({ size: 4 });
  const syncs: unknown[][] = [];
  const session = (base: number) =>
    ({ sendSync: (...what: unknown[]) => syncs.push([base, ...what]), link: { peer: 2n } }) as unknown as Session;
  const sessions = [session(0), session(1), session(2)];
  castSender.attachSession(sessions[1]!, 1, true);
  castSender.attachSession(sessions[2]!, 2, false);
  expect([...castSender.unmarkedLanes.keys()]).toEqual([1]);
  cast("a");
  cast("b");
  ready();
  const [first, second] = placesIn(sent());
  expect(first).toEqual([
    { count: 1, index: 0, ordering: CastOrdering.plain },
    { count: 1, index: 0, ordering: CastOrdering.marked },
    { count: 2, index: 0, ordering: CastOrdering.plain },
  ]);
  expect(second).toEqual([{ count: 4, index: 1, ordering: CastOrdering.plain }]);
  expect(syncs).toEqual([[1, 1, 0]]);
  sessions[2]!.castOrder!.beforeMessage();
  expect(syncs.at(-1)).toEqual([2, 0, 2]);
  cast("c");
  expect(placesIn(sent())[0]).toEqual([
    { count: 2, index: 2, ordering: CastOrdering.plain },
    { count: 1, index: 2, ordering: CastOrdering.marked },
    { count: 1, index: 2, ordering: CastOrdering.plain },
  ]);
  sessions[1]!.castOrder!.sessionEnded();
  // The first cast must not wait for direct messages that will not come.
  expect(kindsIn(sent(), FrameKind.castRelease)).toEqual([1n, 2n, 3n, 4n].map((to) => [to, 1]));
  castSender.sessionEnded(1, 0, 3n);
  expect(sent()).toEqual([]);
});

test("ranks with different numbers of earlier casts have separate positions", () => {
  const { cast, ready, sent, viewOf } = scriptedSender();
  cast("a", viewOf(1));
  cast("b");
  ready();
  const last = sent().filter((one) => "cast" in one && one.cast === 2);
  expect(placesIn(last)[0]).toEqual([
    { count: 1, index: 0, ordering: CastOrdering.plain },
    { count: 1, index: 1, ordering: CastOrdering.plain },
    { count: 1, index: 0, ordering: CastOrdering.plain },
  ]);
});

test("the move of an actor starts a new tree and a new count of casts, and the old tree is dropped later", () => {
  const { castSender, cast, mesh, procs, ready, sent, from, news, call } = scriptedSender();
  const syncs: unknown[][] = [];
  const order = { sendSync: (...what: unknown[]) => syncs.push(what), link: { peer: 2n } } as unknown as Session;
  call("a");
  ready();
  sent();
  castSender.attachSession(order, 1, true);
  castSender.excluded.add(1);
  procs[1] = 50n;
  mesh.moves++;
  cast("b");
  expect(setupsIn(sent()).map(({ to, setup }) => [to, setup.tree, setup.lineage])).toEqual([
    [1n, 2, 2],
    [3n, 2, 2],
    [50n, 2, 2],
  ]);
  expect([[...castSender.castCounts], castSender.unmarkedLanes.size, castSender.excluded.size]).toEqual([
    [2, 1, 2],
    0,
    0,
  ]);
  news();
  for (const proc of [1n, 3n, 50n]) from(proc).ready();
  expect(describeCasts(sent())).toEqual(["1: 2 b", "3: 2 b", "50: 2 b"]);
  // The earlier call is answered by the procs that have received it.
  from(1n, 0).answers(1, 0, "x");
  from(2n, 0).answers(1, 1, "y");
  expect(kindsIn(sent(), FrameKind.treeFlush)).toEqual([]);
  from(3n, 0).answers(1, 2, "z");
  expect(news().map(([text]) => text)).toEqual(["b", "a", "a", "a"]);
  cast("c");
  mesh.moves++;
  cast("d");
  expect(kindsIn(sent(), FrameKind.treeFlush)).toContainEqual([2n, FlushMode.drop]);
});

test("casts have no position for ranks that have left, which are counted from 0 when they return", () => {
  const { castSender, cast, mesh, procs, left, ready, sent, news, viewOf } = scriptedSender({ size: 5 });
  const order = { sendSync: () => {}, link: { peer: 2n } } as unknown as Session;
  cast("a");
  ready();
  sent();
  castSender.attachSession(order, 1, true);
  for (const rank of [1, 2]) {
    castSender.openBeforeMove(rank);
    left.add(rank);
    mesh.moves++;
  }
  cast("b", viewOf(4, 2, 3));
  cast("c");
  ready();
  expect([...castSender.castCounts]).toEqual([2, 0, 0, 3, 3]);
  expect(castSender.unmarkedLanes.size).toBe(0);
  const casts = sent().filter((one) => "cast" in one);
  const [ofSlice] = placesIn(casts.filter((one) => "cast" in one && one.cast === 2));
  expect(ofSlice).toEqual([
    { count: 1, index: 1, ordering: CastOrdering.plain },
    { count: 1, index: 0, ordering: CastOrdering.none },
    { count: 1, index: 1, ordering: CastOrdering.plain },
  ]);
  const [ofWhole] = placesIn(casts.filter((one) => "cast" in one && one.cast === 3));
  expect(ofWhole).toEqual([
    { count: 1, index: 1, ordering: CastOrdering.plain },
    { count: 2, index: 0, ordering: CastOrdering.none },
    { count: 2, index: 2, ordering: CastOrdering.plain },
  ]);
  expect(news().filter(([what]) => what === "open")).toEqual([
    ["open", 1],
    ["open", 2],
  ]);
  // Nothing was sent to the former process since, so nothing is asked of it.
  castSender.openBeforeMove(1);
  left.delete(1);
  procs[1] = 50n;
  mesh.moves++;
  cast("d", viewOf(1));
  ready();
  expect(news().filter(([what]) => what === "open")).toEqual([]);
  expect(placesIn(sent())).toEqual([[{ count: 1, index: 0, ordering: CastOrdering.plain }]]);
});

test("casts wait for messages to the former procs of their receivers, unless the receiver has left", () => {
  const { cast, left, unhandled, ready, sent, viewOf } = scriptedSender();
  const [toRank0, toRank1] = [
    new UnhandledMessages({} as MessageSender, []),
    new UnhandledMessages({} as MessageSender, []),
  ];
  unhandled.set(0, toRank0);
  unhandled.set(1, toRank1);
  left.add(1);
  cast("a");
  cast("b", viewOf(2));
  ready();
  expect(describeCasts(sent())).toEqual([]);
  toRank0.markHandled();
  expect(describeCasts(sent())).toEqual(["1: 1 a", "3: 1 a", "3: 2 b"]);
});

test("a cast that waits for credit when an actor moves is still sent over the old tree", () => {
  const { cast, mesh, procs, ready, sent, from, viewOf, castSender } = scriptedSender({
    size: 1,
    limits: { creditMessages: 1 },
  });
  cast("a", viewOf(0));
  ready();
  cast("b", viewOf(0));
  sent();
  procs[0] = 50n;
  mesh.moves++;
  expect(castSender.needsProtobuf(viewOf(0))).toBe(false);
  expect(kindsIn(sent(), FrameKind.treeFlush)).toEqual([[1n, FlushMode.tell]]);
  from(1n).taken(1);
  expect(describeCasts(sent())).toEqual(["1: 2 b"]);
  from(1n).taken(2);
  expect(sent()).toEqual([flush(1n, FlushMode.drop)]);
});

test("a sender keeps the trees that it used last and the trees with pending casts", () => {
  const { cast, call, castSender, ready, sent, viewOf } = scriptedSender({ size: 34, procOf: () => 1n });
  call("a", viewOf(0));
  ready();
  for (let rank = 1; rank < 32; rank++) {
    castSender.hasCredit(viewOf(rank));
    ready();
  }
  castSender.hasCredit(viewOf(1));
  sent();
  castSender.hasCredit(viewOf(32));
  // The first tree has a pending call, and the second tree was used just now.
  const dropped = sent().flatMap((one) => ("kind" in one ? [[one.kind, one.b]] : []));
  expect(dropped).toEqual([[FrameKind.treeFlush, FlushMode.drop]]);
  castSender.hasCredit(viewOf(1));
  expect(setupsIn(sent())).toEqual([]);
  castSender.hasCredit(viewOf(2));
  expect(setupsIn(sent())).toHaveLength(1);
  cast("b", viewOf(0));
  expect(describeCasts(sent())).toEqual(["1: 2 b"]);
});

const differs = new DeliveryError("refused", "it has another schema");

test("casts are sent in the protobuf layout if a rank has another schema of the interface", () => {
  const { cast, castSender, sent, from, whole, news } = scriptedSender();
  expect(castSender.needsProtobuf(whole)).toBe(false);
  cast("a");
  sent();
  from(1n).ready();
  from(2n).ready(1);
  from(3n).ready();
  expect(castSender.needsProtobuf(whole)).toBe(true);
  cast("b", whole, {
    body: { bytes: Buffer.from("b"), blocks: [], size: 1, isProtobuf: true },
    endpoint: 1,
  });
  const flags = sent().flatMap((one) => ("cast" in one && one.to === 1n ? [[one.flags, one.endpoint]] : []));
  expect(flags).toEqual([
    [FrameFlag.protobuf, 0],
    [FrameFlag.protobuf, 1],
  ]);
  expect(news()).toEqual([["awake"], ["translate", "one"], ["a", "credited"], ["b", "credited"]]);
});

test("a cast that cannot be translated is reported to its sender, and keeps its place as an empty cast", () => {
  const translate = (): never => {
    throw new RangeError("it is too large");
  };
  const { cast, call, sent, from, news, awake } = scriptedSender({ size: 1, translate });
  cast("a");
  call("b");
  sent();
  from(1n).ready(0);
  expect(news()).toEqual([
    ["awake"],
    ["translate", "one"],
    ["undeliverable", "b.one", "it is too large"],
    ["a", "credited"],
    ["translate", "one"],
    ["b", "failed", 0, "it is too large"],
  ]);
  expect(sent().map((one) => "flags" in one && [one.flags, one.message])).toEqual([
    [CastFlag.empty, []],
    [CastFlag.empty, []],
  ]);
  expect(awake()).toBe(0);
});

test("ranks with an incompatible schema are skipped: calls fail, broadcasts bounce, direct messages continue", () => {
  const { cast, call, castSender, sent, from, news, awake } = scriptedSender({
    compare: (base) => (base === 1 ? differs : undefined),
  });
  call("a");
  cast("b");
  sent();
  from(1n).ready();
  from(3n).ready();
  from(2n).ready(1);
  const frames = sent();
  expect(placesIn(frames)[0]).toEqual([
    { count: 1, index: 0, ordering: CastOrdering.plain },
    { count: 1, index: 0, ordering: CastOrdering.none },
    { count: 1, index: 0, ordering: CastOrdering.plain },
  ]);
  expect(placesIn(frames)[1]).toEqual([
    { count: 1, index: 1, ordering: CastOrdering.plain },
    { count: 1, index: 1, ordering: CastOrdering.none },
    { count: 1, index: 1, ordering: CastOrdering.plain },
  ]);
  expect(kindsIn(frames, FrameKind.castRelease)).toEqual([1n, 2n, 3n].map((to) => [to, 1]));
  expect(news()).toEqual([
    ["awake"],
    ["a", "failed", 1, "it has another schema"],
    ["undeliverable", "B.one", "it has another schema"],
    ["b", "credited"],
  ]);
  expect([...castSender.excluded]).toEqual([1]);
  from(1n).answers(1, 0, "x");
  from(3n).answers(1, 2, "x");
  expect(awake()).toBe(0);
  // The actor is alive, and its proc stays in the tree.
  cast("c");
  expect(describeCasts(sent())).toHaveLength(3);
});

test("a bounced message is reported as undeliverable, and the closing of the router is not", () => {
  const { call, ready, from, news, casts } = scriptedSender({ size: 1 });
  call("a");
  ready();
  news();
  casts.close(new DeliveryError("closed", "closing"));
  expect(news()).toEqual([]);
  from(1n).bounced("b.one", "it has stopped");
  expect(news()).toEqual([["undeliverable", "b.one", "it has stopped"]]);
});

test("a lost proc gets its own branch of a new tree, over which all unfinished casts are sent again", async () => {
  const { call, cast, ready, sent, from, news } = scriptedSender({ limits: { treeFanout: 1 } });
  call("a");
  cast("b");
  ready();
  expect(describeCasts(sent())).toEqual(["1: 1 a", "1: 2 b"]);
  from(1n).answers(1, 0, "x");
  news();
  from(1n).lost(2n);
  from(1n).lost(2n);
  expect(sent()).toEqual([]);
  await turns();
  const frames = sent();
  const setups = setupsIn(frames);
  expect(setups.map(({ to, setup }) => [to, setup.procs.map(({ proc }) => proc)])).toEqual([
    [1n, [1n, 3n]],
    [2n, [2n]],
  ]);
  expect(setups.map(({ setup }) => [setup.tree, setup.lineage, setup.unfinished])).toEqual([
    [2, 1, [1]],
    [2, 1, [1]],
  ]);
  expect(describeCasts(frames)).toEqual(["1: 1 a", "1: 2 b", "2: 1 a", "2: 2 b"]);
  // The unanswered request for a report is sent again.
  expect(kindsIn(frames, FrameKind.treeFlush)).toEqual([
    [1n, FlushMode.tell],
    [2n, FlushMode.tell],
  ]);
  expect(news()).toEqual([]);
  from(1n).answers(1, 0, "x");
  from(1n).answers(1, 2, "z");
  from(2n).answers(1, 1, "y");
  expect(news()).toEqual([
    ["a", [0], "x"],
    ["a", [2], "z"],
    ["a", [1], "y"],
  ]);
});

test("a tree that is set up again requests only the answers of calls that all actors have taken", async () => {
  const { call, cast, sent, from, ready } = scriptedSender({ size: 2 });
  call("a");
  call("b");
  cast("c");
  ready();
  for (const proc of [1n, 2n]) from(proc).taken(1);
  sent();
  from(1n).lost(1n);
  await turns();
  const frames = sent().flatMap((one) =>
    "cast" in one && one.to === 2n ? [[one.cast, one.flags, one.message.length]] : [],
  );
  expect(frames).toEqual([
    [1, CastFlag.call | CastFlag.recall, 0],
    [2, CastFlag.call, 1],
    [3, 0, 1],
  ]);
});

test("a proc that is lost twice is left out, and calls fail for its ranks", async () => {
  const { call, cast, ready, sent, from, news, awake } = scriptedSender({ size: 2 });
  call("a");
  ready();
  sent();
  news();
  from(1n).lost(1n, "once");
  await turns();
  expect(setupsIn(sent()).map(({ to }) => to)).toEqual([1n, 2n]);
  expect(news()).toEqual([]);
  from(1n).lost(1n, "twice");
  await turns();
  const frames = sent();
  expect(setupsIn(frames).map(({ to, setup }) => [to, setup.tree, setup.procs.length])).toEqual([[2n, 3, 1]]);
  expect(news()).toEqual([
    ["target ended", 0],
    ["a", "failed", 0, "twice"],
  ]);
  expect(placesIn(frames)).toEqual([
    [
      { count: 1, index: 0, ordering: CastOrdering.none },
      { count: 1, index: 0, ordering: CastOrdering.plain },
    ],
  ]);
  from(2n).answers(1, 1, "x");
  expect([news(), awake()]).toEqual([[["a", [1], "x"]], 0]);
  cast("b");
  expect(describeCasts(sent())).toEqual(["2: 2 b"]);
  expect(news()).toEqual([
    ["undeliverable", "b.one", "twice"],
    ["b", "credited"],
  ]);
});

test("a proc that is known to be dead is left out at once, and calls fail with the known reason", async () => {
  const { call, cast, ready, sent, from, news, down } = scriptedSender({ size: 2 });
  down.set(1n, new DeliveryError("peer-down", "it was killed"));
  call("a");
  expect(setupsIn(sent()).map(({ to }) => to)).toEqual([2n]);
  ready();
  expect(news()).toEqual([["awake"], ["target ended", 0], ["a", "failed", 0, "it was killed"]]);
  cast("b");
  down.set(2n, new DeliveryError("peer-down", "it was killed, too"));
  sent();
  from(2n).lost(2n, "out of reach");
  await turns();
  expect(news().filter(([what]) => what !== "asleep")).toEqual([
    ["undeliverable", "b.one", "it was killed"],
    ["b", "credited"],
    ["target ended", 1],
    ["a", "failed", 1, "it was killed, too"],
  ]);
});

test("a sender whose receivers have all ended keeps no trees, and its casts fail at once", async () => {
  const { call, cast, castSender, ready, sent, from, news, down, viewOf } = scriptedSender({ size: 2 });
  call("a");
  ready();
  for (const [proc, why] of [
    [1n, "one"],
    [2n, "two"],
  ] as const) {
    down.set(proc, new DeliveryError("peer-down", why));
  }
  news();
  from(1n).lost(1n);
  await turns();
  const all = news();
  expect(all.at(-1)).toEqual(["asleep", false]);
  expect(all.filter(([what]) => what !== "asleep")).toEqual([
    ["target ended", 0],
    ["a", "failed", 0, "one"],
    ["target ended", 1],
    ["a", "failed", 1, "two"],
  ]);
  sent();
  cast("b");
  expect(news()).toEqual([
    ["awake"],
    ["undeliverable", "b.one", "one"],
    ["undeliverable", "b.one", "two"],
    ["b", "credited"],
    ["asleep", false],
  ]);
  await turns();
  expect([sent(), castSender.hasCredit(viewOf(0))]).toEqual([[], true]);
});

test("a tree that is set up again resets the calls with folded answers, and all ranks answer them again", async () => {
  const { call, ready, sent, from, news } = scriptedSender({ size: 2 });
  call("a", undefined, { reduction: "sum" });
  call("b");
  ready();
  from(1n).answers(1, 0, "x", AnswerKind.folded);
  from(1n).answers(2, 0, "x");
  sent();
  news();
  from(2n).lost(2n);
  await turns();
  expect(news()).toEqual([["a", "reset"]]);
  ready();
  from(1n).answers(1, 0, "x", AnswerKind.folded);
  from(1n).answers(2, 0, "x");
  from(2n).answers(1, 1, "y", AnswerKind.folded);
  expect(news()).toEqual([
    ["a", "folded", [0], "x"],
    ["a", "folded", [1], "y"],
  ]);
});

test("a call with folded answers that is reset fails again for ranks that are left out", async () => {
  const { call, ready, from, news, down } = scriptedSender({ size: 2 });
  down.set(1n, new DeliveryError("peer-down", "gone"));
  call("a", undefined, { reduction: "sum" });
  ready();
  news();
  from(2n).lost(2n);
  await turns();
  expect(news()).toEqual([
    ["a", "reset"],
    ["target ended", 0],
    ["a", "failed", 0, "gone"],
  ]);
});

test("a tree that is set up again gets the releases for direct messages that will not come once more", async () => {
  const { castSender, cast, ready, sent, from } = scriptedSender({ size: 2 });
  cast("a");
  ready();
  castSender.sessionEnded(0, 4, 1n);
  expect(kindsIn(sent(), FrameKind.castRelease)).toHaveLength(2);
  from(2n).lost(2n);
  await turns();
  expect(kindsIn(sent(), FrameKind.castRelease)).toEqual([
    [1n, 0],
    [2n, 0],
  ]);
});

test("a closed sender does not set up a lost tree again", async () => {
  const { castSender, cast, ready, sent, from, news } = scriptedSender({ size: 1 });
  cast("a");
  ready();
  from(1n).taken(1);
  news();
  sent();
  from(1n).lost(1n);
  castSender.close();
  await turns();
  expect([sent(), news()]).toEqual([[flush(1n), flush(1n, FlushMode.end)], [["asleep", true]]]);
});

test("a proc that cannot be reached is left out, and calls fail for its ranks", async () => {
  const { call, ready, sent, from, news, unreachable } = scriptedSender({ size: 2 });
  unreachable.add(1n);
  call("a");
  await turns();
  expect(news()).toEqual([["awake"]]);
  ready();
  expect(describeCasts(sent())).toEqual(["2: 1 a"]);
  expect(news()).toEqual([
    ["target ended", 0],
    ["a", "failed", 0, "there is no way to 1"],
  ]);
  from(2n).answers(1, 1, "x");
  expect(news()).toEqual([["a", [1], "x"]]);
});

test("a cast over one tree waits for earlier casts over other trees", () => {
  const { castSender, cast, sent, from, viewOf } = scriptedSender({ size: 2 });
  const [left, right] = [viewOf(0), viewOf(1)];
  expect(castSender.hasCredit(right)).toBe(false);
  sent();
  from(2n).ready();
  expect(castSender.hasCredit(right)).toBe(true);
  cast("a", left);
  expect(castSender.hasCredit(right)).toBe(false);
  cast("b", right);
  expect(describeCasts(sent())).toEqual([]);
  from(1n).ready();
  expect(describeCasts(sent()).sort()).toEqual(["1: 1 a", "2: 2 b"]);
});

test("a cancelled call is cancelled only in its own tree", () => {
  const { castSender, call, ready, sent, viewOf } = scriptedSender({ size: 2 });
  const given = call("a", viewOf(0));
  call("b", viewOf(1));
  ready();
  sent();
  castSender.cancel(given, 1);
  expect(kindsIn(sent(), FrameKind.castCancel)).toEqual([[1n, 1]]);
});

test("a call that is cancelled before it was sent frees its room in the send window only once", () => {
  const limits = { sendWindowBytes: 5, creditMessages: 1 };
  const { castSender, call, cast, ready, viewOf } = scriptedSender({ size: 1, limits });
  castSender.cancel(call("aaaa", viewOf(0)), 1);
  ready();
  cast("bbbb", viewOf(0));
  expect(() => castSender.checkRoom(1, "b.one")).not.toThrow();
  expect(() => castSender.checkRoom(2, "b.one")).toThrow(BackpressureError);
});

test("trees whose casts have all been taken are not asked for reports", () => {
  const { cast, ready, sent, viewOf, from } = scriptedSender({ size: 2, limits: { creditMessages: 2 } });
  cast("a", viewOf(1));
  ready();
  from(2n).taken(1);
  for (const text of ["b", "c", "d"]) cast(text, viewOf(0));
  ready();
  expect(kindsIn(sent(), FrameKind.treeFlush)).toEqual([]);
});

test("a tree with live receivers is kept when all casts have been taken", () => {
  const { cast, ready, sent, news, from } = scriptedSender({ size: 1 });
  cast("a");
  ready();
  sent();
  from(1n).taken(1);
  cast("b");
  expect([describeCasts(sent()), news().flat()]).toEqual([["1: 2 b"], ["awake", "a", "credited", "b", "credited"]]);
});

test("`whenTaken` also waits for casts that could not be sent yet", async () => {
  const { castSender, cast, ready, from, sent } = scriptedSender({ size: 1 });
  cast("a");
  let done = 0;
  void castSender.whenTaken().then(() => done++);
  await turns();
  expect(done).toBe(0);
  ready();
  from(1n).taken(1);
  await turns();
  expect([done, describeCasts(sent())]).toEqual([1, ["1: 1 a"]]);
});

test("the exclusion of an actor is sent down the tree only if the actor was cast to before", () => {
  const { castSender, whole, sent, from, cast } = scriptedSender({ compare: () => differs });
  castSender.needsProtobuf(whole);
  sent();
  from(1n).ready(0);
  expect([kindsIn(sent(), FrameKind.castRelease), [...castSender.excluded]]).toEqual([[], []]);
  from(2n).ready();
  from(3n).ready();
  expect([kindsIn(sent(), FrameKind.castRelease), [...castSender.excluded]]).toEqual([[], [0]]);
  cast("a");
  cast("b");
  sent();
  castSender.exclude(0);
  // The direct messages to the actor do not wait for the second of two casts.
  expect(sent().map((one) => "index" in one && one.index)).toEqual([1, 1, 1]);
});

test("a tree without casts is dropped when all its receivers have ended", async () => {
  const { castSender, whole, ready, news, down, from } = scriptedSender({ size: 1 });
  castSender.needsProtobuf(whole);
  ready();
  down.set(1n, new DeliveryError("peer-down", "gone"));
  from(1n).lost(1n);
  await turns();
  expect(news()).toEqual([["awake"], ["asleep", false]]);
});

test("a tree with a waiting cast is kept when actors move and when many other trees are used", () => {
  const { castSender, cast, mesh, ready, sent, viewOf } = scriptedSender({ size: 1 });
  cast("a", viewOf(0));
  mesh.moves++;
  castSender.needsProtobuf(viewOf(0));
  const frames = sent();
  expect([setupsIn(frames).length, kindsIn(frames, FrameKind.treeFlush)]).toEqual([2, [[1n, FlushMode.tell]]]);
  ready();
  const last = sent();
  expect([describeCasts(last), kindsIn(last, FrameKind.treeFlush)]).toEqual([["1: 1 a"], []]);
  const many = scriptedSender({ size: 40, procOf: () => 1n });
  many.cast("b", many.viewOf(0));
  for (let rank = 1; rank < 32; rank++) many.castSender.needsProtobuf(many.viewOf(rank));
  expect(kindsIn(many.sent(), FrameKind.treeFlush)).toEqual([]);
  for (let rank = 32; rank < 40; rank++) many.castSender.needsProtobuf(many.viewOf(rank));
  expect(kindsIn(many.sent(), FrameKind.treeFlush)).toHaveLength(8);
  many.ready();
  expect(describeCasts(many.sent())).toEqual(["1: 1 b"]);
});

test("a cancelled call is not reported as undeliverable", () => {
  const { castSender, call, sent, from, news } = scriptedSender({ size: 1, compare: () => differs });
  castSender.cancel(call("a"), 1);
  sent();
  from(1n).ready(0);
  expect(news().filter(([what]) => what === "undeliverable")).toEqual([]);
});

test("a cancelled call is finished if all actors have taken it, and otherwise keeps its place", async () => {
  const { castSender, call, ready, sent, from, viewOf } = scriptedSender({ size: 1 });
  const [taken, other] = [call("a", viewOf(0)), call("b", viewOf(0))];
  ready();
  from(1n).taken(1);
  castSender.cancel(taken, 1);
  castSender.cancel(other, 1);
  sent();
  from(1n).lost(1n);
  await turns();
  const frames = sent().flatMap((one) => ("cast" in one ? [[one.cast, one.flags]] : []));
  expect(frames).toEqual([[2, CastFlag.empty]]);
});

test("a tree without pending casts is set up again without casts and without requests for reports", async () => {
  const { cast, ready, sent, from } = scriptedSender({ size: 2 });
  cast("a");
  ready();
  for (const proc of [1n, 2n]) from(proc).taken(1);
  sent();
  from(1n).lost(1n);
  await turns();
  const frames = sent();
  expect([setupsIn(frames).length, kindsIn(frames, FrameKind.treeFlush), describeCasts(frames)]).toEqual([2, [], []]);
});

test("actors on the sender's own proc get casts without frames, and no branch contains that proc", () => {
  const { cast, ready, sent, news, from } = scriptedSender({
    procOf: (rank) => (rank === 1 ? ownProc : BigInt(rank + 1)),
  });
  cast("a");
  const procs = setupsIn(sent()).map(({ to, setup }) => [to, setup.procs.map(({ proc }) => proc)]);
  expect(procs).toEqual([
    [1n, [1n]],
    [3n, [3n]],
  ]);
  ready();
  expect(describeCasts(sent())).toEqual(["1: 1 a", "3: 1 a"]);
  expect(news()).toEqual([["awake"], ["posted here", "a"], ["a", "credited"]]);
  for (const proc of [1n, 3n]) from(proc).taken(1);
  cast("b");
  expect(news()).toEqual([
    ["posted here", "b"],
    ["b", "credited"],
  ]);
});

test("the positions of skipped and other ranks are merged into as few runs as possible", () => {
  const { cast, ready, sent, viewOf, from } = scriptedSender({
    size: 6,
    compare: (base) => (base > 3 ? differs : undefined),
  });
  cast("a", viewOf(2));
  ready();
  cast("b");
  sent();
  for (const proc of [1n, 2n, 3n, 4n]) from(proc).ready();
  from(5n).ready(4);
  from(6n).ready(5);
  const [positions] = placesIn(sent());
  expect(positions).toEqual([
    { count: 2, index: 0, ordering: CastOrdering.plain },
    { count: 1, index: 1, ordering: CastOrdering.plain },
    { count: 1, index: 0, ordering: CastOrdering.plain },
    { count: 2, index: 0, ordering: CastOrdering.none },
  ]);
});

test("the loss of a proc that is not in the tree has no effect", async () => {
  const { call, ready, news, from, sent } = scriptedSender({ size: 1 });
  call("a");
  ready();
  news();
  for (let i = 0; i < 2; i++) {
    from(1n).lost(77n);
    await turns();
    sent();
  }
  expect(news()).toEqual([]);
  from(1n).answers(1, 0, "x");
  expect(news()).toEqual([["a", [0], "x"]]);
});

test("a rank with an incompatible schema stays in the tree with its proc, and is reported once", async () => {
  const { call, sent, from, news } = scriptedSender({ size: 2, compare: (base) => (base === 1 ? differs : undefined) });
  call("a");
  sent();
  from(1n).ready();
  from(2n).ready(1);
  sent();
  from(1n).lost(1n);
  await turns();
  expect(setupsIn(sent()).map(({ to }) => to)).toEqual([1n, 2n]);
  news();
  from(1n).ready();
  from(2n).ready(1);
  expect([news(), kindsIn(sent(), FrameKind.castRelease)]).toEqual([[], []]);
});

test("a schema difference on the former proc of an actor does not exclude the actor on its new proc", () => {
  const { castSender, cast, mesh, procs, sent, from } = scriptedSender({ size: 2, compare: () => differs });
  cast("a");
  sent();
  procs[1] = 50n;
  mesh.moves++;
  cast("b");
  sent();
  from(1n, 0).ready();
  from(2n, 0).ready(1);
  expect([...castSender.excluded]).toEqual([]);
});

test("the blocks of a cast are sent with its frame", () => {
  const { cast, ready, linkTo, whole } = scriptedSender({ size: 1 });
  const blocks = [Uint8Array.of(1, 2)];
  cast("a", whole, { body: { bytes: Buffer.from("a"), blocks, size: 3, isProtobuf: false } });
  ready();
  expect(
    linkTo(1n)
      .sent()
      .map((frame) => frame.blocks),
  ).toEqual([blocks]);
});
