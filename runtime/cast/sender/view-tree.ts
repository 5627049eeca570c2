/** One tree of a caster, set up for one handle: what comes up it is told to those who wait. */
import type { Location, ProcId } from "../../link/address.js";
import { type DeliveryError, meansTargetEnded } from "../../link/errors.js";
import type { PeerSchema } from "../../link/frame/binding.js";
import type { UnhandledMessages } from "../../link/outbound/unhandled-messages.js";
import type { AnswerGroup } from "../tree/answers.js";
import type { PlannedProc } from "../tree/tree-setup.js";
import { CastTree, type TreeOwner } from "./cast-tree.js";
import type { CastMesh, CastSenderHost, CastView } from "./cast-view.js";
import type { PendingCast } from "./pending-cast.js";

/** Whose tree it is. */
export interface ViewTreeOwner {
  readonly mesh: CastMesh;
  readonly host: CastSenderHost;
  flush(): void;
  /** A cast has been taken. */
  castTaken(cast: PendingCast): void;
  /** A call has been answered by all. */
  callCompleted(): void;
  /** Whether the actors still live where the tree finds them. */
  isCurrent(tree: ViewTree): boolean;
  /** An actor cannot be cast to any more. */
  exclude(base: number): void;
  /** All that a tree led to is no more. */
  treeDied(): void;
}

export class ViewTree implements TreeOwner {
  readonly tree: CastTree;
  readonly view: CastView;
  readonly #owner: ViewTreeOwner;
  /** The number of earlier sessions, to former processes of actors, whose messages have not been handled. */
  #formerSessions = 0;

  constructor(caster: ViewTreeOwner, view: CastView) {
    this.#owner = caster;
    this.view = view;
    const { mesh, host } = caster;
    const { bases, interface: known, extent } = view;
    const setup = { mesh: mesh.id, owner: mesh.owner, interface: known, extent, size: bases.length };
    this.tree = new CastTree(host.router, this, { sender: host.sender, setup, procs: groupByProc(mesh, bases) });
  }

  /** Whether it is used only when what was sent before has been handled where actors of it lived before. */
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
    // While it is being made it is not there yet, and not dead either.
    if (this.tree?.isDead) this.#owner.treeDied();
  }

  #checkComplete(cast: PendingCast): void {
    if (!cast.isCall || !cast.isComplete) return;
    this.#owner.host.keepAlive.release();
    this.tree.castAnswered(cast);
    this.#owner.callCompleted();
  }
}

/** The procs of some actors, in the order of their first ranks. */
function groupByProc(mesh: CastMesh, meshRanks: readonly number[]): PlannedProc[] {
  const procs = new Map<
    ProcId,
    { proc: ProcId; location: Location; ranks: { viewRank: number; meshRank: number }[] }
  >();
  for (const [viewRank, meshRank] of meshRanks.entries()) {
    const { proc, location } = mesh.target(meshRank);
    let known = procs.get(proc);
    if (known === undefined) {
      known = { proc, location, ranks: [] };
      procs.set(proc, known);
    }
    known.ranks.push({ viewRank, meshRank });
  }
  return [...procs.values()];
}
