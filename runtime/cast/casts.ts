/**
 * All that a proc has to do with casts: its parts of trees, what it keeps for senders elsewhere, and what each frame of a
 * tree does. A frame that belongs to nothing any more is ignored: trees are replaced while frames are under way.
 */
import { type ActorId, hex64, type Location, type MeshId, type ProcId } from "../link/address.js";
import { readBody, readText, readU32, readU64 } from "../link/control.js";
import { DeliveryError, deliveryReasons } from "../link/errors.js";
import { copyBytes, Kind, ProtocolError, Sync } from "../link/frame.js";
import type { TreeFrame } from "../link/host.js";
import type { Lane } from "../link/lane.js";
import type { Limits } from "../link/limits.js";
import type { Link } from "../link/link.js";
import type { Routes } from "../link/route.js";
import type { Reader } from "../wire/reader.js";
import { type Answer, readAnswers } from "./answers.js";
import { Arrivals, type CastSender } from "./arrivals.js";
import { type Branch, Flush } from "./branch.js";
import type { Caster } from "./caster.js";
import { CasterEnd } from "./caster-end.js";
import { type Fold, type TreeHost, TreeNode } from "./node.js";
import { Parent } from "./parent.js";
import { readMany, readRuns } from "./runs.js";
import { type CastInterface, readSetup, type Setup } from "./setup.js";

/** The proc, as trees know it. */
export interface CastHost {
  readonly id: ProcId;
  readonly universe: bigint;
  readonly limits: Limits;
  readonly routes: Routes;
  readonly location: Location;
  answerOfError(error: Error): Answer;
  folding(setup: Setup, endpoint: number, reduction: string): Fold | undefined;
}

/** A part of a tree whose root is elsewhere. */
interface Part {
  readonly node: TreeNode;
  readonly parent: Parent;
}

/** Cancel reason of callers that are gone. */
const CALLER_GONE = 0;
/** Senders that have ended and are remembered, the last of them: their direct messages may come later than their casts. */
const REMEMBERED = 4096;
/** More than any program has, and a bound for peers that make them up. */
const MOST_INTERFACES = 1024;

export class Casts implements TreeHost {
  readonly id: ProcId;
  readonly limits: Limits;
  readonly routes: Routes;
  readonly #host: CastHost;
  /** By the link to the proc above, and the number that it has given. */
  readonly #parts = new Map<Link, Map<number, Part>>();
  /** By the number that this proc has given. */
  readonly #branches = new Map<number, Branch>();
  readonly #ends = new Map<string, CasterEnd>();
  readonly #arrivals = new Map<string, Arrivals>();
  readonly #over = new Set<string>();
  /** Trees whose root is here, and parts of others. */
  readonly #nodes = new Set<TreeNode>();
  /** Interfaces that were told of, so that each is the same object every time. */
  readonly #interfaces = new Map<string, CastInterface>();
  /** Senders that live here and cast, as long as they have trees. */
  readonly casters = new Set<Caster>();
  #closed = false;
  #lastHandle = 0;
  #lastTree = 0;

  constructor(host: CastHost) {
    this.#host = host;
    this.id = host.id;
    this.limits = host.limits;
    this.routes = host.routes;
  }

  /** The number of a tree whose root is here. */
  nextTree(): number {
    return ++this.#lastTree;
  }

  get location(): Location {
    return this.#host.location;
  }

