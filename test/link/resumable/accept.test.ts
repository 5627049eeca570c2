/** Tests of the acceptor of resumable links: the connections that it accepts, and the link that each of them continues. */
import { expect, test } from "vitest";
import { PROTOCOL_VERSION } from "../../../runtime/link/frame/frame.js";
import { offerLink } from "../../../runtime/link/handshake/dial.js";
import { HandshakeExchange } from "../../../runtime/link/handshake/exchange.js";
import {
  ANSWER_BYTES,
  CHALLENGE_BYTES,
  type LinkOffer,
  readAnswer,
  writeConfirmation,
  writeRequest,
} from "../../../runtime/link/handshake/message.js";
import { computeProof, createNonce } from "../../../runtime/link/handshake/proof.js";
import {
  type Admission,
  ResumableAcceptor,
  type ResumableAcceptorOptions,
} from "../../../runtime/link/resumable/accept.js";
import {
  newAckSegment,
  newResetSegment,
  SegmentKind,
  writeSegmentHeader,
} from "../../../runtime/link/resumable/segment.js";
import { inProcessPipePair } from "../../../runtime/link/transport/in-process/pipe.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import type { PeerIdentity } from "../../../runtime/link/transport/tls/identity.js";
import { ManualClock } from "./cut-world.js";

