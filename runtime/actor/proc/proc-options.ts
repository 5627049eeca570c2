/** The options of a proc. */
import type { Location, ProcId } from "../../link/address.js";
import type { Clock, Random } from "../../link/clock.js";
import type { KeepAlive } from "../../link/keep-alive.js";
import type { LinkLimits } from "../../link/link-limits.js";
import type { DialProc, LocateProc, ParentProc } from "../../link/routing-table.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { MeshRecords } from "../reference/mesh-record.js";
import type { ProcHooks } from "../reference/proc-hooks.js";
import type { DropDetector } from "./drop-watch.js";

export interface ProcOptions {
  readonly id: ProcId;
  /** The universe id, drawn by the root and the same in its whole tree. A link to another universe is refused. */
  readonly universe: bigint;
  readonly clock: Clock;
  readonly random: Random;
  readonly hooks: ProcHooks;
  readonly limits?: Partial<LinkLimits>;
  /** The address that this proc listens at, as it appears in references to its actors. Empty: it does not listen. */
  readonly location?: Location;
  /** The proc that created this one. Procs that cannot be reached directly are reached through it. */
  readonly parent?: ProcId;
  /** Whether the parent dials this proc. It cannot be dialled then. */
  readonly parentConnects?: boolean;
  /** Kept alive by waiting calls. Default: the operating-system process. */
  readonly keepAlive?: KeepAlive;
  /** Detects dropped values. Default: the garbage collector detects them. */
  readonly drops?: DropDetector;
  /** The meshes that are known here, shared by the procs of one operating-system process. */
  readonly records?: MeshRecords;
  /** The name of the root actor, for people. Default: `root`. */
  readonly name?: string;
  /**
   * Connects to `location` of `peer`. Rejects if it cannot be reached; messages then go through the owner or the
   * parent.
   */
  readonly connect: DialProc;
  /** Returns where a proc listens to which this proc relays. Default: it does not listen. */
  readonly locate?: LocateProc;
  /** Takes a pipe that a peer has opened to this proc through other procs. Default: the pipe becomes a link. */
  readonly accept?: (pipe: Pipe, from: ProcId) => void;
}

/** Returns the route to the parent, or undefined if the proc has no parent. */
export function parentRoute({ parent, parentConnects = false }: ProcOptions): ParentProc | undefined {
  return parent === undefined ? undefined : { id: parent, connects: parentConnects };
}
