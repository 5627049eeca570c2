/** A MeshFailure in every layout, alone and as a part of other values, arrives as a MeshFailure with the same record. */
import { expect, test } from "vitest";
import { type FailureRecord, FailureRecordCodec } from "../../generated/supervision.js";
import { MeshFailure } from "../../runtime/supervise/mesh-failure.js";
import { MeshFailureCodec } from "../../runtime/supervise/mesh-failure-codec.js";
import { codec } from "../../runtime/wire/index.js";

const failure = new MeshFailure({
  mesh: "workers",
  ranks: [1, 3],
  kind: "process",
  cause: { name: "ProcessEnd", message: "exited with code 3", cause: { name: "Error", message: "the root" } },
  at: new Date("2026-01-02T03:04:05.678Z"),
  affected: [{ mesh: "counters", ranks: [1] }],
  history: [{ kind: "message", cause: { name: "Error", message: "before" }, at: new Date(0) }],
});
const { record } = failure;
/** The record in the type that its schema declares. */
const declared = record as unknown as FailureRecord;
const list = codec.array(MeshFailureCodec);

test("a MeshFailure is encoded as its record in every layout", () => {
  expect(MeshFailureCodec.name).toBe("MeshFailure");
  expect(MeshFailureCodec.fingerprint).toBe(FailureRecordCodec.fingerprint);
  expect(MeshFailureCodec.encode(failure)).toEqual(FailureRecordCodec.encode(declared));
  expect(MeshFailureCodec.toProtobuf(failure)).toEqual(FailureRecordCodec.toProtobuf(declared));
  expect(MeshFailureCodec.toJson(failure)).toEqual(FailureRecordCodec.toJson(declared));
});

test.each<[string, () => MeshFailure]>([
  ["lockstep", () => MeshFailureCodec.decode(MeshFailureCodec.encode(failure))],
  ["protobuf", () => MeshFailureCodec.fromProtobuf(MeshFailureCodec.toProtobuf(failure))],
  ["JSON", () => MeshFailureCodec.fromJson(MeshFailureCodec.toJson(failure))],
  ["a list in lockstep", () => list.decode(list.encode([failure]))[0]!],
  ["a list in protobuf", () => list.fromProtobuf(list.toProtobuf([failure]))[0]!],
  ["a list in JSON", () => list.fromJson(list.toJson([failure]))[0]!],
])("a MeshFailure arrives as a MeshFailure with the same record: %s", (_, travelled) => {
  const arrived = travelled();
  expect(arrived).toBeInstanceOf(MeshFailure);
  expect(arrived.record).toEqual(record);
  expect(arrived.report()).toBe(failure.report());
});

test("two parts of a failure in protobuf are merged into one failure", () => {
  const whole = MeshFailureCodec.toProtobuf(failure);
  const merged = MeshFailureCodec.fromProtobuf(
    Uint8Array.from([...whole, ...MeshFailureCodec.toProtobuf(new MeshFailure({ ...record, mesh: "others" }))]),
  );
  expect(merged.mesh).toBe("others");
  expect(merged.ranks).toEqual([1, 3, 1, 3]);
});

test("an invalid failure is refused with an error that names the invalid part", () => {
  expect(() => MeshFailureCodec.encode({ ...record, mesh: 7 } as never)).toThrow(/mesh/);
  expect(() => list.toProtobuf([undefined as never])).toThrow(/FailureRecord|MeshFailure/);
});
