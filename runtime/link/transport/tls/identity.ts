/**
 * The identities of the processes of a job. The certificate of a process has its identity as its only alternative name, a
 * URI such as `viceroy://3f9c/hosts/trainers/0`. Peers check this name, and not the address that was dialled, because
 * addresses of hosts are often unknown when the certificate is signed, and change.
 */
import type { PeerCertificate } from "node:tls";
import { describeValue } from "../../../../shared/text/describe-value.js";
import { lazyModules } from "../../../lazy-modules.js";

/** The identity of a process of a job: the driver, a driver that only looks, the controller inside of the job, or one of the hosts. */
export type Identity =
  | { readonly job: string; readonly role: "driver" | "viewer" | "controller" }
  | { readonly job: string; readonly role: "host"; readonly mesh: string; readonly rank: number };

/** The identity that a peer has proved. */
export type PeerIdentity = Identity & {
  /**
   * The SHA-256 hash of the public key in its certificate. It tells drivers of one job apart, and stays the same when a
   * certificate is renewed.
   */
  readonly key: string;
};

/** The URIs of all identities. A number has at most ten digits, so that the end of a URI is never like the id of a proc. */
const identityForm =
  /^viceroy:\/\/([A-Za-z0-9][\w.-]{0,63})\/(?:(driver|viewer|controller)|hosts\/([A-Za-z_]\w{0,63})\/(0|[1-9]\d{0,9}))$/;

/**
 * Returns the URI of an identity.
 * @throws TypeError if a part of it cannot be in a URI
 */
export function formatIdentity(identity: Identity): string {
  const { job, role } = identity;
  const uri = `viceroy://${job}/${role === "host" ? `hosts/${identity.mesh}/${identity.rank}` : role}`;
  parseIdentity(uri);
  return uri;
}

/** @throws TypeError if the text is not the URI of an identity */
export function parseIdentity(uri: string): Identity {
  const identity = matchIdentity(uri);
  if (identity !== undefined) return identity;
  throw new TypeError(
    "cannot read an identity: expected viceroy://<job>/driver, viceroy://<job>/viewer, viceroy://<job>/controller or " +
      "viceroy://<job>/hosts/<mesh>/<rank>, where a job has letters, digits, dots, - and _, and a mesh has letters, " +
      `digits and _, at most 64 of them, got ${describeValue(uri)}`,
  );
}

function matchIdentity(uri: string): Identity | undefined {
  const [, job, role, mesh, rank] = identityForm.exec(uri) ?? [];
  if (job === undefined) return undefined;
  if (role === "driver" || role === "viewer" || role === "controller") return { job, role };
  return { job, role: "host", mesh: mesh!, rank: Number(rank) };
}

/**
 * Returns the identity in the alternative names of a certificate, as Node.js prints them. A certificate with any other
 * name beside the identity has none: an authority of a job never signs one.
 */
export function identityInNames(alternativeNames: string | undefined): Identity | undefined {
  return alternativeNames?.startsWith("URI:") === true ? matchIdentity(alternativeNames.slice(4)) : undefined;
}

/** Returns the identity that a peer has proved by a certificate, or undefined if it has none. */
export function identityOfPeer({
  subjectaltname,
  pubkey,
}: Pick<PeerCertificate, "subjectaltname" | "pubkey">): PeerIdentity | undefined {
  const identity = identityInNames(subjectaltname);
  if (identity === undefined || pubkey === undefined) return undefined;
  return { ...identity, key: lazyModules.crypto.createHash("sha256").update(pubkey).digest("base64url") };
}

/** Returns the identity of a certificate in PEM, or undefined if it has none or cannot be read. */
export function identityInPem(certificate: Uint8Array): Identity | undefined {
  try {
    return identityInNames(new lazyModules.crypto.X509Certificate(certificate).subjectAltName);
  } catch {
    // TLS reports what is wrong with the certificate.
    return undefined;
  }
}
