/**
 * A proc: one logical process with an identity, links, actors and ports. Several procs can live in one operating-system
 * process (inline isolation, tests). They share no state and communicate through links like any others.
 */

import { CastRouter } from "../../cast/cast-router.js";
import type { RankAnswer } from "../../cast/tree/answers.js";
import type { AnswerFold } from "../../cast/tree/tree-node-types.js";
import type { TreeSetup } from "../../cast/tree/tree-setup.js";
import { AGENT_MESH, formatId, type Location, type MeshId, type ProcId, ROOT_MESH } from "../../link/address.js";
import type { Clock, Random } from "../../link/clock.js";
import { DeliveryError } from "../../link/errors.js";
import { SyncKind } from "../../link/frame/frame.js";
import type { Destination, Lane } from "../../link/inbound/lane.js";
import { type KeepAlive, TimerKeepAlive } from "../../link/keep-alive.js";
import { Link } from "../../link/link.js";
import type { LaneRequest, LinkHost, RelayFrame, TreeFrame } from "../../link/link-host.js";
import { defaultLinkLimits, type LinkLimits } from "../../link/link-limits.js";
import type { SessionTarget } from "../../link/outbound/session.js";
import { type DialProc, type ParentProc, RoutingTable } from "../../link/routing-table.js";
import { TraceSource } from "../../link/trace-context.js";
import type { Pipe } from "../../link/transport/pipe.js";
import { RelayRouter } from "../../link/transport/relay/pipe.js";
import type { Reader } from "../../wire/reader.js";
import { createFold } from "../call/fold-answers.js";
import { ActorCell } from "../cell/actor-cell.js";
import { ActorInbound } from "../cell/inbound.js";
import type { LifecycleProc } from "../cell/lifecycle.js";
import { EarlyMessages } from "../delivery/early-messages.js";
import { encodeErrorAnswer, readCallError } from "../delivery/error-codec.js";
import { RefusingDestination } from "../delivery/refusing-destination.js";
import { portsRead } from "../port/announce-holders.js";
import type { ActorFailure } from "../reference/actor-failure.js";
import type { ActorRequest, ActorSpec } from "../reference/actor-request.js";
import type { Downtime } from "../reference/downtime.js";
import type { ProcContext } from "../reference/handler-context.js";
import type { LocalActor } from "../reference/local-actor.js";
import { type ActorTarget, MeshRecords } from "../reference/mesh-record.js";
import type { OpenPort } from "../reference/open-port.js";
import type { ProcHooks } from "../reference/proc-hooks.js";
import type { StopOptions } from "../reference/stop-options.js";
import { type DropDetector, DropWatch } from "./drop-watch.js";

export interface ProcOptions {
  readonly id: ProcId;
  /** The universe id, drawn by the root and the same in its whole tree. A link to another universe is refused. */
  readonly universe: bigint;
  readonly clock: Clock;
  readonly random: Random;
  readonly hooks: ProcHooks;
  readonly limits?: Partial<LinkLimits>;
  /** The address that this proc listens at, as it appears in references to its actors. Empty: it does not listen. */
  readonly location?: Location;
  /** The proc that created this one. Procs that cannot be reached directly are reached through it. */
  readonly parent?: ProcId;
  /** Whether the parent connects by itself and cannot be dialled. */
  readonly parentConnects?: boolean;
  /** What waiting calls keep alive. Default: the operating-system process. */
  readonly keepAlive?: KeepAlive;
  /** How dropped values are detected. Default: by the garbage collector. */
  readonly drops?: DropDetector;
  /** The meshes that are known here, shared by the procs of one operating-system process. */
  readonly records?: MeshRecords;
  /** The name of the root actor, for people. Default: `root`. */
  readonly name?: string;
  /**
   * Connects to `location` of `peer`. Rejects if it cannot be reached; messages then go through the owner or the
   * parent.
   */
  readonly connect: DialProc;
  /** Takes a pipe that a peer has opened to this proc through other procs. Default: the pipe becomes a link. */
  readonly accept?: (pipe: Pipe, from: ProcId) => void;
}

