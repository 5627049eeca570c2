/**
 * Tests that bytes of unauthenticated and faulty peers over real TCP reach no link. Their connections end, with a
 * reason where the peer can read one, and the link of an honest peer loses nothing.
 */

import { connect, createServer, type Socket } from "node:net";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../../runtime/link/clock.js";
import { HandshakeError } from "../../../runtime/link/handshake/errors.js";
import {
  ANSWER_BYTES,
  CHALLENGE_BYTES,
  type LinkOffer,
  proofField,
  REQUEST_BYTES,
  readAnswer,
  writeAnswer,
  writeChallenge,
  writeConfirmation,
  writeRequest,
} from "../../../runtime/link/handshake/message.js";
import { computeProof, createNonce } from "../../../runtime/link/handshake/proof.js";
import { type Admission, ResumableAcceptor } from "../../../runtime/link/resumable/accept.js";
import { dialResumable, type ResumableDialOptions } from "../../../runtime/link/resumable/dial.js";
import {
  newAckSegment,
  newResetSegment,
  SegmentKind,
  writeSegmentHeader,
} from "../../../runtime/link/resumable/segment.js";
import { connectTo, listenAt } from "../../../runtime/link/transport/connect.js";
import type { Listener } from "../../../runtime/link/transport/listener.js";
import type { SocketAddress } from "../../../runtime/link/transport/network-address.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { until } from "../../proc/until.js";
import { cases } from "../../profile.js";
import { ByteRecorder, soon } from "../transport/byte-recorder.js";
import { ManualClock } from "./cut-world.js";

const token = "a token that nobody guesses";
const machine = { clock: systemClock, random: systemRandom };
const limits = { handshakeMs: 300, halfOpen: 8 };

/**
 * The clock of the acceptor. It stands still, so that strangers time out when the test says so, and honest peers never
 * do, however busy the machine is.
 */
let time: ManualClock;
let acceptor: ResumableAcceptor;
let listener: Listener;
let port: number;
let refusals: string[];
/** The ends of accepted links: the peer and the received bytes. */
let guests: { readonly offer: LinkOffer; readonly heard: ByteRecorder; readonly pipe: Pipe }[];
let good: Pipe;
let goodHeard: ByteRecorder;
let admission: Admission["kind"] | "redirect";
const servers: { close(): unknown }[] = [];

beforeEach(async () => {
  refusals = [];
  guests = [];
  admission = "open";
  time = new ManualClock();
  acceptor = new ResumableAcceptor({
    clock: time,
    random: systemRandom,
    token,
    limits,
    resumable: { resendBytes: 100_000 },
    admit: (offer): Admission => {
      if (admission === "redirect") return { kind: "redirect", port };
      return { kind: "open", open: (pipe) => guests.push({ offer, pipe, heard: new ByteRecorder(pipe) }) };
    },
    onRefused: ({ message }) => refusals.push(message),
  });
  listener = await listenAt({ kind: "tcp", host: "127.0.0.1", port: 0 }, (pipe) => acceptor.accept(pipe));
  port = (listener.address as SocketAddress).port;
  good = await dialTo(port);
  goodHeard = new ByteRecorder(good);
  await guest(0);
});

afterEach(async () => {
  // The link of the honest peers still works, and all its bytes have arrived.
  const said = "x".repeat(50_000);
  good.write([Buffer.from(said)], () => {});
  guests[0]!.pipe.write([Buffer.from(said)], () => {});
  await Promise.all([guests[0]!.heard.bytes(said.length), goodHeard.bytes(said.length)]);
  expect([`${guests[0]!.heard.all}`, `${goodHeard.all}`]).toEqual([said, said]);
  good.destroy();
  acceptor.close();
  listener.close();
  for (const server of servers.splice(0)) server.close();
});

/** Returns the acceptor's end of a link after the link was accepted. */
async function guest(index: number): Promise<(typeof guests)[number]> {
  await until(() => guests.length > index);
  return guests[index]!;
}

