/**
 * The router of casts of one proc. It holds the proc's parts of broadcast trees and the data for senders on other
 * procs, and it handles the frames of trees. A frame for a part that no longer exists is ignored, because trees are
 * replaced while frames are in transit.
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

/** The proc, as the router of casts uses it. */
export interface CastHost {
  readonly id: ProcId;
  readonly universe: bigint;
  readonly limits: LinkLimits;
  readonly routes: RoutingTable;
  readonly location: Location;
  answerOfError(error: Error): RankAnswer;
  foldFor(setup: TreeSetup, endpoint: number, reduction: string): AnswerFold | undefined;
}

/** A part of a tree whose root is on another proc. */
interface TreePart {
  readonly node: TreeNode;
  readonly parent: RemoteParent;
}

/** The cancel reason for a caller that has ended. */
const CALLER_GONE = 0;
/** The number of ended senders that are remembered, because their direct messages may come later than their casts. */
const MAX_ENDED_SENDERS = 4096;
/** The number of interfaces that are remembered. Programs have fewer; the limit bounds what a hostile peer can store. */
const MAX_INTERFACES = 1024;

export class CastRouter implements SenderRouter {
  readonly id: ProcId;
  readonly limits: LinkLimits;
  readonly routes: RoutingTable;
  readonly #host: CastHost;
  /** The parts of trees on this proc, by the link to the proc above and the number that the proc above has assigned. */
  readonly #parts = new Map<Link, Map<number, TreePart>>();
  /** The branches of the trees on this proc, by the numbers that this proc has assigned. */
  readonly #branches = new Map<number, Branch>();
  readonly #receivers = new Map<string, CastReceiver>();
  readonly #arrivals = new Map<string, OrderedArrivals>();
  readonly #endedSenders = new Set<string>();
  /** The nodes of trees on this proc, roots included. */
  readonly #nodes = new Set<TreeNode>();
  /** The interfaces that peers have described, so that each is the same object every time. */
  readonly #interfaces = new Map<string, CastInterface>();
  /** The senders on this proc, as long as they have trees. */
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

  /** Returns the number of a new tree whose root is here. */
  nextTreeNumber(): number {
    return ++this.#lastTree;
  }

  get location(): Location {
    return this.#host.location;
  }

  /** Creates the root node of a tree. */
  addRootNode(make: (receiver: CastReceiver) => TreeNode, sender: ActorId, mesh: MeshId): TreeNode {
    const node = make(this.#receiverFor(sender, mesh));
    this.#nodes.add(node);
    return node;
  }

  /** Drops the root node of a tree. */
  removeRootNode(node: TreeNode, flush: number | undefined): void {
    this.#nodes.delete(node);
    node.drop(flush);
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
      // The lane leads from this proc to itself, so the sender is on this proc, even if the router has forgotten it.
      const asked = lane.link.peer === this.id ? lane.link.sessions[lane.id]?.sender : undefined;
      if (!(asked instanceof OrderedArrivals))
        throw new ProtocolError("cannot read sync: its lane does not carry casts");
      asked.syncReceived(lane, sync, casts);
      return;
    }
    const { number: mesh, owner, rank } = target;
    this.arrivalsFor(sender, { mesh, owner, rank }).syncReceived(lane, sync, casts);
  }

  /** A sender on this proc has ended, or will not cast to the mesh any more. */
  senderEnded(sender: ActorId, mesh: MeshId): void {
    this.#forgetReceiver(`${senderKey(sender)} ${mesh}`);
  }

  /** A sender on this proc has no actor of the mesh left to cast to. Other actors may take their places. */
  receiversEnded(sender: ActorId, mesh: MeshId): void {
    this.#receivers.delete(`${senderKey(sender)} ${mesh}`);
  }

