/**
 * The authority of one job. It signs the certificates of the driver, the controller and the hosts of this job, and of
 * nobody else: whoever trusts it trusts no other job. Each start of a job makes a new one.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto";
import { join } from "node:path";
import { describeValue } from "../../../shared/text/describe-value.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { type Clock, systemClock } from "../../link/clock.js";
import { formatIdentity, type Identity } from "../../link/transport/tls/identity.js";
import { signAuthority, signProcess, type Validity } from "./certificate.js";
import { authorityCertificate, authorityKey } from "./credentials-folder.js";
import { makeSecretFolder, readSecretFile, writeSecretFile } from "./secret-files.js";

const hour = 3_600_000;
const day = 24 * hour;
/**
 * The time by which a certificate is valid before it is signed, in milliseconds. The clock of a new machine may be wrong
 * by hours, often by the offset of a time zone.
 */
const leadTime = day;
/**
 * The time by which an authority is valid before it is made, and its lifetime, in milliseconds. Both are so long that a
 * clock that is wrong shows in the certificates of processes, whose times errors explain.
 */
const authorityLeadTime = 365 * day;
const authorityLifetime = 3650 * day;

export interface IssueOptions {
  /** The time from now until the certificate expires, in milliseconds, at least 1,000. */
  readonly validFor: number;
}

export class Authority {
  /** The id of the job. */
  readonly job: string;
  /** The certificate of the authority, as PEM. Everyone may read it. */
  readonly certificate: string;
  readonly #key: KeyObject;
  readonly #clock: Pick<Clock, "epochMs">;

  private constructor(job: string, certificate: string, key: KeyObject, clock: Pick<Clock, "epochMs">) {
    this.job = job;
    this.certificate = certificate;
    this.#key = key;
    this.#clock = clock;
  }

  /**
   * Makes a new authority, with a new key.
   * @throws TypeError if the id of the job cannot be in an identity
   */
  static create(job: string, clock: Pick<Clock, "epochMs"> = systemClock): Authority {
    formatIdentity({ job, role: "driver" });
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const now = clock.epochMs();
    const validity = { from: now - authorityLeadTime, until: now + authorityLifetime };
    return new Authority(job, signAuthority(job, privateKey, validity), privateKey, clock);
  }

  /**
   * Reads an authority that was saved.
   * @throws Error if its files cannot be read, do not belong together, or are open to other users
   */
  static load(folder: string, clock: Pick<Clock, "epochMs"> = systemClock): Authority {
    const key = readSecretFile(join(folder, authorityKey));
    const certificate = readSecretFile(join(folder, authorityCertificate));
    try {
      const parsed = new X509Certificate(certificate);
      const privateKey = createPrivateKey(key);
      if (!parsed.ca || !parsed.checkPrivateKey(privateKey)) throw new Error("the key is not that of the certificate");
      const [, job = ""] = /^CN=(.+)$/m.exec(parsed.subject) ?? [];
      formatIdentity({ job, role: "driver" });
      return new Authority(job, certificate, privateKey, clock);
    } catch (cause) {
      throw new Error(`cannot load the authority of a job from ${folder}: ${errorMessage(cause)}`, { cause });
    }
  }

  /**
   * Saves the authority. Only this user can read the folder and the files.
   * @throws Error if the folder or a file cannot be written, or other users can open the folder
   */
  save(folder: string): void {
    makeSecretFolder(folder);
    writeSecretFile(join(folder, authorityKey), this.#key.export({ type: "pkcs8", format: "pem" }) as string);
    writeSecretFile(join(folder, authorityCertificate), this.certificate);
  }

  /**
   * Signs a certificate.
   * @param publicKey the key of the process, as PEM (SubjectPublicKeyInfo), on the curve P-256
   * @param identity the identity of the process in the job of this authority
   * @returns the certificate, as PEM
   * @throws TypeError if the key or the identity is not one that this authority signs
   * @throws RangeError if `validFor` is out of range
   */
  issue(publicKey: string, identity: Identity, { validFor }: IssueOptions): string {
    const uri = formatIdentity(identity);
    if (identity.job !== this.job) {
      throw new TypeError(`cannot sign a certificate for ${uri}: this is the authority of job ${this.job}`);
    }
    return signProcess(identity, readPublicKey(publicKey, uri), this.#key, this.#validityOf(validFor, uri));
  }

  #validityOf(validFor: number, uri: string): Validity {
    const now = this.#clock.epochMs();
    const until = now + validFor;
    const end = Date.parse(new X509Certificate(this.certificate).validTo);
    if (validFor >= 1000 && until <= end) return { from: now - leadTime, until };
    const most = end - now;
    throw new RangeError(
      `cannot sign a certificate for ${uri}: expected validFor in milliseconds, from 1000 to ${most}, got ${describeValue(validFor)}`,
    );
  }
}

function readPublicKey(pem: string, uri: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch (cause) {
    throw new TypeError(`cannot sign a certificate for ${uri}: cannot read its public key: ${errorMessage(cause)}`, {
      cause,
    });
  }
  const { asymmetricKeyType: type = "secret", asymmetricKeyDetails: { namedCurve = "" } = {} } = key;
  if (type === "ec" && namedCurve === "prime256v1") return key;
  throw new TypeError(
    `cannot sign a certificate for ${uri}: expected a public key on the curve prime256v1, got ${type} ${namedCurve}`.trimEnd(),
  );
}
