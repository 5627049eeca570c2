/** Tests that two sides authenticate each other before any byte of a link is sent, and that a refused side gets the reason. */
import { describe, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../../runtime/link/clock.js";
import { PROTOCOL_VERSION } from "../../../runtime/link/frame/frame.js";
import { HandshakeAcceptor, type HandshakeAcceptorOptions } from "../../../runtime/link/handshake/accept.js";
import { type OfferLinkOptions, offerLink } from "../../../runtime/link/handshake/dial.js";
import { HandshakeError, handshakeReasons } from "../../../runtime/link/handshake/errors.js";
import { HandshakeExchange } from "../../../runtime/link/handshake/exchange.js";
import {
  ANSWER_BYTES,
  CHALLENGE_BYTES,
  type LinkOffer,
  NONCE_BYTES,
  PROOF_BYTES,
  proofField,
  REQUEST_BYTES,
  readAnswer,
  writeAnswer,
  writeChallenge,
  writeRequest,
} from "../../../runtime/link/handshake/message.js";
import { computeProof, createNonce, parseToken } from "../../../runtime/link/handshake/proof.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { until } from "../../proc/until.js";
import { pipePair } from "../pipe-pair.js";
import { ManualClock } from "../resumable/cut-world.js";

const token = "a token that nobody guesses";
const offered: LinkOffer = {
  universe: 1n,
  from: 2n,
  to: 3n,
  link: 4n,
  first: true,
  direct: false,
  use: "link" as const,
  received: 0,
};
const machine = { clock: systemClock, random: systemRandom };

/** Records the bytes of a pipe, as text. */
function listenTo(pipe: Pipe): { text: string; ended: boolean } {
  const heard = { text: "", ended: false };
  const bytes = new Uint8Array(64);
  pipe.open({
    buffer: () => bytes,
    received: (n) => {
      heard.text += Buffer.from(bytes.subarray(0, n)).toString();
    },
    closed: () => {
      heard.ended = true;
    },
  });
  return heard;
}

interface Met extends ReturnType<typeof accepting> {
  readonly refusals: string[];
  readonly outcome: ReturnType<typeof offerLink>;
}

/** Creates an acceptor. It opens every offered link unless the test says otherwise. */
function accepting(options: Partial<HandshakeAcceptorOptions>) {
  const met = {
    offers: [] as LinkOffer[],
    errors: [] as HandshakeError[],
    peers: [] as (string | undefined)[],
    opened: [] as Pipe[],
  };
  const acceptor = new HandshakeAcceptor({
    ...machine,
    decide: (asked) => {
      met.offers.push(asked);
      return { kind: "open", received: 7, open: (pipe) => met.opened.push(pipe) };
    },
    onRefused: (error, peer) => {
      met.errors.push(error as HandshakeError);
      met.peers.push(peer);
    },
    ...options,
  });
  return { ...met, acceptor };
}

/** Completes a handshake as an acceptor does, and sends bytes behind the answer. */
async function answerByHand(pipe: Pipe, behind: Uint8Array, own = token): Promise<void> {
  const exchange = new HandshakeExchange(pipe, systemClock, 100_000);
  const request = await exchange.read(REQUEST_BYTES);
  const challenge = writeChallenge({ token: true }, createNonce(systemRandom));
  exchange.send(challenge);
  await exchange.read(PROOF_BYTES);
  const answer = writeAnswer({ kind: "open", received: 0 });
  proofField(answer).set(computeProof("acceptor", own, [request, challenge, answer]));
  exchange.send(Buffer.concat([answer, behind]));
}

function meet(
  dialler: Partial<OfferLinkOptions>,
  acceptor: Partial<HandshakeAcceptorOptions>,
  offer: Partial<LinkOffer> = {},
): Met {
  const [near, far] = pipePair();
  const met = accepting(acceptor);
  met.acceptor.accept(far, "10.0.0.7:5");
  const outcome = offerLink(near, { ...offered, ...offer }, { ...machine, ...dialler });
  return {
    ...met,
    get refusals() {
      return met.errors.map(({ message }) => message);
    },
    outcome,
  };
}

async function failure(outcome: Promise<unknown>): Promise<HandshakeError> {
  const error = await outcome.then(undefined, (e) => e);
  expect(error).toBeInstanceOf(HandshakeError);
  return error as HandshakeError;
}

describe("two sides with the same token", () => {
  test("exchange the offer and the received byte counts, and then send bytes in both directions", async () => {
    const met = meet({ token }, { token }, { first: false, received: 2 ** 40 });
    const outcome = await met.outcome;
    if (outcome.kind !== "open") throw new Error("expected a pipe");
    await until(() => met.opened.length === 1);
    expect(outcome.received).toBe(7);
    expect(met.offers).toEqual([
      { ...offered, first: false, received: 2 ** 40, protocol: PROTOCOL_VERSION, token: true },
    ]);
    const here = listenTo(outcome.pipe);
    const there = listenTo(met.opened[0]!);
    outcome.pipe.write([Buffer.from("ping")], () => {});
    met.opened[0]!.write([Buffer.from("po"), Buffer.from("ng")], () => {});
    await until(() => here.text.length >= 4 && there.text.length >= 4);
    expect([here.text, there.text]).toEqual(["pong", "ping"]);
    expect([met.acceptor.halfOpenCount, met.acceptor.connectionCount]).toEqual([0, 1]);
    outcome.pipe.close();
    await until(() => there.ended && met.acceptor.connectionCount === 0);
  });

  test("complete their handshake with a redirect to another port", async () => {
    const met = meet({ token }, { token, decide: () => ({ kind: "redirect", port: 4711 }) });
    expect(await met.outcome).toEqual({ kind: "redirect", port: 4711 });
    await until(() => met.acceptor.connectionCount === 0);
    expect([met.acceptor.halfOpenCount, met.refusals]).toEqual([0, []]);
  });

  test("can send many bytes directly after the last message of the handshake", async () => {
    const met = meet({ token }, { token });
    const outcome = await met.outcome;
    if (outcome.kind !== "open") throw new Error("expected a pipe");
    outcome.pipe.write([Buffer.alloc(10_000, "x")], () => {});
    await until(() => met.opened.length === 1);
    const there = listenTo(met.opened[0]!);
    await until(() => there.text.length === 10_000);
  });

  test("receive all bytes that follow the answer of the acceptor", async () => {
    const [near, far] = pipePair();
    const outcome = offerLink(near, offered, { ...machine, token });
    await answerByHand(far, Buffer.alloc(10_000, "x"));
    const met = await outcome;
    if (met.kind !== "open") throw new Error("expected a pipe");
    const here = listenTo(met.pipe);
    await until(() => here.text.length === 10_000);
  });

  test("get the reason of a refusal, and the dialler gets a text that is cut to the message size", async () => {
    const text = "ü".repeat(1000);
    const met = meet({ token }, { token, decide: () => ({ kind: "refuse", reason: "gone", text }) });
    const error = await failure(met.outcome);
    expect([error.reason, error.message]).toEqual(["gone", "ü".repeat(228)]);
    await until(() => met.refusals.length === 1);
    expect(met.errors.map(({ reason, message }) => [reason, message])).toEqual([["gone", text]]);
    expect(met.peers).toEqual(["10.0.0.7:5"]);
  });
});

describe("two sides without a token", () => {
  test("open a link without proving a token", async () => {
    const met = meet({}, {});
    expect((await met.outcome).kind).toBe("open");
    expect(met.offers).toEqual([expect.objectContaining({ token: false })]);
  });
});

describe("a handshake fails", () => {
  test("when the tokens differ, and both sides get the reason", async () => {
    const met = meet({ token: "another token, as good" }, { token });
    const error = await failure(met.outcome);
    expect([error.reason, error.message]).toEqual([
      "token",
      "the token is not that of this process; give the same to both",
    ]);
    expect(met.offers).toEqual([]);
    await until(() => met.refusals.length > 0);
    expect(met.refusals).toEqual(["the token is not that of this process; give the same to both"]);
    expect([met.errors.map(({ reason }) => reason), met.peers]).toEqual([["token"], ["10.0.0.7:5"]]);
  });

  test("when the acceptor requires a token and the dialler has none", async () => {
    const met = meet({}, { token });
    const error = await failure(met.outcome);
    expect(error.reason).toBe("token");
    expect(error.message).toBe(
      "the peer asks for a token, and this process has been given none; give it with VICEROY_TOKEN or the option token",
    );
  });

  test("when the dialler has a token and the acceptor has none", async () => {
    const met = meet({ token }, {});
    const error = await failure(met.outcome);
    expect(error.reason).toBe("token");
    expect(error.message).toBe(
      "this process has a token, and the peer was started without one: whoever it is could not prove it; " +
        "start it with the same token",
    );
  });

  test("when the acceptor has its maximum number of connections", async () => {
    const met = meet({ token }, { token, limits: { connections: 0 } });
    const error = await failure(met.outcome);
    expect([error.isTransient, error.message]).toEqual([true, "this process has 0 connections and takes no more"]);
    // Exactly that number of connections is accepted.
    expect((await meet({ token }, { token, limits: { connections: 1 } }).outcome).kind).toBe("open");
  });

  test("when the dialler speaks another protocol version, before its offer is considered", async () => {
    const [near, far] = pipePair();
    const { acceptor, errors, offers } = accepting({ token });
    acceptor.accept(far);
    const exchange = new HandshakeExchange(near, systemClock, 100_000);
    const request = writeRequest({ ...offered, protocol: 99, token: true }, createNonce(systemRandom));
    exchange.send(request);
    const challenge = await exchange.read(CHALLENGE_BYTES);
    exchange.send(computeProof("dialler", token, [request, challenge]));
    const text =
      `this process speaks version ${PROTOCOL_VERSION} of the protocol, the dialler 99; ` +
      "install the same version of viceroy on both sides";
    expect(readAnswer(await exchange.read(ANSWER_BYTES))).toEqual({ kind: "refuse", reason: "version", text });
    await until(() => errors.length === 1);
    expect([errors[0]?.reason, errors[0]?.message, offers]).toEqual(["version", text, []]);
  });

  test("when the acceptor cannot prove that it has the token of the dialler", async () => {
    const [near, far] = pipePair();
    const outcome = offerLink(near, offered, { ...machine, token });
    await answerByHand(far, Buffer.alloc(0), "another token, as good");
    const error = await failure(outcome);
    expect([error.reason, error.message]).toEqual([
      "token",
      "the peer has not proved that it has the token: it may be an impostor",
    ]);
  });

  test("with a reason for the dialler also when the acceptor has no onRefused callback", async () => {
    const silent = { onRefused: undefined as never };
    await failure(meet({ token: "another token, as good" }, { token, ...silent }).outcome);
    const refuse = () => ({ kind: "refuse", reason: "gone", text: "no" }) as const;
    expect((await failure(meet({ token }, { token, ...silent, decide: refuse }).outcome)).message).toBe("no");
    const broken = (): never => {
      throw new Error("broken");
    };
    const error = await failure(meet({ token }, { token, ...silent, decide: broken }).outcome);
    expect([error.reason, error.message]).toEqual([
      "lost",
      "the connection ended during the handshake: the peer has closed it without saying why",
    ]);
  });
});

describe("connections that do not complete their handshake", () => {
  test("are limited in number, and one more connection ends the oldest", async () => {
    const { acceptor, errors } = accepting({ limits: { halfOpen: 2 } });
    const heard = Array.from({ length: 4 }, (_, i) => {
      const [near, far] = pipePair();
      const listening = listenTo(near);
      acceptor.accept(far, `peer ${i}`);
      return listening;
    });
    expect(acceptor.halfOpenCount).toBe(2);
    await until(() => heard[0]!.ended && heard[1]!.ended);
    expect([heard[2]!.ended, heard[3]!.ended, acceptor.halfOpenCount, acceptor.connectionCount]).toEqual([
      false,
      false,
      2,
      2,
    ]);
    expect(errors.map(({ reason, message }) => [reason, message])).toEqual(
      Array(2).fill(["busy", "there are too many connections that do not complete their handshake"]),
    );
    acceptor.close();
    await until(() => heard[2]!.ended && heard[3]!.ended);
    expect([acceptor.halfOpenCount, acceptor.connectionCount]).toEqual([0, 0]);
  });

  test("end at the timeout of the handshake and are reported as refused", async () => {
    const clock = new ManualClock();
    const { acceptor, errors } = accepting({ clock, limits: { handshakeMs: 300 } });
    const [near, far] = pipePair();
    const heard = listenTo(near);
    acceptor.accept(far);
    clock.pass(299);
    expect(acceptor.halfOpenCount).toBe(1);
    clock.pass(1);
    await until(() => heard.ended && errors.length === 1);
    expect([errors[0]?.reason, errors[0]?.message]).toEqual(["lost", "the handshake was not complete within 300 ms"]);
  });

  test("are ended at once by a closed acceptor", async () => {
    const { acceptor, offers } = accepting({ token });
    acceptor.close();
    const [near, far] = pipePair();
    const heard = listenTo(near);
    acceptor.accept(far);
    await until(() => heard.ended);
    expect([acceptor.connectionCount, offers]).toEqual([0, []]);
  });

  test("fail with the error that ended them as the cause", async () => {
    const [near, far] = pipePair();
    const outcome = offerLink(near, offered, { ...machine, token });
    near.destroy(new Error("the cable was cut"));
    listenTo(far);
    const error = await failure(outcome);
    expect([error.reason, error.isTransient, error.message, (error.cause as Error).message]).toEqual([
      "lost",
      true,
      "the connection ended during the handshake: the cable was cut",
      "the cable was cut",
    ]);
  });
});

test("the list of handshake reasons is fixed, and only `busy` and `lost` are transient", () => {
  const passing = handshakeReasons.filter((reason) => new HandshakeError(reason, "x").isTransient);
  expect(passing).toEqual(["busy", "lost"]);
  expect(handshakeReasons).toEqual([
    "version",
    "token",
    "unknown",
    "gone",
    "offset",
    "busy",
    "protocol",
    "lost",
    "transport",
    "certificate",
  ]);
});

describe("tokens", () => {
  test("are read from the text of a file without the surrounding white space", () => {
    expect(parseToken(" 0123456789abcdef\n", "file")).toBe("0123456789abcdef");
  });

  test("that are shorter than 16 characters are refused", () => {
    expect(() => parseToken("secret\n", "/etc/token")).toThrow(
      "cannot use the token from /etc/token: expected at least 16 characters, got 6; make one with: openssl rand -base64 32",
    );
  });
});

test("a nonce consists of exactly four random ids", () => {
  let drawn = 1n;
  const bytes = createNonce({ number: () => 0, id: () => drawn++ });
  expect([drawn, bytes.length]).toEqual([5n, NONCE_BYTES]);
  expect([...new BigUint64Array(bytes.buffer)]).toEqual([1n, 2n, 3n, 4n]);
});