  /** The mesh is stopped, and nothing more is cast to it. */
  meshStopped(mesh: MeshId): void {
    for (const sender of this.#sendersTo(mesh)) sender.meshStopped();
  }

  /** Resolves when all casts of this proc to a mesh have been received, or their receivers have ended. */
  async whenTaken(mesh: MeshId): Promise<void> {
    await Promise.all(this.#sendersTo(mesh).map((sender) => sender.whenTaken()));
  }

  /** Resolves when all casts of this proc to a mesh have been received, and all calls among them have been answered. */
  async whenAnswered(mesh: MeshId): Promise<void> {
    await Promise.all(this.#sendersTo(mesh).map((sender) => sender.whenAnswered()));
  }

  /** The proc closes its links. */
  close(error: DeliveryError): void {
    this.#isClosed = true;
    for (const sender of this.senders) sender.failCalls(error);
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

  /** A proc is considered dead: it will not answer any cast of this proc, whichever way the answer would take. */
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
    // The roots on the peer have ended, or cannot be reached any more.
    for (const node of [...this.#nodes]) if (node.setup.root === peer) this.#dropLostRoot(node);
    for (const [key, arrivals] of [...this.#arrivals]) {
      if (arrivals.id.proc === peer) this.#endArrivals(key, arrivals);
    }
  }

  #sendersTo(mesh: MeshId): CastSender[] {
    return [...this.senders].filter((sender) => sender.mesh.id === mesh);
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
    const receiver = this.#receiverFor(sender, mesh);
    if (!receiver.isNewest(setup.lineage, setup.tree)) return;
    this.#dropReplacedParts(setup, receiver);
    const parent = new RemoteParent(this, link, handle);
    const node = new TreeNode(this, receiver, setup, parent);
    let parts = this.#parts.get(link);
    if (parts === undefined) {
      parts = new Map();
      this.#parts.set(link, parts);
    }
    parts.set(handle, { node, parent });
    this.#nodes.add(node);
    node.start();
  }

  /** Drops the tree that this one replaces, and the replies to casts for which nobody waits any more. */
  #dropReplacedParts({ root, tree, lineage, unfinished }: TreeSetup, receiver: CastReceiver): void {
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
    receiver.keepUnfinished(lineage, unfinished);
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

  /** Returns the root node of a tree whose root is here. */
  #rootNodeOf(tree: number): TreeNode | undefined {
    return [...this.#nodes].find(({ setup }) => setup.root === this.id && setup.tree === tree);
  }

  #handleTreeLost(node: BranchNode | undefined, r: Reader): void {
    const [proc, why] = readBody(r, "treeLost", () => [readU64(r), readText(r)] as const);
    node?.lost(proc, new DeliveryError("unknown", why));
  }

  /**
   * The proc above a part has ended. The root is described, because other procs may not tell it. If the root has ended as
   * well, the attempt to tell it shows that.
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

  #sharedInterface(described: CastInterface): CastInterface {
    const key = JSON.stringify([described.key, String(described.fingerprint), described.name, described.endpoints]);
    const known = this.#interfaces.get(key) ?? described;
    if (this.#interfaces.size >= MAX_INTERFACES) this.#interfaces.clear();
    this.#interfaces.set(key, known);
    return known;
  }

  #receiverFor(sender: ActorId, mesh: MeshId): CastReceiver {
    const key = `${senderKey(sender)} ${mesh}`;
    let receiver = this.#receivers.get(key);
    if (receiver === undefined) {
      receiver = new CastReceiver();
      this.#receivers.set(key, receiver);
    }
    return receiver;
  }

  /**
   * Ends the arrivals of a sender that has ended. They are removed after everything that has come has been delivered,
   * so that later messages of the sender stay behind it.
   */
  #endArrivals(key: string, arrivals: OrderedArrivals): void {
    arrivals.senderEnded(() => {
      if (this.#arrivals.get(key) === arrivals) this.#arrivals.delete(key);
    });
  }

  #forgetReceiver(key: string): void {
    const receiver = this.#receivers.get(key);
    this.#receivers.delete(key);
    receiver?.cancelAll(CALLER_GONE);
    for (const [name, arrivals] of [...this.#arrivals])
      if (name.startsWith(`${key}/`)) this.#endArrivals(name, arrivals);
    this.#endedSenders.add(key);
    if (this.#endedSenders.size > MAX_ENDED_SENDERS)
      this.#endedSenders.delete(this.#endedSenders.values().next().value!);
  }
}

/** Returns a key for one incarnation of an actor. */
function senderKey({ proc, mesh, rank, incarnation }: ActorId): string {
  return `${formatId(proc)}/${mesh}/${rank}/${incarnation}`;
}