export class Proc implements LinkHost, LifecycleProc {
  readonly id: ProcId;
  readonly universe: bigint;
  readonly clock: Clock;
  readonly random: Random;
  readonly hooks: ProcHooks;
  readonly limits: LinkLimits;
  readonly location: Location;
  readonly keepAlive: KeepAlive;
  readonly routes: RoutingTable;
  readonly drops: DropDetector;
  readonly traces: TraceSource;
  readonly records: MeshRecords;
  readonly casts: CastRouter;
  /** The sender of messages from code outside of any actor. */
  readonly root: ActorCell;
  /** The context that actors see. Code that knows more about the process can replace it. */
  context: ProcContext;
  readonly #relays: RelayRouter;
  readonly #links = new Set<Link>();
  /** Links that no route uses any more, while this process finds out why they ended. */
  readonly #lostLinks = new Set<Link>();
  readonly #cells = new Map<MeshId, ActorCell>();
  /** The actors that ended last. The owner answers for those that ended earlier. */
  readonly #endedActors = new Map<MeshId, DeliveryError>();
  readonly #earlyMessages = new Map<MeshId, EarlyMessages>();
  /** Pending questions to owners of meshes, by number, with the link on which each was asked. */
  readonly #questions = new Map<number, { readonly mesh: MeshId; readonly link: Link }>();
  /**
   * Pending questions that only serve as confirmations: a peer that answers has received everything that was sent
   * before.
   */
  readonly #confirmations = new Map<number, { readonly link: Link; readonly confirmed: () => void }>();
  readonly #ports = new Map<bigint, OpenPort>();
  #lastQuestion = 0;
  #isClosed = false;

