/** Tests of the dialler of a resumable link: its attempts, their number and their end. Time passes only when the test says so. */
import { expect, test } from "vitest";
import { HandshakeAcceptor, type HandshakeVerdict } from "../../../runtime/link/handshake/accept.js";
import type { LinkOffer } from "../../../runtime/link/handshake/message.js";
import { dialResumable, type ResumableDialOptions } from "../../../runtime/link/resumable/dial.js";
import type { ResumablePipe } from "../../../runtime/link/resumable/pipe.js";
import { inProcessPipePair } from "../../../runtime/link/transport/in-process/pipe.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { ManualClock } from "./cut-world.js";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Waits for a handshake, which takes no simulated time. */
async function turns(): Promise<void> {
  for (let i = 0; i < 30; i++) await turn();
}

type Refusal = Extract<HandshakeVerdict, { kind: "refuse" }>;
const refusal = (reason: Refusal["reason"], text: string): HandshakeVerdict => ({ kind: "refuse", reason, text });

/** A fake acceptor that accepts the dialler unless the test gives it another answer. */
function dialling(options: Partial<ResumableDialOptions> = {}) {
  const clock = new ManualClock();
  const random = { id: () => 77n, number: () => 0.5 };
  const answers: HandshakeVerdict[] = [];
  const failures: Error[] = [];
  /** Promises for which new connections wait. */
  const gates: Promise<void>[] = [];
  const offers: LinkOffer[] = [];
  /** The dialled ports, with the times. */
  const attempts: (readonly [number | undefined, number])[] = [];
  /** The far ends of the open connections. */
  const connections: Pipe[] = [];
  let received = 0;
  const acceptor = new HandshakeAcceptor({
    clock,
    random,
    decide: (offer) => {
      offers.push(offer);
      const open = (pipe: Pipe): void => {
        connections.push(pipe);
        const memory = new Uint8Array(4096);
        pipe.open({ buffer: () => memory, received() {}, closed() {} });
      };
      return answers.shift() ?? { kind: "open", received, open };
    },
  });
  const dial = () =>
    dialResumable({
      clock,
      random,
      universe: 1n,
      from: 2n,
      to: 3n,
      direct: true,
      peer: "tcp://there",
      limits: { redialMs: 100, redialMaxMs: 350, giveUpMs: 10_000, overdueMs: 1000 },
      handshakeMs: 600,
      connect: async (port) => {
        attempts.push([port, clock.now()]);
        await gates.shift();
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        const [near, far] = inProcessPipePair();
        acceptor.accept(far);
        return near;
      },
      ...options,
    });
  const says = (bytes: number) => {
    received = bytes;
  };
  return { clock, dial, answers, failures, gates, offers, attempts, connections, says };
}

/** Creates a link, and records its end. */
async function standing(options: Partial<ResumableDialOptions> = {}) {
  const made = dialling(options);
  const pipe = await made.dial();
  await turns();
  const ends: (string | undefined)[] = [];
  pipe.open({ buffer: () => new Uint8Array(64), received() {}, closed: (error) => ends.push(error?.message) });
  /** Breaks the open connection. */
  const cut = async (): Promise<void> => {
    made.connections.at(-1)!.destroy(new Error("cut"));
    await turns();
  };
  return { ...made, pipe, ends, cut };
}

const failure = (dialled: Promise<unknown>) => dialled.then(undefined, (error) => error);

test("the first connection offers a new link, and later connections offer the same link", async () => {
  const { offers, cut, attempts } = await standing();
  await cut();
  const offer = { universe: 1n, from: 2n, to: 3n, direct: true, use: "link", link: 77n, received: 0 };
  expect(offers).toEqual([
    expect.objectContaining({ ...offer, first: true }),
    expect.objectContaining({ ...offer, first: false }),
  ]);
  expect(attempts).toEqual([
    [undefined, 0],
    [undefined, 0],
  ]);
  const memory = await standing({ use: "memory", direct: false, port: 5 });
  expect([memory.offers[0], memory.attempts]).toEqual([
    expect.objectContaining({ use: "memory", direct: false }),
    [[5, 0]],
  ]);
});

