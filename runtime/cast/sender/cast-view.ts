/** What is cast to, and who casts, as casters know them. */
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

/** The mesh that is cast to. */
export interface CastMesh {
  readonly id: bigint;
  readonly owner: ProcId;
  readonly size: number;
  /** One more each time that one of its actors has moved to another proc. */
  readonly moves: number;
  target(base: number): { readonly proc: ProcId; readonly location: Location };
  /** Undefined: nobody here has heard of it. */
  procAt(base: number): ProcId | undefined;
}

/** A handle of the mesh, or of a slice of it. */
export interface CastView {
  /** The same for handles with the same ranks, extent and interface. */
  readonly key: string;
  /** Ranks in the mesh, in the order of those of the handle. */
  readonly bases: readonly number[];
  readonly interface: CastInterface;
  /** Sizes by name of a slice; undefined: the mesh as it was spawned. */
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
  /** Opens a session to an actor where it lives now, unless there is one, or its process is no more. */
  openSession(base: number): void;
  /** Returns the sender's messages to former processes of an actor that its later messages wait for. */
  unhandledMessages(base: number): readonly UnhandledMessages[];
  /** @returns why not, if those who know an interface by another schema cannot read what is sent by it */
  compare(base: number, known: CastInterface, other: PeerSchema): DeliveryError | undefined;
  /** The message in the protobuf layout. @throws CodecError, MessageSizeError */
  translate(known: CastInterface, endpoint: BoundEndpoint, body: EncodedMessage): EncodedMessage;
  readError(r: Reader): Error;
  /** The cast sender has work: trees, or casts that are not finished. */
  senderActive(): void;
  /** The cast sender has no work until the next cast. @param ended whether there will be no next cast */
  senderIdle(ended: boolean): void;
}
