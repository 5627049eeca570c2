/**
 * Signs the certificates of hosts that a scheduler replaces without asking anybody. Each of them, the first one and each later one of the same
 * identity, gets a secret of its own: as soon as a host has used the secret of its identity, the next one is made. What is known is in files,
 * so that any driver of the job can sign, also for hosts that another one has enrolled.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock, systemRandom } from "../../link/clock.js";
import { HandshakeError } from "../../link/handshake/errors.js";
import type { Pipe } from "../../link/transport/pipe.js";
import { connectTcp } from "../../link/transport/tcp/connect.js";
import { Authority } from "./authority.js";
import { secretsFile } from "./credentials-folder.js";
import { SavedKeys } from "./enrolled-keys.js";
import { EnrolmentDesk } from "./enrolment-desk.js";
import { createEnrolmentSecret, readSecrets } from "./enrolment-secret.js";
import { makeSecretFile, makeSecretFolder, readSecretFile, writeSecretFile } from "./secret-files.js";

/** A host that expects a call. */
export interface CalledHost {
  /** An id that no other pod with its identity has had. */
  readonly id: string;
  /** The URI of its identity. */
  readonly identity: string;
  readonly host: string;
  readonly port: number;
  /** Makes a connection to the port. Absent: it is dialled. */
  readonly connect?: (signal: AbortSignal) => Promise<Pipe>;
  /** The time in ms for the connection. Default: 3 s. */
  readonly connectLimit?: number;
}

/** Returns whether {@link PodIssuer.sign} has failed because the host does not have the secret of its identity. */
export function isStranger(error: unknown): boolean {
  return error instanceof HandshakeError && error.reason === "token";
}

/** Time in ms for the network to reach a host. */
const connectMs = 3000;

export class PodIssuer {
  readonly #folder: string;
  readonly #lifetime: number;
  readonly #authority: Authority;
  readonly #keys: SavedKeys;

  /**
   * @param folder the folder of the credentials of the run
   * @param lifetime the lifetime of certificates, in ms
   * @throws Error if a file cannot be read, is malformed, or other users can read it
   */
  constructor(folder: string, lifetime: number) {
    this.#authority = Authority.load(folder);
    this.#folder = folder;
    this.#lifetime = lifetime;
    for (const name of ["next-secrets", "used-secrets"]) makeSecretFolder(join(folder, name));
    this.#keys = new SavedKeys(join(folder, "enrolled"));
  }

  /** Returns the secret that the next host of an identity has. */
  nextSecret(identity: string): string {
    const file = this.#fileOf("next-secrets", identity);
    if (existsSync(file)) return readSecretFile(file);
    return readSecrets(join(this.#folder, secretsFile))[identity] ?? "";
  }

  /**
   * Makes the secret of an identity that has none. Of programs that do so at the same time, one makes it.
   * @returns the secret that the next host of the identity has
   */
  addSecret(identity: string): string {
    const known = this.nextSecret(identity);
    return known === "" ? makeSecretFile(this.#fileOf("next-secrets", identity), createEnrolmentSecret()) : known;
  }

  /**
   * Calls a host, and signs its certificate.
   * @returns whether the host has used the secret of its identity, so that another one is next
   * @throws HandshakeError if the host has not proved its secret, or wants nothing now
   * @throws Error if it cannot be reached
   */
  async sign({ id, identity, host, port, connect, connectLimit = connectMs }: CalledHost): Promise<boolean> {
    const used = this.#fileOf("used-secrets", id);
    const secret = existsSync(used) ? readSecretFile(used) : this.nextSecret(identity);
    const dial = (signal: AbortSignal) => connectTcp({ kind: "tcp", host, port }, signal);
    const pipe = await (connect ?? dial)(AbortSignal.timeout(connectLimit));
    const desk = new EnrolmentDesk({
      clock: systemClock,
      random: systemRandom,
      authority: this.#authority,
      validFor: this.#lifetime,
      secrets: { [identity]: secret },
      keys: { keep: (_, publicKey) => this.#keys.keep(id, publicKey), forget: () => this.#keys.forget(id) },
    });
    await desk.serve(pipe);
    writeSecretFile(used, secret);
    if (this.nextSecret(identity) !== secret) return false;
    writeSecretFile(this.#fileOf("next-secrets", identity), createEnrolmentSecret());
    return true;
  }

  #fileOf(folder: string, name: string): string {
    return join(this.#folder, folder, encodeURIComponent(name));
  }
}
