/**
 * One logical process: an identity, its links, its actors, its ports. Several may live in one operating-system process
 * (inline isolation, tests): they share no state, and talk through links like any others.
 */

import type { Location, MeshId, ProcId } from "../link/address.js";
import type { Clock, Random } from "../link/clock.js";
import type { Limits } from "../link/limits.js";
import type { Link } from "../link/link.js";
import type { Pipe } from "../link/pipe.js";
import type { Cell } from "./cell.js";
import type { ActorRequest, ProcHooks, StopOptions } from "./hooks.js";

export interface ProcOptions {
  readonly id: ProcId;
  /** Drawn by the root, the same in its whole tree; a link to another universe is refused. */
  readonly universe: bigint;
  readonly clock: Clock;
  readonly random: Random;
  readonly hooks: ProcHooks;
  readonly limits?: Partial<Limits>;
  /** Where this proc listens, as it stands in references to its actors; empty: nowhere. */
  readonly location?: Location;
  /** The proc that made this one: what cannot be reached directly is reached through it. */
  readonly parent?: ProcId;
  /** Dials `location` of `peer`. Rejects when it cannot be reached: traffic then goes through the parent. */
  readonly connect: (location: Location, peer: ProcId) => Promise<Pipe>;
}

/** What the rest of the runtime does with a proc. `Proc` implements it. */
export interface ProcRuntime {
  readonly id: ProcId;
  /** What code outside any actor sends as. */
  readonly root: Cell;
  /** A link over a pipe: `peer` is known for a child just spawned, unknown for an accepted connection. */
  attach(pipe: Pipe, peer?: ProcId): Link;
  /** Calls `constructor` and `init` of an actor at once; messages that come meanwhile wait. Failing: `hooks.actorFailed`. */
  createActor(request: ActorRequest): Cell;
  /** Stops an actor as `options` says. Idempotent, never rejects; resolves when `cleanup` has ended. */
  stopActor(cell: Cell, options: StopOptions): Promise<void>;
  /** The actor of `mesh` that lives here. */
  cell(mesh: MeshId): Cell | undefined;
  /** Declares `peer` dead before its link says so: everything pending on it fails with `reason`. Idempotent. */
  peerDown(peer: ProcId, reason: string): void;
  /** Says farewell on every link and closes them. Pending calls fail. */
  close(reason: string): Promise<void>;
}
