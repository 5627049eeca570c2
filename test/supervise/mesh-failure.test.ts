import { expect, test } from "vitest";
import { appendCause, describeCause, errorFromCause, failureCauseOf } from "../../runtime/supervise/failure-cause.js";
import { MeshFailure } from "../../runtime/supervise/mesh-failure.js";

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

test("a report has the mesh, the ranks, the time, the affected meshes and the whole chain of causes", () => {
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

test("a failure is a value: a copy of its record makes an equal failure", () => {
  const failure = new MeshFailure(record);
  expect(failure.record).toEqual(record);
  expect(new MeshFailure(failure.record).report()).toBe(failure.report());
  expect(JSON.parse(JSON.stringify(failure)).cause.message).toBe("process 4711 was killed by SIGKILL");
});

test("the cause of a failure is an Error with the name, message, stack and causes of the original", () => {
  const thrown = new RangeError("no such mode", { cause: new TypeError("deeper") });
  const { cause } = new MeshFailure({ ...record, cause: failureCauseOf(thrown) });
  expect(cause).toBeInstanceOf(Error);
  expect([cause.name, cause.message, cause.stack]).toEqual(["RangeError", "no such mode", thrown.stack]);
  expect((cause.cause as Error).name).toBe("TypeError");
});

test("any value can be thrown, and a circular chain of causes is cut", () => {
  expect(failureCauseOf("text")).toEqual({ name: "Error", message: 'threw "text"' });
  expect(failureCauseOf(undefined).message).toBe("threw undefined");
  expect(failureCauseOf(Object.create(null)).message).toBe("threw an object that cannot be printed");
  const circular = new Error("a");
  circular.cause = circular;
  let depth = 0;
  for (
    let cause: unknown = errorFromCause(failureCauseOf(circular));
    cause !== undefined;
    cause = (cause as Error).cause
  )
    depth++;
  expect(depth).toBe(16);
});

test("appendCause adds a cause at the end of a chain", () => {
  const cause = appendCause(failureCauseOf(new Error("a", { cause: new Error("b") })), failureCauseOf(new Error("c")));
  expect(cause.cause?.cause?.message).toBe("c");
});

test("a chain of causes as text has each stack once, below a heading if the stack has none", () => {
  const stack = "Error: the root\n    at main (main.js:1:1)";
  const root = { name: "Error", message: "the root", stack };
  expect(describeCause(root)).toBe(stack);
  expect(describeCause({ name: "TypeError", message: "above it", stack: "    at f (f.js:1:1)", cause: root })).toBe(
    `TypeError: above it\n    at f (f.js:1:1)\ncaused by ${stack}`,
  );
});

test("a cause without a stack is recorded without one", () => {
  expect(failureCauseOf(Object.assign(new Error("bare"), { stack: undefined }))).toEqual({
    name: "Error",
    message: "bare",
  });
  expect(Object.keys(failureCauseOf("text"))).toEqual(["name", "message"]);
});

test("a failure after restarts reports their number and the earlier failures", () => {
  const past = { kind: "message", cause: { name: "TypeError", message: "flaw 1" }, at: new Date(0) } as const;
  const once = new MeshFailure({ ...record, history: [past] });
  expect(once.report()).toContain(
    "\n  restarted after one failure:\n    1970-01-01T00:00:00.000Z message: TypeError: flaw 1\n  caused by",
  );
  expect(new MeshFailure({ ...record, history: [past, past] }).report()).toContain("\n  restarted after 2 failures:\n");
  expect(new MeshFailure(once.record).history).toEqual([past]);
  expect(new MeshFailure(record).history).toEqual([]);
});

test("a report leaves out empty parts, and indents messages with several lines", () => {
  const cause = { name: "Error", message: "two\nlines" };
  expect(new MeshFailure({ ...record, ranks: [1, 3], affected: [], cause }).report()).toBe(
    [
      'mesh "procs" failed at ranks 1, 3: two\nlines',
      "  kind: process",
      "  at: 2026-01-02T03:04:05.678Z",
      "  caused by Error: two",
      "    lines",
    ].join("\n"),
  );
  const affected = [...record.affected, { mesh: "others", ranks: [4] }];
  expect(new MeshFailure({ ...record, affected }).report()).toContain(
    '  affected: "counters" at ranks 1, 2, "others" at rank 4\n',
  );
});

test("a failure is converted to one line of text", () => {
  expect(String(new MeshFailure(record))).toBe(
    'MeshFailure: mesh "procs" failed at rank 1: process 4711 was killed by SIGKILL',
  );
});
