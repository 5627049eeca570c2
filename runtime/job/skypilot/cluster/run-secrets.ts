/** The secrets of the hosts of a run: those by which they get their certificates, or the token that drivers must have. */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CalledHosts } from "../../called-hosts.js";
import { credentialsFolder, hostUri } from "../../credentials/credentials-folder.js";
import type { CalledHost, PodIssuer } from "../../credentials/index.js";
import type { TlsSpec } from "../../job-options.js";
import type { HostPlace } from "../../mesh-spec.js";
import type { Announcement } from "../machine/host-lines.js";

/** The name of the file with the token. */
const tokenName = "token";

/** A host that is called to sign its certificate. */
export interface SignedHost extends Announcement {
  readonly uid: string;
  readonly isReady: boolean;
}

export interface RunSecrets {
  /** The token; undefined if the hosts have certificates. */
  readonly token: string | undefined;
  /** Returns the secret of the next host of each place, by the identities. */
  secretsOf(places: readonly HostPlace[]): Record<string, string>;
  /** Signs the certificates of the hosts that are known; undefined if they have none. */
  readonly signer: CalledHosts<SignedHost> | undefined;
}

/** Time in ms for a connection to a host. The proxies of SkyPilot's ssh take seconds to start, and ssh gives up by itself after 15 s. */
const connectMs = 20_000;

/** Makes the token of a new run whose hosts have no certificates. @param folder that of the run */
export function makeToken(folder: string): void {
  writeFileSync(join(folder, tokenName), randomBytes(32).toString("base64url"), { mode: 0o600 });
}

/** @param connect makes a connection to the port of a host at which its certificate is signed */
export async function openSecrets(
  applyId: string,
  folder: string,
  tls: TlsSpec | null,
  connect: (host: SignedHost, port: number, signal: AbortSignal) => ReturnType<NonNullable<CalledHost["connect"]>>,
): Promise<RunSecrets> {
  const byIdentity = (places: readonly HostPlace[], secretOf: (identity: string) => string) =>
    Object.fromEntries(places.map((place) => hostUri(applyId, place)).map((uri) => [uri, secretOf(uri)]));
  if (tls === null) {
    const token = readFileSync(join(folder, tokenName), "utf8");
    return { token, signer: undefined, secretsOf: (places) => byIdentity(places, () => token) };
  }
  const credentials = await import("../../credentials/index.js");
  const issuer: PodIssuer = new credentials.PodIssuer(credentialsFolder(folder), tls.lifetime);
  const nothing = () => Promise.resolve();
  const signer = new CalledHosts<SignedHost>({
    issuer,
    lifetime: tls.lifetime,
    hostOf: (host) => ({
      id: host.boot,
      identity: hostUri(applyId, host),
      host: host.ip,
      port: host.port + 1,
      connect: (signal) => connect(host, host.port + 1, signal),
      connectLimit: connectMs,
    }),
    isStranger: credentials.isStranger,
    // The next launch gets the next secrets. A host that is refused says so in its log.
    onUsed: nothing,
    onStranger: nothing,
  });
  return { token: undefined, signer, secretsOf: (places) => byIdentity(places, (uri) => issuer.nextSecret(uri)) };
}
