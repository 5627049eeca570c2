/** Tests of enrolments over TCP: a host proves its secret and gets a certificate, and strangers get nothing. */
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { connect, type Socket } from "node:net";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Authority } from "../../../runtime/job/credentials/authority.js";
import { enrol } from "../../../runtime/job/credentials/enrol.js";
import { EnrolmentDesk } from "../../../runtime/job/credentials/enrolment-desk.js";
import { MAX_BODY_BYTES, writeBody, writeHello } from "../../../runtime/job/credentials/enrolment-messages.js";
import { createEnrolmentSecret, parseEnrolmentSecret } from "../../../runtime/job/credentials/enrolment-secret.js";
import { systemClock, systemRandom } from "../../../runtime/link/clock.js";
import { connectTo, listenAt } from "../../../runtime/link/transport/connect.js";
import type { Listener } from "../../../runtime/link/transport/listener.js";
import type { SocketAddress } from "../../../runtime/link/transport/network-address.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { formatIdentity, type Identity } from "../../../runtime/link/transport/tls/identity.js";
import { until } from "../../proc/until.js";

const host: Identity = { job: "job-1", role: "host", mesh: "trainers", rank: 3 };
const uri = formatIdentity(host);
const system = { clock: systemClock, random: systemRandom };
let authority: Authority;
let desk: EnrolmentDesk;
let address: SocketAddress;
let outcomes: string[];
const listeners: Listener[] = [];

beforeAll(async () => {
  authority = Authority.create("job-1");
});
beforeEach(async () => {
  desk = new EnrolmentDesk({ ...system, authority, validFor: 3_600_000 });
  address = await serve(desk);
});
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});

/** Serves enrolments at a free port. `outcomes` gets the identity or the error of each. */
async function serve(by: EnrolmentDesk): Promise<SocketAddress> {
  const seen: string[] = [];
  outcomes = seen;
  return accept((pipe) =>
    by.serve(pipe).then(
      (identity) => void seen.push(formatIdentity(identity)),
      ({ message }: Error) => void seen.push(message),
    ),
  );
}

async function accept(taken: (pipe: Pipe) => unknown): Promise<SocketAddress> {
  const listener = await listenAt({ kind: "tcp", host: "127.0.0.1", port: 0 }, taken);
  listeners.push(listener);
  return listener.address as SocketAddress;
}

function newKey(): string {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return publicKey.export({ type: "spki", format: "pem" }) as string;
}

async function enrolAt(to: SocketAddress, secret: string, more: Partial<Parameters<typeof enrol>[1]> = {}) {
  const pipe = await connectTo(to, undefined);
  const options = { ...system, identity: host, secret: parseEnrolmentSecret(secret, "the test"), publicKey: newKey() };
  return enrol(pipe, { ...options, ...more });
}

test("a host with its secret gets a certificate for its identity and its key", async () => {
  const publicKey = newKey();
  const issued = await enrolAt(address, desk.expect(host), { publicKey });
  const certificate = new X509Certificate(issued.chain);
  expect([certificate.subjectAltName, issued.authority, issued.validFor]).toEqual([
    `URI:${uri}`,
    authority.certificate,
    3_600_000,
  ]);
  expect(certificate.publicKey.export({ type: "spki", format: "pem" })).toBe(publicKey);
  await until(() => outcomes.length > 0);
  expect(outcomes).toEqual([uri]);
});

