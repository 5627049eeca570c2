import { expect, test } from "vitest";
import { causeOf, chained, errorOf } from "../../runtime/supervise/cause.js";
import { MeshFailure } from "../../runtime/supervise/failure.js";

const record = {
  mesh: "procs",
  ranks: [1],
  kind: "process" as const,
  cause: {
    name: "ProcessEnd",
    message: "process 4711 was killed by SIGKILL",
    cause: { name: "Error", message: "the root of it" },
  },
  at: new Date("2026-01-02T03:04:05.678Z"),
  affected: [{ mesh: "counters", ranks: [1, 2] }],
};

test("a report has the mesh, the ranks, the time, what else is affected and the whole chain of causes", () => {
  expect(new MeshFailure(record).report()).toBe(
    [
      'mesh "procs" failed at rank 1: process 4711 was killed by SIGKILL',
      "  kind: process",
      "  at: 2026-01-02T03:04:05.678Z",
      '  affected: "counters" at ranks 1, 2',
      "  caused by ProcessEnd: process 4711 was killed by SIGKILL",
      "    caused by Error: the root of it",
    ].join("\n"),
  );
});

test("a failure is a value: what travels makes an equal one", () => {
  const failure = new MeshFailure(record);
  expect(failure.record).toEqual(record);
  expect(new MeshFailure(failure.record).report()).toBe(failure.report());
  expect(JSON.parse(JSON.stringify(failure)).cause.message).toBe("process 4711 was killed by SIGKILL");
});

test("its cause is an Error with the name, the message, the stack and the causes of the original", () => {
  const thrown = new RangeError("no such mode", { cause: new TypeError("deeper") });
  const { cause } = new MeshFailure({ ...record, cause: causeOf(thrown) });
  expect(cause).toBeInstanceOf(Error);
  expect([cause.name, cause.message, cause.stack]).toEqual(["RangeError", "no such mode", thrown.stack]);
  expect((cause.cause as Error).name).toBe("TypeError");
});

test("anything can be thrown, and causes may be circular", () => {
  expect(causeOf("text")).toEqual({ name: "Error", message: 'threw "text"' });
  expect(causeOf(undefined).message).toBe("threw undefined");
  expect(causeOf(Object.create(null)).message).toBe("threw an object that cannot be printed");
  const circular = new Error("a");
  circular.cause = circular;
  let depth = 0;
  for (let cause: unknown = errorOf(causeOf(circular)); cause !== undefined; cause = (cause as Error).cause) depth++;
  expect(depth).toBe(16);
});

test("a chain goes on where another ends", () => {
  const cause = chained(causeOf(new Error("a", { cause: new Error("b") })), causeOf(new Error("c")));
  expect(cause.cause?.cause?.message).toBe("c");
});
