/**
 * Encodes and signs X.509 certificates (RFC 5280) with keys on the curve P-256. Node.js can read certificates and
 * cannot make them. The profile is fixed: an authority may sign certificates of processes and no further authorities,
 * and the certificate of a process has its identity as the only alternative name.
 */
import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from "node:crypto";
import type { Identity } from "../../link/transport/tls/identity.js";
import { formatIdentity } from "../../link/transport/tls/identity.js";
import {
  bitString,
  derTrue,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  taggedBytes,
  taggedValues,
  time,
  utf8String,
} from "./der.js";

/** The identifiers of algorithms, names and extensions. */
const oid = {
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
} as const;

/** The time span of a certificate, in milliseconds since 1970. */
export interface Validity {
  readonly from: number;
  readonly until: number;
}

/** Returns the certificate of a new authority, signed by itself, as PEM. */
export function signAuthority(job: string, privateKey: KeyObject, validity: Validity): string {
  const publicKey = createPublicKey(privateKey);
  const name = nameOf(job);
  return signCertificate(privateKey, name, name, publicKey, validity, [
    // No further authority may be below it.
    extension(oid.basicConstraints, true, sequence(derTrue, integer(Buffer.from([0])))),
    // The bits of signing certificates and lists of revoked ones.
    extension(oid.keyUsage, true, bitString(Buffer.from([0b0000_0110]), 1)),
    extension(oid.subjectKeyIdentifier, false, octetString(keyIdentifier(publicKey))),
  ]);
}

/** Returns the certificate of a process of a job, as PEM. */
export function signProcess(
  identity: Identity,
  publicKey: KeyObject,
  privateKey: KeyObject,
  validity: Validity,
): string {
  const { job, role } = identity;
  // Drivers connect and never listen, so the certificate of a driver is useless for passing as a host.
  const uses = role === "driver" || role === "viewer" ? [oid.clientAuth] : [oid.serverAuth, oid.clientAuth];
  const issuerKey = taggedBytes(0, keyIdentifier(createPublicKey(privateKey)));
  const uri = taggedBytes(6, Buffer.from(formatIdentity(identity), "ascii"));
  return signCertificate(privateKey, nameOf(job), nameOf(job, role), publicKey, validity, [
    extension(oid.basicConstraints, true, sequence()),
    // The bit of digital signatures.
    extension(oid.keyUsage, true, bitString(Buffer.from([0b1000_0000]), 7)),
    extension(oid.extendedKeyUsage, false, sequence(...uses.map(objectIdentifier))),
    extension(oid.subjectAltName, false, sequence(uri)),
    extension(oid.subjectKeyIdentifier, false, octetString(keyIdentifier(publicKey))),
    extension(oid.authorityKeyIdentifier, false, sequence(issuerKey)),
  ]);
}

function signCertificate(
  privateKey: KeyObject,
  issuer: Uint8Array,
  subject: Uint8Array,
  publicKey: KeyObject,
  { from, until }: Validity,
  extensions: readonly Uint8Array[],
): string {
  const algorithm = sequence(objectIdentifier(oid.ecdsaWithSha256));
  const version3 = taggedValues(0, integer(Buffer.from([2])));
  const contents = sequence(
    version3,
    integer(serialNumber()),
    algorithm,
    issuer,
    sequence(time(from), time(until)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    taggedValues(3, sequence(...extensions)),
  );
  const signature = sign("sha256", contents, privateKey);
  return toPem("CERTIFICATE", sequence(contents, algorithm, bitString(signature)));
}

function extension(id: string, critical: boolean, content: Uint8Array): Uint8Array {
  return sequence(objectIdentifier(id), ...(critical ? [derTrue] : []), octetString(content));
}

/** Returns the name of an authority, or of a process of its job. The names are for people; peers read the identity. */
function nameOf(job: string, role?: Identity["role"]): Uint8Array {
  const part = (id: string, text: string) => setOf(sequence(objectIdentifier(id), utf8String(text)));
  const parts = [part(oid.organization, "Viceroy job"), part(oid.commonName, job)];
  return sequence(...parts, ...(role === undefined ? [] : [part(oid.commonName, role)]));
}

/** Returns 16 random bytes that are a positive number without leading zeros. */
function serialNumber(): Uint8Array {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

/** Returns 20 bytes of the hash of a key (RFC 7093, method 1). */
function keyIdentifier(key: KeyObject): Uint8Array {
  const { x, y } = key.export({ format: "jwk" });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x!, "base64url"), Buffer.from(y!, "base64url")]);
  return createHash("sha256").update(point).digest().subarray(0, 20);
}

function toPem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