describe("a secret", () => {
  test("works for one key: a second host is refused, and the first host gets further certificates", async () => {
    const secret = desk.expect(host);
    const publicKey = newKey();
    const first = await enrolAt(address, secret, { publicKey });
    const used = "its secret has been used by a host with another key; if that was not you, stop the job";
    await expect(enrolAt(address, secret)).rejects.toThrow(
      expect.objectContaining({ reason: "token", message: `cannot enrol as ${uri}: the issuer refuses it: ${used}` }),
    );
    const second = await enrolAt(address, secret, { publicKey });
    const keyOf = ({ chain }: { readonly chain: string }) => new X509Certificate(chain).publicKey;
    expect(keyOf(second).equals(keyOf(first))).toBe(true);
    await until(() => outcomes.length === 3);
    expect(outcomes).toEqual([uri, `cannot enrol ${uri}: ${used}`, uri]);
  });

  test("of another identity, or one that was replaced, is refused", async () => {
    const other = { ...host, rank: 4 };
    const old = desk.expect(host);
    const current = desk.expect(host);
    const wrong = `cannot enrol as ${uri}: the issuer refuses it: its secret is not the one for this identity`;
    for (const secret of [old, desk.expect(other), createEnrolmentSecret()]) {
      await expect(enrolAt(address, secret)).rejects.toThrow(
        expect.objectContaining({ reason: "token", message: wrong }),
      );
    }
    await enrolAt(address, current);
  });

  test("is not valid for an identity that is not expected", async () => {
    const secret = desk.expect(host);
    desk.forget(host);
    await expect(enrolAt(address, secret)).rejects.toThrow(
      `cannot enrol as ${uri}: the issuer refuses it: no host with this identity is expected`,
    );
  });

  test("survives a key that cannot be signed", async () => {
    const secret = desk.expect(host);
    await expect(enrolAt(address, secret, { publicKey: "no key" })).rejects.toThrow(
      `cannot enrol as ${uri}: the issuer refuses it: cannot sign a certificate for ${uri}: cannot read its public key: `,
    );
    await enrolAt(address, secret);
  });

  test("is read from text with white space, and not shown in errors", () => {
    const secret = createEnrolmentSecret();
    expect(parseEnrolmentSecret(` ${secret}\n`, "file").length).toBe(32);
    expect(createEnrolmentSecret()).not.toBe(secret);
    expect(() => parseEnrolmentSecret(secret.slice(1), "VICEROY_SECRET")).toThrow(
      new TypeError(
        "cannot use the secret from VICEROY_SECRET: expected 43 characters of base64url, got 42 characters",
      ),
    );
  });
});

describe("a host", () => {
  test("refuses an issuer that has not its secret", async () => {
    const impostor = new EnrolmentDesk({ ...system, authority: Authority.create("job-1"), validFor: 3_600_000 });
    const secret = impostor.expect(host);
    const at = await serve(impostor);
    const between = await accept(async (pipe) => {
      // This relay changes the proof, which are the last bytes of the answer.
      const far = connect({ host: at.host, port: at.port });
      far.on("data", (bytes) => {
        if (bytes.length > 200) bytes[bytes.length - 1]! ^= 1;
        pipe.write([bytes], () => {});
      });
      forward(pipe, far);
    });
    await expect(enrolAt(between, secret)).rejects.toThrow(
      expect.objectContaining({
        reason: "token",
        message: `cannot enrol as ${uri}: the issuer has not proved that it has the secret: it may be an impostor`,
      }),
    );
  });

  test("gives up an issuer that does not answer, speaks something else, or never ends", async () => {
    const secret = createEnrolmentSecret();
    const silent = await accept((pipe) => pipe.open(ignoring));
    await expect(enrolAt(silent, secret, { limitMs: 50 })).rejects.toThrow(
      "the handshake was not complete within 50 ms",
    );
    const web = await accept((pipe) =>
      pipe.write([Buffer.from(`HTTP/1.1 400 Bad Request\r\n\r\n${" ".repeat(40)}`)], () => {}),
    );
    await expect(enrolAt(web, secret)).rejects.toThrow(
      "cannot enrol: the issuer does not speak the protocol of enrolments",
    );
    const endless = await accept((pipe) => {
      pipe.open(ignoring);
      const more = () => void pipe.write([Buffer.alloc(1024)], () => setImmediate(more));
      more();
    });
    await expect(enrolAt(endless, secret)).rejects.toThrow(
      /^cannot enrol: the issuer does not speak|has sent more than/,
    );
  });
});

const ignoring = { buffer: () => new Uint8Array(1024), received() {}, closed() {} };

function forward(pipe: Pipe, to: Socket): void {
  const memory = new Uint8Array(4096);
  pipe.open({
    buffer: () => memory,
    received: (n) => void to.write(memory.slice(0, n)),
    closed: () => void to.destroy(),
  });
  to.on("close", () => pipe.close()).on("error", () => {});
}

