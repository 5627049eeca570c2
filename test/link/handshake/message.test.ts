/** Tests of the messages of the handshake, byte for byte, and of a connection that carries them. */
import { expect, test } from "vitest";
import { HandshakeError, handshakeReasons } from "../../../runtime/link/handshake/errors.js";
import { HandshakeExchange } from "../../../runtime/link/handshake/exchange.js";
import {
  ANSWER_BYTES,
  CHALLENGE_BYTES,
  CONFIRMATION_BYTES,
  checkConfirmation,
  type HandshakeAnswer,
  type HandshakeRequest,
  PROOF_BYTES,
  proofField,
  REQUEST_BYTES,
  readAnswer,
  readChallenge,
  readRequest,
  writeAnswer,
  writeChallenge,
  writeConfirmation,
  writeRequest,
  writeTurnedAway,
} from "../../../runtime/link/handshake/message.js";
import { computeProof, createNonce, isSameProof } from "../../../runtime/link/handshake/proof.js";
import type { Pipe, PipeSink } from "../../../runtime/link/transport/pipe.js";
import { ManualClock } from "../resumable/cut-world.js";

const request: HandshakeRequest = {
  universe: 0x1111_2222_3333_4444n,
  from: 0x2222_0000_0000_0001n,
  to: 0x3333_0000_0000_0002n,
  link: 0x4444_0000_0000_0003n,
  first: true,
  direct: false,
  use: "link",
  received: 2 ** 40 + 5,
  protocol: 1,
  token: true,
};
const random = createNonce({ id: () => 0x0102_0304_0506_0708n, number: () => 0 });

test("a request with any options is read as it was written", () => {
  for (const more of [
    {},
    { first: false },
    { direct: true },
    { use: "memory" as const },
    { token: false, received: 0 },
  ]) {
    const bytes = writeRequest({ ...request, ...more }, random);
    expect(bytes.length).toBe(REQUEST_BYTES);
    expect(readRequest(bytes)).toEqual({ ...request, ...more });
  }
  const bytes = writeRequest(request, random);
  expect([...bytes.subarray(0, 8)]).toEqual([..."VCRH"].map((char) => char.charCodeAt(0)).concat(2, 0, 3, 0));
  expect([...bytes.subarray(56)]).toEqual(Array.from({ length: 32 }, (_, i) => 8 - (i % 8)));
  const inside = Buffer.concat([Buffer.alloc(8), bytes]).subarray(8);
  expect(readRequest(inside)).toEqual(request);
});

const view = (bytes: Uint8Array) => new DataView(bytes.buffer);

test("a challenge contains its nonce and says whether a token is required", () => {
  for (const token of [true, false]) {
    const bytes = writeChallenge({ token }, random);
    expect([bytes.length, readChallenge(bytes, 0), [...bytes.subarray(8)]]).toEqual([
      CHALLENGE_BYTES,
      { token },
      [...random],
    ]);
  }
});

test("a dialler that the transport turns away gets the reason if the reason is a plain error code", () => {
  const refused = (bytes: Uint8Array): unknown => {
    try {
      return readChallenge(bytes, Date.UTC(2030, 0, 1, 6));
    } catch (error) {
      const { reason, message, name } = error as HandshakeError;
      return [name, reason, message];
    }
  };
  expect(refused(writeTurnedAway(undefined))).toEqual([
    "HandshakeError",
    "transport",
    "the host speaks TLS and this process does not; give certificates, and use tls:// in its address unless it is the URL of a WebSocket",
  ]);
  const certificate = "the host does not trust the certificate of this process: ";
  for (const [fault, said] of [
    ["CERT_HAS_EXPIRED", "CERT_HAS_EXPIRED"],
    ["", "it does not say why"],
    ["anything; rm -rf", "it does not say why"],
    ["x CERT_HAS_EXPIRED", "it does not say why"],
    ["CERT_HAS_EXPIRED x", "it does not say why"],
  ] as const) {
    expect(refused(writeTurnedAway(fault))).toEqual(["HandshakeError", "certificate", certificate + said]);
  }
  const [limit, now] = [Date.UTC(2030, 0, 1), Date.UTC(2029, 11, 31, 18)];
  expect(refused(writeTurnedAway("CERT_NOT_YET_VALID", { limit, now }))).toEqual([
    "HandshakeError",
    "certificate",
    `${certificate}CERT_NOT_YET_VALID; the certificate is valid from 2030-01-01T00:00:00Z, and the clock of the host ` +
      "says 2029-12-31T18:00:00Z; compare it with the clock of this machine, which says 2030-01-01T06:00:00Z",
  ]);
  // The times of a peer are shown with the two codes of clocks only.
  expect(refused(writeTurnedAway("PATH_LENGTH", { limit, now }))).toContain(`${certificate}PATH_LENGTH`);
});

