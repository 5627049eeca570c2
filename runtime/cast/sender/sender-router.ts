/** The proc's router of casts, as senders use it. `cast-router.ts` implements it. */
import type { ActorId, Location, MeshId, ProcId } from "../../link/address.js";
import type { LinkLimits } from "../../link/link-limits.js";
import type { RoutingTable } from "../../link/routing-table.js";
import type { CastReceiver } from "../receiver/cast-receiver.js";
import type { TreeNode } from "../tree/tree-node.js";
import type { TreeHost } from "../tree/tree-node-types.js";

export interface SenderRouter extends TreeHost {
  readonly id: ProcId;
  readonly limits: LinkLimits;
  readonly routes: RoutingTable;
  readonly location: Location;
  /** Returns the number of a new tree whose root is here. */
  nextTreeNumber(): number;
  /** Makes the node of this proc at the root of a tree. */
  addRootNode(make: (receiver: CastReceiver) => TreeNode, sender: ActorId, mesh: MeshId): TreeNode;
  /**
   * Drops the node at the root of a tree.
   * @param flush what the procs below are told: one of `FlushMode`
   */
  removeRootNode(node: TreeNode, flush: number | undefined): void;
  /** A sender on this proc has ended, or will not cast to the mesh any more. */
  senderEnded(sender: ActorId, mesh: MeshId): void;
  /** A sender on this proc has no actor of the mesh left to cast to. */
  receiversEnded(sender: ActorId, mesh: MeshId): void;
}