test.each([
  ["its own limit", { connectMs: 200 }, 200],
  ["that of the handshake", {}, 600],
  ["the usual one", { handshakeMs: undefined }, 5000],
])("a connection that is not made within its time limit is given up: %s", async (_, options, ms) => {
  const connect = (_port: number | undefined, signal: AbortSignal) =>
    new Promise<Pipe>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const { clock, dial } = dialling({ ...options, connect } as Partial<ResumableDialOptions>);
  const outcome = failure(dial());
  clock.pass(ms - 1);
  await turns();
  expect(clock.waiting).toBeGreaterThan(0);
  clock.pass(1);
  expect(await outcome).toMatchObject({
    name: "HandshakeError",
    reason: "lost",
    message: `it did not answer within ${ms} ms`,
  });
  expect(clock.waiting).toBe(0);
});

test("a handshake that is not complete within its time limit is given up", async () => {
  const { clock, dial } = dialling({ connect: async () => inProcessPipePair()[0] });
  const outcome = failure(dial());
  await turns();
  clock.pass(600);
  expect(await outcome).toMatchObject({ message: "the handshake was not complete within 600 ms" });
});

test("a first attempt that fails rejects with its error, is not repeated, and leaves no timer", async () => {
  const refused = dialling();
  refused.answers.push(refusal("unknown", "there is no such process"));
  expect(await failure(refused.dial())).toMatchObject({ reason: "unknown", message: "there is no such process" });
  const failed = dialling();
  failed.failures.push(new Error("nobody listens"));
  expect(await failure(failed.dial())).toEqual(new Error("nobody listens"));
  for (const { clock, attempts } of [refused, failed]) {
    await turns();
    clock.pass(2000);
    await turns();
    expect([attempts.length, clock.waiting]).toEqual([1, 0]);
  }
});

test("a dialler follows one redirect and refuses a second one", async () => {
  const elsewhere: HandshakeVerdict = { kind: "redirect", port: 4711 };
  const sent = dialling();
  sent.answers.push(elsewhere);
  await sent.dial();
  expect(sent.attempts).toEqual([
    [undefined, 0],
    [4711, 0],
  ]);
  const again = "the peer sends us elsewhere once more";
  const twice = dialling();
  twice.answers.push(elsewhere, elsewhere);
  expect(await failure(twice.dial())).toMatchObject({ reason: "protocol", message: again });
  expect(twice.attempts.length).toBe(2);
  const known = dialling({ port: 5 });
  known.answers.push(elsewhere);
  expect(await failure(known.dial())).toMatchObject({ reason: "protocol", message: again });
  expect(known.attempts).toEqual([[5, 0]]);
});

test("a peer that claims more bytes of the link than were sent is refused", async () => {
  const { dial, says } = dialling();
  says(9);
  expect(await failure(dial())).toMatchObject({
    reason: "offset",
    message: "the peer says that it has 9 bytes of the link, which cannot be",
  });
});

test("a lost connection is dialled again at once, and then after pauses that grow up to a maximum", async () => {
  const { clock, cut, failures, attempts, ends } = await standing();
  attempts.length = 0;
  failures.push(...Array.from({ length: 5 }, () => new Error("nobody listens")));
  clock.pass(1000);
  await cut();
  const start = 1000;
  for (let i = 0; i < 1200; i++) {
    clock.pass(1);
    if (i % 25 === 24) await turns();
  }
  // The pauses are three quarters of 100, 200, 350, 350 and 350 ms with the random number of this test.
  const pauses = attempts.map(([, at], i) => at - (i === 0 ? start : attempts[i - 1]![1]));
  expect(pauses[0]).toBe(0);
  const expected = [75, 150, 262, 262, 262];
  expect(pauses).toHaveLength(6);
  for (const [i, pause] of pauses.slice(1).entries()) {
    expect(pause).toBeGreaterThanOrEqual(expected[i]!);
    expect(pause).toBeLessThanOrEqual(expected[i]! + 26);
  }
  expect(ends).toEqual([]);
});

