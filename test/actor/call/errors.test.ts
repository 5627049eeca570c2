/** Errors of calls: their messages, and that they survive encoding and decoding. */
import { describe, expect, test } from "vitest";
import {
  encodeErrorAnswer,
  RemoteError,
  readCallError,
  readErrorWithCauses,
  writeDeliveryError,
  writeErrorWithCauses,
  writeThrown,
} from "../../../runtime/actor/delivery/error-codec.js";
import {
  ActorError,
  DeadlockError,
  DeliveryError,
  type DeliveryReason,
  OrphanedError,
  PortClosedError,
  SupervisionError,
  TimeoutError,
} from "../../../runtime/actor/errors.js";
import { AnswerKind } from "../../../runtime/cast/tree/answers.js";
import { errorChainOf } from "../../../runtime/thrown.js";
import { Reader } from "../../../runtime/wire/reader.js";
import { Writer } from "../../../runtime/wire/writer.js";

/** A reader of the bytes that `write` has written. */
function sent(write: (w: Writer) => void): Reader {
  const w = new Writer(512);
  write(w);
  return readerOf(w.copy(0));
}

function readerOf(bytes: Uint8Array): Reader {
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length);
  return r;
}

const thrown = () => new TypeError("outer", { cause: new RangeError("inner") });

describe("an error of a handler", () => {
  test("arrives with its actor, name, message, stack and cause", () => {
    const error = readCallError(sent((w) => writeThrown(w, "counters[1]", errorChainOf(thrown())))) as RemoteError;
    expect(error).toBeInstanceOf(RemoteError);
    expect([error.name, error.actor, error.message]).toEqual(["RemoteError", "counters[1]", "outer"]);
    expect(error.remote).toMatchObject({ name: "TypeError", message: "outer" });
    expect(error.remote.stack).toMatch(/^TypeError: outer\n/);
    expect(error.remote.cause).toMatchObject({ name: "RangeError", message: "inner" });
  });

  test.each<[string, Error, string]>([
    ["its class, where that sets no name", new (class NotFoundError extends Error {})("no"), "NotFoundError"],
    ["its class, below another one of JavaScript", new (class TooFarError extends RangeError {})("no"), "TooFarError"],
    [
      "the name that its class sets",
      new (class Quiet extends Error {
        override name = "Silence";
      })("no"),
      "Silence",
    ],
    ["the name that was set on it", Object.assign(new (class Loud extends Error {})("no"), { name: "Error" }), "Error"],
    ["the name that it inherits, where its class has none", new (class extends TypeError {})("no"), "TypeError"],
  ])("is named by %s", (_, error, name) => {
    expect(errorChainOf(error)[0]!.name).toBe(name);
  });

  test("whose constructor property throws has the name that it inherits", () => {
    const error = new RangeError("no");
    Object.defineProperty(error, "constructor", {
      get() {
        throw new Error("private");
      },
    });
    expect(errorChainOf(error)[0]).toMatchObject({ name: "RangeError", message: "no" });
  });

  test("that is not an Error object arrives as an Error whose message shows the thrown value", () => {
    const error = readCallError(sent((w) => writeThrown(w, "a[0]", errorChainOf(5)))) as RemoteError;
    expect(error.remote).toMatchObject({ name: "Error", message: "threw 5", stack: "Error: threw 5" });
    expect("cause" in error.remote).toBe(false);
  });
});

describe("a delivery error", () => {
  test.each<[DeliveryReason]>([["peer-down"], ["closed"], ["failed"], ["stopped"], ["unknown"], ["refused"]])(
    "arrives with its reason: %s",
    (reason) => {
      const error = readCallError(sent((w) => writeDeliveryError(w, "a[0]", new DeliveryError(reason, "why"))));
      expect(error).toBeInstanceOf(DeliveryError);
      expect(error).toMatchObject({ reason, message: "why" });
      expect("cause" in error).toBe(false);
    },
  );

  test("arrives with its chain of causes", () => {
    const error = new DeliveryError("failed", "it has failed", { cause: thrown() });
    expect(readCallError(sent((w) => writeDeliveryError(w, "a[0]", error)))).toMatchObject({
      message: "it has failed",
      cause: { name: "TypeError", message: "outer", cause: { name: "RangeError" } },
    });
  });

  test("with a reason that the receiver does not know arrives with the reason unknown", () => {
    const r = sent((w) => writeDeliveryError(w, "a[0]", new DeliveryError("nothing" as DeliveryReason, "why")));
    expect(readCallError(r)).toMatchObject({ reason: "unknown", message: "why" });
  });
});

test("an encoded error that is truncated cannot be read", () => {
  const w = new Writer(512);
  writeThrown(w, "counters[1]", errorChainOf(new Error("why")));
  const bytes = w.copy(0);
  for (let end = 0; end < bytes.length; end += 4) {
    expect(() => readCallError(readerOf(bytes.subarray(0, end))), `${end}`).toThrow(/^cannot read error: /);
  }
});

