/**
 * The certificate of a host of a job: the daemon gets it from the issuer of the job before it listens, and renews it as long
 * as it runs.
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "../../link/clock.js";
import { formatTime } from "../../link/transport/tls/certificate-faults.js";
import type { TlsFiles } from "../../link/transport/tls/credentials.js";
import { type Identity, parseIdentity } from "../../link/transport/tls/identity.js";
import { parseEnrolmentSecret, readSecretOf } from "./enrolment-secret.js";
import { HostCredentials, type HostCredentialsOptions } from "./host-credentials.js";
import { awaitedIssuer, dialledIssuer, type IssuerRoute } from "./issuer-route.js";

/** The options of the command line about the certificate. All three are given, or none. */
export interface IssuerOptions {
  /** The address of the issuer. */
  readonly issuer?: string;
  /** The URI of the identity of this host. */
  readonly identity?: string;
  /** The file with the secret of this host. */
  readonly secretFile?: string;
}

/** What a program tells a host that it has started, and whose issuer calls the host. */
export interface AwaitedIssuerOrder {
  readonly identity: string;
  readonly secret: string;
  /** The Unix socket at which the host expects the issuer, whose folder is private to the host, or an address of the network. */
  readonly socket: string | { readonly host: string; readonly port: number };
  /** The folder for the key and the certificate, which does not exist. */
  readonly folder: string;
  /** The time in ms for which the host waits for its issuer. */
  readonly patience: number;
}

interface Output {
  out(line: string): void;
  err(line: string): void;
}

/**
 * Gets the certificate of this host, which is renewed, and whose files exist, until this process ends. Returns undefined if
 * the host is told no issuer.
 * @throws TypeError, Error if an option is malformed, or the secret cannot be read
 * @throws HandshakeError, Error if the issuer refuses this host, or cannot be reached
 */
export async function enrolHost(
  { issuer, identity, secretFile }: IssuerOptions,
  order: AwaitedIssuerOrder | undefined,
  output: Output,
): Promise<TlsFiles | undefined> {
  const common = { clock: systemClock, random: systemRandom };
  if (order !== undefined) {
    const { folder, patience, socket } = order;
    const own = { identity: parseIdentity(order.identity), secret: parseEnrolmentSecret(order.secret, "the order") };
    const entrance = typeof socket === "string" ? { path: socket, print: output.out } : socket;
    return startRenewals(await awaitedIssuer(entrance), { ...common, ...own, folder, patience }, output);
  }
  if (issuer === undefined && identity === undefined && secretFile === undefined) return undefined;
  if (issuer === undefined || identity === undefined || secretFile === undefined) {
    throw new TypeError(
      "cannot start a host: a certificate of a job needs --issuer, --identity and --secret-file, all three",
    );
  }
  const own = { identity: hostIdentity(identity), secret: readSecretOf(identity, secretFile) };
  // The key is on this machine, also if the folder of the secret is on all machines.
  const folder = join(tmpdir(), `viceroy-host-${randomBytes(8).toString("hex")}`);
  return startRenewals(dialledIssuer(issuer), { ...common, ...own, folder }, output);
}

async function startRenewals(
  issuer: IssuerRoute,
  options: HostCredentialsOptions & { readonly folder: string },
  output: Output,
): Promise<TlsFiles> {
  process.once("exit", () => rmSync(options.folder, { recursive: true, force: true }));
  const host = await HostCredentials.enrol(issuer, options);
  host.renewAt(issuer, options, ({ message }) => {
    const until = formatTime(host.expiresAt);
    output.err(
      `viceroy host: cannot renew its certificate ${issuer.name}: ${message}; it is tried again until ${until}, when the ` +
        "certificate expires and nobody can connect any more",
    );
  });
  return host.files;
}

/** @throws TypeError if the text is not the identity of a host */
function hostIdentity(text: string): Identity {
  const identity = parseIdentity(text);
  if (identity.role === "host") return identity;
  throw new TypeError(`cannot start a host: expected --identity as that of a host, got ${text}`);
}
