/**
 * One logical process: an identity, its links, its actors, its ports. Several may live in one operating-system process
 * (inline isolation, tests): they share no state, and talk through links like any others.
 */
import type { Answer } from "../../cast/answers.js";
import { Casts } from "../../cast/casts.js";
import type { Fold } from "../../cast/node.js";
import type { Setup } from "../../cast/setup.js";
import { AGENT_MESH, hex64, type Location, type MeshId, type ProcId, ROOT_MESH } from "../../link/address.js";
import type { Clock, Random } from "../../link/clock.js";
import { DeliveryError } from "../../link/errors.js";
import { Sync } from "../../link/frame.js";
import type { LaneRequest, LinkHost, RelayFrame, TreeFrame } from "../../link/host.js";
import { type KeepAlive, TimerKeepAlive } from "../../link/keep-alive.js";
import type { Destination, Lane } from "../../link/lane.js";
import { defaultLimits, type Limits } from "../../link/limits.js";
import { Link } from "../../link/link.js";
import type { Pipe } from "../../link/pipe.js";
import { Relays } from "../../link/relay.js";
import { type Dial, type Parent, Routes } from "../../link/route.js";
import type { SessionTarget } from "../../link/session.js";
import { TraceSource } from "../../link/trace.js";
import type { Reader } from "../../wire/reader.js";
import { createFold } from "../call/fold-answers.js";
import { ActorCell, type ActorSpec } from "../cell/actor-cell.js";
import type { ProcContext } from "../context.js";
import { EarlyMessages } from "../delivery/early-messages.js";
import { encodeErrorAnswer, readCallError } from "../delivery/error-codec.js";
import { RefusingDestination } from "../delivery/refusing-destination.js";
import { portsRead } from "../port/announce-holders.js";
import type { Downtime } from "../reference/downtime.js";
import { type ActorTarget, MeshRecords } from "../reference/mesh-record.js";
import type { OpenPort } from "../reference/open-port.js";
import type { ActorFailure, ActorRequest, ProcHooks, StopOptions } from "../reference/proc-hooks.js";
import { type DropDetector, DropWatch } from "./drop-watch.js";

export interface ProcOptions {
  readonly id: ProcId;
  /** Drawn by the root, the same in its whole tree; a link to another universe is refused. */
  readonly universe: bigint;
  readonly clock: Clock;
  readonly random: Random;
  readonly hooks: ProcHooks;
  readonly limits?: Partial<Limits>;
  /** Where this proc listens, as it stands in references to its actors; empty: nowhere. */
  readonly location?: Location;
  /** The proc that made this one: what cannot be reached directly is reached through it. */
  readonly parent?: ProcId;
  /** Whether that one connects by itself, and cannot be dialled. */
  readonly parentConnects?: boolean;
  /** What waiting calls keep alive: by default the operating-system process. */
  readonly keepAlive?: KeepAlive;
  /** How it is noticed that values were dropped: by default when the garbage collector has been by. */
  readonly drops?: DropDetector;
  /** What is known here of meshes; shared by the procs of one operating-system process. */
  readonly records?: MeshRecords;
  /** The name of its root, for people: `root`. */
  readonly name?: string;
  /** Dials `location` of `peer`. Rejects when it cannot be reached: traffic then goes through the owner or the parent. */
  readonly connect: Dial;
  /** Takes a pipe that a peer has made to here through others. Absent: it becomes a link. */
  readonly accept?: (pipe: Pipe, from: ProcId) => void;
}

