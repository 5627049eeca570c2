/**
 * What links need of the proc they belong to. The proc decides what exists, what an error says and what the end of a
 * link means; links move bytes, count credit and keep order.
 */
import type { Reader } from "../wire/reader.js";
import type { MeshId, ProcId } from "./address.js";
import type { Clock } from "./clock.js";
import type { Destination, Lane, LaneCredit, LaneSender } from "./inbound/lane.js";
import type { KeepAlive } from "./keep-alive.js";
import type { Link } from "./link.js";
import type { LinkLimits } from "./link-limits.js";
import type { SessionTarget } from "./outbound/session.js";

/** What a peer asks for with an `open` frame. */
export interface LaneRequest {
  readonly sender: LaneSender;
  readonly target: SessionTarget;
  readonly credit: LaneCredit;
}

/** One piece of a relayed pipe. */
export interface RelayFrame {
  readonly to: ProcId;
  readonly from: ProcId;
  /** Drawn by the proc that dialled. */
  readonly channel: number;
  /** One of `Relay` (relay.ts). */
  readonly op: number;
  /** Valid while the frame is being handled. */
  readonly bytes: Uint8Array;
}

/** The header of a frame of a tree. */
export interface TreeFrame {
  /** One of `MemoryFrameKind`, from `tree` to `treeFlush`. */
  readonly kind: number;
  readonly flags: number;
  readonly slot: number;
  readonly a: number;
  readonly b: number;
}

/** Methods that are called while a frame is being read may throw ProtocolError, nothing else. */
export interface LinkHost {
  readonly id: ProcId;
  readonly universe: bigint;
  readonly clock: Clock;
  readonly limits: LinkLimits;
  readonly keepAlive: KeepAlive;
  /**
   * The peer has introduced itself: `link.peer` is known.
   * @param over of a link that the peer has dialled: the last one that was dialled here and is over for the peer; 0: none
   */
  linkOpened(link: Link, over: number): void;
  /** Nothing more will come. `error`: how it ended, unless by farewell. The host calls `link.end`, now or later. */
  linkClosed(link: Link, error: Error | undefined): void;
  laneOpened(link: Link, request: LaneRequest): Destination;
  /** An error that ended a call. */
  readError(r: Reader): Error;
  meshQueried(link: Link, question: number, mesh: MeshId): void;
  meshQueryAnswered(link: Link, question: number, exists: boolean): void;
  /** A port of this proc is held (or, with `held` false, no longer held) by an actor. */
  portHolderChanged(link: Link, port: bigint, holder: string, proc: ProcId, held: boolean): void;
  relayFrameReceived(link: Link, frame: RelayFrame): void;
  /** Messages of a lane have a place among casts: `sync` is one of `Sync`, `casts` its number. */
  laneSynced(lane: Lane, sync: number, casts: number): void;
  /** A frame of a tree for casts; `r` stands at its body. */
  treeFrameReceived(link: Link, frame: TreeFrame, r: Reader): void;
}