test("answers are read as they were written, and long texts are cut to the size of the message", () => {
  const answers: readonly HandshakeAnswer[] = [
    { kind: "open", received: 2 ** 50 },
    { kind: "redirect", port: 65_535 },
    ...handshakeReasons.map((reason) => ({ kind: "refuse" as const, reason, text: `because ${reason} ü` })),
  ];
  for (const answer of answers) {
    const bytes = writeAnswer(answer);
    expect([bytes.length, readAnswer(bytes)]).toEqual([ANSWER_BYTES, answer]);
    expect([...proofField(bytes)]).toEqual(Array(PROOF_BYTES).fill(0));
    proofField(bytes).fill(9);
    expect(readAnswer(bytes)).toEqual(answer);
  }
  const long = readAnswer(writeAnswer({ kind: "refuse", reason: "busy", text: "x".repeat(600) }));
  expect(long).toEqual({ kind: "refuse", reason: "busy", text: "x".repeat(456) });
});

test.each<readonly [string, (bytes: Uint8Array) => void]>([
  ["an unknown kind", (bytes) => view(bytes).setUint16(6, 3, true)],
  ["an unknown reason", (bytes) => view(bytes).setUint16(8, 99, true)],
  ["a text that is longer than the message", (bytes) => view(bytes).setUint16(12, 457, true)],
])("an answer with %s is refused as malformed", (_, spoil) => {
  const bytes = writeAnswer({ kind: "refuse", reason: "busy", text: "x" });
  spoil(bytes);
  expect(() => readAnswer(bytes)).toThrow(
    expect.objectContaining({
      name: "HandshakeError",
      reason: "protocol",
      message: "cannot read the answer of the handshake: it is malformed",
    }),
  );
});

const messages: readonly (readonly [string, () => Uint8Array, (bytes: Uint8Array) => unknown])[] = [
  ["request", () => writeRequest(request, random), readRequest],
  ["challenge", () => writeChallenge({ token: true }, random), (bytes) => readChallenge(bytes, 0)],
  ["answer", () => writeAnswer({ kind: "open", received: 1 }), readAnswer],
  ["last message", writeConfirmation, checkConfirmation],
];

test.each(messages)("a %s of another protocol or version is refused with a specific error", (what, write, read) => {
  const spoilt: readonly (readonly [string, string, (bytes: Uint8Array) => void])[] = [
    [
      "transport",
      "the peer speaks TLS and this process does not; use tcp:// in the address, or start both with certificates",
      (bytes) => bytes.set([0x16, 0x03]),
    ],
    [
      "protocol",
      `cannot read the ${what} of the handshake: the peer does not speak this protocol; is it a Viceroy process?`,
      (bytes) => bytes.set([0x16, 0x04]),
    ],
    [
      "protocol",
      `cannot read the ${what} of the handshake: the peer does not speak this protocol; is it a Viceroy process?`,
      (bytes) => bytes.set([0x17, 0x03]),
    ],
    [
      "version",
      "cannot connect: the peer speaks version 9 of the handshake, this process 2; install the same version of viceroy on both sides",
      (bytes) => view(bytes).setUint16(4, 9, true),
    ],
  ];
  for (const [reason, message, spoil] of spoilt) {
    const bytes = write();
    spoil(bytes);
    expect(() => read(bytes)).toThrow(expect.objectContaining({ name: "HandshakeError", reason, message }));
  }
  expect(() => read(write())).not.toThrow();
  expect(writeConfirmation().length).toBe(CONFIRMATION_BYTES);
});

