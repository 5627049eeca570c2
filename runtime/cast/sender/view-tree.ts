/** A tree of a cast sender, set up for one view. It passes the answers and errors of the tree to the casts. */
import type { Location, ProcId } from "../../link/address.js";
import { type DeliveryError, meansTargetEnded } from "../../link/errors.js";
import type { PeerSchema } from "../../link/frame/binding.js";
import type { UnhandledMessages } from "../../link/outbound/unhandled-messages.js";
import type { AnswerGroup } from "../tree/answers.js";
import type { PlannedProc } from "../tree/tree-setup.js";
import { CastTree, type TreeOwner } from "./cast-tree.js";
import type { CastMesh, CastSenderHost, CastView } from "./cast-view.js";
import type { PendingCast } from "./pending-cast.js";

/** The owner of a tree: the cast sender. */
export interface ViewTreeOwner {
  readonly mesh: CastMesh;
  readonly host: CastSenderHost;
  flush(): void;
  /** All actors of the tree have received a cast. */
  castTaken(cast: PendingCast): void;
  /** All ranks have answered a call. */
  callCompleted(): void;
  /** Returns whether the actors are still on the procs of the tree. */
  isCurrent(tree: ViewTree): boolean;
  /** Casts to an actor are impossible from now on. */
  exclude(base: number): void;
  /** All actors of the tree have ended. */
  treeDied(): void;
}

export class ViewTree implements TreeOwner {
  readonly tree: CastTree;
  readonly view: CastView;
  readonly #owner: ViewTreeOwner;
  /** The number of earlier sessions, to former processes of actors, whose messages have not been handled. */
  #formerSessions = 0;

  constructor(owner: ViewTreeOwner, view: CastView) {
    this.#owner = owner;
    this.view = view;
    const { mesh, host } = owner;
    const { bases, interface: known, extent } = view;
    const setup = { mesh: mesh.id, owner: mesh.owner, interface: known, extent, size: bases.length };
    const { procs, absent } = groupByProc(mesh, bases);
    this.tree = new CastTree(host.router, this, { sender: host.sender, setup, procs, absent });
  }

  /** Whether casts wait for messages that the sender has sent to former processes of the actors. */
  get isWaiting(): boolean {
    return this.#formerSessions > 0;
  }

  /** Makes casts wait for the messages that the sender has sent before. */
  waitForFormer(before: UnhandledMessages): void {
    this.#formerSessions++;
    before.afterHandling(() => {
      this.#formerSessions--;
      this.#owner.flush();
    });
  }

  ready(): void {
    this.#owner.flush();
  }

  taken(cast: PendingCast): void {
    this.#owner.castTaken(cast);
  }

  answers(cast: PendingCast, groups: readonly AnswerGroup[]): void {
    const { host } = this.#owner;
    cast.addAnswers(groups, (r) => host.readError(r));
    this.#checkComplete(cast);
  }

  failed(cast: PendingCast, rank: number, error: DeliveryError): void {
    if (meansTargetEnded(error)) this.#owner.host.targetEnded(this.view.bases[rank]!);
    cast.failed(rank, error);
    this.#checkComplete(cast);
  }

  bounced(label: string, error: DeliveryError): void {
    this.#owner.host.undeliverable(label, error);
  }

  compare(rank: number, other: PeerSchema): DeliveryError | undefined {
    return this.#owner.host.compare(this.view.bases[rank]!, this.view.interface, other);
  }

  excluded(rank: number): void {
    if (this.#owner.isCurrent(this)) this.#owner.exclude(this.view.bases[rank]!);
    // A tree that is being created is not dead yet.
    if (this.tree?.isDead) this.#owner.treeDied();
  }

  #checkComplete(cast: PendingCast): void {
    if (!cast.isCall || !cast.isComplete) return;
    this.#owner.host.keepAlive.release();
    this.tree.castAnswered(cast);
    this.#owner.callCompleted();
  }
}

/** Groups actors by their procs, in the order of the first rank of each proc. Actors that have left are absent. */
function groupByProc(
  mesh: CastMesh,
  meshRanks: readonly number[],
): { readonly procs: PlannedProc[]; readonly absent: Map<number, DeliveryError> } {
  const absent = new Map<number, DeliveryError>();
  const procs = new Map<
    ProcId,
    { proc: ProcId; location: Location; ranks: { viewRank: number; meshRank: number }[] }
  >();
  for (const [viewRank, meshRank] of meshRanks.entries()) {
    const { proc, location, departure } = mesh.target(meshRank);
    if (departure !== undefined) {
      absent.set(viewRank, departure);
      continue;
    }
    let known = procs.get(proc);
    if (known === undefined) {
      known = { proc, location, ranks: [] };
      procs.set(proc, known);
    }
    known.ranks.push({ viewRank, meshRank });
  }
  return { procs: [...procs.values()], absent };
}
