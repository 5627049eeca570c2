/**
 * All that a proc has to do with casts: its parts of trees, what it keeps for senders elsewhere, and what each frame of a
 * tree does. A frame that belongs to nothing any more is ignored: trees are replaced while frames are under way.
 */
import { type ActorId, formatId, type Location, type MeshId, type ProcId } from "../link/address.js";
import { DeliveryError, deliveryReasons } from "../link/errors.js";
import { readBody, readText, readU32, readU64 } from "../link/frame/control-body.js";
import { copyBytes, FrameKind, ProtocolError, SyncKind } from "../link/frame/frame.js";
import type { Lane } from "../link/inbound/lane.js";
import type { Link } from "../link/link.js";
import type { TreeFrame } from "../link/link-host.js";
import type { LinkLimits } from "../link/link-limits.js";
import type { RoutingTable } from "../link/routing-table.js";
import type { Reader } from "../wire/reader.js";
import { CastReceiver } from "./receiver/cast-receiver.js";
import { type CastOrigin, OrderedArrivals } from "./receiver/ordered-arrivals.js";
import type { CastSender } from "./sender/cast-sender.js";
import type { SenderRouter } from "./sender/sender-router.js";
import { type RankAnswer, readAnswers } from "./tree/answers.js";
import { type Branch, type BranchNode, FlushMode } from "./tree/branch.js";
import { readList, readRuns } from "./tree/rank-runs.js";
import { RemoteParent } from "./tree/remote-parent.js";
import { TreeNode } from "./tree/tree-node.js";
import type { AnswerFold } from "./tree/tree-node-types.js";
import { type CastInterface, readSetup, type TreeSetup } from "./tree/tree-setup.js";

/** The proc, as trees know it. */
export interface CastHost {
  readonly id: ProcId;
  readonly universe: bigint;
  readonly limits: LinkLimits;
  readonly routes: RoutingTable;
  readonly location: Location;
  answerOfError(error: Error): RankAnswer;
  foldFor(setup: TreeSetup, endpoint: number, reduction: string): AnswerFold | undefined;
}

/** A part of a tree whose root is elsewhere. */
interface TreePart {
  readonly node: TreeNode;
  readonly parent: RemoteParent;
}

/** Cancel reason of callers that are gone. */
const CALLER_GONE = 0;
/** Senders that have ended and are remembered, the last of them: their direct messages may come later than their casts. */
const MAX_ENDED_SENDERS = 4096;
/** More than any program has, and a bound for peers that make them up. */
const MAX_INTERFACES = 1024;

export class CastRouter implements SenderRouter {
  readonly id: ProcId;
  readonly limits: LinkLimits;
  readonly routes: RoutingTable;
  readonly #host: CastHost;
  /** By the link to the proc above, and the number that it has given. */
  readonly #parts = new Map<Link, Map<number, TreePart>>();
  /** By the number that this proc has given. */
  readonly #branches = new Map<number, Branch>();
  readonly #receivers = new Map<string, CastReceiver>();
  readonly #arrivals = new Map<string, OrderedArrivals>();
  readonly #endedSenders = new Set<string>();
  /** Trees whose root is here, and parts of others. */
  readonly #nodes = new Set<TreeNode>();
  /** Interfaces that were told of, so that each is the same object every time. */
  readonly #interfaces = new Map<string, CastInterface>();
  /** Senders that live here and cast, as long as they have trees. */
  readonly senders = new Set<CastSender>();
  #isClosed = false;
  #lastHandle = 0;
  #lastTree = 0;

  constructor(host: CastHost) {
    this.#host = host;
    this.id = host.id;
    this.limits = host.limits;
    this.routes = host.routes;
  }

  /** The number of a tree whose root is here. */
  nextTreeNumber(): number {
    return ++this.#lastTree;
  }

  get location(): Location {
    return this.#host.location;
  }

