/** The dialler's side of the handshake: sends the request, proves the token, and checks the proof of the acceptor. */
import type { Clock, Random } from "../clock.js";
import { PROTOCOL_VERSION } from "../frame/frame.js";
import type { Pipe } from "../transport/pipe.js";
import { HandshakeError } from "./errors.js";
import { HandshakeExchange } from "./exchange.js";
import { defaultHandshakeLimits } from "./limits.js";
import {
  ANSWER_BYTES,
  CHALLENGE_BYTES,
  type LinkOffer,
  proofField,
  readAnswer,
  readChallenge,
  writeConfirmation,
  writeRequest,
} from "./message.js";
import { computeProof, createNonce, isSameProof } from "./proof.js";

export interface OfferLinkOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The token that both sides share. Undefined if the acceptor has no token. */
  readonly token?: string | undefined;
  /** The time limit of the handshake, in milliseconds. Default: 5,000. */
  readonly handshakeMs?: number;
}

export type OfferOutcome =
  | {
      readonly kind: "open";
      readonly pipe: Pipe;
      /** The number of bytes of the link that the peer has received so far. */
      readonly received: number;
    }
  | {
      readonly kind: "redirect";
      /** The port on which the requested proc listens, on the same host. */
      readonly port: number;
    };

/**
 * Offers a link over a new connection. The connection is closed if the promise rejects, or if the outcome is a
 * redirection.
 * @throws HandshakeError
 */
export async function offerLink(pipe: Pipe, offer: LinkOffer, options: OfferLinkOptions): Promise<OfferOutcome> {
  const { clock, random, token, handshakeMs = defaultHandshakeLimits.handshakeMs } = options;
  const exchange = new HandshakeExchange(pipe, clock, handshakeMs);
  try {
    const request = writeRequest(
      { ...offer, protocol: PROTOCOL_VERSION, token: token !== undefined },
      createNonce(random),
    );
    exchange.send(request);
    const challenge = await exchange.read(CHALLENGE_BYTES);
    const asked = readChallenge(challenge, clock.epochMs());
    if (asked.token !== (token !== undefined)) throw new HandshakeError("token", tokenMismatchText(asked.token));
    exchange.send(computeProof("dialler", token, [request, challenge]));
    const answer = await exchange.read(ANSWER_BYTES, true);
    const read = readAnswer(answer);
    // A refusal may come from a peer without the token, and has no proof. Nothing but the refusal is used.
    if (read.kind === "refuse") throw new HandshakeError(read.reason, read.text);
    const proof = proofField(answer).slice();
    proofField(answer).fill(0);
    if (!isSameProof(proof, computeProof("acceptor", token, [request, challenge, answer]))) {
      throw new HandshakeError("token", "the peer has not proved that it has the token: it may be an impostor");
    }
    if (read.kind === "redirect") {
      exchange.close();
      return read;
    }
    exchange.send(writeConfirmation());
    return { ...read, pipe: exchange.complete() };
  } catch (error) {
    exchange.destroy(error instanceof Error ? error : undefined);
    throw error;
  }
}

function tokenMismatchText(asked: boolean): string {
  return asked
    ? "the peer asks for a token, and this process has been given none; give it with VICEROY_TOKEN or the option token"
    : "this process has a token, and the peer was started without one: whoever it is could not prove it; " +
        "start it with the same token";
}