  /** The top of a tree, on this proc. */
  plant(make: (end: CasterEnd) => TreeNode, sender: ActorId, mesh: MeshId): TreeNode {
    const node = make(this.#end(sender, mesh));
    this.#nodes.add(node);
    return node;
  }

  /** The root of a tree uses it no more. */
  uproot(node: TreeNode, tell: number | undefined): void {
    this.#nodes.delete(node);
    node.drop(tell);
  }

  handleFor(branch: Branch): number {
    this.#branches.set(++this.#lastHandle, branch);
    return this.#lastHandle;
  }

  forgetBranch(branch: Branch): void {
    this.#branches.delete(branch.handle);
  }

  arrivals(
    sender: CastSender,
    target: { readonly mesh: MeshId; readonly owner: ProcId; readonly rank: number },
  ): Arrivals {
    const key = `${nameOf(sender)} ${target.mesh}/${target.rank}`;
    let known = this.#arrivals.get(key);
    if (known === undefined) {
      known = new Arrivals(sender, { ...target, proc: this.id }, (from, to) =>
        this.routes.to(this.id, "", undefined).openSession(from, to, from),
      );
      this.#arrivals.set(key, known);
      if (this.#over.has(`${nameOf(sender)} ${target.mesh}`)) known.end(() => {});
    }
    return known;
  }

  answerOfError(error: Error): Answer {
    return this.#host.answerOfError(error);
  }

  folding(setup: Setup, endpoint: number, reduction: string): Fold | undefined {
    return this.#host.folding(setup, endpoint, reduction);
  }

  /** A `sync` frame has come. */
  laneSynced(lane: Lane, sync: number, casts: number): void {
    const { sender, target } = lane;
    if (target.kind !== "actor") throw new ProtocolError("cannot read sync: its lane leads to a port");
    if (sync === Sync.passed) {
      // A lane from here to here: its sender is at hand, also when it has been forgotten.
      const asked = lane.link.peer === this.id ? lane.link.sessions[lane.id]?.sender : undefined;
      if (!(asked instanceof Arrivals)) throw new ProtocolError("cannot read sync: its lane does not carry casts");
      asked.synced(lane, sync, casts);
      return;
    }
    const { number: mesh, owner, rank } = target;
    this.arrivals(sender, { mesh, owner, rank }).synced(lane, sync, casts);
  }

  /** The sender, which lives here, has ended or will not cast to the mesh any more. */
  senderEnded(sender: ActorId, mesh: MeshId): void {
    this.#forgetEnd(`${nameOf(sender)} ${mesh}`);
  }

  /** No actor of the mesh is left for the sender, which lives here, to cast to: others may take their places. */
  receiversEnded(sender: ActorId, mesh: MeshId): void {
    this.#ends.delete(`${nameOf(sender)} ${mesh}`);
  }

  /** Nothing will be cast to a mesh any more. */
  meshStopped(mesh: MeshId): void {
    for (const caster of this.#castersTo(mesh)) caster.meshStopped();
  }

  /** Resolves when everything that was cast to a mesh from here has been taken, or its receivers are no more. */
  async taken(mesh: MeshId): Promise<void> {
    await Promise.all(this.#castersTo(mesh).map((caster) => caster.taken()));
  }

  /** Resolves when, besides, all calls that were cast to it from here have been answered. */
  async answered(mesh: MeshId): Promise<void> {
    await Promise.all(this.#castersTo(mesh).map((caster) => caster.answered()));
  }

  /** The proc closes its links. */
  close(error: DeliveryError): void {
    this.#closed = true;
    for (const caster of this.casters) caster.fail(error);
  }

  frame(link: Link, { kind, flags, slot, a, b }: TreeFrame, r: Reader): void {
    const part = kind === Kind.tree ? undefined : this.#parts.get(link)?.get(a);
    const branch = this.#branches.get(a);
    const above = branch?.link === link && !(kind === Kind.treeLost && b === 1) ? branch : undefined;
    switch (kind) {
      case Kind.tree:
        this.#plantPart(link, a, r);
        break;
      case Kind.cast: {
        const body = Buffer.from(copyBytes(r.bytes, r.position, r.end).buffer);
        part?.node.cast({ seq: b, endpoint: slot, flags, body, blocks: r.blocks ?? [] });
        break;
      }
      case Kind.castCancel:
        part?.node.cancel(b, slot);
        break;
      case Kind.castRelease:
        part?.node.release(
          b,
          readBody(r, "castRelease", () => readU32(r)),
        );
        break;
      case Kind.treeFlush:
        if (part !== undefined) this.#flush(link, a, part, b);
        break;
      case Kind.treeLost:
        this.#lost(above?.node ?? (b === 1 ? this.#planted(a) : undefined), r);
        break;
      default:
        if (above !== undefined) this.#fromBelow(kind, above, b, r);
        break;
    }
  }

  /** A proc is taken for dead: it answers no cast from here any more, by whatever way it would come. */
  peerDown(peer: ProcId, why: DeliveryError): void {
    for (const node of [...this.#nodes]) if (node.setup.root === this.id) node.peerDown(peer, why);
  }

  /** A link has ended. */
  linkEnded(link: Link, error: DeliveryError): void {
    if (this.#closed) return;
    for (const node of [...this.#nodes]) node.linkEnded(link, error);
    const parts = this.#parts.get(link);
    this.#parts.delete(link);
    for (const { node } of parts?.values() ?? []) this.#orphaned(node, link.peer, error.message);
    const { peer } = link;
    if (peer === undefined || this.routes.existing(peer) !== undefined) return;
    // The roots that lived there are no more, or cannot be heard any more.
    for (const node of [...this.#nodes]) if (node.setup.root === peer) this.#rootLost(node);
    for (const [key, arrivals] of [...this.#arrivals]) {
      if (arrivals.id.proc === peer) this.#endArrivals(key, arrivals);
    }
  }

  #castersTo(mesh: MeshId): Caster[] {
    return [...this.casters].filter((caster) => caster.mesh.id === mesh);
  }

  #fromBelow(kind: number, branch: Branch, b: number, r: Reader): void {
    const { node } = branch;
    switch (kind) {
      case Kind.treeReady: {
        const others = readBody(r, "treeReady", () =>
          readMany(r, 16, () => ({
            schema: { fingerprint: readU64(r), description: readText(r) },
            ranks: readRuns(r),
          })),
        );
        node.ready(branch, others);
        break;
      }
      case Kind.answers: {
        const blocks = r.blocks ?? [];
        node.answers(
          branch,
          b,
          readBody(r, "answers", () => readAnswers(r, blocks)),
        );
        break;
      }
      case Kind.taken:
        node.taken(branch, b);
        break;
      default: {
        const [label, why] = readBody(r, "castBounce", () => [readText(r), readText(r)] as const);
        node.bounced(label, new DeliveryError(deliveryReasons[b] ?? "unknown", why));
        break;
      }
    }
  }

  #plantPart(link: Link, handle: number, r: Reader): void {
    const read = readBody(r, "tree", () => readSetup(r, this.#host.universe, this.id));
    const setup = { ...read, interface: this.#interfaceOf(read.interface) };
    const { sender, mesh } = setup;
    const end = this.#end(sender, mesh);
    if (!end.isNewest(setup.line, setup.tree)) return;
    this.#replace(setup, end);
    const parent = new Parent(this, link, handle);
    const node = new TreeNode(this, end, setup, parent);
    let parts = this.#parts.get(link);
    if (parts === undefined) {
      parts = new Map();
      this.#parts.set(link, parts);
    }
    parts.set(handle, { node, parent });
    this.#nodes.add(node);
    node.start();
  }

  /** The tree whose place this one takes is over, and so is what nobody waits for any more. */
  #replace({ root, tree, line, unfinished }: Setup, end: CasterEnd): void {
    if (line === tree) return;
    for (const [link, parts] of this.#parts) {
      for (const [handle, { node }] of parts) {
        if (node.setup.root !== root || node.line !== line) continue;
        parts.delete(handle);
        if (parts.size === 0) this.#parts.delete(link);
        this.#nodes.delete(node);
        node.drop(undefined);
      }
    }
    end.keepOnly(line, unfinished);
  }

  #dropPart(link: Link, handle: number, { node }: Part, flush: number): void {
    const parts = this.#parts.get(link);
    parts?.delete(handle);
    if (parts?.size === 0) this.#parts.delete(link);
    this.#nodes.delete(node);
    node.drop(flush);
    this.#end(node.setup.sender, node.setup.mesh).forgetLine(node.line);
    if (flush === Flush.end) this.#forgetEnd(`${nameOf(node.setup.sender)} ${node.setup.mesh}`);
  }

  #flush(link: Link, handle: number, part: Part, flush: number): void {
    const { node } = part;
    if (flush === Flush.tell) node.flush();
    else if (flush === Flush.orphan) {
      this.#parts.get(link)?.delete(handle);
      this.#orphaned(node, link.peer, "it cannot hear the root any more");
    } else this.#dropPart(link, handle, part, flush === Flush.end ? Flush.end : Flush.drop);
  }

  /** The top of a tree whose root is here. */
  #planted(tree: number): TreeNode | undefined {
    return [...this.#nodes].find(({ setup }) => setup.root === this.id && setup.tree === tree);
  }

  #lost(node: TreeNode | undefined, r: Reader): void {
    const [proc, why] = readBody(r, "treeLost", () => [readU64(r), readText(r)] as const);
    node?.lost(proc, new DeliveryError("unknown", why));
  }

  /**
   * The proc above is no more. The root is told, in case nobody else does; and if it is no more either, this is how it is
   * found out.
   */
  #orphaned(node: TreeNode, above: ProcId | undefined, reason: string): void {
    const { root, location, owner, tree } = node.setup;
    if (root === above || above === undefined) return;
    try {
      const link = this.routes.to(root, location, owner);
      new Parent(this, link, tree).lost(above, new DeliveryError("unknown", reason), true);
    } catch (why) {
      if (!(why instanceof DeliveryError)) throw why;
      this.#rootLost(node);
    }
  }

  #rootLost(node: TreeNode): void {
    if (node.setup.root === this.id) return;
    for (const parts of this.#parts.values()) {
      for (const [handle, part] of parts) if (part.node === node) parts.delete(handle);
    }
    this.#nodes.delete(node);
    node.drop(Flush.orphan);
    this.#forgetEnd(`${nameOf(node.setup.sender)} ${node.setup.mesh}`);
  }

  #interfaceOf(told: CastInterface): CastInterface {
    const key = JSON.stringify([told.key, String(told.fingerprint), told.name, told.endpoints]);
    const known = this.#interfaces.get(key) ?? told;
    if (this.#interfaces.size >= MOST_INTERFACES) this.#interfaces.clear();
    this.#interfaces.set(key, known);
    return known;
  }

  #end(sender: ActorId, mesh: MeshId): CasterEnd {
    const key = `${nameOf(sender)} ${mesh}`;
    let end = this.#ends.get(key);
    if (end === undefined) {
      end = new CasterEnd();
      this.#ends.set(key, end);
    }
    return end;
  }

  /** It is forgotten when what has come has passed: what else comes of its sender stays behind that. */
  #endArrivals(key: string, arrivals: Arrivals): void {
    arrivals.end(() => {
      if (this.#arrivals.get(key) === arrivals) this.#arrivals.delete(key);
    });
  }

  #forgetEnd(key: string): void {
    const end = this.#ends.get(key);
    this.#ends.delete(key);
    end?.end(CALLER_GONE);
    for (const [name, arrivals] of [...this.#arrivals])
      if (name.startsWith(`${key}/`)) this.#endArrivals(name, arrivals);
    this.#over.add(key);
    if (this.#over.size > REMEMBERED) this.#over.delete(this.#over.values().next().value!);
  }
}

/** One life of an actor. */
function nameOf({ proc, mesh, rank, incarnation }: ActorId): string {
  return `${hex64(proc)}/${mesh}/${rank}/${incarnation}`;
}
