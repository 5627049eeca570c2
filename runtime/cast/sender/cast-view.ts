/** The target and the actor of casts, as cast senders use them. */
import type { Location, ProcId } from "../../link/address.js";
import type { DeliveryError } from "../../link/errors.js";
import type { BoundEndpoint, PeerSchema } from "../../link/frame/binding.js";
import type { KeepAlive } from "../../link/keep-alive.js";
import type { EncodedMessage } from "../../link/outbound/encoded-message.js";
import type { UnhandledMessages } from "../../link/outbound/unhandled-messages.js";
import type { Reader } from "../../wire/reader.js";
import type { CastOrigin } from "../receiver/ordered-arrivals.js";
import type { CastInterface } from "../tree/tree-setup.js";
import type { SenderRouter } from "./sender-router.js";

/** The target mesh of casts. */
export interface CastMesh {
  readonly id: bigint;
  readonly owner: ProcId;
  /** The number of ranks that are known here. It grows when ranks join the mesh. */
  readonly rankCount: number;
  /** A counter of the moves of its actors to other procs, and of the actors that leave. */
  readonly moves: number;
  /** Returns an actor. `departure` is the error of messages to an actor that has left the mesh. */
  target(base: number): {
    readonly proc: ProcId;
    readonly location: Location;
    readonly departure: DeliveryError | undefined;
  };
  /** Returns whether an actor has left the mesh. */
  hasLeft(base: number): boolean;
  /** Returns the proc of an actor, or undefined if it is not known here. */
  procAt(base: number): ProcId | undefined;
}

/** A handle of the mesh, or of a slice of it. */
export interface CastView {
  /** A key that is equal for handles with the same ranks, extent and interface. */
  readonly key: string;
  /** The ranks in the mesh, in the order of the ranks of the handle. */
  readonly bases: readonly number[];
  readonly interface: CastInterface;
  /** The extent of a slice, or undefined for the mesh as it was spawned. */
  readonly extent: Readonly<Record<string, number>> | undefined;
}

/** The actor that casts. */
export interface CastSenderHost {
  readonly router: SenderRouter;
  readonly sender: CastOrigin;
  readonly keepAlive: KeepAlive;
  undeliverable(label: string, error: DeliveryError): void;
  /** An actor of the mesh has ended. */
  targetEnded(base: number): void;
  /** Opens a session to an actor on its current proc, unless there is one or the process has ended. */
  openSession(base: number): void;
  /** Returns the sender's messages to former processes of an actor that its later messages wait for. */
  unhandledMessages(base: number): readonly UnhandledMessages[];
  /**
   * Compares the schema of an actor with the sender's.
   * @returns undefined if the actor can read messages of this interface, otherwise the error that says why not
   */
  compare(base: number, known: CastInterface, other: PeerSchema): DeliveryError | undefined;
  /**
   * Translates a message into the protobuf layout.
   * @throws CodecError, MessageSizeError
   */
  translate(known: CastInterface, endpoint: BoundEndpoint, body: EncodedMessage): EncodedMessage;
  readError(r: Reader): Error;
  /** The cast sender has work: trees, or casts that are not finished. */
  senderActive(): void;
  /** The cast sender has no work until the next cast. @param ended whether there will be no next cast */
  senderIdle(ended: boolean): void;
}
