/** What `viceroy doctor --ssh` finds: one finding for each check of each host. */

/**
 * The checks of a host, in the order in which they are made:
 *
 * - `name`: the name of the host leads to an address.
 * - `connect`: a server of ssh answers.
 * - `key`: the key of the host is a known one.
 * - `login`: the user is let in without a question.
 * - `shell`: the login shell runs `/bin/sh`, and the lines of `setup` succeed.
 * - `node`: there is a Node.js that Viceroy supports.
 * - `files`: the folder of the daemon and `/tmp` are writable.
 * - `disk`: they have enough space.
 * - `sockets`: the server of ssh forwards Unix sockets.
 * - `peers`: the other hosts reach this one.
 * - `clock`: its clock agrees with that of this machine.
 * - `platform`: packages with native code fit to it.
 * - `package`: the package of the program is there.
 */
export const hostChecks = [
  "name",
  "connect",
  "key",
  "login",
  "shell",
  "node",
  "files",
  "disk",
  "sockets",
  "peers",
  "clock",
  "platform",
  "package",
] as const;

export type HostCheck = (typeof hostChecks)[number];

/** The result of one check of one host. */
export interface Finding {
  readonly host: string;
  readonly check: HostCheck;
  /** A `note` is something that a program may need; with a `problem`, no job runs on the host. */
  readonly level: "ok" | "note" | "problem";
  readonly text: string;
  /** What to do. */
  readonly advice?: string;
}

/** The properties of the driver, its machine and the job with which those of hosts are compared. */
export interface DriverFacts {
  /** The platform of native code. */
  readonly platform: string;
  /** The folder of the program's package. */
  readonly folder: string;
  /** The port of the job's hosts; null for a free one. */
  readonly port: number | null;
}

/** Makes a finding about one host. */
export type Judge = (check: HostCheck, level: Finding["level"], text: string, advice?: string) => Finding;
