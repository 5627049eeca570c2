/**
 * The interface to the meshes that this process has published, and to those of other programs that it has looked up.
 * `host/publish/` implements it; the code of `proc/` knows nothing else about published meshes.
 */
import type { RankStatus } from "../../../generated/proc-agent.js";
import type {
  MovedSender,
  PublishedRankState,
  RelayedAnswer,
  RelayedCall,
  SenderMove,
} from "../../../generated/published.js";
import type { MeshId, ProcId } from "../../link/address.js";

export interface PublishedMeshes {
  /** Sends a message of another program to an actor of a published mesh. Sends at once; never rejects. */
  call(call: RelayedCall, signal: AbortSignal): Promise<RelayedAnswer>;
  /** Calls a streaming endpoint of an actor of a published mesh. Sends at once. */
  stream(call: RelayedCall, signal: AbortSignal): AsyncIterableIterator<RelayedAnswer>;
  /** Returns the state of an actor of a published mesh. */
  rankState(publication: bigint, rank: number): PublishedRankState;
  /** Withdraws a mesh that has been stopped. */
  meshStopped(mesh: MeshId): void;
  /** Takes the messages of a sender through another host from now on, and refuses those that come late. */
  moveSender(move: SenderMove): MovedSender;
  /**
   * Handles the end of a mesh of another program that was looked up. With `left`, only this host does not know the mesh
   * any more.
   */
  publicationEnded(publication: bigint, reason: string, left: ProcId | undefined): void;
  /** Handles the loss of a host through which meshes of other programs are reached. */
  hostGone(host: ProcId, reason: string): void;
  /** Returns the status of a rank of a mesh of another program; undefined if `mesh` is not such a mesh. */
  statusOf(mesh: MeshId, rank: number): RankStatus | undefined;
}

/** The answer to a message to a mesh that is not published. */
export const notPublished: RelayedAnswer = { ended: "its program does not publish the mesh any more" };

/** The answer to a call that was under way when another process has become the owner of the mesh. */
export const ownerChanged: RelayedAnswer = {
  errors: [
    {
      name: "DeliveryError",
      message:
        "the owner of the mesh has changed while the call was under way; it may have been handled, so it was not sent again",
    },
  ],
};

async function* notPublishedStream(): AsyncGenerator<RelayedAnswer, undefined> {
  yield notPublished;
}

/** The service of a process that has never published or looked up a mesh. */
export const noPublishedMeshes: PublishedMeshes = {
  call: () => Promise.resolve(notPublished),
  stream: notPublishedStream,
  rankState: () => "lost",
  moveSender: () => ({ isPublished: false }),
  meshStopped() {},
  publicationEnded() {},
  hostGone() {},
  statusOf: () => undefined,
};
