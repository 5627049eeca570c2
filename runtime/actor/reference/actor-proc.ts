/** A proc as its actors and their ports use it. The class is in proc/proc.ts. */

import type { CastRouter } from "../../cast/cast-router.js";
import type { Location, ProcId } from "../../link/address.js";
import type { Clock, Random } from "../../link/clock.js";
import type { KeepAlive } from "../../link/keep-alive.js";
import type { Link } from "../../link/link.js";
import type { LinkLimits } from "../../link/link-limits.js";
import type { SessionTarget } from "../../link/outbound/message-sender.js";
import type { RoutingTable } from "../../link/routing-table.js";
import type { TraceSource } from "../../link/trace-context.js";
import type { DropDetector } from "../proc/drop-watch.js";
import type { Downtime } from "./downtime.js";
import type { ProcContext } from "./handler-context.js";
import type { ActorTarget, MeshRecords } from "./mesh-record.js";
import type { OpenPort } from "./open-port.js";

export interface ActorProc {
  readonly id: ProcId;
  readonly universe: bigint;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: LinkLimits;
  readonly location: Location;
  readonly keepAlive: KeepAlive;
  readonly routes: RoutingTable;
  readonly drops: DropDetector;
  readonly traces: TraceSource;
  readonly records: MeshRecords;
  readonly casts: CastRouter;
  readonly context: ProcContext;

  openPort(port: OpenPort): void;
  closePort(port: OpenPort): void;
  /** Adds or removes a holder of a port of this proc. `link` is the link that reported it, undefined for this proc. */
  portHolderChanged(link: Link | undefined, port: bigint, holder: string, proc: ProcId, held: boolean): void;
  /** Removes an actor that has ended from the holders of all ports of this proc. */
  holderEnded(holder: string): void;
  /** Returns the downtime of an actor that is known to have ended, or undefined if the actor is not known to be down. */
  downtimeOf(target: ActorTarget): Downtime | undefined;
  /** Returns the link to the process of `target`, or undefined if that process is dead. */
  linkTo(target: SessionTarget, location: Location): Link | undefined;
}
