/**
 * The proc of a link, as the link uses it. The proc decides which meshes exist, how errors are encoded and what follows
 * when a link ends. Links transfer bytes, count credit and keep order.
 */
import type { Reader } from "../wire/reader.js";
import type { MeshId, ProcId } from "./address.js";
import type { Clock } from "./clock.js";
import type { RelayFrame } from "./frame/relay-frame.js";
import type { Destination, Lane } from "./inbound/lane.js";
import type { LaneRequest } from "./inbound/lane-request.js";
import type { KeepAlive } from "./keep-alive.js";
import type { LinkLimits } from "./link-limits.js";

/** The header of a frame of a broadcast tree. */
export interface TreeFrame {
  /** One of `FrameKind`, from `tree` to `treeFlush`. */
  readonly kind: number;
  readonly flags: number;
  readonly slot: number;
  readonly a: number;
  readonly b: number;
}

/** The proc of links of class `TLink`. Methods that are called while a frame is read may throw ProtocolError and nothing else. */
export interface LinkHost<TLink> {
  readonly id: ProcId;
  readonly universe: bigint;
  readonly clock: Clock;
  readonly limits: LinkLimits;
  readonly keepAlive: KeepAlive;
  /**
   * The peer has introduced itself, and `link.peer` is set.
   * @param over if the peer has dialled the link: the number of the last link that was dialled here and has ended on
   * the peer's side, or 0 if there is none
   */
  linkOpened(link: TLink, over: number): void;
  /**
   * No more frames will come on the link. The host calls `link.end`, now or later.
   * @param error undefined if the peer has sent `bye`
   */
  linkClosed(link: TLink, error: Error | undefined): void;
  laneOpened(link: TLink, request: LaneRequest): Destination;
  /** Reads the error that has ended a call. */
  readError(r: Reader): Error;
  meshQueried(link: TLink, question: number, mesh: MeshId): void;
  meshQueryAnswered(link: TLink, question: number, exists: boolean): void;
  /** An actor holds a port of this proc, or, if `held` is false, no longer holds it. */
  portHolderChanged(link: TLink, port: bigint, holder: string, proc: ProcId, held: boolean): void;
  relayFrameReceived(link: TLink, frame: RelayFrame): void;
  /**
   * A `sync` frame has come: it orders the messages of a lane among casts. `sync` is one of `SyncKind`, and `casts` a
   * number of casts.
   */
  laneSynced(lane: Lane, sync: number, casts: number): void;
  /** A frame of a broadcast tree has come. `r` is positioned at the body. */
  treeFrameReceived(link: TLink, frame: TreeFrame, r: Reader): void;
}
