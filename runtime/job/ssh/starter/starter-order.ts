/** What the starter on a host is told: one line of JSON on its standard input. Both sides are of the same version. */

/** The archive that the daemon comes in. */
export interface ArchiveOrder {
  /** The version of Viceroy. */
  readonly version: string;
  /** The SHA-256 of the unpacked archive, in hex. */
  readonly hash: string;
  /** The length of the archive in bytes, as it is sent. */
  readonly length: number;
}

export interface StarterOrder {
  /** The text of the starter itself. */
  readonly program: string;
  readonly archive: ArchiveOrder;
  /** The value of the variable that marks the processes of the host. */
  readonly mark: string;
  /** The socket of the daemon on the host. Its folder is made for it, and ends with the daemon. */
  readonly socket: string;
  /** The record of the job, for the processes of the host. */
  readonly record: string;
  /** The port at which the daemon listens for other hosts; 0 for a free one. */
  readonly port: number;
  /** The token that drivers and other hosts must have; absent if they have certificates. */
  readonly token?: string;
  /** The identity of the host, and the secret for its certificate; absent if it has a token. */
  readonly enrolment?: { readonly identity: string; readonly secret: string; readonly socket: string };
  /** The time in ms after which the daemon ends if its standard input is silent. */
  readonly silence: number;
}

/** Returns the line with which a host asks for the archive. */
export function archiveRequest({ hash }: ArchiveOrder): string {
  return `viceroy host: asks for its daemon ${hash}`;
}
