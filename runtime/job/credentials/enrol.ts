/** The side of a host in an enrolment: it proves the secret, and checks that the issuer has it, too. */
import { X509Certificate } from "node:crypto";
import type { Clock, Random } from "../../link/clock.js";
import { HandshakeError } from "../../link/handshake/errors.js";
import { HandshakeExchange } from "../../link/handshake/exchange.js";
import { defaultHandshakeLimits } from "../../link/handshake/limits.js";
import { isSameProof } from "../../link/handshake/proof.js";
import type { Pipe } from "../../link/transport/pipe.js";
import { formatTime } from "../../link/transport/tls/certificate-faults.js";
import { formatIdentity, type Identity, identityInNames } from "../../link/transport/tls/identity.js";
import {
  HEAD_BYTES,
  HELLO_BYTES,
  type IssuedCertificate,
  PROOF_BYTES,
  proveEnrolment,
  readAnswerBody,
  readHead,
  writeBody,
  writeHello,
} from "./enrolment-messages.js";

export interface EnrolOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The identity that this host was told. */
  readonly identity: Identity;
  /** The secret of this identity. */
  readonly secret: Uint8Array;
  /** The public key of this host, as PEM. */
  readonly publicKey: string;
  /** The time limit of the whole enrolment, in milliseconds. Default: 5,000. */
  readonly limitMs?: number;
}

/**
 * Gets a certificate from the issuer at the other end of a connection. The connection is closed in any case.
 * @throws HandshakeError if the issuer refuses this host, has not the secret, or sends what it should not, or the clocks of
 *   both differ by more than certificates allow
 */
export async function enrol(pipe: Pipe, options: EnrolOptions): Promise<IssuedCertificate> {
  const { clock, random, identity, secret, publicKey, limitMs = defaultHandshakeLimits.handshakeMs } = options;
  const exchange = new HandshakeExchange(pipe, clock, limitMs);
  const uri = formatIdentity(identity);
  try {
    const hello = writeHello(random);
    exchange.send(hello);
    const challenge = await exchange.read(HELLO_BYTES);
    readHead(challenge, "the issuer");
    const request = writeBody({ identity: uri, publicKey });
    const said = [hello, challenge, request];
    exchange.send(Buffer.concat([request, proveEnrolment("host", secret, said)]));
    const head = await exchange.read(HEAD_BYTES);
    const body = await exchange.read(readHead(head, "the issuer"));
    const proof = await exchange.read(PROOF_BYTES);
    exchange.checkNothingUnread();
    const answer = readAnswerBody(body);
    // A refusal may come from an issuer that cannot know the secret. Nothing but its text is used.
    if ("refused" in answer) throw new HandshakeError("token", refusalText(uri, answer.refused));
    if (!isSameProof(proof, proveEnrolment("issuer", secret, [...said, head, body]))) {
      const text = `cannot enrol as ${uri}: the issuer has not proved that it has the secret: it may be an impostor`;
      throw new HandshakeError("token", text);
    }
    checkCertificate(answer, publicKey, uri);
    checkClock(answer, clock.epochMs(), uri);
    return answer;
  } finally {
    exchange.close();
  }
}

/** Shows the text of an unknown peer without control characters, and not more than a few lines of it. */
function refusalText(uri: string, text: string): string {
  return `cannot enrol as ${uri}: the issuer refuses it: ${text.replace(/[^ -~]/g, "?").slice(0, 400)}`;
}

/**
 * Checks that a certificate is the one that was asked for.
 * @throws HandshakeError if it is for another key or identity, or of another authority
 */
export function checkCertificate(
  { chain, authority }: Pick<IssuedCertificate, "chain" | "authority">,
  publicKey: string,
  uri: string,
): void {
  const wrong = (why: string) => new HandshakeError("certificate", `cannot use the certificate for ${uri}: ${why}`);
  let certificate: X509Certificate;
  let signer: X509Certificate;
  try {
    certificate = new X509Certificate(chain);
    signer = new X509Certificate(authority);
  } catch (cause) {
    throw new HandshakeError("certificate", `cannot use the certificate for ${uri}: it is malformed`, { cause });
  }
  const identity = identityInNames(certificate.subjectAltName);
  const got = identity === undefined ? "no identity" : formatIdentity(identity);
  if (got !== uri) throw wrong(`it is for another process, got ${got}`);
  const key = certificate.publicKey.export({ type: "spki", format: "pem" }) as string;
  if (key.trim() !== publicKey.trim()) throw wrong("it is for another key");
  if (!certificate.verify(signer.publicKey)) throw wrong("it was not signed by the authority of the job");
}

/**
 * Checks that certificates of this job are valid by the clock of this machine, from their start to their renewal.
 * @throws HandshakeError if the clock differs too much from that of the issuer
 */
function checkClock({ chain, validFor, issuedAt }: IssuedCertificate, now: number, uri: string): void {
  const mostBehind = issuedAt - Date.parse(new X509Certificate(chain).validFrom);
  const mostAhead = validFor / 2;
  const ahead = now - issuedAt;
  if (-mostBehind <= ahead && ahead <= mostAhead) return;
  const way = ahead > 0 ? "ahead of" : "behind";
  const most = ahead > 0 ? mostAhead : mostBehind;
  const text =
    `cannot enrol as ${uri}: the clock of this machine is ${formatSpan(Math.abs(ahead))} ${way} that of the issuer: it says ` +
    `${formatTime(now)}, and the issuer's ${formatTime(issuedAt)}; set the clock of one of them, for instance by NTP: at ` +
    `most ${formatSpan(most)} are possible`;
  throw new HandshakeError("certificate", text);
}

/** Returns a time span in the largest unit of which it has two: `2.5 days`, `24 hours`. */
function formatSpan(ms: number): string {
  const units = [
    ["days", 86_400_000],
    ["hours", 3_600_000],
    ["minutes", 60_000],
  ] as const;
  const [name, size] = units.find(([, unit]) => ms >= 2 * unit) ?? (["seconds", 1000] as const);
  return `${Math.round((ms / size) * 10) / 10} ${name}`;
}