test("a message with a byte count above the largest safe integer is refused", () => {
  const asked = writeRequest({ ...request, received: Number.MAX_SAFE_INTEGER }, random);
  expect(readRequest(asked).received).toBe(Number.MAX_SAFE_INTEGER);
  const answer = writeAnswer({ kind: "open", received: 0 });
  for (const [bytes, at, read, what] of [
    [asked, 48, readRequest, "request"],
    [answer, 16, readAnswer, "answer"],
  ] as const) {
    view(bytes).setBigUint64(at, BigInt(Number.MAX_SAFE_INTEGER) + 1n, true);
    expect(() => read(bytes)).toThrow(
      expect.objectContaining({
        reason: "offset",
        message: `cannot read the ${what} of the handshake: nobody has received 9007199254740992 bytes`,
      }),
    );
  }
});

test("only the reasons `busy` and `lost` are transient", () => {
  const passing = handshakeReasons.filter((reason) => new HandshakeError(reason, "x").isTransient);
  expect(passing).toEqual(["busy", "lost"]);
});

test("a proof depends on the side, the token and all messages of the handshake", () => {
  const said = [Uint8Array.of(1), Uint8Array.of(2)];
  const proof = computeProof("dialler", "token", said);
  expect([proof.length, isSameProof(proof, computeProof("dialler", "token", said))]).toEqual([PROOF_BYTES, true]);
  for (const other of [
    computeProof("acceptor", "token", said),
    computeProof("dialler", "other", said),
    computeProof("dialler", undefined, said),
    computeProof("dialler", "token", said.slice(1)),
    proof.subarray(1),
  ]) {
    expect(isSameProof(other, proof)).toBe(false);
  }
  expect(isSameProof(computeProof("dialler", undefined, said), computeProof("dialler", "", said))).toBe(true);
});

/** A connection below an exchange, which records the calls. */
function exchanging() {
  const told: string[] = [];
  const clock = new ManualClock();
  let sink: PipeSink | undefined;
  const pipe: Pipe = {
    open: (to) => {
      sink = to;
    },
    write: (chunks, done) => {
      told.push(`write ${Buffer.concat(chunks)}`);
      done();
    },
    close: () => void told.push("close"),
    destroy: (error) => {
      told.push(`destroy ${error?.message}`);
      sink!.closed(error);
    },
    ref: () => void told.push("ref"),
    unref: () => void told.push("unref"),
  };
  const exchange = new HandshakeExchange(pipe, clock, 100, () => void told.push("over"));
  /** Delivers bytes into the memory that was requested before they came, as a socket does. */
  const says = (text: string, target = sink!.buffer()): void => {
    for (let at = 0; at < text.length; ) {
      const size = Math.min(text.length - at, target.length);
      target.set(Buffer.from(text.slice(at, at + size)));
      sink!.received(size);
      at += size;
      if (at < text.length) target = sink!.buffer();
    }
  };
  const heard: string[] = [];
  const memory = new Uint8Array(8);
  const reader: PipeSink = {
    buffer: () => memory,
    received: (n) => void heard.push(String(Buffer.from(memory.subarray(0, n)))),
    closed: (error) => void heard.push(`closed ${error?.message}`),
  };
  const next = (): Uint8Array => sink!.buffer();
  return { exchange, clock, says, next, end: (error?: Error) => sink!.closed(error), told, heard, reader };
}

const text = async (bytes: Promise<Uint8Array>) => String(Buffer.from(await bytes));
const failure = (bytes: Promise<unknown>) => bytes.then(undefined, ({ reason, message }) => [reason, message]);