test("a chain of 16 errors arrives in full, and a longer chain cannot be read", () => {
  const read = (causes: number): string[] => {
    const chain = Array.from({ length: causes }, (_, i) => ({ name: "Error", message: `${i}`, stack: undefined }));
    const { remote } = readCallError(sent((w) => writeThrown(w, "a[0]", chain))) as RemoteError;
    const texts: string[] = [];
    for (let error: unknown = remote; error instanceof Error; error = error.cause) texts.push(error.message);
    return texts;
  };
  expect(read(16)).toEqual(Array.from({ length: 16 }, (_, i) => `${i}`));
  expect(() => read(17)).toThrow("cannot read error: 19 bytes too many");
});

test("an error that is encoded for a port keeps its causes", () => {
  expect(readErrorWithCauses(sent((w) => writeErrorWithCauses(w, thrown())))).toMatchObject({
    name: "TypeError",
    message: "outer",
    cause: { name: "RangeError", message: "inner" },
  });
});

describe("an error answer that the processes of a tree pass on", () => {
  const passed = (error: Error) => {
    const { kind, isProtobuf, bytes, blocks } = encodeErrorAnswer(error);
    expect([isProtobuf, blocks]).toEqual([false, []]);
    return { kind, error: readCallError(readerOf(bytes)) };
  };

  test("keeps its kind: a delivery error, an error of an actor, or another error", () => {
    expect(passed(new DeliveryError("stopped", "it was stopped"))).toMatchObject({
      kind: AnswerKind.failure,
      error: { reason: "stopped", message: "it was stopped" },
    });
    expect(passed(new RemoteError("a[0]", thrown()))).toMatchObject({
      kind: AnswerKind.error,
      error: { actor: "a[0]", remote: { name: "TypeError", message: "outer", cause: { name: "RangeError" } } },
    });
    expect(passed(thrown())).toMatchObject({
      kind: AnswerKind.error,
      error: { actor: "", remote: { name: "TypeError", message: "outer" } },
    });
  });
});

describe("an ActorError", () => {
  const options = {
    remoteName: "RangeError",
    message: "too much",
    remoteStack: "RangeError: too much\n    at there",
    cause: new Error("why"),
    actor: "counters[1]",
    rank: 1,
    endpoint: "counters.value",
  };

  test("names the endpoint and the actor in its stack, before the remote stack", () => {
    const error = new ActorError(options);
    expect(error).toMatchObject({ ...options, name: "ActorError", others: [] });
    expect(error.stack).toBe(
      "ActorError: too much\n    in counters.value of counters[1]\nRangeError: too much\n    at there",
    );
  });

  test("without a remote stack shows the remote class name, and has no cause if there is none", () => {
    const error = new ActorError({ ...options, remoteStack: undefined, cause: undefined });
    expect(error.stack).toBe("ActorError: too much\n    in counters.value of counters[1]\nRangeError");
    expect([error.remoteStack, "cause" in error]).toEqual([undefined, false]);
  });

  test("that is combined with other errors keeps its properties and lists the others", () => {
    const others = [new ActorError({ ...options, rank: 2 })];
    expect(new ActorError(options).among(others)).toMatchObject({ ...options, others });
  });
});

describe("a SupervisionError", () => {
  test.each<[readonly number[], readonly string[], string]>([
    [[], [], "cannot call counters.value: why"],
    [[1], [], "cannot call counters.value on rank 1: why"],
    [[1], ["counters[1]"], "cannot call counters.value on rank 1: why"],
    [[1, 2], ["counters[1]", "counters[2]"], "cannot call counters.value on ranks 1, 2: why"],
    [[0], ["counters[1]"], "cannot call counters.value on rank 0 (counters[1]): why"],
    [
      [0, 1],
      ["counters[0]", "counters[2]"],
      "cannot call counters.value on ranks 0, 1 (counters[0], counters[2]): why",
    ],
  ])("names the ranks, and the actors if their numbers differ from the ranks: %j %j", (ranks, actors, text) => {
    const cause = new Error("the root of it");
    const error = new SupervisionError("counters.value", ranks, "why", { actors, cause });
    expect(error).toMatchObject({
      name: "SupervisionError",
      message: text,
      endpoint: "counters.value",
      ranks,
      actors,
      cause,
    });
    expect(new SupervisionError("counters.value", ranks, "why").actors).toEqual([]);
  });

  test("for a port has a message that tells that all holders of the port have ended", () => {
    expect(new OrphanedError("it was killed")).toMatchObject({
      name: "SupervisionError",
      message: "cannot receive: everyone who held the port has ended: it was killed",
      endpoint: "recv",
      ranks: [],
    });
  });
});

test.each([
  ["TimeoutError", TimeoutError],
  ["DeadlockError", DeadlockError],
  ["PortClosedError", PortClosedError],
])("the string form of a %s begins with the name of its class", (name, errorClass) => {
  expect(String(new errorClass("why"))).toBe(`${name}: why`);
});
