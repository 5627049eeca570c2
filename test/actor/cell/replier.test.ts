/** These tests check the answer that a handler gives through a port: once, later, through another actor, or never. */
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

describe("an answer by port", () => {
  test("is given once, as a value or as an error, and a second answer throws", async () => {
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

  test("is not sent if the message expects none, and a second answer still throws", () => {
    const [one, other] = [replier({ call: 0 }), replier({ call: 0 })];
    one.answer("yes");
    other.fail(new Error("why"));
    expect(parts.told).toEqual([]);
    for (const each of [one, other]) expect(() => each.answer("no")).toThrow(answered);
  });

  test("throws if its value cannot be encoded, and a correct answer can follow", () => {
    parts.refused.add("wrong");
    const one = replier();
    expect(() => one.answer("wrong")).toThrow("cannot encode wrong");
    one.answer("right");
    expect(parts.told).toEqual(["answer 1: right, credited"]);
  });

  test("leaves no open call if it is given before the handler ends", () => {
    const one = replier();
    one.answer("yes");
    one.handlerEnded();
    expect(told).toEqual(["not watched", "settled"]);
  });

  test("is awaited after the handler has ended, and the port of a call is suspected to be dropped", () => {
    replier().handlerEnded();
    expect(told).toEqual(["waits", "suspected"]);
    told.length = 0;
    replier({ call: 0 }).handlerEnded();
    expect(told).toEqual(["waits"]);
  });
});

describe("a @respond handler that throws", () => {
  test("answers its call with the error", () => {
    const one = replier();
    expect(one.handlerThrew(new Error("why"))).toBe(true);
    expect(parts.told).toEqual([error("why")]);
  });

  test("sends no answer if no caller waits or if it has answered before", () => {
    const [nobody, before] = [replier({ call: 0 }), replier()];
    before.answer("yes");
    expect([nobody.handlerThrew(new Error("why")), before.handlerThrew(new Error("why"))]).toEqual([false, false]);
    expect(parts.told).toEqual(["answer 1: yes, credited"]);
  });
});

describe("a dropped port", () => {
  const text = "cannot answer ask: its handler dropped the port without using it";
  test("fails its call once the handler has ended, whether the drop comes before or after", () => {
    const [before, after] = [replier(), replier()];
    before.dropped();
    expect(parts.told).toEqual([]);
    before.handlerEnded();
    expect(parts.told).toEqual([error(text)]);
    after.handlerEnded();
    after.dropped();
    expect(parts.told).toEqual([error(text), error(text)]);
  });

  test("does not affect a call that has been answered", () => {
    const one = replier();
    one.answer("yes");
    one.handlerEnded();
    one.dropped();
    expect(parts.told).toEqual(["answer 1: yes, credited"]);
  });
});

describe("the end of the actor", () => {
  const end = new DeliveryError("failed", "it has failed");
  test("fails the call once, and later answers are ignored", () => {
    const one = replier();
    one.interrupt(end);
    one.interrupt(end);
    one.answer("late");
    one.fail(new Error("late"));
    expect(parts.told).toEqual(["error 1: failed: it has failed, credited"]);
  });

  test("sends no error for an answered call or for a message that expects no answer", () => {
    const [before, nobody] = [replier(), replier({ call: 0 })];
    before.answer("yes");
    before.interrupt(end);
    nobody.interrupt(end);
    expect(parts.told).toEqual(["answer 1: yes, credited"]);
  });
});

describe("a port that is sent to another actor", () => {
  test("becomes one open port of the process, is no longer watched for drops, and closes with the answer", () => {
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

  test("must have a value type: a port of void throws TypeError", () => {
    expect(() => replier({ result: undefined as never }).toChannelPort()).toThrow(
      new TypeError("expected a port of a type, got a port of void"),
    );
    portsWritten.length = 0;
  });
});