test("messages of known sizes are read one after another from pieces of any size", async () => {
  const { exchange, says } = exchanging();
  const first = exchange.read(4);
  says("ab");
  says("cdef");
  expect(await text(first)).toBe("abcd");
  expect(() => exchange.checkNothingUnread()).toThrow("the peer has sent more than the handshake asks for");
  const second = exchange.read(3);
  says("gh");
  expect(await text(second)).toBe("efg");
  expect(await text(exchange.read(1))).toBe("h");
  expect(() => exchange.checkNothingUnread()).not.toThrow();
});

test("all bytes after the last message go to the sink of the completed pipe", async () => {
  const { exchange, says, heard, reader, told, next } = exchanging();
  says("abc");
  const last = exchange.read(2, true);
  expect(await text(last)).toBe("ab");
  says("0123456789");
  says("x".repeat(5000));
  const wanted = next();
  const pipe = exchange.complete();
  pipe.open(reader);
  expect(heard.join("")).toBe(`c0123456789${"x".repeat(5000)}`);
  heard.length = 0;
  // This memory was requested before the pipe was opened.
  says("early", wanted);
  says("later");
  expect(heard).toEqual(["early", "later"]);
  pipe.write([Buffer.from("w")], () => {});
  pipe.ref();
  pipe.unref();
  pipe.close();
  expect(told).toEqual(["write w", "ref", "unref", "close"]);
});

test("bytes that arrive together with the last message go to the sink as well", async () => {
  const { exchange, says, heard, reader } = exchanging();
  const last = exchange.read(2, true);
  says("abcd");
  expect(await text(last)).toBe("ab");
  exchange.complete().open(reader);
  expect(heard).toEqual(["cd"]);
});

test("a peer that sends more than 4096 unread bytes is disconnected", async () => {
  const { exchange, says, told } = exchanging();
  says("x".repeat(4096));
  expect(told).toEqual([]);
  says("x");
  expect(told).toEqual(["destroy the peer has sent more than the handshake asks for", "over"]);
  expect(await failure(exchange.read(4097))).toEqual([
    "protocol",
    "the peer has sent more than the handshake asks for",
  ]);
});

test("a handshake ends at its timeout, and a completed, closed or ended handshake has no timer", async () => {
  const { exchange, clock, told } = exchanging();
  const waiting = failure(exchange.read(1));
  clock.pass(99);
  expect(told).toEqual([]);
  clock.pass(1);
  expect(await waiting).toEqual(["lost", "the handshake was not complete within 100 ms"]);
  expect(told).toEqual(["destroy the handshake was not complete within 100 ms", "over"]);
  for (const end of [
    (one: ReturnType<typeof exchanging>) => void one.exchange.complete(),
    (one: ReturnType<typeof exchanging>) => one.exchange.close(),
    (one: ReturnType<typeof exchanging>) => one.exchange.destroy(),
    (one: ReturnType<typeof exchanging>) => one.end(),
  ]) {
    const one = exchanging();
    end(one);
    expect(one.clock.waiting).toBe(0);
  }
});

test("the end of the connection during the handshake rejects the pending read and later reads", async () => {
  for (const [error, why] of [
    [new Error("cut"), "the connection ended during the handshake: cut"],
    [undefined, "the connection ended during the handshake: the peer has closed it without saying why"],
  ] as const) {
    const { exchange, end, told, heard, reader, says } = exchanging();
    says("ab");
    const waiting = failure(exchange.read(3));
    end(error);
    expect([await waiting, await failure(exchange.read(3)), told]).toEqual([["lost", why], ["lost", why], ["over"]]);
    // Bytes that came before the end can still be read.
    expect(await text(exchange.read(2))).toBe("ab");
    exchange.open(reader);
    expect(heard).toEqual([`closed ${error?.message}`]);
  }
  const { exchange, end, reader, heard } = exchanging();
  exchange.complete().open(reader);
  end(new Error("cut"));
  expect(heard).toEqual(["closed cut"]);
});
