/**
 * The texts about certificates that are not trusted. A certificate that is expired or not valid yet is often a sign of a
 * wrong clock, so these texts say what the clock shows and what the certificate expects.
 */
import type { PeerCertificate } from "node:tls";

/** The code of a certificate of this job's authority, or of another one, without the identity that its user needs. */
export const NO_IDENTITY = "NO_IDENTITY_OF_THIS_JOB";

/** The times that disagree, in milliseconds since 1970. */
export interface ClockFault {
  /** The time before or after which the certificate is not valid. */
  readonly limit: number;
  /** The time of the clock by which the certificate was checked. */
  readonly now: number;
}

/**
 * Returns the times that disagree.
 * @param code the OpenSSL code that says why the certificate is not trusted
 * @returns undefined if the code is not about time, or is about another certificate of the chain
 */
export function clockFaultOf(
  code: string,
  certificate: Partial<PeerCertificate> | undefined,
  now: number,
): ClockFault | undefined {
  const limit = Date.parse((code === "CERT_NOT_YET_VALID" ? certificate?.valid_from : certificate?.valid_to) ?? "");
  const disagrees = code === "CERT_NOT_YET_VALID" ? now < limit : code === "CERT_HAS_EXPIRED" && now > limit;
  return disagrees ? { limit, now } : undefined;
}

/**
 * Returns the explanation that follows the reason of a refusal.
 * @param clock whose clock it is: `this machine`
 */
export function explainClockFault({ limit, now }: ClockFault, clock: string): string {
  const span = now < limit ? "is valid from" : "was valid until";
  return `the certificate ${span} ${formatTime(limit)}, and the clock of ${clock} says ${formatTime(now)}`;
}

/** Returns a time as people read it: `2030-01-01T06:00:00Z`. @param ms the time in milliseconds since 1970 */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