  constructor(options: ProcOptions) {
    this.id = options.id;
    this.universe = options.universe;
    this.clock = options.clock;
    this.random = options.random;
    this.hooks = options.hooks;
    this.limits = { ...defaultLinkLimits, ...options.limits };
    this.location = options.location ?? "";
    this.keepAlive = options.keepAlive ?? new TimerKeepAlive();
    this.context = { id: formatId(options.id), rank: 0 };
    this.traces = new TraceSource(options.random);
    this.drops = options.drops ?? new DropWatch(options.clock);
    this.records = options.records ?? new MeshRecords(this.drops);
    this.#relays = new RelayRouter({
      id: this.id,
      linkTo: (peer) => this.routes.existingLink(peer),
      accept: options.accept ?? ((pipe) => void this.attach(pipe)),
    });
    this.routes = new RoutingTable(this, options.connect, parentRoute(options), this.#relays, (link) =>
      this.#links.add(link),
    );
    this.casts = new CastRouter(this);
    this.root = createRoot(this, options.name ?? "root");
  }

  /**
   * Creates a link over a pipe. `peer` is given for a child that has just been spawned, and absent for an accepted
   * connection. If the pipe is a promise, the link queues messages until the promise resolves.
   */
  attach(pipe: Pipe | Promise<Pipe>, peer?: ProcId): Link {
    const link = new Link(this, peer);
    this.#links.add(link);
    if (peer !== undefined) this.routes.addLink(peer, link);
    if (!(pipe instanceof Promise)) link.attach(pipe);
    else {
      pipe.then(
        (made) => link.attach(made),
        (error: Error) => link.failUnreachable(new DeliveryError("peer-down", error.message, { cause: error })),
      );
    }
    return link;
  }

  /** Opens a pipe to `peer` through the proc `via`, which knows `peer`. Connects to `via` if necessary. */
  relayTo(peer: ProcId, via: ProcId, location: Location): Pipe {
    return this.#relays.dial(this.routes.linkTo(via, location, undefined), peer);
  }

  /**
   * Creates an actor: calls its constructor and `init` at once. Messages that arrive meanwhile wait. A failure is
   * reported to `hooks.actorFailed`. A failed actor of the same mesh is replaced: messages to its address go to the new
   * actor.
   */
  createActor(request: ActorRequest): ActorCell {
    const { args, ...shape } = request;
    const cell = this.#installCell(shape.mesh, new ActorCell(this, shape));
    if (portsRead.length > 0) cell.ports.ownDecoded();
    cell.lifecycle.start(args);
    return cell;
  }

  /**
   * Records that an actor cannot be created, so that calls to its address fail. The owner is not told, because the
   * refusal comes from the owner.
   */
  refuseActor(request: ActorSpec, failure: ActorFailure): ActorCell {
    const cell = new ActorCell(this, request);
    cell.lifecycle.failCreation(failure);
    return this.#installCell(request.mesh, cell);
  }

  /** Stops an actor with the given options. Idempotent, never rejects; resolves when `cleanup` has ended. */
  stopActor(cell: ActorCell, options: StopOptions): Promise<void> {
    return cell.lifecycle.stop(options);
  }

  /** Returns the actor of `mesh` that lives in this proc. */
  cell(mesh: MeshId): ActorCell | undefined {
    return this.#cells.get(mesh);
  }

  /** Returns all actors of this proc, including failed ones that have not been stopped. */
  cells(): IterableIterator<ActorCell> {
    return this.#cells.values();
  }

  /**
   * Declares `peer` dead, as its links do when they end. Everything that is pending on `peer` fails with `reason`.
   * Idempotent.
   */
  peerDown(peer: ProcId, reason: string): void {
    const known = this.routes.deathOf(peer);
    const error = new DeliveryError("peer-down", reason);
    // The caller of this method knows more than the end of a link reveals, so its reason replaces the earlier one.
    this.routes.markDead(peer, error);
    if (known !== undefined) return;
    // This happens before the links end, because the reason why the process ended says more than the end of a link.
    for (const port of [...this.#ports.values()]) port.peerDown(peer, reason);
    const lost = [...this.#lostLinks].filter((link) => link.peer === peer);
    for (const link of [...this.routes.linksTo(peer), ...lost]) {
      link.destroy();
      this.#endLink(link, error);
    }
    this.casts.peerDown(peer, error);
    this.hooks.peerDown(peer, reason);
  }

  /** Sends a farewell on every link and closes the links. Pending calls fail. */
  close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.casts.close(new DeliveryError("closed", `this process has closed its links: ${reason}`));
    for (const link of [...this.#links]) {
      link.close(reason);
      this.#endLink(link, new DeliveryError("closed", `this process has closed its links: ${reason}`));
    }
  }

  /** Resolves when the receiving processes have received everything that was sent from here, or have ended. */
  async whenDelivered(): Promise<void> {
    await Promise.all([...this.casts.senders].map((caster) => caster.whenTaken()));
    await Promise.all([...this.#links].map((link) => link.whenAllSent().then(() => this.#whenConfirmed(link))));
  }

  /**
   * Resolves when a peer has received everything that has been sent to it, or has ended. Messages that wait for credit
   * are not sent yet and do not count.
   */
  async whenDeliveredTo(peer: ProcId): Promise<void> {
    await Promise.all(this.routes.linksTo(peer).map((link) => this.#whenConfirmed(link)));
  }

  async #whenConfirmed(link: Link): Promise<void> {
    if (link.ended !== undefined) return;
    const question = ++this.#lastQuestion;
    await new Promise<void>((confirmed) => {
      this.#confirmations.set(question, { link, confirmed });
      link.sendAsk(question, AGENT_MESH);
    });
  }

  /** Removes an actor that has ended. */
  removeCell(cell: LocalActor): void {
    if (this.#cells.get(cell.mesh) !== cell) return;
    this.#cells.delete(cell.mesh);
    this.#endedActors.set(cell.mesh, cell.ended!);
    if (this.#endedActors.size > this.limits.endedActors)
      this.#endedActors.delete(this.#endedActors.keys().next().value!);
  }

  openPort(port: OpenPort): void {
    this.#ports.set(port.number, port);
    port.owner.add(port);
  }

  closePort(port: OpenPort): void {
    this.#ports.delete(port.number);
    port.owner.remove(port);
  }

  /**
   * Removes an actor that has ended from the holders of all ports, because it may have been sent ports of this proc
   * that it never received.
   */
  holderEnded(holder: string): void {
    for (const port of [...this.#ports.values()]) port.setHolder(holder, 0n, false);
  }

  /**
   * Returns the downtime of an actor that is known to have ended. Undefined: as far as this proc knows, the actor is
   * alive.
   */
  downtimeOf(target: ActorTarget): Downtime | undefined {
    if (target.downtime === undefined && this.routes.isUnreachable(target.proc)) target.markDown();
    const { downtime } = target;
    if (downtime?.isLost === false) this.hooks.targetDown(target);
    return downtime;
  }

  /** Returns the link to the process of `target`, or undefined if that process is dead. */
  linkTo({ proc, owner }: SessionTarget, location: Location): Link | undefined {
    return this.routes.deathOf(proc) === undefined ? this.routes.linkTo(proc, location, owner) : undefined;
  }

  linkOpened(link: Link, over: number): void {
    this.#links.add(link);
    this.routes.addLink(link.peer!, link);
    for (const older of this.routes.linksReplacedBy(link, over)) {
      older.destroy();
      this.#endLink(older, new DeliveryError("closed", "its process has given the link up, and opened another one"));
    }
  }

  linkClosed(link: Link, error: Error | undefined): void {
    const { peer } = link;
    const last = !this.routes.removeLink(link);
    if (peer === undefined || error === undefined || this.#isClosed || link.isClosing) {
      this.#endLink(link, new DeliveryError("closed", error?.message ?? "its process has closed the link"));
      return;
    }
    if (error instanceof DeliveryError) {
      this.#endLink(link, error);
      return;
    }
    if (link.isDialler && !link.isIntroduced) {
      this.#endLink(
        link,
        new DeliveryError("unknown", `its process cannot be reached: ${error.message}`, { cause: error }),
      );
      return;
    }
    if (!last) {
      this.#endLink(link, new DeliveryError("closed", error.message, { cause: error }));
      return;
    }
    const reason = this.hooks.peerLost(peer, error, link.fault);
    if (typeof reason === "string") this.#endLostLink(link, peer, reason);
    else {
      this.routes.markLost(peer);
      this.#lostLinks.add(link);
      reason.then((text) => this.#endLostLink(link, peer, text));
    }
  }

  laneOpened(link: Link, { sender, target }: LaneRequest): Destination {
    if (target.kind === "port") {
      const port = this.#ports.get(target.number);
      if (port === undefined) return new RefusingDestination(new DeliveryError("unknown", "its receiver is gone"));
      if (port.codec.fingerprint !== target.fingerprint) {
        return new RefusingDestination(
          new DeliveryError("refused", `it is a port of ${port.codec.name}, and of nothing else`),
        );
      }
      port.laneOpenedBy(sender);
      return port;
    }
    const cell = this.#cells.get(target.number);
    // Every proc has one agent, whichever rank the sender's mesh gives to it.
    if (cell !== undefined && (cell.rank === target.rank || target.number === AGENT_MESH)) return cell.inbound;
    const stopped = this.#endedActors.get(target.number);
    return stopped === undefined ? this.#holdEarlyMessages(link, target) : new RefusingDestination(stopped);
  }

  readError(r: Reader): Error {
    return readCallError(r);
  }

  meshQueried(link: Link, question: number, mesh: MeshId): void {
    this.hooks.meshOrdered(mesh).then(
      (exists) => link.sendTell(question, exists),
      () => link.sendTell(question, false),
    );
  }

  meshQueryAnswered(_link: Link, question: number, exists: boolean): void {
    const confirmation = this.#confirmations.get(question);
    if (confirmation !== undefined) {
      this.#confirmations.delete(question);
      confirmation.confirmed();
      return;
    }
    const asked = this.#questions.get(question);
    if (asked === undefined) return;
    this.#questions.delete(question);
    if (!exists) this.#refuseUnknownMesh(asked.mesh);
  }

  portHolderChanged(_link: Link | undefined, port: bigint, holder: string, proc: ProcId, held: boolean): void {
    this.#ports.get(port)?.setHolder(holder, proc, held);
  }

  relayFrameReceived(link: Link, frame: RelayFrame): void {
    this.#relays.frameReceived(link, frame);
  }

  laneSynced(lane: Lane, sync: number, casts: number): void {
    if (sync !== SyncKind.reached) {
      this.casts.laneSynced(lane, sync, casts);
      return;
    }
    const to = lane.finalDestination;
    if (to instanceof ActorInbound || to instanceof EarlyMessages) to.confirmHandled(lane);
    else lane.confirmReached();
  }

  treeFrameReceived(link: Link, frame: TreeFrame, r: Reader): void {
    this.casts.handleFrame(link, frame, r);
  }

  answerOfError(error: Error): RankAnswer {
    return encodeErrorAnswer(error);
  }

  foldFor({ mesh, interface: known }: TreeSetup, endpoint: number, reduction: string): AnswerFold | undefined {
    const descriptor = this.#cells.get(mesh)?.spec.descriptor;
    return descriptor === undefined ? undefined : createFold(descriptor, known, endpoint, reduction);
  }

  /** Installs a cell at its mesh id and passes it the messages that arrived before. */
  #installCell(mesh: MeshId, cell: ActorCell): ActorCell {
    const before = this.#cells.get(mesh);
    if (before !== undefined && before.ended === undefined) {
      throw new Error(`cannot create ${cell.name}: it is there already`);
    }
    this.#cells.set(mesh, cell);
    this.#endedActors.delete(mesh);
    before?.replaceBy(cell);
    const held = this.#earlyMessages.get(mesh);
    this.#earlyMessages.delete(mesh);
    held?.release(cell.inbound);
    return cell;
  }

  /**
   * Keeps messages for a mesh that is not known here, either not yet or not any more, and asks the owner of the mesh.
   * If the owner says that the mesh exists, the messages stay until `createActor` or `refuseActor` follows.
   */
  #holdEarlyMessages(link: Link, { number: mesh, owner }: SessionTarget): Destination {
    let held = this.#earlyMessages.get(mesh);
    if (held !== undefined) return held;
    held = new EarlyMessages();
    this.#earlyMessages.set(mesh, held);
    if (owner === this.id) {
      this.hooks.meshOrdered(mesh).then(
        (exists) => {
          if (!exists) this.#refuseUnknownMesh(mesh);
        },
        () => this.#refuseUnknownMesh(mesh),
      );
      return held;
    }
    // The sender of the message has a route to the owner, if this proc has none of its own.
    const toOwner = link.peer === owner ? link : this.#linkToOwner(owner, link.peer);
    if (toOwner === undefined) queueMicrotask(() => this.#refuseUnknownMesh(mesh));
    else {
      this.#questions.set(++this.#lastQuestion, { mesh, link: toOwner });
      toOwner.sendAsk(this.#lastQuestion, mesh);
    }
    return held;
  }

  #linkToOwner(owner: ProcId, through: ProcId | undefined): Link | undefined {
    return this.routes.deathOf(owner) === undefined ? this.routes.linkTo(owner, "", through) : undefined;
  }

  #refuseUnknownMesh(mesh: MeshId): void {
    const held = this.#earlyMessages.get(mesh);
    this.#earlyMessages.delete(mesh);
    held?.refuse(new DeliveryError("unknown", "there is no such actor, or not any more"));
  }

  #endLostLink(link: Link, peer: ProcId, reason: string): void {
    this.#endLink(link, new DeliveryError("peer-down", reason));
    if (this.routes.deathOf(peer) === undefined) this.peerDown(peer, reason);
  }

  #endLink(link: Link, error: DeliveryError): void {
    this.#links.delete(link);
    this.#lostLinks.delete(link);
    this.routes.removeLink(link);
    // The relays must not end earlier: procs that are reached through this link learn of its end after the callers that
    // know its cause.
    this.#relays.linkEnded(link, error);
    link.end(error);
    this.casts.linkEnded(link, error);
    for (const [question, { link: asked, confirmed }] of this.#confirmations) {
      if (asked !== link) continue;
      this.#confirmations.delete(question);
      confirmed();
    }
    for (const [question, asked] of this.#questions) {
      if (asked.link !== link) continue;
      this.#questions.delete(question);
      this.#refuseUnknownMesh(asked.mesh);
    }
  }
}

function parentRoute({ parent, parentConnects = false }: ProcOptions): ParentProc | undefined {
  return parent === undefined ? undefined : { id: parent, connects: parentConnects };
}

function createRoot(proc: Proc, name: string): ActorCell {
  const root = new ActorCell(proc, { mesh: ROOT_MESH, rank: 0, incarnation: 0, name, extent: {}, owner: proc.id });
  root.lifecycle.startRoot();
  return root;
}
