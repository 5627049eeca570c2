/** The answer that a handler gives by port: once, by whoever has the port, or not at all. */
import { beforeEach, describe, expect, test } from "vitest";
import { Replier } from "../../../runtime/actor/cell/replier.js";
import { DeliveryError } from "../../../runtime/actor/errors.js";
import { portsWritten } from "../../../runtime/actor/port/announce-holders.js";
import type { DropDetector } from "../../../runtime/actor/proc/drop-watch.js";
import type { Proc } from "../../../runtime/actor/proc/proc.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { type Message, Parts } from "../parts.js";

let parts: Parts;
let told: string[];
beforeEach(() => {
  parts = new Parts();
  told = [];
  const { proc } = parts.cell;
  Object.assign(proc, {
    random: { id: () => 99n },
    location: "here",
    drops: {
      watch: () => void told.push("watched"),
      unwatch: () => void told.push("not watched"),
      suspectDropped: () => void told.push("suspected"),
    } satisfies Partial<DropDetector>,
    openPort: ({ number }: { number: bigint }) => told.push(`port ${number} opened`),
    closePort: ({ number }: { number: bigint }) => told.push(`port ${number} closed`),
  } satisfies Partial<Record<keyof Proc, unknown>>);
});

function replier(message: Message = {}): Replier {
  const turn = parts.turn(() => {}, { name: "ask", respond: true, call: 1, result: codec.string as never, ...message });
  const owner = { addReplier: () => told.push("waits"), removeReplier: () => told.push("settled") };
  return new Replier(turn, owner);
}
const answered = "cannot answer ask by its port: the call has been answered already";
const error = (text: string) => `error 1: thrown by counters[1]: ${text}, credited`;

describe("an answer", () => {
  test("is given once, by value or error", async () => {
    const one = replier();
    const port = one.port();
    await port.send("yes");
    expect(parts.told).toEqual(["answer 1: yes, credited"]);
    expect(() => port.send("no")).toThrow(new Error(answered));
    expect(() => port.exception(new Error("no"))).toThrow(new Error(answered));
    const other = replier().port();
    await other.exception(new Error("why"));
    expect(() => other.send("no")).toThrow(new Error(answered));
    expect(parts.told).toEqual(["answer 1: yes, credited", error("why")]);
    expect(told).toEqual(["watched", "not watched", "settled", "watched", "not watched", "settled"]);
  });

  test("that nobody asked for goes nowhere, and is given once all the same", () => {
    const [one, other] = [replier({ call: 0 }), replier({ call: 0 })];
    one.answer("yes");
    other.fail(new Error("why"));
    expect(parts.told).toEqual([]);
    for (const each of [one, other]) expect(() => each.answer("no")).toThrow(answered);
  });

  test("of another type is refused, and another one can be given", () => {
    parts.refused.add("wrong");
    const one = replier();
    expect(() => one.answer("wrong")).toThrow("cannot encode wrong");
    one.answer("right");
    expect(parts.told).toEqual(["answer 1: right, credited"]);
  });

  test("before the handler ends needs nobody to wait", () => {
    const one = replier();
    one.answer("yes");
    one.handlerEnded();
    expect(told).toEqual(["not watched", "settled"]);
  });

  test("after it has ended is waited for, and whether somebody still has the port is looked after", () => {
    replier().handlerEnded();
    expect(told).toEqual(["waits", "suspected"]);
    told.length = 0;
    replier({ call: 0 }).handlerEnded();
    expect(told).toEqual(["waits"]);
  });
});

describe("a handler that throws", () => {
  test("has answered with that", () => {
    const one = replier();
    expect(one.handlerThrew(new Error("why"))).toBe(true);
    expect(parts.told).toEqual([error("why")]);
  });

  test("tells nobody where nobody asked, or where it has answered before", () => {
    const [nobody, before] = [replier({ call: 0 }), replier()];
    before.answer("yes");
    expect([nobody.handlerThrew(new Error("why")), before.handlerThrew(new Error("why"))]).toEqual([false, false]);
    expect(parts.told).toEqual(["answer 1: yes, credited"]);
  });
});

describe("a port that nobody has any more", () => {
  const text = "cannot answer ask: its handler dropped the port without using it";
  test("is an error for the caller once the handler has ended, whichever comes first", () => {
    const [before, after] = [replier(), replier()];
    before.dropped();
    expect(parts.told).toEqual([]);
    before.handlerEnded();
    expect(parts.told).toEqual([error(text)]);
    after.handlerEnded();
    after.dropped();
    expect(parts.told).toEqual([error(text), error(text)]);
  });

  test("is nothing to a caller who has the answer", () => {
    const one = replier();
    one.answer("yes");
    one.handlerEnded();
    one.dropped();
    expect(parts.told).toEqual(["answer 1: yes, credited"]);
  });
});

describe("the end of the actor", () => {
  const end = new DeliveryError("failed", "it has failed");
  test("is the answer, and what is given afterwards reaches nobody", () => {
    const one = replier();
    one.interrupt(end);
    one.interrupt(end);
    one.answer("late");
    one.fail(new Error("late"));
    expect(parts.told).toEqual(["error 1: failed: it has failed, credited"]);
  });

  test("is nothing to those who have the answer, or asked for none", () => {
    const [before, nobody] = [replier(), replier({ call: 0 })];
    before.answer("yes");
    before.interrupt(end);
    nobody.interrupt(end);
    expect(parts.told).toEqual(["answer 1: yes, credited"]);
  });
});

describe("a port that is sent on", () => {
  test("is one port of the actor's process, which is looked after by those who hold it, and ends with the answer", () => {
    const one = replier();
    const port = one.toChannelPort();
    expect(one.toChannelPort()).toBe(port);
    expect(port.target).toMatchObject({
      proc: 9n,
      number: 99n,
      location: "here",
      fingerprint: codec.string.fingerprint,
    });
    one.handlerEnded();
    expect(told).toEqual(["port 99 opened", "not watched", "waits"]);
    one.answer("yes");
    expect(told.slice(3)).toEqual(["not watched", "settled", "port 99 closed"]);
    expect(() => one.toChannelPort()).toThrow(answered);
  });

  test("has a type", () => {
    expect(() => replier({ result: undefined as never }).toChannelPort()).toThrow(
      new TypeError("expected a port of a type, got a port of void"),
    );
    portsWritten.length = 0;
  });
});