function dialTo(at: number, options: Partial<ResumableDialOptions> = {}): Promise<Pipe> {
  return dialResumable({
    ...machine,
    universe: 1n,
    from: 2n,
    to: 3n,
    direct: false,
    peer: `tcp://127.0.0.1:${at}`,
    token,
    handshakeMs: 60_000,
    limits: { redialMs: 1, redialMaxMs: 10, giveUpMs: 60_000 },
    connect: (redirected, signal) =>
      connectTo({ kind: "tcp", host: "127.0.0.1", port: redirected ?? at }, undefined, signal),
    ...options,
  });
}

/** A peer that sends arbitrary bytes. */
class Raw {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #bytes = Buffer.alloc(0);
  #wake: () => void = () => {};

  constructor(socket = connect(port, "127.0.0.1")) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes]);
      this.#wake();
    });
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.once("close", () => this.#wake());
  }

  send(bytes: Uint8Array | string): void {
    this.socket.write(bytes);
  }

  async read(size: number): Promise<Uint8Array> {
    while (this.#bytes.length < size) {
      if (this.socket.destroyed) throw new Error("it closed");
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
    const bytes = new Uint8Array(this.#bytes.subarray(0, size));
    this.#bytes = this.#bytes.subarray(size);
    return bytes;
  }

  /** Performs a correct handshake, without its last message unless `knows` is true. */
  async handshake(
    offer: Partial<LinkOffer> = {},
    own = token,
    extra: Uint8Array = new Uint8Array(0),
    knows = true,
  ): Promise<Uint8Array> {
    const whole = {
      universe: 1n,
      from: 66n,
      to: 3n,
      link: systemRandom.id(),
      first: true,
      direct: false,
      use: "link" as const,
      received: 0,
      ...offer,
    };
    const request = writeRequest({ ...whole, protocol: 1, token: true }, createNonce(systemRandom));
    this.send(request);
    const challenge = await this.read(CHALLENGE_BYTES);
    this.send(Buffer.concat([computeProof("dialler", own, [request, challenge]), extra]));
    const answer = await this.read(ANSWER_BYTES);
    if (knows && readAnswer(answer).kind === "open") this.send(writeConfirmation());
    return answer;
  }
}

function segment(kind: number, size: number, data = Buffer.alloc(0)): Buffer {
  const header = new Uint8Array(4);
  writeSegmentHeader(header, 0, kind, size);
  return Buffer.concat([header, data]);
}

describe("a stranger", () => {
  test("that sends random bytes is disconnected", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: REQUEST_BYTES, maxLength: 1000 }), async (bytes) => {
        const raw = new Raw();
        raw.send(bytes);
        await raw.closed;
      }),
      { numRuns: cases(20) },
    );
    expect(guests.length).toBe(1);
    expect(new Set(refusals)).toEqual(
      new Set([
        "cannot read the request of the handshake: the peer does not speak this protocol; is it a Viceroy process?",
      ]),
    );
  });

  test("that sends a valid request with one damaged byte is refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(REQUEST_BYTES - 1), fc.integer({ min: 1, max: 255 }), async (at, damage) => {
        const raw = new Raw();
        const offer = {
          universe: 1n,
          from: 66n,
          to: 3n,
          link: 5n,
          first: true,
          direct: false,
          use: "link" as const,
          received: 0,
        };
        const request = writeRequest({ ...offer, protocol: 1, token: true }, createNonce(systemRandom));
        const damaged = Uint8Array.from(request);
        damaged[at]! ^= damage;
        raw.send(damaged);
        const challenge = await raw.read(CHALLENGE_BYTES);
        raw.send(computeProof("dialler", token, [request, challenge]));
        await raw.closed;
      }),
      { numRuns: cases(20) },
    );
    expect(guests.length).toBe(1);
  });

  test("that sends frames without a handshake is disconnected", async () => {
    const raw = new Raw();
    raw.send(Buffer.alloc(REQUEST_BYTES, Buffer.from([40, 0, 0, 0, 1, 0, 0, 0])));
    await raw.closed;
    expect(refusals).toEqual([
      "cannot read the request of the handshake: the peer does not speak this protocol; is it a Viceroy process?",
    ]);
  });

  test("with another version of the handshake receives the version of this process", async () => {
    const raw = new Raw();
    const offer = {
      universe: 1n,
      from: 66n,
      to: 3n,
      link: 5n,
      first: true,
      direct: false,
      use: "link" as const,
      received: 0,
      protocol: 1,
      token: true,
    };
    const request = writeRequest(offer, createNonce(systemRandom));
    request[4] = 9;
    raw.send(request);
    expect((await raw.read(CHALLENGE_BYTES))[4]).toBe(2);
    await raw.closed;
    expect(refusals).toEqual([
      "cannot connect: the peer speaks version 9 of the handshake, this process 2; install the same version of viceroy on both sides",
    ]);
  });

  test("with another version of the protocol is refused with both versions after it proves the token", async () => {
    const raw = new Raw();
    const offer = {
      universe: 1n,
      from: 66n,
      to: 3n,
      link: 5n,
      first: true,
      direct: false,
      use: "link" as const,
      received: 0,
      protocol: 7,
      token: true,
    };
    const request = writeRequest(offer, createNonce(systemRandom));
    raw.send(request);
    const challenge = await raw.read(CHALLENGE_BYTES);
    raw.send(computeProof("dialler", token, [request, challenge]));
    expect(readAnswer(await raw.read(ANSWER_BYTES))).toEqual({
      kind: "refuse",
      reason: "version",
      text: "this process speaks version 1 of the protocol, the dialler 7; install the same version of viceroy on both sides",
    });
  });

  test("that sends one byte at a time is disconnected at the timeout of the handshake", async () => {
    const raw = new Raw();
    await until(() => acceptor.connectionCount === 2);
    for (let i = 0; i < 29; i++) {
      raw.send("V");
      await soon(1);
      time.pass(10);
    }
    expect([acceptor.connectionCount, refusals]).toEqual([2, []]);
    time.pass(10);
    await raw.closed;
    await until(() => refusals.length > 0);
    expect(refusals).toEqual(["the handshake was not complete within 300 ms"]);
  });

  test("that opens many silent connections does not keep honest diallers out", async () => {
    const raws = Array.from({ length: 50 }, () => new Raw());
    await until(() => refusals.length === raws.length - limits.halfOpen);
    const late = await dialTo(port);
    const heard = new ByteRecorder(late);
    await guest(1);
    late.close();
    await heard.end;
    time.pass(limits.handshakeMs);
    await Promise.all(raws.map(({ closed }) => closed));
    // The end of a connection is reported at both ends independently, so this end may come first.
    await until(() => refusals.length === raws.length);
    const told = (text: string) => refusals.filter((refusal) => refusal === text).length;
    expect([
      told("there are too many connections that do not complete their handshake"),
      told("the handshake was not complete within 300 ms"),
    ]).toEqual([raws.length - limits.halfOpen + 1, limits.halfOpen - 1]);
    expect(guests.length).toBe(2);
  });

  test("that replays the handshake of an earlier dialler is refused", async () => {
    const recorded: Buffer[] = [];
    const proxy = createServer((socket) => {
      const onward = connect(port, "127.0.0.1");
      socket
        .on("data", (bytes) => recorded.push(Buffer.from(bytes)))
        .pipe(onward)
        .pipe(socket);
      for (const end of [socket, onward]) end.on("error", () => {});
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => proxy.once("listening", resolve));
    servers.push(proxy);
    const pipe = await dialTo((proxy.address() as { port: number }).port);
    pipe.destroy();
    const raw = new Raw();
    raw.send(Buffer.concat(recorded).subarray(0, REQUEST_BYTES + 32));
    await raw.read(CHALLENGE_BYTES);
    expect(readAnswer(await raw.read(ANSWER_BYTES))).toMatchObject({ kind: "refuse", reason: "token" });
    await raw.closed;
  });

  test("without the token can neither take over a link nor interrupt it", async () => {
    const { link } = guests[0]!.offer;
    const raw = new Raw();
    const answer = await raw.handshake({ from: 2n, link, first: false }, "another token, as good");
    expect(readAnswer(answer)).toMatchObject({ kind: "refuse", reason: "token" });
    // The answer contains nothing against which tokens could be tested.
    expect(proofField(answer).every((byte) => byte === 0)).toBe(true);
  });

  test("that disconnects before it confirms the answer opens no link, and can resume the link later", async () => {
    const link = 78n;
    const raw = new Raw();
    await raw.handshake({ link }, token, new Uint8Array(0), false);
    raw.socket.destroy();
    await until(() => acceptor.connectionCount === 1);
    expect([guests.length, acceptor.linkCount]).toEqual([1, 2]);
    const back = new Raw();
    expect(readAnswer(await back.handshake({ link, first: false }))).toEqual({ kind: "open", received: 0 });
    back.send(segment(SegmentKind.end, 0));
    await (await guest(1)).heard.end;
    expect(guests[1]!.offer).toMatchObject({ link, first: true });
    expect(acceptor.linkCount).toBe(1);
  });

  test("that sends garbage as the last message of the handshake opens no link", async () => {
    const raw = new Raw();
    await raw.handshake({}, token, new Uint8Array(0), false);
    raw.send("GET / HTTP/1.1");
    await raw.closed;
    expect(guests.length).toBe(1);
    expect(refusals).toEqual([
      "cannot read the last message of the handshake: the peer does not speak this protocol; is it a Viceroy process?",
    ]);
  });

  test("that sends one byte too many before the answer is disconnected", async () => {
    const raw = new Raw();
    await raw.handshake({}, token, Buffer.alloc(1)).catch(() => {});
    await raw.closed;
    await until(() => refusals.length > 0);
    expect(refusals).toEqual(["the peer has sent more than the handshake asks for"]);
    expect(guests.length).toBe(1);
  });

  test("that sends a megabyte before the answer is disconnected", async () => {
    const raw = new Raw();
    await raw.handshake({}, token, Buffer.alloc(1_000_000)).catch(() => {});
    await raw.closed;
    await until(() => refusals.length > 0);
    expect(refusals).toEqual(["the peer has sent more than the handshake asks for"]);
  });
});

