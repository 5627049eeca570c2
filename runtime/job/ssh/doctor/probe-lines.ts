/** The lines that a probed host prints: `viceroy doctor: <key>=<value>`. Other lines belong to login shells. */

/** The beginning of a line of the probe. */
export const probeMark = "viceroy doctor: ";

/** What the part of the probe in Node.js is told: one line of JSON on its standard input. */
export interface ProbeOrder {
  /** The text of the program. */
  readonly program: string;
  /** The socket that the driver reaches through ssh. Its folder does not exist, and ends with the probe. */
  readonly socket: string;
  /** The port at which other hosts try to reach this one; 0 for a free one. */
  readonly port: number;
  /** The answer that shows others that they have reached this host. */
  readonly secret: string;
  /** The folder of the package of the program, on the machine of the driver. */
  readonly folder: string;
}

/** The second line: where the other hosts listen. */
export interface PeerOrder {
  readonly peers: readonly Peer[];
}

export interface Peer {
  readonly host: string;
  readonly address: string;
  readonly port: number;
  readonly secret: string;
}

/** The answer of a host to the question whether it reaches another host. */
export interface PeerAnswer {
  readonly host: string;
  /** Why the other host cannot be reached; absent if it can. */
  readonly error?: string;
}

/** What the Node.js of a host says about itself. */
export interface NodeFacts {
  readonly version: string;
  readonly path: string;
  /** The platform of native code, such as `linux-x64` or `linux-x64-musl`. */
  readonly platform: string;
  /** Whether the folder of the package exists. */
  readonly hasPackage: boolean;
  /** Why the socket for the driver could not be made. */
  readonly socketError?: string;
  /** The address at which the host listens for others. */
  readonly address?: string;
  readonly port?: number;
  /** Why the host could not listen for others. */
  readonly addressError?: string;
}

/** Returns the platform of native code for this process. */
export function nativePlatform(): string {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  const libc = process.platform === "linux" && header.glibcVersionRuntime === undefined ? "-musl" : "";
  return `${process.platform}-${process.arch}${libc}`;
}
