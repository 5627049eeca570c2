/** Two sides that want a link find out who they are before any byte of the link goes; whoever cannot is told why. */
import { describe, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../../runtime/link/clock.js";
import { Acceptor, type AcceptorOptions } from "../../../runtime/link/handshake/accept.js";
import { HandshakeError } from "../../../runtime/link/handshake/errors.js";
import type { Offer } from "../../../runtime/link/handshake/message.js";
import { type OfferOptions, offerLink } from "../../../runtime/link/handshake/offer.js";
import { tokenOf } from "../../../runtime/link/handshake/proof.js";
import type { Pipe } from "../../../runtime/link/pipe.js";
import { until } from "../../proc/until.js";
import { pipePair } from "../pipes.js";

const token = "a token that nobody guesses";
const offered: Offer = {
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

/** Notes what comes over a pipe, as text. */
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

interface Met {
  readonly offers: Offer[];
  readonly refusals: string[];
  readonly opened: Pipe[];
  readonly acceptor: Acceptor;
  readonly outcome: ReturnType<typeof offerLink>;
}

function meet(dialler: Partial<OfferOptions>, acceptor: Partial<AcceptorOptions>, offer: Partial<Offer> = {}): Met {
  const [near, far] = pipePair();
  const met = { offers: [] as Offer[], refusals: [] as string[], opened: [] as Pipe[] };
  const made = new Acceptor({
    ...machine,
    decide: (asked) => {
      met.offers.push(asked);
      return { kind: "open", received: 7, open: (pipe) => met.opened.push(pipe) };
    },
    refused: ({ message }) => met.refusals.push(message),
    ...acceptor,
  });
  made.accept(far);
  const outcome = offerLink(near, { ...offered, ...offer }, { ...machine, ...dialler });
  return { ...met, acceptor: made, outcome };
}

async function failure(outcome: Promise<unknown>): Promise<HandshakeError> {
  const error = await outcome.then(undefined, (e) => e);
  expect(error).toBeInstanceOf(HandshakeError);
  return error as HandshakeError;
}

describe("two sides with the same token", () => {
  test("learn who the other is and what it has received; bytes go both ways from then on", async () => {
    const met = meet({ token }, { token }, { first: false, received: 2 ** 40 });
    const outcome = await met.outcome;
    if (outcome.kind !== "open") throw new Error("expected a pipe");
    await until(() => met.opened.length === 1);
    expect(outcome.received).toBe(7);
    expect(met.offers).toEqual([expect.objectContaining({ ...offered, first: false, received: 2 ** 40 })]);
    const here = listenTo(outcome.pipe);
    const there = listenTo(met.opened[0]!);
    outcome.pipe.write([Buffer.from("ping")], () => {});
    met.opened[0]!.write([Buffer.from("po"), Buffer.from("ng")], () => {});
    await until(() => here.text.length >= 4 && there.text.length >= 4);
    expect([here.text, there.text]).toEqual(["pong", "ping"]);
    expect([met.acceptor.halfOpen, met.acceptor.connections]).toEqual([0, 1]);
    outcome.pipe.close();
    await until(() => there.ended && met.acceptor.connections === 0);
  });

  test("can be sent elsewhere", async () => {
    const met = meet({ token }, { token, decide: () => ({ kind: "redirect", port: 4711 }) });
    expect(await met.outcome).toEqual({ kind: "redirect", port: 4711 });
    await until(() => met.acceptor.connections === 0);
  });

  test("can be refused, with a reason and a text that may be too long", async () => {
    const text = "ü".repeat(1000);
    const met = meet({ token }, { token, decide: () => ({ kind: "refuse", reason: "gone", text }) });
    const error = await failure(met.outcome);
    expect([error.reason, error.message]).toEqual(["gone", "ü".repeat(228)]);
  });
});

describe("two sides without a token", () => {
  test("trust each other", async () => {
    expect((await meet({}, {}).outcome).kind).toBe("open");
  });
});

describe("a dialler is refused", () => {
  test("with another token, and gets nothing that a token could be tried against", async () => {
    const met = meet({ token: "another token, as good" }, { token });
    const error = await failure(met.outcome);
    expect([error.reason, error.message]).toEqual([
      "token",
      "the token is not that of this process; give the same to both",
    ]);
    expect(met.offers).toEqual([]);
    await until(() => met.refusals.length > 0);
    expect(met.refusals).toEqual(["the token is not that of this process; give the same to both"]);
  });

  test("without a token where one is asked for", async () => {
    const met = meet({}, { token });
    expect((await failure(met.outcome)).message).toBe(
      "the peer asks for a token, and this process has been given none; give it with VICEROY_TOKEN or the option token",
    );
  });

  test("with a token where nobody has one: it would tell strangers what it is told", async () => {
    const met = meet({ token }, {});
    expect((await failure(met.outcome)).message).toBe(
      "this process has a token, and the peer was started without one: whoever it is could not prove it; " +
        "start it with the same token",
    );
  });

  test("when there are too many connections", async () => {
    const met = meet({ token }, { token, limits: { connections: 0 } });
    const error = await failure(met.outcome);
    expect([error.passing, error.message]).toEqual([true, "this process has 0 connections and takes no more"]);
  });
});

describe("tokens", () => {
  test("are what stands in a file, without the space around it", () => {
    expect(tokenOf(" 0123456789abcdef\n", "file")).toBe("0123456789abcdef");
  });

  test("that could be guessed are refused", () => {
    expect(() => tokenOf("secret\n", "/etc/token")).toThrow(
      "cannot use the token from /etc/token: expected at least 16 characters, got 6; make one with: openssl rand -base64 32",
    );
  });
});