describe("a peer that has the token and breaks the protocol", () => {
  test.each([
    ["an unknown kind of segment", segment(9, 4), "cannot read segment: kind 9 cannot have 4 bytes"],
    ["data of no bytes", segment(SegmentKind.data, 0), "cannot read segment: kind 0 cannot have 0 bytes"],
    ["data that is too large", segment(0, (1 << 20) + 1), "cannot read segment: kind 0 cannot have 1048577 bytes"],
    ["an ack of another size", segment(SegmentKind.ack, 9), "cannot read segment: kind 1 cannot have 9 bytes"],
    ["an end with something in it", segment(SegmentKind.end, 1), "cannot read segment: kind 2 cannot have 1 bytes"],
    ["a reason without end", segment(SegmentKind.reset, 513), "cannot read segment: kind 3 cannot have 513 bytes"],
    ["bytes confirmed that nobody sent", newAckSegment(1), "cannot read ack: expected 0 to 0 bytes, got 1"],
    [
      "more bytes confirmed than can be counted",
      segment(SegmentKind.ack, 8, Buffer.alloc(8, 255)),
      "cannot read ack: 18446744073709551615 bytes",
    ],
  ])("ends its own link with an error: %s", async (_name, bytes, message) => {
    const raw = new Raw();
    expect(readAnswer(await raw.handshake())).toEqual({ kind: "open", received: 0 });
    raw.send(bytes);
    expect((await (await guest(1)).heard.end)?.message).toBe(message);
    const reset = newResetSegment(message);
    expect(await raw.read(reset.length)).toEqual(reset);
    await raw.closed;
    expect(acceptor.linkCount).toBe(1);
  });

  test("is refused if it asks for an unknown link or claims bytes that were never sent", async () => {
    const never = await new Raw().handshake({ first: false });
    expect(readAnswer(never)).toEqual({
      kind: "refuse",
      reason: "gone",
      text: "there is no such link, or not any more",
    });
    const impossible = await new Raw().handshake({ received: 1 });
    expect(readAnswer(impossible)).toEqual({
      kind: "refuse",
      reason: "offset",
      text: "the dialler says that it has 1 bytes of the link, which cannot be",
    });
  });

  test("ends its own link if it acknowledges fewer bytes than before", async () => {
    const raw = new Raw();
    await raw.handshake();
    (await guest(1)).pipe.write([Buffer.from("abcdef")], () => {});
    await raw.read(10);
    raw.send(Buffer.concat([newAckSegment(5), newAckSegment(4)]));
    expect((await guests[1]!.heard.end)?.message).toBe("cannot read ack: expected 5 to 6 bytes, got 4");
  });

  test("is refused if it resumes a link at an offset before its last acknowledgement", async () => {
    const raw = new Raw();
    await raw.handshake({ link: 77n });
    (await guest(1)).pipe.write([Buffer.from("abcdef")], () => {});
    await raw.read(10);
    raw.send(Buffer.concat([newAckSegment(5), segment(SegmentKind.data, 1, Buffer.from("x"))]));
    // The acknowledged bytes have arrived before.
    await guests[1]!.heard.bytes(1);
    const again = await new Raw().handshake({ link: 77n, first: false, received: 4 });
    expect(readAnswer(again)).toMatchObject({ kind: "refuse", reason: "offset" });
    // The honest peer resumes from there.
    const back = new Raw();
    expect(readAnswer(await back.handshake({ link: 77n, first: false, received: 5 })).kind).toBe("open");
    expect(Buffer.from(await back.read(5)).toString("latin1")).toBe("\u0001\0\0\0f");
    back.send(segment(SegmentKind.end, 0));
    await guests[1]!.heard.end;
  });
});