async function turns(): Promise<void> {
  for (let i = 0; i < 30; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Returns a data segment with a text. */
function segment(text: string): Uint8Array {
  const header = new Uint8Array(4);
  writeSegmentHeader(header, 0, SegmentKind.data, text.length);
  return Buffer.concat([header, Buffer.from(text)]);
}

interface Guest {
  readonly pipe: Pipe;
  readonly heard: string[];
}

function listening(options: Partial<ResumableAcceptorOptions> = {}) {
  const clock = new ManualClock();
  const random = { id: () => 77n, number: () => 0.5 };
  const guests: Guest[] = [];
  const asked: LinkOffer[] = [];
  const refused: string[] = [];
  const admit = (offer: LinkOffer): Admission => {
    asked.push(offer);
    return { kind: "open", open: (pipe) => void guests.push(listenTo(pipe)) };
  };
  const acceptor = new ResumableAcceptor({
    clock,
    random,
    token: undefined,
    resumable: { giveUpMs: 1000, resendBytes: 1000 },
    admit,
    onRefused: ({ message }) => refused.push(message),
    ...options,
  });
  /** Offers a link over a new connection. @returns the connection, and the number of bytes that the other side has */
  const offer = async (more: Partial<LinkOffer> = {}, identity?: PeerIdentity) => {
    const [near, far] = inProcessPipePair();
    acceptor.accept(far, undefined, identity);
    const whole: LinkOffer = {
      universe: 1n,
      from: 2n,
      to: 3n,
      link: 4n,
      first: true,
      direct: false,
      use: "link",
      received: 0,
      ...more,
    };
    const outcome = await offerLink(near, whole, { clock, random });
    if (outcome.kind === "redirect") return { port: outcome.port };
    const { heard } = listenTo(outcome.pipe);
    await turns();
    return { pipe: outcome.pipe, received: outcome.received, heard };
  };
  const failure = (more: Partial<LinkOffer> = {}, identity?: PeerIdentity) =>
    offer(more, identity).then(
      () => undefined,
      ({ reason, message }) => `${reason}: ${message}`,
    );
  return { acceptor, clock, guests, asked, refused, offer, failure };
}

function listenTo(pipe: Pipe): Guest {
  const heard: string[] = [];
  const memory = new Uint8Array(1024);
  pipe.open({
    buffer: () => memory,
    received: (n) => void heard.push(String(Buffer.from(memory.subarray(0, n)))),
    closed: (error) => void heard.push(`closed ${error?.message}`),
  });
  return { pipe, heard };
}

test("a link continues over the next connection that asks for it, and is opened only once", async () => {
  const { acceptor, guests, asked, offer } = listening();
  const first = await offer();
  first.pipe!.write([segment("hello")], () => {});
  await turns();
  expect([guests.length, guests[0]!.heard, acceptor.linkCount, acceptor.connectionCount]).toEqual([1, ["hello"], 1, 1]);
  const second = await offer({ first: false });
  // Bytes of the first connection are ignored, although its loss was not noticed yet.
  expect([second.received, asked.length, guests.length, acceptor.connectionCount]).toEqual([5, 1, 1, 1]);
  second.pipe!.write([segment(" again")], () => {});
  await turns();
  expect(guests[0]!.heard.join("")).toBe("hello again");
});

test("a link continues only for the process of the job that has opened it", async () => {
  const { guests, offer, failure } = listening();
  const driver: PeerIdentity = { job: "job-1", role: "driver", key: "a" };
  await offer({}, driver);
  const others: (PeerIdentity | undefined)[] = [
    undefined,
    { job: "job-1", role: "host", mesh: "trainers", rank: 0, key: "a" },
    { ...driver, key: "b" },
  ];
  for (const other of others) {
    expect(await failure({ first: false }, other)).toBe("gone: there is no such link, or not any more");
  }
  await offer({ first: false }, driver);
  expect(guests).toHaveLength(1);
});

test.each<readonly [string, Partial<LinkOffer>]>([
  ["another universe", { universe: 9n }],
  ["another process", { from: 9n }],
  ["another receiver", { to: 9n }],
  ["another number", { link: 9n }],
])("an offer with %s creates another link", async (_, more) => {
  const { acceptor, guests, offer } = listening();
  await offer();
  await offer(more);
  expect([guests.length, acceptor.linkCount]).toEqual([2, 2]);
});

test("a dialler that asks for an unknown link is refused", async () => {
  const { acceptor, refused, failure } = listening();
  const gone = "gone: there is no such link, or not any more";
  expect(await failure({ first: false })).toBe(gone);
  await turns();
  expect([acceptor.linkCount, refused]).toEqual([0, ["there is no such link, or not any more"]]);
});

test("a dialler that claims more bytes than were sent is refused, and the link stays", async () => {
  const { offer, failure, guests } = listening();
  await offer();
  guests[0]!.pipe.write([Buffer.from("abc")], () => {});
  await turns();
  expect(await failure({ first: false, received: 4 })).toBe(
    "offset: the dialler says that it has 4 bytes of the link, which cannot be",
  );
  const { heard } = await offer({ first: false, received: 1 });
  await turns();
  expect(Buffer.from(heard!.join("")).subarray(4).toString()).toBe("bc");
});

test("the admission of a new link can redirect or refuse the dialler", async () => {
  const elsewhere = listening({ admit: () => ({ kind: "redirect", port: 4711 }) });
  expect(await elsewhere.offer()).toEqual({ port: 4711 });
  const refusing = listening({ admit: async () => ({ kind: "refuse", reason: "unknown", text: "nobody" }) });
  expect(await refusing.failure()).toBe("unknown: nobody");
  expect([elsewhere.acceptor.linkCount, refusing.acceptor.linkCount]).toEqual([0, 0]);
});

test("new links above the limit are refused, and existing links can still be resumed", async () => {
  const { offer, failure, asked } = listening({ limits: { connections: 2 } });
  for (const link of [1n, 2n]) {
    const { pipe } = await offer({ link });
    pipe!.destroy();
  }
  await turns();
  expect(await failure({ link: 3n })).toBe("busy: this process has 2 links and takes no more");
  expect(asked.length).toBe(2);
  // An existing link can be resumed.
  expect((await offer({ link: 1n, first: false })).received).toBe(0);
});

test("a link without a connection is forgotten after the time of its admission or of the limits", async () => {
  for (const [giveUpMs, ms] of [
    [undefined, 1000],
    [300, 300],
  ] as const) {
    const opened: Pipe[] = [];
    const admission: Admission = { kind: "open", open: (pipe) => void opened.push(pipe) };
    const { acceptor, clock, offer, failure } = listening({
      admit: () => (giveUpMs === undefined ? admission : { ...admission, giveUpMs }),
    });
    const { pipe } = await offer();
    const { heard } = listenTo(opened[0]!);
    pipe!.destroy();
    await turns();
    clock.pass(ms - 1);
    expect(acceptor.linkCount).toBe(1);
    clock.pass(1);
    await turns();
    expect([acceptor.linkCount, heard]).toEqual([
      0,
      [
        expect.stringContaining(
          `closed the connection to process 0000000000000002 was lost and not restored within ${ms} ms`,
        ),
      ],
    ]);
    expect(await failure({ first: false })).toBe("gone: there is no such link, or not any more");
  }
});

test("the acceptor forgets a link that the peer has ended", async () => {
  const { acceptor, guests, offer } = listening();
  const { pipe } = await offer();
  pipe!.write([newResetSegment("enough")], () => {});
  await turns();
  expect([acceptor.linkCount, guests[0]!.heard]).toEqual([
    0,
    ["closed process 0000000000000002 has ended the link: enough"],
  ]);
});

test("two connections that ask for the same new link at the same time share one link", async () => {
  const opens: (() => void)[] = [];
  const guests: Guest[] = [];
  const { acceptor, offer } = listening({
    admit: () =>
      new Promise<Admission>((resolve) => {
        opens.push(() => resolve({ kind: "open", open: (pipe) => void guests.push(listenTo(pipe)) }));
      }),
  });
  const both = [offer(), offer()];
  await turns();
  expect(opens.length).toBe(2);
  for (const open of opens) open();
  await Promise.all(both);
  await turns();
  expect([acceptor.linkCount, guests.length]).toEqual([1, 1]);
});

test("a closed acceptor refuses new connections, and its links continue", async () => {
  const { acceptor, guests, offer, failure } = listening();
  const { pipe } = await offer();
  acceptor.close();
  pipe!.write([segment("still here")], () => {});
  expect(await failure({ link: 9n })).toMatch(/^lost: /);
  await turns();
  expect([guests[0]!.heard, acceptor.linkCount]).toEqual([["still here"], 1]);
});

test("the constructor of the acceptor refuses invalid limits of links", () => {
  expect(() => listening({ resumable: { ackMs: 0 } })).toThrow(
    new RangeError("cannot limit a link: ackMs must be a whole number of at least 1, got 0"),
  );
});

/** Creates a connection that has its answer and has not confirmed it yet. */
async function answered(acceptor: ResumableAcceptor, clock: ManualClock, more: Partial<LinkOffer> = {}) {
  const [near, far] = inProcessPipePair();
  acceptor.accept(far);
  const exchange = new HandshakeExchange(near, clock, 1_000_000);
  const offer = {
    universe: 1n,
    from: 2n,
    to: 3n,
    link: 4n,
    first: true,
    direct: false,
    use: "link",
    received: 0,
  } as const;
  const random = { id: () => 77n, number: () => 0.5 };
  const request = writeRequest({ ...offer, ...more, protocol: PROTOCOL_VERSION, token: false }, createNonce(random));
  exchange.send(request);
  const challenge = await exchange.read(CHALLENGE_BYTES);
  exchange.send(computeProof("dialler", undefined, [request, challenge]));
  const answer = readAnswer(await exchange.read(ANSWER_BYTES, true));
  const heard = { ended: false };
  const memory = new Uint8Array(1024);
  exchange.complete().open({
    buffer: () => memory,
    received() {},
    closed: () => {
      heard.ended = true;
    },
  });
  return { answer, heard, say: (bytes: Uint8Array) => exchange.send(bytes) };
}

test("if two connections for one link are made at once, the one that sends bytes first is kept", async () => {
  const { acceptor, clock, guests } = listening();
  const [one, two] = [await answered(acceptor, clock), await answered(acceptor, clock)];
  expect([one.answer, two.answer]).toEqual(Array(2).fill({ kind: "open", received: 0 }));
  one.say(writeConfirmation());
  one.say(segment("hello"));
  await turns();
  two.say(writeConfirmation());
  await turns();
  expect([one.heard.ended, two.heard.ended, guests.length]).toEqual([false, true, 1]);
  one.say(segment(" again"));
  await turns();
  expect(guests[0]!.heard.join("")).toBe("hello again");
});

test("a connection ends if its dialler has fewer bytes than it has acknowledged over another connection", async () => {
  const { acceptor, clock, guests } = listening();
  const [one, two] = [await answered(acceptor, clock), await answered(acceptor, clock)];
  one.say(writeConfirmation());
  await turns();
  guests[0]!.pipe.write([Buffer.from("abc")], () => {});
  await turns();
  one.say(newAckSegment(3));
  await turns();
  two.say(writeConfirmation());
  await turns();
  expect([one.heard.ended, two.heard.ended]).toEqual([false, true]);
});

test("a link that is given up before its dialler confirms it is never opened", async () => {
  const { acceptor, clock, guests } = listening();
  const one = await answered(acceptor, clock);
  expect(acceptor.linkCount).toBe(1);
  clock.pass(1000);
  await turns();
  expect(acceptor.linkCount).toBe(0);
  one.say(writeConfirmation());
  await turns();
  expect([guests, one.heard.ended]).toEqual([[], true]);
});
