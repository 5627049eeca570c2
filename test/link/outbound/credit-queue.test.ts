/** Tests of the pending work of a link: calls, messages without credit, and interfaces without an agreed schema. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { DeliveryError } from "../../../runtime/link/errors.js";
import { CreditQueue, isSyncMark, type WaitingMessage } from "../../../runtime/link/outbound/credit-queue.js";
import { type PendingCall, PendingCalls } from "../../../runtime/link/outbound/pending-calls.js";
import {
  isNegotiatedInterface,
  type NegotiatedInterface,
  SchemaAgreement,
} from "../../../runtime/link/outbound/schema-agreement.js";
import type { MessageInterface, Session } from "../../../runtime/link/outbound/session.js";

const session = {} as Session;
const call = () => ({ id: 0, session: undefined }) as PendingCall;

test("a pending call is found by its number until it has ended", () => {
  const calls = new PendingCalls();
  const [a, b] = [call(), call()];
  calls.add(a, session);
  calls.add(b, session);
  expect([a.session, a.id > 0, a.id !== b.id, calls.size]).toEqual([session, true, true, 2]);
  expect([calls.find(a.id), calls.find(b.id), calls.find(0), calls.find(99)]).toEqual([a, b, undefined, undefined]);
  const { id } = a;
  calls.remove(a);
  expect([a.id, calls.find(id), calls.find(b.id), calls.size, calls.all()]).toEqual([0, undefined, b, 1, [b]]);
});

test("a reused index gets a new call number, so that a second answer finds no call", () => {
  const calls = new PendingCalls();
  const names = new Set<number>();
  for (let i = 0; i < 128; i++) {
    const one = call();
    calls.add(one, session);
    names.add(one.id);
    expect([calls.find(one.id) === one, one.id > 0, one.id <= 0x7fff_ffff, calls.size]).toEqual([true, true, true, 1]);
    for (const name of names) if (name !== one.id) expect(calls.find(name)).toBeUndefined();
    calls.remove(one);
  }
  expect(names.size).toBe(128);
});

test("the number of indices is the largest number of calls that were pending at once", () => {
  const calls = new PendingCalls();
  const index = (name: number) => name & 0xff_ffff;
  const all = Array.from({ length: 3 }, call);
  for (const one of all) calls.add(one, session);
  expect(all.map(({ id }) => index(id))).toEqual([1, 2, 3]);
  calls.remove(all[1]!);
  const next = [call(), call()];
  for (const one of next) calls.add(one, session);
  expect([next.map(({ id }) => index(id)), calls.size, calls.all().length]).toEqual([[2, 4], 4, 4]);
});

const body = (size: number) => ({ bytes: new Uint8Array(size), blocks: [], size, isProtobuf: false });
const message = (slot: number, size: number, of?: PendingCall): WaitingMessage => ({
  slot,
  flags: 0,
  body: body(size),
  extension: undefined,
  call: of,
  waiter: undefined,
});

test("messages leave the queue in the order in which they were added", () => {
  const queue = new CreditQueue();
  const of = call();
  queue.add(message(1, 10));
  queue.add({ sync: 1, casts: 2 });
  queue.add(message(2, 20, of));
  queue.add(message(3, 30));
  expect([queue.size, queue.bytes]).toEqual([4, 60]);
  expect(queue.remove(call())).toBeUndefined();
  expect(queue.remove(of)?.slot).toBe(2);
  expect([queue.remove(of), queue.size, queue.bytes]).toEqual([undefined, 3, 40]);
  expect([queue.takeOldest(), queue.size, queue.bytes]).toEqual([message(1, 10), 2, 30]);
  expect([queue.takeOldest(), queue.size, queue.bytes]).toEqual([{ sync: 1, casts: 2 }, 1, 30]);
  expect([queue.takeOldest(), queue.size, queue.bytes]).toEqual([message(3, 30), 0, 0]);
});

test("`takeAll` returns the messages and empties the queue", () => {
  const queue = new CreditQueue();
  for (let i = 0; i < 3; i++) queue.add(message(i, 1));
  queue.add({ sync: 1, casts: 2 });
  queue.takeOldest();
  expect(queue.takeAll().map(({ slot }) => slot)).toEqual([1, 2]);
  expect([queue.size, queue.bytes, queue.takeAll()]).toEqual([0, 0, []]);
  queue.add(message(9, 1));
  expect([queue.takeOldest(), queue.size]).toEqual([message(9, 1), 0]);
});

test("a queue that thousands of messages go through keeps their order", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 5, maxLength: 8 }), (steps) => {
      const queue = new CreditQueue();
      let [added, taken] = [0, 0];
      for (const count of steps) {
        for (let i = 0; i < count; i++) queue.add(message(added++, 1));
        const calls = [call(), call()];
        queue.add(message(-1, 1, calls[0]));
        const slots = Array.from({ length: count - 1 }, () => (queue.takeOldest() as WaitingMessage).slot);
        expect(slots).toEqual(slots.map(() => taken++));
        expect(queue.remove(calls[0]!)?.slot).toBe(-1);
        expect([queue.size, queue.bytes]).toEqual([added - taken, added - taken]);
      }
    }),
    { numRuns: 5 },
  );
});

test("`sync` marks are distinguished from messages, and interfaces from both", () => {
  expect([isSyncMark({ sync: 1, casts: 1 }), isSyncMark(message(1, 1))]).toEqual([true, false]);
  expect([
    isNegotiatedInterface({ sync: 1, casts: 1 }),
    isNegotiatedInterface(message(1, 1)),
    isNegotiatedInterface(part(0, 1)),
  ]).toEqual([false, false, true]);
});

function part(firstSlot: number, endpoints: number): NegotiatedInterface {
  const named = Array.from({ length: endpoints }, (_, id) => ({ id, name: `e${id}` }));
  return {
    firstSlot,
    interface: { key: `k${firstSlot}`, name: "I", fingerprint: 1n, endpoints: named } as MessageInterface,
    state: "asked",
  };
}

test("copies of messages are kept until the receiver has answered the binding of the interface", () => {
  const agreement = new SchemaAgreement();
  expect([agreement.isSettled, agreement.isAsking]).toEqual([true, false]);
  const [a, b] = [part(0, 2), part(2, 1)];
  agreement.ask(a);
  expect([agreement.isSettled, agreement.isAsking]).toEqual([false, true]);
  const sent = [message(0, 1), message(2, 1)];
  agreement.keepCopy(sent[0]!);
  agreement.ask(b);
  agreement.keepCopy(sent[1]!);
  expect([0, 1, 2, 3].map((slot) => agreement.interfaceAt(slot))).toEqual([a, a, b, undefined]);
  // The answer for the first interface drops the copies from before the second binding.
  expect([agreement.confirmSame(0), a.state, agreement.isAsking, agreement.isSettled]).toEqual([
    true,
    "lockstep",
    true,
    false,
  ]);
  expect([agreement.confirmSame(0), agreement.confirmSame(9), agreement.confirmOther(0)]).toEqual([
    false,
    false,
    undefined,
  ]);
  expect(agreement.confirmOther(2)).toEqual({ part: b, untaken: [sent[1]] });
  expect([agreement.isAsking, agreement.confirmOther(2), agreement.confirmSame(2)]).toEqual([false, undefined, false]);
  b.state = "protobuf";
  expect(agreement.isSettled).toBe(false);
  b.state = "lockstep";
  expect(agreement.isSettled).toBe(true);
});

test("the answer of another schema returns all messages and bindings since that binding for resending", () => {
  const agreement = new SchemaAgreement();
  const [a, b] = [part(0, 1), part(1, 1)];
  const sent = [message(0, 1), message(1, 1)];
  agreement.ask(a);
  agreement.keepCopy(sent[0]!);
  agreement.ask(b);
  agreement.keepCopy(sent[1]!);
  agreement.keepCopy({ sync: 1, casts: 3 });
  expect(agreement.confirmOther(0)).toEqual({ part: a, untaken: [sent[0], b, sent[1], { sync: 1, casts: 3 }] });
  expect(agreement.isAsking).toBe(false);
  // An interface that is bound again is found as the same object.
  a.state = new DeliveryError("refused", "x");
  agreement.ask(b);
  expect([agreement.interfaceAt(1), agreement.isSettled]).toEqual([b, false]);
  expect(agreement.confirmSame(1)).toBe(true);
  expect(agreement.isAsking).toBe(false);
});

test("the answer to the last binding drops the copies of all earlier bindings", () => {
  const agreement = new SchemaAgreement();
  const [a, b] = [part(0, 1), part(1, 1)];
  agreement.ask(a);
  agreement.keepCopy(message(0, 1));
  agreement.ask(b);
  agreement.keepCopy(message(1, 1));
  expect(agreement.confirmSame(1)).toBe(true);
  // The receiver answers in the order of the bindings. After the last answer, no copies are kept.
  expect([b.state, agreement.isAsking]).toEqual(["lockstep", false]);
});

test("slots that were agreed on earlier belong to no interface of the agreement", () => {
  const agreement = new SchemaAgreement();
  const late = part(2, 2);
  agreement.ask(late);
  expect([1, 2, 3, 4].map((slot) => agreement.interfaceAt(slot))).toEqual([undefined, late, late, undefined]);
});

test("an interface that is bound again is not agreed on until the receiver answers", () => {
  const agreement = new SchemaAgreement();
  const again = part(0, 1);
  again.state = "lockstep";
  agreement.ask(again);
  expect([agreement.isSettled, agreement.isAsking]).toEqual([false, true]);
});