  /** The top of a tree, on this proc. */
  addRootNode(make: (end: CastReceiver) => TreeNode, sender: ActorId, mesh: MeshId): TreeNode {
    const node = make(this.#receiverFor(sender, mesh));
    this.#nodes.add(node);
    return node;
  }

  /** The root of a tree uses it no more. */
  removeRootNode(node: TreeNode, tell: number | undefined): void {
    this.#nodes.delete(node);
    node.drop(tell);
  }

  assignHandle(branch: Branch): number {
    this.#branches.set(++this.#lastHandle, branch);
    return this.#lastHandle;
  }

  forgetBranch(branch: Branch): void {
    this.#branches.delete(branch.handle);
  }

  arrivalsFor(
    sender: CastOrigin,
    target: { readonly mesh: MeshId; readonly owner: ProcId; readonly rank: number },
  ): OrderedArrivals {
    const key = `${senderKey(sender)} ${target.mesh}/${target.rank}`;
    let known = this.#arrivals.get(key);
    if (known === undefined) {
      known = new OrderedArrivals(sender, { ...target, proc: this.id }, (from, to) =>
        this.routes.linkTo(this.id, "", undefined).openSession(from, to, from),
      );
      this.#arrivals.set(key, known);
      if (this.#endedSenders.has(`${senderKey(sender)} ${target.mesh}`)) known.senderEnded(() => {});
    }
    return known;
  }

  answerOfError(error: Error): RankAnswer {
    return this.#host.answerOfError(error);
  }

  foldFor(setup: TreeSetup, endpoint: number, reduction: string): AnswerFold | undefined {
    return this.#host.foldFor(setup, endpoint, reduction);
  }

  /** A `sync` frame has come. */
  laneSynced(lane: Lane, sync: number, casts: number): void {
    const { sender, target } = lane;
    if (target.kind !== "actor") throw new ProtocolError("cannot read sync: its lane leads to a port");
    if (sync === SyncKind.passed) {
      // A lane from here to here: its sender is at hand, also when it has been forgotten.
      const asked = lane.link.peer === this.id ? lane.link.sessions[lane.id]?.sender : undefined;
      if (!(asked instanceof OrderedArrivals))
        throw new ProtocolError("cannot read sync: its lane does not carry casts");
      asked.syncReceived(lane, sync, casts);
      return;
    }
    const { number: mesh, owner, rank } = target;
    this.arrivalsFor(sender, { mesh, owner, rank }).syncReceived(lane, sync, casts);
  }

  /** The sender, which lives here, has ended or will not cast to the mesh any more. */
  senderEnded(sender: ActorId, mesh: MeshId): void {
    this.#forgetReceiver(`${senderKey(sender)} ${mesh}`);
  }

  /** No actor of the mesh is left for the sender, which lives here, to cast to: others may take their places. */
  receiversEnded(sender: ActorId, mesh: MeshId): void {
    this.#receivers.delete(`${senderKey(sender)} ${mesh}`);
  }

  /** Nothing will be cast to a mesh any more. */
  meshStopped(mesh: MeshId): void {
    for (const caster of this.#sendersTo(mesh)) caster.meshStopped();
  }

  /** Resolves when everything that was cast to a mesh from here has been taken, or its receivers are no more. */
  async whenTaken(mesh: MeshId): Promise<void> {
    await Promise.all(this.#sendersTo(mesh).map((caster) => caster.whenTaken()));
  }

  /** Resolves when, besides, all calls that were cast to it from here have been answered. */
  async whenAnswered(mesh: MeshId): Promise<void> {
    await Promise.all(this.#sendersTo(mesh).map((caster) => caster.whenAnswered()));
  }

  /** The proc closes its links. */
  close(error: DeliveryError): void {
    this.#isClosed = true;
    for (const caster of this.senders) caster.failCalls(error);
  }

  handleFrame(link: Link, { kind, flags, slot, a, b }: TreeFrame, r: Reader): void {
    const part = kind === FrameKind.tree ? undefined : this.#parts.get(link)?.get(a);
    const branch = this.#branches.get(a);
    const above = branch?.link === link && !(kind === FrameKind.treeLost && b === 1) ? branch : undefined;
    switch (kind) {
      case FrameKind.tree:
        this.#addPart(link, a, r);
        break;
      case FrameKind.cast: {
        const body = Buffer.from(copyBytes(r.bytes, r.position, r.end).buffer);
        part?.node.cast({ seq: b, endpoint: slot, flags, body, blocks: r.blocks ?? [] });
        break;
      }
      case FrameKind.castCancel:
        part?.node.cancel(b, slot);
        break;
      case FrameKind.castRelease:
        part?.node.release(
          b,
          readBody(r, "castRelease", () => readU32(r)),
        );
        break;
      case FrameKind.treeFlush:
        if (part !== undefined) this.#handleFlush(link, a, part, b);
        break;
      case FrameKind.treeLost:
        this.#handleTreeLost(above?.node ?? (b === 1 ? this.#rootNodeOf(a) : undefined), r);
        break;
      default:
        if (above !== undefined) this.#handleFrameFromBelow(kind, above, b, r);
        break;
    }
  }

  /** A proc is taken for dead: it answers no cast from here any more, by whatever way it would come. */
  peerDown(peer: ProcId, why: DeliveryError): void {
    for (const node of [...this.#nodes]) if (node.setup.root === this.id) node.peerDown(peer, why);
  }

  /** A link has ended. */
  linkEnded(link: Link, error: DeliveryError): void {
    if (this.#isClosed) return;
    for (const node of [...this.#nodes]) node.linkEnded(link, error);
    const parts = this.#parts.get(link);
    this.#parts.delete(link);
    for (const { node } of parts?.values() ?? []) this.#reportOrphaned(node, link.peer, error.message);
    const { peer } = link;
    if (peer === undefined || this.routes.existingLink(peer) !== undefined) return;
    // The roots that lived there are no more, or cannot be heard any more.
    for (const node of [...this.#nodes]) if (node.setup.root === peer) this.#dropLostRoot(node);
    for (const [key, arrivals] of [...this.#arrivals]) {
      if (arrivals.id.proc === peer) this.#endArrivals(key, arrivals);
    }
  }

  #sendersTo(mesh: MeshId): CastSender[] {
    return [...this.senders].filter((caster) => caster.mesh.id === mesh);
  }

  #handleFrameFromBelow(kind: number, branch: Branch, b: number, r: Reader): void {
    const { node } = branch;
    switch (kind) {
      case FrameKind.treeReady: {
        const others = readBody(r, "treeReady", () =>
          readList(r, 16, () => ({
            schema: { fingerprint: readU64(r), description: readText(r) },
            ranks: readRuns(r),
          })),
        );
        node.ready(branch, others);
        break;
      }
      case FrameKind.answers: {
        const blocks = r.blocks ?? [];
        node.answers(
          branch,
          b,
          readBody(r, "answers", () => readAnswers(r, blocks)),
        );
        break;
      }
      case FrameKind.taken:
        node.taken(branch, b);
        break;
      default: {
        const [label, why] = readBody(r, "castBounce", () => [readText(r), readText(r)] as const);
        node.bounced(label, new DeliveryError(deliveryReasons[b] ?? "unknown", why));
        break;
      }
    }
  }

  #addPart(link: Link, handle: number, r: Reader): void {
    const read = readBody(r, "tree", () => readSetup(r, this.#host.universe, this.id));
    const setup = { ...read, interface: this.#sharedInterface(read.interface) };
    const { sender, mesh } = setup;
    const end = this.#receiverFor(sender, mesh);
    if (!end.isNewest(setup.lineage, setup.tree)) return;
    this.#dropReplacedParts(setup, end);
    const parent = new RemoteParent(this, link, handle);
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
  #dropReplacedParts({ root, tree, lineage, unfinished }: TreeSetup, end: CastReceiver): void {
    if (lineage === tree) return;
    for (const [link, parts] of this.#parts) {
      for (const [handle, { node }] of parts) {
        if (node.setup.root !== root || node.lineage !== lineage) continue;
        parts.delete(handle);
        if (parts.size === 0) this.#parts.delete(link);
        this.#nodes.delete(node);
        node.drop(undefined);
      }
    }
    end.keepUnfinished(lineage, unfinished);
  }

  #dropPart(link: Link, handle: number, { node }: TreePart, flush: number): void {
    const parts = this.#parts.get(link);
    parts?.delete(handle);
    if (parts?.size === 0) this.#parts.delete(link);
    this.#nodes.delete(node);
    node.drop(flush);
    this.#receiverFor(node.setup.sender, node.setup.mesh).forgetLineage(node.lineage);
    if (flush === FlushMode.end) this.#forgetReceiver(`${senderKey(node.setup.sender)} ${node.setup.mesh}`);
  }

  #handleFlush(link: Link, handle: number, part: TreePart, flush: number): void {
    const { node } = part;
    if (flush === FlushMode.tell) node.flush();
    else if (flush === FlushMode.orphan) {
      this.#parts.get(link)?.delete(handle);
      this.#reportOrphaned(node, link.peer, "it cannot hear the root any more");
    } else this.#dropPart(link, handle, part, flush === FlushMode.end ? FlushMode.end : FlushMode.drop);
  }

  /** The top of a tree whose root is here. */
  #rootNodeOf(tree: number): TreeNode | undefined {
    return [...this.#nodes].find(({ setup }) => setup.root === this.id && setup.tree === tree);
  }

  #handleTreeLost(node: BranchNode | undefined, r: Reader): void {
    const [proc, why] = readBody(r, "treeLost", () => [readU64(r), readText(r)] as const);
    node?.lost(proc, new DeliveryError("unknown", why));
  }

  /**
   * The proc above is no more. The root is told, in case nobody else does; and if it is no more either, this is how it is
   * found out.
   */
  #reportOrphaned(node: TreeNode, above: ProcId | undefined, reason: string): void {
    const { root, location, owner, tree } = node.setup;
    if (root === above || above === undefined) return;
    try {
      const link = this.routes.linkTo(root, location, owner);
      new RemoteParent(this, link, tree).lost(above, new DeliveryError("unknown", reason), true);
    } catch (why) {
      if (!(why instanceof DeliveryError)) throw why;
      this.#dropLostRoot(node);
    }
  }

  #dropLostRoot(node: TreeNode): void {
    if (node.setup.root === this.id) return;
    for (const parts of this.#parts.values()) {
      for (const [handle, part] of parts) if (part.node === node) parts.delete(handle);
    }
    this.#nodes.delete(node);
    node.drop(FlushMode.orphan);
    this.#forgetReceiver(`${senderKey(node.setup.sender)} ${node.setup.mesh}`);
  }

  #sharedInterface(told: CastInterface): CastInterface {
    const key = JSON.stringify([told.key, String(told.fingerprint), told.name, told.endpoints]);
    const known = this.#interfaces.get(key) ?? told;
    if (this.#interfaces.size >= MAX_INTERFACES) this.#interfaces.clear();
    this.#interfaces.set(key, known);
    return known;
  }

  #receiverFor(sender: ActorId, mesh: MeshId): CastReceiver {
    const key = `${senderKey(sender)} ${mesh}`;
    let end = this.#receivers.get(key);
    if (end === undefined) {
      end = new CastReceiver();
      this.#receivers.set(key, end);
    }
    return end;
  }

  /** It is forgotten when what has come has passed: what else comes of its sender stays behind that. */
  #endArrivals(key: string, arrivals: OrderedArrivals): void {
    arrivals.senderEnded(() => {
      if (this.#arrivals.get(key) === arrivals) this.#arrivals.delete(key);
    });
  }

  #forgetReceiver(key: string): void {
    const end = this.#receivers.get(key);
    this.#receivers.delete(key);
    end?.cancelAll(CALLER_GONE);
    for (const [name, arrivals] of [...this.#arrivals])
      if (name.startsWith(`${key}/`)) this.#endArrivals(name, arrivals);
    this.#endedSenders.add(key);
    if (this.#endedSenders.size > MAX_ENDED_SENDERS)
      this.#endedSenders.delete(this.#endedSenders.values().next().value!);
  }
}

/** One life of an actor. */
function senderKey({ proc, mesh, rank, incarnation }: ActorId): string {
  return `${formatId(proc)}/${mesh}/${rank}/${incarnation}`;
}
