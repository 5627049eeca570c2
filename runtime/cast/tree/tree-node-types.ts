/** The interfaces of a node of a tree to its parent and to its proc. */
import type { MeshId, ProcId } from "../../link/address.js";
import type { DeliveryError } from "../../link/errors.js";
import type { LinkLimits } from "../../link/link-limits.js";
import type { RoutingTable } from "../../link/routing-table.js";
import type { CastOrigin, OrderedArrivals } from "../receiver/ordered-arrivals.js";
import type { AnswerGroup, RankAnswer } from "./answers.js";
import type { Branch } from "./branch.js";
import type { SchemaGroup } from "./schema-group.js";
import type { TreeSetup } from "./tree-setup.js";

/** The parent of a node: the sender at the root, or a proc above. */
export interface NodeParent {
  /** All ranks have reported their schemas. Ranks that are not in a group have the schema of the sender. */
  ready(others: readonly SchemaGroup[]): void;
  answers(seq: number, groups: readonly AnswerGroup[]): void;
  /** All ranks have taken this number of casts. */
  taken(casts: number): void;
  /** A proc below cannot be reached any more. */
  lost(proc: ProcId, why: DeliveryError): void;
  /** A cast without an answer could not be delivered. */
  bounced(label: string, error: DeliveryError): void;
}

/** Combines the answers of neighbouring ranks. Never throws: answers that cannot be combined stay as they are. */
export type AnswerFold = (groups: readonly AnswerGroup[]) => readonly AnswerGroup[];

/** The proc of a node, as the node uses it. */
export interface TreeHost {
  readonly id: ProcId;
  readonly limits: LinkLimits;
  readonly routes: RoutingTable;
  /** Assigns the number by which the proc of a branch refers to the branch. */
  assignHandle(branch: Branch): number;
  forgetBranch(branch: Branch): void;
  arrivalsFor(
    sender: CastOrigin,
    target: { readonly mesh: MeshId; readonly owner: ProcId; readonly rank: number },
  ): OrderedArrivals;
  answerOfError(error: Error): RankAnswer;
  /** Returns how the answers of an endpoint are combined; undefined if this proc does not know. */
  foldFor(setup: TreeSetup, endpoint: number, reduction: string): AnswerFold | undefined;
}