export class Proc implements LinkHost {
  readonly id: ProcId;
  readonly universe: bigint;
  readonly clock: Clock;
  readonly random: Random;
  readonly hooks: ProcHooks;
  readonly limits: Limits;
  readonly location: Location;
  readonly keepAlive: KeepAlive;
  readonly routes: Routes;
  readonly drops: DropDetector;
  readonly traces: TraceSource;
  readonly records: MeshRecords;
  readonly casts: Casts;
  /** What code outside any actor sends as. */
  readonly root: ActorCell;
  /** What actors see of it; whoever knows more of the process may replace it. */
  context: ProcContext;
  readonly #relays: Relays;
  readonly #links = new Set<Link>();
  /** Links that no route uses any more, while the process asks why they have ended. */
  readonly #lostLinks = new Set<Link>();
  readonly #cells = new Map<MeshId, ActorCell>();
  /** Actors that have ended, the last of them: who asks for others is told by their owner. */
  readonly #endedActors = new Map<MeshId, DeliveryError>();
  readonly #earlyMessages = new Map<MeshId, EarlyMessages>();
  /** What owners were asked, by number, and over which link. */
  readonly #questions = new Map<number, { readonly mesh: MeshId; readonly link: Link }>();
  /** Questions that are asked for the sake of their answers alone: a peer that answers has received what was sent before. */
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
    this.limits = { ...defaultLimits, ...options.limits };
    this.location = options.location ?? "";
    this.keepAlive = options.keepAlive ?? new TimerKeepAlive();
    this.context = { id: hex64(options.id), rank: 0 };
    this.traces = new TraceSource(options.random);
    this.drops = options.drops ?? new DropWatch(options.clock);
    this.records = options.records ?? new MeshRecords(this.drops);
    this.#relays = new Relays({
      id: this.id,
      linkTo: (peer) => this.routes.existing(peer),
      accept: options.accept ?? ((pipe) => void this.attach(pipe)),
    });
    this.routes = new Routes(this, options.connect, parentRoute(options), this.#relays, (link) =>
      this.#links.add(link),
    );
    this.casts = new Casts(this);
    this.root = createRoot(this, options.name ?? "root");
  }

  /**
   * A link over a pipe: `peer` is known for a child just spawned, unknown for an accepted connection. What is sent before a
   * promised pipe is there waits in the link.
   */
  attach(pipe: Pipe | Promise<Pipe>, peer?: ProcId): Link {
    const link = new Link(this, peer);
    this.#links.add(link);
    if (peer !== undefined) this.routes.add(peer, link);
    if (!(pipe instanceof Promise)) link.attach(pipe);
    else {
      pipe.then(
        (made) => link.attach(made),
        (error: Error) => link.unreachable(new DeliveryError("peer-down", error.message, { cause: error })),
      );
    }
    return link;
  }

  /** A pipe to `peer` through another proc, which knows it, and is dialled if need be. */
  relayTo(peer: ProcId, via: ProcId, location: Location): Pipe {
    return this.#relays.dial(this.routes.to(via, location, undefined), peer);
  }

  /**
   * Calls `constructor` and `init` of an actor at once; messages that come meanwhile wait. Failing: `hooks.actorFailed`.
   * An actor of the same mesh that has failed is replaced: what was sent to its address goes to the new one.
   */
  createActor(request: ActorRequest): ActorCell {
    const { args, ...shape } = request;
    const cell = this.#installCell(shape.mesh, new ActorCell(this, shape));
    if (portsRead.length > 0) cell.ownDecodedPorts();
    cell.start(args);
    return cell;
  }

  /** An actor cannot be created at all: calls to its address fail. The owner is not told: it is the one to say so. */
  refuseActor(request: ActorSpec, failure: ActorFailure): ActorCell {
    const cell = new ActorCell(this, request);
    cell.failCreation(failure);
    return this.#installCell(request.mesh, cell);
  }

  /** Stops an actor as `options` says. Idempotent, never rejects; resolves when `cleanup` has ended. */
  stopActor(cell: ActorCell, options: StopOptions): Promise<void> {
    return cell.stop(options);
  }

  /** The actor of `mesh` that lives here. */
  cell(mesh: MeshId): ActorCell | undefined {
    return this.#cells.get(mesh);
  }

  /** All actors that live here, failed ones that have not been stopped included. */
  cells(): IterableIterator<ActorCell> {
    return this.#cells.values();
  }

  /** Declares `peer` dead, as its links do when they end: everything pending on it fails with `reason`. Idempotent. */
  peerDown(peer: ProcId, reason: string): void {
    const known = this.routes.down(peer);
    const error = new DeliveryError("peer-down", reason);
    // Who declares it knows more than the end of a link tells.
    this.routes.markDown(peer, error);
    if (known !== undefined) return;
    // Before the links end: what they carried tells less than why the process has ended.
    for (const port of [...this.#ports.values()]) port.peerDown(peer, reason);
    const lost = [...this.#lostLinks].filter((link) => link.peer === peer);
    for (const link of [...this.routes.allTo(peer), ...lost]) {
      link.destroy();
      this.#endLink(link, error);
    }
    this.casts.peerDown(peer, error);
    this.hooks.peerDown(peer, reason);
  }

  /** Says farewell on every link and closes them. Pending calls fail. */
  close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.casts.close(new DeliveryError("closed", `this process has closed its links: ${reason}`));
    for (const link of [...this.#links]) {
      link.close(reason);
      this.#endLink(link, new DeliveryError("closed", `this process has closed its links: ${reason}`));
    }
  }

  /** Resolves when the processes of its receivers have received everything that was sent from here, or have ended. */
  async whenDelivered(): Promise<void> {
    await Promise.all([...this.casts.casters].map((caster) => caster.taken()));
    await Promise.all([...this.#links].map((link) => link.afterSending().then(() => this.#whenConfirmed(link))));
  }

  /** Resolves when a peer has received everything that has been sent to it, or has ended. What waits for credit has not been. */
  async whenDeliveredTo(peer: ProcId): Promise<void> {
    await Promise.all(this.routes.allTo(peer).map((link) => this.#whenConfirmed(link)));
  }

  async #whenConfirmed(link: Link): Promise<void> {
    if (link.ended !== undefined) return;
    const question = ++this.#lastQuestion;
    await new Promise<void>((confirmed) => {
      this.#confirmations.set(question, { link, confirmed });
      link.sendAsk(question, AGENT_MESH);
    });
  }

  /** A cell has come to its end. */
  removeCell(cell: ActorCell): void {
    if (this.#cells.get(cell.mesh) !== cell) return;
    this.#cells.delete(cell.mesh);
    this.#endedActors.set(cell.mesh, cell.ended!);
    if (this.#endedActors.size > this.limits.endedActors)
      this.#endedActors.delete(this.#endedActors.keys().next().value!);
  }

  openPort(port: OpenPort): void {
    this.#ports.set(port.number, port);
    port.cell.addPort(port);
  }

  closePort(port: OpenPort): void {
    this.#ports.delete(port.number);
    port.cell.removePort(port);
  }

  /** An actor has ended, which may have been sent ports of this proc that it never saw. */
  holderEnded(holder: string): void {
    for (const port of [...this.#ports.values()]) port.setHolder(holder, 0n, false);
  }

  /** Kept while an actor is known to have ended; undefined: it is there, as far as is known here. */
  downtimeOf(target: ActorTarget): Downtime | undefined {
    if (target.downtime === undefined && this.routes.isGone(target.proc)) target.markDown();
    const { downtime } = target;
    if (downtime?.isLost === false) this.hooks.targetDown(target);
    return downtime;
  }

  /** The link that leads to where something lives; undefined if its process is dead. */
  linkTo({ proc, owner }: SessionTarget, location: Location): Link | undefined {
    return this.routes.down(proc) === undefined ? this.routes.to(proc, location, owner) : undefined;
  }

  linkOpened(link: Link, over: number): void {
    this.#links.add(link);
    this.routes.add(link.peer!, link);
    for (const older of this.routes.replacedBy(link, over)) {
      older.destroy();
      this.#endLink(older, new DeliveryError("closed", "its process has given the link up, and opened another one"));
    }
  }

  linkClosed(link: Link, error: Error | undefined): void {
    const { peer } = link;
    const last = !this.routes.remove(link);
    if (peer === undefined || error === undefined || this.#isClosed || link.closing) {
      this.#endLink(link, new DeliveryError("closed", error?.message ?? "its process has closed the link"));
      return;
    }
    if (error instanceof DeliveryError) {
      this.#endLink(link, error);
      return;
    }
    if (link.dialled && !link.introduced) {
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
    // Every proc has one agent, whatever rank those who speak to it give it in their mesh.
    if (cell !== undefined && (cell.rank === target.rank || target.number === AGENT_MESH)) return cell;
    const stopped = this.#endedActors.get(target.number);
    return stopped === undefined ? this.#holdEarlyMessages(link, target) : new RefusingDestination(stopped);
  }

  readError(r: Reader): Error {
    return readCallError(r);
  }

  asked(link: Link, question: number, mesh: MeshId): void {
    this.hooks.meshOrdered(mesh).then(
      (exists) => link.sendTell(question, exists),
      () => link.sendTell(question, false),
    );
  }

  told(_link: Link, question: number, exists: boolean): void {
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

  portHeld(_link: Link | undefined, port: bigint, holder: string, proc: ProcId, held: boolean): void {
    this.#ports.get(port)?.setHolder(holder, proc, held);
  }

  relayed(link: Link, frame: RelayFrame): void {
    this.#relays.received(link, frame);
  }

  laneSynced(lane: Lane, sync: number, casts: number): void {
    if (sync !== Sync.reached) {
      this.casts.laneSynced(lane, sync, casts);
      return;
    }
    const to = lane.behind;
    if (to instanceof ActorCell || to instanceof EarlyMessages) to.confirmHandled(lane);
    else lane.reached();
  }

  treeFrame(link: Link, frame: TreeFrame, r: Reader): void {
    this.casts.frame(link, frame, r);
  }

  answerOfError(error: Error): Answer {
    return encodeErrorAnswer(error);
  }

  folding({ mesh, interface: known }: Setup, endpoint: number, reduction: string): Fold | undefined {
    const descriptor = this.#cells.get(mesh)?.spec.descriptor;
    return descriptor === undefined ? undefined : createFold(descriptor, known, endpoint, reduction);
  }

  /** Puts a cell in its place, and hands over what came before it. */
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
    held?.release(cell);
    return cell;
  }

  /**
   * The mesh is not known here, not yet or not any more: its owner is asked. When it says that there is one, what has
   * come is kept until `createActor` or `refuseActor` follows.
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
    // Whoever sent the message knows a way to the owner, if this proc has none of its own.
    const toOwner = link.peer === owner ? link : this.#linkToOwner(owner, link.peer);
    if (toOwner === undefined) queueMicrotask(() => this.#refuseUnknownMesh(mesh));
    else {
      this.#questions.set(++this.#lastQuestion, { mesh, link: toOwner });
      toOwner.sendAsk(this.#lastQuestion, mesh);
    }
    return held;
  }

  #linkToOwner(owner: ProcId, through: ProcId | undefined): Link | undefined {
    return this.routes.down(owner) === undefined ? this.routes.to(owner, "", through) : undefined;
  }

  #refuseUnknownMesh(mesh: MeshId): void {
    const held = this.#earlyMessages.get(mesh);
    this.#earlyMessages.delete(mesh);
    held?.refuse(new DeliveryError("unknown", "there is no such actor, or not any more"));
  }

  #endLostLink(link: Link, peer: ProcId, reason: string): void {
    this.#endLink(link, new DeliveryError("peer-down", reason));
    if (this.routes.down(peer) === undefined) this.peerDown(peer, reason);
  }

  #endLink(link: Link, error: DeliveryError): void {
    this.#links.delete(link);
    this.#lostLinks.delete(link);
    this.routes.remove(link);
    // Not sooner: those who are reached through it hear of its end after whoever knows what it ended of.
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

function parentRoute({ parent, parentConnects = false }: ProcOptions): Parent | undefined {
  return parent === undefined ? undefined : { id: parent, connects: parentConnects };
}

function createRoot(proc: Proc, name: string): ActorCell {
  const root = new ActorCell(proc, { mesh: ROOT_MESH, rank: 0, incarnation: 0, name, extent: {}, owner: proc.id });
  root.state = "running";
  return root;
}
