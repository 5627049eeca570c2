/** Tests of a cast at its root: each rank answers once, and memory is freed as soon as possible. */
import { expect, test } from "vitest";
import { type CastSink, PendingCast } from "../../../runtime/cast/sender/pending-cast.js";
import { type AnswerGroup, AnswerKind } from "../../../runtime/cast/tree/answers.js";
import { CastFlag, CastOrdering } from "../../../runtime/cast/tree/cast-frame.js";
import { DeliveryError } from "../../../runtime/link/errors.js";
import { FrameFlag } from "../../../runtime/link/frame/frame.js";
import type { EncodedMessage } from "../../../runtime/link/outbound/encoded-message.js";
import type { Reader } from "../../../runtime/wire/reader.js";

const body: EncodedMessage = { bytes: Uint8Array.of(1, 2), blocks: [new Uint8Array(3)], size: 5, isProtobuf: false };
const places = [{ count: 3, index: 0, ordering: CastOrdering.plain }];

/** A cast to three ranks. */
function cast(given: Partial<EncodedMessage> = {}, waits = true) {
  const told: unknown[] = [];
  const text = (r: Reader) => `${Buffer.from(r.bytes).subarray(r.position, r.end)} ${r.protobuf} ${r.blocks?.length}`;
  const sink: CastSink = {
    answeredBy: (ranks, r) => told.push(["answered", ranks, text(r)]),
    failed: (rank, error) => told.push(["failed", rank, error.message]),
    foldedBy: (ranks, r) => told.push(["folded", ranks, text(r)]),
    reset: () => told.push("reset"),
  };
  const request = {
    label: "a.b",
    endpoint: 0,
    body: { ...body, ...given },
    reduction: "",
    extension: undefined,
    sink: waits ? sink : undefined,
    waiter: undefined,
  };
  return { pending: new PendingCast(7, request, places, 3), told };
}

const group = (kind: number, start: number, count: number, more: Partial<AnswerGroup> = {}): AnswerGroup => ({
  kind,
  isProtobuf: false,
  bytes: Buffer.from("it"),
  blocks: [],
  ranks: [{ start, count }],
  ...more,
});
const readError = (r: Reader) => new Error(`read ${Buffer.from(r.bytes)}`);

test("values, folded values, errors and failures are passed on with their ranks, in order of arrival", () => {
  const { pending, told } = cast();
  pending.addAnswers([group(AnswerKind.value, 0, 2, { isProtobuf: true })], readError);
  expect(pending.isComplete).toBe(false);
  pending.addAnswers([group(AnswerKind.folded, 2, 1, { blocks: [new Uint8Array(1)] })], readError);
  expect(pending.isComplete).toBe(true);
  expect(told).toEqual([
    ["answered", [0, 1], "it true undefined"],
    ["folded", [2], "it false 1"],
  ]);
  const other = cast();
  other.pending.addAnswers([group(AnswerKind.error, 0, 2), group(AnswerKind.failure, 2, 1)], readError);
  expect(other.told).toEqual([
    ["failed", 0, "read it"],
    ["failed", 1, "read it"],
    ["failed", 2, "read it"],
  ]);
});

test("the bytes of an answer are read correctly if they do not start at the beginning of their memory", () => {
  const { pending, told } = cast();
  const seen: number[] = [];
  const bytes = Buffer.from("--it").subarray(2);
  pending.addAnswers([group(AnswerKind.error, 0, 1, { bytes })], (r) => {
    seen.push(r.view.getUint8(0), r.position, r.end);
    return new Error("e");
  });
  expect([seen, told]).toEqual([["i".charCodeAt(0), 0, 2], [["failed", 0, "e"]]]);
});

test("only the first answer of each rank is passed on, even if answers come again", () => {
  const { pending, told } = cast();
  pending.addAnswers([group(AnswerKind.value, 0, 2)], readError);
  pending.addAnswers([group(AnswerKind.value, 0, 2), group(AnswerKind.value, 1, 2)], readError);
  pending.failed(1, new DeliveryError("stopped", "late"));
  pending.addAnswers([group(AnswerKind.value, 2, 5)], readError);
  expect(told.map((one) => (one as unknown[])[1])).toEqual([[0, 1], [2]]);
  expect([0, 1, 2, 3].map((rank) => pending.waitsFor(rank))).toEqual([false, false, false, false]);
});

test("one rank can fail by itself, and `failAll` fails all ranks that have not answered", () => {
  const { pending, told } = cast();
  expect([0, 1, 2, 3].map((rank) => pending.waitsFor(rank))).toEqual([true, true, true, false]);
  pending.failed(1, new DeliveryError("stopped", "it has stopped"));
  pending.failAll(new DeliveryError("closed", "the end"));
  expect(told).toEqual([
    ["failed", 1, "it has stopped"],
    ["failed", 0, "the end"],
    ["failed", 2, "the end"],
  ]);
  expect(pending.isComplete).toBe(true);
});

test("`reset` makes a call wait for all ranks again, unless it is complete, empty or a broadcast", () => {
  const { pending, told } = cast();
  pending.addAnswers([group(AnswerKind.value, 0, 2)], readError);
  expect(pending.reset()).toBe(true);
  expect(told.at(-1)).toBe("reset");
  pending.addAnswers([group(AnswerKind.value, 0, 3)], readError);
  expect([told.length, pending.isComplete, pending.reset()]).toEqual([3, true, false]);
  expect(cast({}, false).pending.reset()).toBe(false);
  const { pending: given, told: nothing } = cast();
  given.makeEmpty();
  expect([given.reset(), nothing]).toEqual([false, []]);
});

test("the flags of a cast tell whether it expects answers, which layout it has and whether it is empty", () => {
  const { pending } = cast();
  expect(pending.flags).toBe(CastFlag.call);
  expect(cast({ isProtobuf: true }).pending.flags).toBe(CastFlag.call | FrameFlag.protobuf);
  expect(cast({ isProtobuf: true }, false).pending.flags).toBe(FrameFlag.protobuf);
  expect(cast({}, false).pending.flags).toBe(0);
  pending.makeEmpty();
  expect(pending.flags).toBe(CastFlag.empty);
});

test("a broadcast waits for no answers", () => {
  const { pending } = cast({}, false);
  expect([pending.isCall, pending.isComplete, pending.waitsFor(0), pending.isTaken, pending.isEmpty]).toEqual([
    false,
    true,
    false,
    false,
    false,
  ]);
});

test("a cast frees its message and its request when they are not needed any more, and keeps its size", () => {
  const nothing: EncodedMessage = { bytes: new Uint8Array(0), blocks: [], size: 0, isProtobuf: false };
  const { pending } = cast();
  pending.dropBody();
  expect([pending.body, pending.size, pending.isCall]).toEqual([nothing, 5, true]);
  const { pending: given } = cast();
  given.makeEmpty();
  expect([given.body, given.isEmpty, given.isCall, given.waitsFor(0)]).toEqual([nothing, true, false, false]);
  const { pending: finished } = cast();
  finished.addAnswers([group(AnswerKind.value, 0, 3)], readError);
  finished.releaseRequest();
  expect([finished.body, finished.positions, finished.waitsFor(0), finished.size]).toEqual([nothing, [], false, 5]);
  expect(finished.request).toEqual({
    label: "",
    endpoint: 0,
    body: nothing,
    reduction: "",
    extension: undefined,
    sink: undefined,
    waiter: undefined,
  });
});
