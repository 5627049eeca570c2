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
import type { RelayFrame } from "../../link/frame/relay-frame.js";
import type { Destination, Lane } from "../../link/inbound/lane.js";
import type { LaneRequest } from "../../link/inbound/lane-request.js";
import { type KeepAlive, TimerKeepAlive } from "../../link/keep-alive.js";
import { Link } from "../../link/link.js";
import type { LinkHost, TreeFrame } from "../../link/link-host.js";
import { defaultLinkLimits, type LinkLimits } from "../../link/link-limits.js";
import type { SessionTarget } from "../../link/outbound/message-sender.js";
import { RoutingTable } from "../../link/routing-table.js";
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
import { OpenPorts } from "./open-ports.js";
import { PeerQuestions } from "./peer-questions.js";
import { type ProcOptions, parentRoute } from "./proc-options.js";
import { UnknownMeshes } from "./unknown-meshes.js";

export class Proc implements LinkHost<Link>, LifecycleProc {
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
  readonly #questions = new PeerQuestions();
  readonly #unknownMeshes: UnknownMeshes;
  readonly #ports = new OpenPorts();
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
      routeTo: (peer, from) => this.routes.relayRoute(peer, from),
      accept: options.accept ?? ((pipe) => void this.attach(pipe)),
    });
    const { connect, locate = () => "" } = options;
    this.routes = new RoutingTable(this, connect, parentRoute(options), this.#relays, locate, (link) =>
      this.#links.add(link),
    );
    this.casts = new CastRouter(this);
    const { id, hooks, routes } = this;
    this.#unknownMeshes = new UnknownMeshes({ id, hooks, routes, questions: this.#questions });
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
    const { args, saved, ...shape } = request;
    const cell = this.#installCell(shape.mesh, new ActorCell(this, shape));
    if (portsRead.length > 0) cell.ports.ownDecoded();
    cell.lifecycle.start(args, saved);
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
    this.#ports.peerDown(peer, reason);
    const lost = [...this.#lostLinks].filter((link) => link.peer === peer);
    for (const link of [...this.routes.linksTo(peer), ...lost]) {
      link.destroy();
      this.#endLink(link, error);
    }
    this.casts.peerDown(peer, error);
    this.hooks.peerDown(peer, reason);
  }

  /**
   * Sends a farewell to one peer and closes the links to it. Pending calls fail. The peer is not taken for dead, and can
   * be connected again.
   */
  leavePeer(peer: ProcId, reason: string): void {
    for (const link of this.routes.linksTo(peer)) {
      link.close(reason);
      this.#endLink(link, new DeliveryError("closed", reason));
    }
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
    await Promise.all([...this.casts.senders].map((castSender) => castSender.whenTaken()));
    await Promise.all(
      [...this.#links].map((link) => link.whenAllSent().then(() => this.#questions.whenReceived(link))),
    );
  }

  /**
   * Resolves when a peer has received everything that has been sent to it, or has ended. Messages that wait for credit
   * are not sent yet and do not count.
   */
  async whenDeliveredTo(peer: ProcId): Promise<void> {
    await Promise.all(this.routes.linksTo(peer).map((link) => this.#questions.whenReceived(link)));
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
    this.#ports.open(port);
  }

  closePort(port: OpenPort): void {
    this.#ports.close(port);
  }

  /**
   * Removes an actor that has ended from the holders of all ports, because it may have been sent ports of this proc
   * that it never received.
   */
  holderEnded(holder: string): void {
    this.#ports.holderEnded(holder);
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
    if (target.kind === "port") return this.#ports.destinationOf(target, sender);
    const cell = this.#cells.get(target.number);
    // Every proc has one agent, whichever rank the sender's mesh gives to it.
    if (cell !== undefined && (cell.rank === target.rank || target.number === AGENT_MESH)) return cell.inbound;
    const stopped = this.#endedActors.get(target.number);
    return stopped === undefined ? this.#unknownMeshes.hold(link, target) : new RefusingDestination(stopped);
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
    this.#questions.answerReceived(question, exists);
  }

  portHolderChanged(_link: Link | undefined, port: bigint, holder: string, proc: ProcId, held: boolean): void {
    this.#ports.setHolder(port, holder, proc, held);
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
    this.#unknownMeshes.release(mesh, cell.inbound);
    return cell;
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
    this.#questions.linkEnded(link);
  }
}

function createRoot(proc: Proc, name: string): ActorCell {
  const root = new ActorCell(proc, { mesh: ROOT_MESH, rank: 0, incarnation: 0, name, extent: {}, owner: proc.id });
  root.lifecycle.startRoot();
  return root;
}
