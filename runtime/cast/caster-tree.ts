/** One tree of a caster, set up for one handle: what comes up it is told to those who wait. */
import type { Location, ProcId } from "../link/address.js";
import type { OtherSchema } from "../link/binding.js";
import { type DeliveryError, meansEnded } from "../link/errors.js";
import type { Leaving } from "../link/leaving.js";
import type { AnswerGroup } from "./answers.js";
import type { CasterHost, CastMesh, CastView } from "./cast-mesh.js";
import type { PendingCast } from "./pending-cast.js";
import type { PlannedProc } from "./setup.js";
import { Tree, type TreeOwner } from "./tree.js";

/** Whose tree it is. */
export interface TreeCaster {
  readonly mesh: CastMesh;
  readonly host: CasterHost;
  flush(): void;
  /** A cast has been taken. */
  release(cast: PendingCast): void;
  /** A call has been answered by all. */
  completed(): void;
  /** Whether the actors still live where the tree finds them. */
  isCurrent(tree: CasterTree): boolean;
  /** An actor cannot be cast to any more. */
  exclude(base: number): void;
  /** All that a tree led to is no more. */
  treeDied(): void;
}

export class CasterTree implements TreeOwner {
  readonly tree: Tree;
  readonly view: CastView;
  readonly #caster: TreeCaster;
  /** The number of earlier sessions, to former processes of actors, whose messages have not been handled. */
  #behind = 0;

  constructor(caster: TreeCaster, view: CastView) {
    this.#caster = caster;
    this.view = view;
    const { mesh, host } = caster;
    const { bases, interface: known, extent } = view;
    const setup = { mesh: mesh.id, owner: mesh.owner, interface: known, extent, size: bases.length };
    this.tree = new Tree(host.casts, this, { sender: host.sender, setup, procs: procsOf(mesh, bases) });
  }

  /** Whether it is used only when what was sent before has been handled where actors of it lived before. */
  get waits(): boolean {
    return this.#behind > 0;
  }

  /** Makes casts wait for the messages that the sender has sent before. */
  waitFor(before: Leaving): void {
    this.#behind++;
    before.afterHandling(() => {
      this.#behind--;
      this.#caster.flush();
    });
  }

  ready(): void {
    this.#caster.flush();
  }

  taken(cast: PendingCast): void {
    this.#caster.release(cast);
  }

  answers(cast: PendingCast, groups: readonly AnswerGroup[]): void {
    const { host } = this.#caster;
    cast.answers(groups, (r) => host.readError(r));
    this.#checkComplete(cast);
  }

  failed(cast: PendingCast, rank: number, error: DeliveryError): void {
    if (meansEnded(error)) this.#caster.host.targetEnded(this.view.bases[rank]!);
    cast.failed(rank, error);
    this.#checkComplete(cast);
  }

  bounced(label: string, error: DeliveryError): void {
    this.#caster.host.undeliverable(label, error);
  }

  compare(rank: number, other: OtherSchema): DeliveryError | undefined {
    return this.#caster.host.compare(this.view.bases[rank]!, this.view.interface, other);
  }

  excluded(rank: number): void {
    if (this.#caster.isCurrent(this)) this.#caster.exclude(this.view.bases[rank]!);
    // While it is being made it is not there yet, and not dead either.
    if (this.tree?.isDead) this.#caster.treeDied();
  }

  #checkComplete(cast: PendingCast): void {
    if (!cast.isCall || !cast.complete) return;
    this.#caster.host.keepAlive.release();
    this.tree.finished(cast);
    this.#caster.completed();
  }
}

/** The procs of some actors, in the order of their first ranks. */
function procsOf(mesh: CastMesh, bases: readonly number[]): PlannedProc[] {
  const procs = new Map<ProcId, { proc: ProcId; location: Location; ranks: { view: number; base: number }[] }>();
  for (const [view, base] of bases.entries()) {
    const { proc, location } = mesh.target(base);
    let known = procs.get(proc);
    if (known === undefined) {
      known = { proc, location, ranks: [] };
      procs.set(proc, known);
    }
    known.ranks.push({ view, base });
  }
  return [...procs.values()];
}