/** Connects and sends messages, each after the next bytes of the issuer have come. Returns everything that comes back. */
async function talk(...messages: readonly Uint8Array[]): Promise<Buffer> {
  const socket = connect({ host: address.host, port: address.port });
  const chunks: Buffer[] = [];
  socket.on("error", () => {});
  const left = [...messages];
  socket.write(left.shift()!);
  socket.on("data", (bytes) => {
    chunks.push(bytes);
    const next = left.shift();
    if (next !== undefined) socket.write(next);
  });
  await new Promise((resolve) => socket.once("close", resolve));
  return Buffer.concat(chunks);
}

describe("an issuer", () => {
  test("gives nothing for a recorded enrolment", async () => {
    const secret = desk.expect(host);
    const sent: Buffer[] = [];
    const between = await accept((pipe) => {
      const far = connect({ host: address.host, port: address.port });
      far.on("data", (bytes) => pipe.write([bytes], () => {}));
      const write = far.write.bind(far);
      far.write = ((bytes: Uint8Array) => {
        sent.push(Buffer.from(bytes));
        return write(bytes);
      }) as typeof far.write;
      forward(pipe, far);
    });
    await enrolAt(between, secret);
    const all = Buffer.concat(sent);
    const answer = await talk(all.subarray(0, 40), all.subarray(40));
    expect(answer.toString("latin1")).toContain('{"refused":"its secret is not the one for this identity"}');
    expect(answer.toString("latin1")).not.toContain("CERTIFICATE");
  });

  test.each<readonly [string, readonly Uint8Array[], string]>([
    [
      "of another protocol",
      [Buffer.from("GET / HTTP/1.1\r\nHost: localhost:26600\r\n\r\n")],
      "cannot enrol: the host does not speak the protocol of enrolments",
    ],
    [
      "of another version",
      [change(writeHello(systemRandom), 4, 9)],
      "cannot enrol: this process speaks version 1 of the protocol of enrolments, the host 9",
    ],
    [
      "with a body that is too long",
      [writeHello(systemRandom), change(writeBody({ refused: "" }), 7, 0xff)],
      `cannot enrol: expected at most ${MAX_BODY_BYTES} bytes from the host, got `,
    ],
    [
      "with a malformed body",
      [writeHello(systemRandom), padded(change(writeBody({ refused: "" }), 8, 0x5d))],
      "cannot enrol: the message of the host is malformed",
    ],
    [
      "with another body",
      [writeHello(systemRandom), padded(writeBody({ refused: "x" }))],
      "cannot enrol: the message of the host is malformed",
    ],
    [
      "with a null body",
      [writeHello(systemRandom), padded(writeBody(null as never))],
      "cannot enrol: the message of the host is malformed",
    ],
    [
      "with more behind it",
      [writeHello(systemRandom), padded(writeBody({ identity: uri, publicKey: "" }), 33)],
      "the peer has sent more than the handshake asks for",
    ],
    [
      "without an end",
      [writeHello(systemRandom), padded(change(writeBody({ refused: "" }), 7, 0x0b), 100_000)],
      "the peer has sent more than the handshake asks for",
    ],
  ])("refuses a message %s", async (_, messages, error) => {
    desk.expect(host);
    await talk(...messages);
    await until(() => outcomes.length > 0);
    expect(outcomes).toEqual([expect.stringContaining(error)]);
  });

  test("limits the time and the number of connections that do not complete their enrolment", async () => {
    const limits = { handshakeMs: 300, halfOpen: 2 };
    const busy = new EnrolmentDesk({ ...system, authority, validFor: 3_600_000, limits });
    address = await serve(busy);
    await Promise.all([1, 2, 3].map(() => talk(writeHello(systemRandom))));
    await until(() => outcomes.length === 3);
    expect(outcomes.sort()).toEqual([
      "the handshake was not complete within 300 ms",
      "the handshake was not complete within 300 ms",
      "there are too many connections that do not complete their enrolment",
    ]);
    await enrolAt(address, busy.expect(host));
  });
});

function change(bytes: Uint8Array, at: number, to: number): Uint8Array {
  bytes[at] = to;
  return bytes;
}

/** Appends the bytes of a proof. */
function padded(bytes: Uint8Array, size = 32): Uint8Array {
  return Buffer.concat([bytes, Buffer.alloc(size)]);
}