describe("a dialler", () => {
  async function impostor(serve: (raw: Raw) => Promise<void> | void): Promise<number> {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      Promise.resolve(serve(new Raw(socket))).catch(() => {});
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    servers.push(server, { close: () => sockets.forEach((socket) => void socket.destroy()) });
    return (server.address() as { port: number }).port;
  }

  async function failure(at: number, options: Partial<ResumableDialOptions> = {}): Promise<string> {
    const error = await dialTo(at, options).then(undefined, (e) => e);
    expect(error).toBeInstanceOf(HandshakeError);
    return `${error.reason}: ${error.message}`;
  }

  test("refuses a server that speaks another protocol", async () => {
    const at = await impostor((raw) => raw.send(`HTTP/1.1 400 Bad Request\r\n\r\n${" ".repeat(100)}`));
    expect(await failure(at)).toBe(
      "protocol: cannot read the challenge of the handshake: the peer does not speak this protocol; is it a Viceroy process?",
    );
  });

  test("gives up on a server that closes the connection or never answers", async () => {
    expect(await failure(await impostor((raw) => void raw.socket.end()))).toBe(
      "lost: the connection ended during the handshake: the peer has closed it without saying why",
    );
    const silent = await impostor(() => {});
    expect(await failure(silent, { handshakeMs: 300, connectMs: 60_000 })).toBe(
      "lost: the handshake was not complete within 300 ms",
    );
  });

  test("refuses a server that accepts the link without a proof of the token", async () => {
    const at = await impostor(async (raw) => {
      await raw.read(REQUEST_BYTES);
      raw.send(writeChallenge({ token: true }, createNonce(systemRandom)));
      await raw.read(32);
      raw.send(writeAnswer({ kind: "open", received: 0 }));
    });
    expect(await failure(at)).toBe("token: the peer has not proved that it has the token: it may be an impostor");
  });

  test("refuses a server that has the token and sends an impossible or malformed answer", async () => {
    const answering = (change: (answer: Uint8Array) => void, received = 0) =>
      impostor(async (raw) => {
        const request = await raw.read(REQUEST_BYTES);
        const challenge = writeChallenge({ token: true }, createNonce(systemRandom));
        raw.send(challenge);
        await raw.read(32);
        const answer = writeAnswer({ kind: "open", received });
        change(answer);
        proofField(answer).set(computeProof("acceptor", token, [request, challenge, answer]));
        raw.send(answer);
      });
    expect(await failure(await answering(() => {}, 9))).toBe(
      "offset: the peer says that it has 9 bytes of the link, which cannot be",
    );
    const malformed = "protocol: cannot read the answer of the handshake: it is malformed";
    expect(await failure(await answering((answer) => answer.fill(3, 6, 7)))).toBe(malformed);
    expect(await failure(await answering((answer) => answer.set([2, 0, 99], 6)))).toBe(malformed);
    expect(await failure(await answering((answer) => answer.set([2, 0, 0, 0, 0, 0, 255, 255], 6)))).toBe(malformed);
  });

  test("refuses a second redirect", async () => {
    admission = "redirect";
    expect(await failure(port)).toBe("protocol: the peer sends us elsewhere once more");
  });
});
