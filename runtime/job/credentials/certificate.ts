/**
 * Encodes and signs X.509 certificates (RFC 5280) with keys on the curve P-256. Node.js can read certificates and
 * cannot make them. The profile is fixed: an authority may sign certificates of processes and no further authorities,
 * and the certificate of a process has its identity as the only alternative name.
 */
import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from "node:crypto";
import type { Identity } from "../../link/transport/tls/identity.js";
import { formatIdentity } from "../../link/transport/tls/identity.js";
import {
  Asn1Boolean,
  Asn1Set,
  BitString,
  Constructed,
  fromBER,
  GeneralizedTime,
  Integer,
  ObjectIdentifier,
  OctetString,
  Primitive,
  Sequence,
  UTCTime,
  Utf8String,
} from "./asn1.js";

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

type Asn1 = ConstructorParameters<typeof Sequence>[0] extends { value?: (infer T)[] } | undefined ? T : never;

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
    extension(oid.basicConstraints, true, new Sequence({ value: [asn1True(), new Integer({ value: 0 })] })),
    // The bits of signing certificates and lists of revoked ones.
    extension(oid.keyUsage, true, new BitString({ valueHex: bufferOf(0b0000_0110), unusedBits: 1 })),
    extension(oid.subjectKeyIdentifier, false, new OctetString({ valueHex: keyIdentifier(publicKey) })),
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
  const uses = role === "driver" ? [oid.clientAuth] : [oid.serverAuth, oid.clientAuth];
  const issuerKey = new Primitive({
    idBlock: { tagClass: 3, tagNumber: 0 },
    valueHex: keyIdentifier(createPublicKey(privateKey)),
  });
  const uri = new Primitive({ idBlock: { tagClass: 3, tagNumber: 6 }, valueHex: bytesOf(formatIdentity(identity)) });
  return signCertificate(privateKey, nameOf(job), nameOf(job, role), publicKey, validity, [
    extension(oid.basicConstraints, true, new Sequence({ value: [] })),
    // The bit of digital signatures.
    extension(oid.keyUsage, true, new BitString({ valueHex: bufferOf(0b1000_0000), unusedBits: 7 })),
    extension(oid.extendedKeyUsage, false, new Sequence({ value: uses.map(objectIdentifier) })),
    extension(oid.subjectAltName, false, new Sequence({ value: [uri] })),
    extension(oid.subjectKeyIdentifier, false, new OctetString({ valueHex: keyIdentifier(publicKey) })),
    extension(oid.authorityKeyIdentifier, false, new Sequence({ value: [issuerKey] })),
  ]);
}

function signCertificate(
  privateKey: KeyObject,
  issuer: Asn1,
  subject: Asn1,
  publicKey: KeyObject,
  { from, until }: Validity,
  extensions: readonly Asn1[],
): string {
  const algorithm = () => new Sequence({ value: [objectIdentifier(oid.ecdsaWithSha256)] });
  const version3 = new Constructed({ idBlock: { tagClass: 3, tagNumber: 0 }, value: [new Integer({ value: 2 })] });
  const contents = new Sequence({
    value: [
      version3,
      new Integer({ valueHex: serialNumber() }),
      algorithm(),
      issuer,
      new Sequence({ value: [timeOf(from), timeOf(until)] }),
      subject,
      fromBER(publicKey.export({ type: "spki", format: "der" })).result,
      new Constructed({
        idBlock: { tagClass: 3, tagNumber: 3 },
        value: [new Sequence({ value: [...extensions] })],
      }),
    ],
  });
  const signature = sign("sha256", Buffer.from(contents.toBER()), privateKey);
  const signed = new Sequence({ value: [contents, algorithm(), new BitString({ valueHex: exact(signature) })] });
  return toPem("CERTIFICATE", Buffer.from(signed.toBER()));
}

function extension(id: string, critical: boolean, content: Asn1): Asn1 {
  const value = new OctetString({ valueHex: (content as Sequence).toBER() });
  return new Sequence({ value: critical ? [objectIdentifier(id), asn1True(), value] : [objectIdentifier(id), value] });
}

/** Returns the name of an authority, or of a process of its job. The names are for people; peers read the identity. */
function nameOf(job: string, role?: Identity["role"]): Asn1 {
  const part = (id: string, text: string) =>
    new Asn1Set({ value: [new Sequence({ value: [objectIdentifier(id), new Utf8String({ value: text })] })] });
  const parts = [part(oid.organization, `Viceroy job`), part(oid.commonName, job)];
  return new Sequence({ value: role === undefined ? parts : [...parts, part(oid.commonName, role)] });
}

function objectIdentifier(value: string): ObjectIdentifier {
  return new ObjectIdentifier({ value });
}

function asn1True(): Asn1Boolean {
  return new Asn1Boolean({ value: true });
}

/** The standard has another form for times from the year 2050 on. */
function timeOf(ms: number): Asn1 {
  const seconds = new Date(Math.floor(ms / 1000) * 1000);
  return seconds.getUTCFullYear() < 2050
    ? new UTCTime({ valueDate: seconds })
    : new GeneralizedTime({ valueDate: seconds });
}

/** Returns 16 random bytes that are a positive number without leading zeros. */
function serialNumber(): ArrayBuffer {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return exact(bytes);
}

/** Returns 20 bytes of the hash of a key (RFC 7093, method 1). */
function keyIdentifier(key: KeyObject): ArrayBuffer {
  const { x, y } = key.export({ format: "jwk" });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x!, "base64url"), Buffer.from(y!, "base64url")]);
  return exact(createHash("sha256").update(point).digest().subarray(0, 20));
}

function bufferOf(byte: number): ArrayBuffer {
  return Uint8Array.of(byte).buffer;
}

function bytesOf(text: string): ArrayBuffer {
  return exact(Buffer.from(text, "ascii"));
}

/** Returns a buffer that contains these bytes only. */
function exact(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

function toPem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
