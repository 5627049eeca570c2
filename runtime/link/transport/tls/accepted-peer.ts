/** Decides about a peer whose TLS handshake with a listener is complete: who it is, or why it is turned away. */
import type { TLSSocket } from "node:tls";
import { systemClock } from "../../clock.js";
import { writeTurnedAway } from "../../handshake/message.js";
import { type ClockFault, clockFaultOf, explainClockFault, NO_IDENTITY } from "./certificate-faults.js";
import { type Identity, identityOfPeer, type PeerIdentity } from "./identity.js";

export type PeerVerdict =
  | { readonly isTrusted: true; readonly identity: PeerIdentity | undefined }
  | {
      readonly isTrusted: false;
      /** What the peer is told before its connection is closed. */
      readonly answer: Uint8Array;
      readonly error: Error;
    };

/** The check is here because Node.js would tell neither side the reason. @param own the identity of this process, if it has one */
export function judgePeer(socket: TLSSocket, own: Identity | undefined): PeerVerdict {
  const certificate = socket.getPeerCertificate();
  const identity = identityOfPeer(certificate);
  const isOfThisJob = own === undefined || own.job === identity?.job;
  if (socket.authorized && isOfThisJob) return { isTrusted: true, identity };
  const code = socket.authorized ? NO_IDENTITY : String(socket.authorizationError);
  const fault = clockFaultOf(code, certificate, systemClock.epochMs());
  const error = new Error(`it has shown no certificate that can be trusted: ${code}${explainTimes(fault)}`);
  return { isTrusted: false, answer: writeTurnedAway(code, fault), error };
}

/** Returns the explanation of times that disagree, empty if none do. */
export function explainTimes(fault: ClockFault | undefined): string {
  return fault === undefined
    ? ""
    : `; ${explainClockFault(fault, "this machine")}; compare the clocks of both machines`;
}
