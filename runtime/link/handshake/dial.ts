/** The dialler's side of the handshake: says what it wants, proves the token, checks the proof of the other side. */
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
  /** Shared with whoever listens; undefined: there is none. */
  readonly token?: string | undefined;
  /** In ms. */
  readonly handshakeMs?: number;
}

export type OfferOutcome =
  | {
      readonly kind: "open";
      readonly pipe: Pipe;
      /** Bytes of the link that the peer has received so far. */
      readonly received: number;
    }
  | {
      readonly kind: "redirect";
      /** Where the proc that is wanted listens, on the same host. */
      readonly port: number;
    };

/**
 * Offers a link over a connection that was just made. The connection is ended when this rejects, or redirects.
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
    const asked = readChallenge(challenge);
    if (asked.token !== (token !== undefined)) throw new HandshakeError("token", tokenMismatchText(asked.token));
    exchange.send(computeProof("dialler", token, [request, challenge]));
    const answer = await exchange.read(ANSWER_BYTES, true);
    const read = readAnswer(answer);
    // A refusal may come from someone who has not the same token, and says so; nothing is taken from them but that.
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