test("a lost connection is dialled again at once if it has lasted, and after a pause otherwise", async () => {
  const { clock, cut, attempts } = await standing();
  attempts.length = 0;
  await cut();
  await cut();
  expect(attempts.length).toBe(1);
  clock.pass(80);
  await turns();
  expect(attempts.length).toBe(2);
  clock.pass(350);
  await cut();
  expect(attempts.length).toBe(2);
  clock.pass(1000);
  await turns();
  expect(attempts.length).toBe(3);
  clock.pass(351);
  await cut();
  expect(attempts.length).toBe(4);
  // This holds however long the process has run.
  clock.sleep(1_000_000);
  await cut();
  await cut();
  expect(attempts.length).toBe(5);
});

test("the refusal `gone` ends the link, and after the refusal `busy` the dialler tries again", async () => {
  const { clock, cut, answers, ends, attempts } = await standing();
  answers.push(refusal("busy", "it has too many"));
  await cut();
  expect([attempts.length, ends]).toEqual([2, []]);
  answers.push(refusal("gone", "there is no such link, or not any more"));
  clock.pass(80);
  await turns();
  const why = "the connection to tcp://there was lost and cannot be restored: there is no such link, or not any more";
  expect([attempts.length, ends]).toEqual([3, [why]]);
  clock.pass(5000);
  await turns();
  expect(attempts.length).toBe(3);
});

test("a dialler forgets the port of a redirect if it cannot connect to that port", async () => {
  const { clock, cut, failures, attempts } = await standing({ port: 5 });
  failures.push(new Error("nobody listens"));
  await cut();
  clock.pass(80);
  await turns();
  expect(attempts.map(([port]) => port)).toEqual([5, 5, undefined]);
});

test("a link that is not restored in time ends with the error of the last attempt and is not redialled", async () => {
  const { clock, cut, failures, ends, attempts } = await standing({
    limits: { redialMs: 100, redialMaxMs: 100, giveUpMs: 400 },
  });
  failures.push(...Array.from({ length: 50 }, () => new Error("nobody listens")));
  await cut();
  for (let i = 0; i < 8; i++) {
    clock.pass(100);
    await turns();
  }
  expect(ends).toEqual(["the connection to tcp://there was lost and not restored within 400 ms: nobody listens"]);
  expect(attempts.length).toBeLessThan(10);
  expect(clock.waiting).toBe(0);
});

test("a connection without acknowledgements is redialled one attempt at a time until one succeeds", async () => {
  const { clock, pipe, attempts, connections, failures, ends } = await standing();
  pipe.write([Buffer.from("x")], () => {});
  failures.push(new Error("busy"));
  clock.pass(999);
  await turns();
  expect(attempts.length).toBe(1);
  clock.pass(1);
  await turns();
  expect([attempts.length, connections.length, ends]).toEqual([2, 1, []]);
  clock.pass(2000);
  await turns();
  expect([attempts.length, connections.length, ends]).toEqual([3, 2, []]);
});

test("a connection that is lost during a dial is replaced by the dialled one, without a third attempt", async () => {
  const { clock, pipe, attempts, connections, gates, cut } = await standing();
  let openGate: () => void = () => {};
  gates.push(
    new Promise((resolve) => {
      openGate = resolve;
    }),
  );
  pipe.write([Buffer.from("x")], () => {});
  clock.pass(1000);
  await turns();
  expect(attempts.length).toBe(2);
  await cut();
  openGate();
  await turns();
  expect([attempts.length, connections.length]).toEqual([2, 2]);
});

test("the error at the end of a link has the refusal of the peer as its cause", async () => {
  const { dial, clock, answers } = dialling();
  const pipe = await dial();
  await turns();
  const ends: (Error | undefined)[] = [];
  pipe.open({ buffer: () => new Uint8Array(64), received() {}, closed: (error) => ends.push(error) });
  answers.push(refusal("gone", "there is no such link"));
  (pipe as ResumablePipe).lost(new Error("cut"));
  await turns();
  clock.pass(100);
  await turns();
  expect(ends).toEqual([expect.objectContaining({ cause: expect.objectContaining({ reason: "gone" }) })]);
});
