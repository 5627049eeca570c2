/**
 * The cell of an actor: its identity, its life from construction to its end, its mailbox, and the sessions by which it
 * sends. A proc's root is a cell too, one that takes no messages.
 */
import type { CastSender } from "../../cast/sender/cast-sender.js";
import { type ActorId, type Location, type MeshId, ROOT_MESH } from "../../link/address.js";
import { DeliveryError } from "../../link/errors.js";
import { type Binding, type BoundEndpoint, Layout, type PeerSchema } from "../../link/frame/binding.js";
import { FrameFlag, ProtocolError } from "../../link/frame/frame.js";
import { chainToken, readExtension } from "../../link/frame/message-extension.js";
import type { Destination, Lane } from "../../link/inbound/lane.js";
import type { EncodedMessage } from "../../link/outbound/encoded-message.js";
import type {
  BoundMessage,
  MessageInterface,
  MessageSender,
  Session,
  SessionTarget,
} from "../../link/outbound/session.js";
import { type Extent, Point } from "../../shape/index.js";
import { errorChainOf, errorFromChain, isError, type PlainError, thrownMessage } from "../../thrown.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import { protobufArguments, protobufValue } from "../../wire/protobuf-messages.js";
import type { Reader } from "../../wire/reader.js";
import type { Actor, SupervisedFailure } from "../actor.js";
import { type ActorContext, type AnyTurn, NoMessageTurn, runInTurn } from "../context.js";
import { holderName, portsRead } from "../port/announce-holders.js";
import { OwnedPorts } from "../port/owned-ports.js";
import type { Proc } from "../proc/proc.js";
import { ActorTarget, type MeshRecord, reasonSuffix } from "../reference/mesh-record.js";
import type { OpenPort } from "../reference/open-port.js";
import type { ActorClass, ActorFailure, ActorRequest, StopOptions } from "../reference/proc-hooks.js";
import { compareSchemas, schemaForPeer } from "../schema/compare-schemas.js";
import { PortInterface } from "../schema/port-interface.js";
import { translateToProtobuf } from "../schema/translate-layout.js";
import { answerUndecodable, answerUndelivered, bounce } from "./answer.js";
import { createCastSender } from "./create-cast-sender.js";
import { type Handler, handlerById, handlersOf, interfaceOf, protobufVariant } from "./handler.js";
import { promiseFrom } from "./invoke.js";
import { Mailbox, type MailboxOwner } from "./mailbox.js";
import { Turn } from "./turn.js";
import { Watchdog, type WatchedActor } from "./watchdog.js";

/** `starting`: constructor or `init` is running. `stopping`: what waits is still handled. */
export type ActorState = "starting" | "running" | "stopping" | "failed" | "stopped";

/** What its creator said of an actor. A root has neither class nor descriptor. */
export type ActorSpec = Omit<ActorRequest, "args" | "actorClass" | "descriptor"> &
  Partial<Pick<ActorRequest, "actorClass" | "descriptor">>;

/** How long `cleanup` may take, in milliseconds. */
const CLEANUP_MS = 3000;
/** How long an actor that ends waits for receivers that may have another schema, in milliseconds. */
const SCHEMA_AGREEMENT_MS = 1000;
/** Cancel reason of callers that are gone: an index of `cancelReasons`. */
const CALLER_GONE = 0;

export class ActorCell implements Destination, MessageSender, MailboxOwner, WatchedActor {
  readonly proc: Proc;
  readonly spec: ActorSpec;
  state: ActorState = "starting";
  /** Undefined before the constructor has returned and after `cleanup`. */
  instance: Actor | undefined;
  /** Why it takes no messages any more. */
  #ended: DeliveryError | undefined;
  readonly #mailbox: Mailbox;
  #sessions: Map<unknown, Session> | undefined;
  #lanes: Lane[] | undefined;
  /** Who has replaced it. */
  #replacement: ActorCell | undefined;
  /** Of meshes that it casts to: for as long as anybody here has those. */
  #castSenders: WeakMap<MeshRecord, CastSender> | undefined;
  /** Those of them that have something to do. */
  #activeCastSenders: Set<CastSender> | undefined;
  /** Ports that it was sent and has not dropped. */
  #ownedPorts: OwnedPorts | undefined;
  /** Ports that end with it. */
  #openedPorts: Set<OpenPort> | undefined;
  /** Why it sends nothing any more, whatever of its code still runs. */
  sendingEnded: DeliveryError | undefined;
  #windingDown: Promise<void> | undefined;
  /** Somebody waits until it has been started, or has failed. */
  #onStarted: (() => void) | undefined;
  #stopping: Promise<void> | undefined;

  /** Made by `proc.createActor`. */
  constructor(proc: Proc, shape: ActorSpec) {
    this.proc = proc;
    this.spec = shape;
    const { watch } = shape;
    this.#mailbox = new Mailbox(this, proc.clock, watch && new Watchdog(this, watch, proc.clock));
  }

  get mesh(): MeshId {
    return this.spec.mesh;
  }

  get rank(): number {
    return this.spec.rank;
  }

  get isRoot(): boolean {
    return this.spec.mesh === ROOT_MESH;
  }

  get id(): ActorId {
    const { mesh, rank, incarnation } = this.spec;
    return { universe: this.proc.universe, proc: this.proc.id, mesh, rank, incarnation };
  }

  get name(): string {
    return this.isRoot ? this.spec.name : `${this.spec.name}[${this.spec.rank}]`;
  }

  /** Its name in call chains. */
  get token(): readonly [number, number] {
    return chainToken({ proc: this.proc.id, mesh: this.spec.mesh, rank: this.spec.rank });
  }

  /** What code of this actor runs in when it handles no message. */
  get turn(): NoMessageTurn {
    return new NoMessageTurn(this);
  }

  /** Why it takes no messages any more. */
  get ended(): DeliveryError | undefined {
    return this.#ended;
  }

  get context(): ActorContext {
    const { name, rank } = this.spec;
    const extent = this.spec.extent as Extent;
    return { id: this.id, name, rank: new Point(extent, rank) };
  }

  /** Whether a message waits for its turn that this actor waits for the answer of. */
  isAwaitedBy(token: readonly [number, number]): boolean {
    return this.#mailbox.isAwaitedBy(token);
  }

  /** The calls that it has not answered. */
  get calls(): readonly Turn[] {
    return this.#mailbox.calls;
  }

  /** Messages that wait for their turn. */
  get waitingCount(): number {
    return this.#mailbox.length;
  }

  /** Constructs the actor and runs its `init`. Never throws. */
  start(args: readonly unknown[]): void {
    const turn = new NoMessageTurn(this, this.token);
    const { actorClass } = this.spec;
    const construct = actorClass as unknown as new (...args: readonly unknown[]) => Actor;
    try {
      runInTurn(turn, () => {
        this.instance = new construct(...args);
      });
    } catch (error) {
      this.fail({ kind: "constructor", error, at: this.proc.clock.epochMs() });
      return;
    }
    const failed = (error: unknown): void => this.fail({ kind: "init", error, at: this.proc.clock.epochMs() });
    try {
      const initialised = promiseFrom(
        turn,
        runInTurn(turn, () => this.instance?.init?.()),
      );
      if (initialised !== undefined) {
        initialised.then(() => this.#started(), failed);
        return;
      }
    } catch (error) {
      failed(error);
      return;
    }
    this.#started();
  }

  /** Runs the actor's `supervise` in a turn of its own. @throws what it throws; may return a promise */
  supervise(failure: SupervisedFailure): unknown {
    return runInTurn(this.turn, () => this.instance?.supervise?.(failure));
  }

  /** The actor has failed: callers are told, then its owner. Idempotent. */
  fail(failure: ActorFailure): void {
    if (this.state === "failed" || this.state === "stopped") return;
    const { error } = failure;
    this.state = "failed";
    this.#ended = this.#failureError(error);
    this.#mailbox.close(this.#ended);
    this.#releasePorts();
    this.#onStarted?.();
    this.proc.hooks.actorFailed(this, failure);
    const reason = isError(error) ? error : errorFromChain(errorChainOf(error));
    this.#windingDown = this.#windDown({ reason: this.#ended.message, drain: 0, error: reason });
  }

  /**
   * Another one takes over its lanes: messages and casts alike come back to their senders until now, and go to the new one
   * from now on, so that what that handles of a sender has no gaps.
   */
  replaceBy(next: ActorCell): void {
    const lanes = this.#lanes ?? [];
    for (const lane of lanes) lane.redirect(next);
    next.#lanes = lanes;
    this.#lanes = undefined;
    this.#replacement = next;
    this.#closeSessions();
  }

  /** A failed actor has come to its end, but for its place, which another one takes over. Never rejects. */
  async whenVacated(): Promise<void> {
    await this.#windingDown;
    await this.#whenSchemasAgreed();
  }

  /** It never came to be: its callers are told why. */
  failCreation(failure: ActorFailure): void {
    this.state = "failed";
    this.#ended = this.#failureError(failure.error);
    this.#mailbox.close(this.#ended);
  }

  /** Stops the actor: no new messages, those that wait for at most `drain`, what it owns, `cleanup`. Never rejects. */
  stop(options: StopOptions): Promise<void> {
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  bind(lane: Lane, binding: Binding): void {
    if (this.#replacement !== undefined) {
      // What names its interface has waited for casts while this actor was replaced.
      lane.redirect(this.#replacement);
      this.#replacement.bind(lane, binding);
      return;
    }
    this.#lanes ??= [];
    if (!this.#lanes.includes(lane)) this.#lanes.push(lane);
    if (this.state === "stopped") lane.sendGone(this.#ended!.reason, this.#ended!.message);
    const { firstSlot, layout, key } = binding;
    const { actorClass, descriptor } = this.spec;
    const own = descriptor === undefined ? undefined : interfaceOf(descriptor, key);
    if (actorClass === undefined || own === undefined) {
      const is = descriptor?.key ?? "root";
      lane.refusal = new DeliveryError("refused", `the actor ${this.name} is no ${key}: it is a ${is}`);
      if (layout === Layout.lockstep) lane.link.sendBound(lane.id, firstSlot, undefined);
    } else if (layout === Layout.protobuf) this.#bindByIds(lane, binding, actorClass, own);
    else if (layout === Layout.lockstep && own.fingerprint === binding.fingerprint) {
      for (const [i, handler] of handlersOf(actorClass, own).entries()) lane.slots[firstSlot + i] = handler;
      lane.link.sendBound(lane.id, firstSlot, undefined);
    } else if (layout === Layout.lockstep) {
      lane.pause();
      lane.link.sendBound(lane.id, firstSlot, schemaForPeer(own));
    }
  }

  message(lane: Lane, slot: number, call: number, flags: number, r: Reader, size: number): void {
    const extension = (flags & FrameFlag.extended) === 0 ? undefined : readExtension(r);
    let handler = lane.slots[slot] as Handler | undefined;
    if (this.#ended !== undefined || handler === undefined) {
      this.#rejectMessage(lane, slot, call, size);
      if (handler !== undefined) this.#releasePortsOfRefused(handler, flags, r);
      return;
    }
    if (handler.layout !== (flags & FrameFlag.protobuf)) handler = handlerForOtherLayout(handler, slot);
    let args: readonly unknown[];
    // Left over from a message that could not be decoded to its end.
    if (portsRead.length > 0) portsRead.length = 0;
    try {
      args = handler.args.decodeFrom(r);
    } catch (error) {
      if (call !== 0) answerUndecodable(lane, call, this.name, error);
      else bounce(lane, slot, size, new DeliveryError("refused", thrownMessage(error)));
      return;
    }
    if (portsRead.length > 0) this.ownDecodedPorts();
    this.#mailbox.add(new Turn(this, lane, slot, handler, call, args, size, extension));
  }

  cancel(lane: Lane, call: number, reason: number): void {
    this.#mailbox.cancel(lane, call, reason);
  }

  /** The sender of a lane wants to know when everything that has come before has been handled. */
  confirmHandled(lane: Lane): void {
    if (this.#replacement !== undefined) this.#replacement.confirmHandled(lane);
    else this.#mailbox.afterHandling(() => lane.confirmReached());
  }

  laneClosed(lane: Lane): void {
    const lanes = this.#lanes;
    const index = lanes?.indexOf(lane) ?? -1;
    if (index >= 0) lanes!.splice(index, 1);
    this.#mailbox.cancelLane(lane, CALLER_GONE);
  }

  messageFailed(turn: Turn, error: unknown): void {
    const { endpoint } = turn.handler;
    this.fail({ kind: "message", error, endpoint: endpoint.name, at: this.proc.clock.epochMs() });
  }

  /**
   * Code that it has left running has thrown, outside of any handler: it has failed.
   * @param turn that the code belongs to
   */
  failUncaught(turn: AnyTurn, error: unknown): void {
    const endpoint = turn instanceof Turn ? { endpoint: turn.handler.endpoint.name } : {};
    this.fail({ kind: "message", error, ...endpoint, at: this.proc.clock.epochMs() });
  }

  handlerSlow(message: string): void {
    this.proc.hooks.handlerSlow(this, message);
  }

  handlerStuck({ handler }: Turn, message: string): void {
    const { name: endpoint } = handler.endpoint;
    this.fail({ kind: "stuck", error: new Error(message), endpoint, at: this.proc.clock.epochMs() });
  }

  /**
   * The session to a destination, opened on first use.
   * @throws DeliveryError if its process is known to be dead, or if this actor has come to its end
   */
  session(key: unknown, target: SessionTarget, location: Location): Session {
    const known = this.#sessions?.get(key);
    if (known !== undefined) return known;
    if (this.sendingEnded !== undefined) throw this.sendingEnded;
    const session = this.proc.routes.linkTo(target.proc, location, target.owner).openSession(this, target, key);
    this.#sessions ??= new Map();
    this.#sessions.set(key, session);
    if (target instanceof ActorTarget) {
      target.sessionOpened(session);
      this.#castSenders?.get(target.mesh)?.attachSession(session, target.rank, false);
    }
    return session;
  }

  /** By which it casts to a mesh: from its first cast on. */
  castSender(record: MeshRecord): CastSender {
    let caster = this.#castSenders?.get(record);
    if (caster === undefined) {
      caster = createCastSender(this, record, this.#sessions?.values() ?? []);
      this.#castSenders ??= new WeakMap();
      this.#castSenders.set(record, caster);
    }
    return caster;
  }

  castSenderActive(caster: CastSender): void {
    this.#activeCastSenders ??= new Set();
    this.#activeCastSenders.add(caster);
  }

  /** @param ended it is not needed any more */
  castSenderIdle(record: MeshRecord, caster: CastSender, ended: boolean): void {
    this.#activeCastSenders?.delete(caster);
    if (ended && this.#castSenders?.get(record) === caster) this.#castSenders.delete(record);
  }

  knownSession(key: unknown): Session | undefined {
    return this.#sessions?.get(key);
  }

  sessionEnded(session: Session): void {
    if (session.target instanceof ActorTarget) session.target.sessionClosed(session);
    if (this.#sessions?.get(session.key) === session) this.#sessions.delete(session.key);
  }

  targetEnded(target: SessionTarget): void {
    if (!(target instanceof ActorTarget)) return;
    target.markDown();
    const { number: mesh, rank, generation } = target;
    for (let i = 0; i <= generation; i++) this.proc.holderEnded(holderName({ mesh, rank, incarnation: i }));
  }

  compare({ target }: Session, known: MessageInterface, other: PeerSchema): DeliveryError | undefined {
    return compareSchemas(target, known, other);
  }

  translate(known: MessageInterface, endpoint: BoundEndpoint, body: EncodedMessage): EncodedMessage {
    // All that it sends is encoded here: by endpoints that have codecs.
    const { args } = endpoint as BoundMessage;
    const protobuf = known instanceof PortInterface ? protobufValue(args) : protobufArguments(args);
    return translateToProtobuf(args, protobuf, body, this.proc.limits);
  }

  bounced(session: Session, slot: number, error: DeliveryError): void {
    this.undeliverable(session.labelOf(slot), error);
  }

  /** A message without an answer could not be delivered. */
  undeliverable(to: string, { reason, message }: DeliveryError): void {
    const told = { to, reason, message };
    try {
      if (this.instance?.undeliverable !== undefined) {
        runInTurn(this.turn, () => this.instance?.undeliverable?.(told));
        return;
      }
    } catch (error) {
      this.fail({ kind: "message", error, at: this.proc.clock.epochMs() });
      return;
    }
    if (this.state !== "stopped") this.proc.hooks.undeliverable(this, told);
  }

  /** It has opened a port, which ends with it. */
  addPort(port: OpenPort): void {
    this.#openedPorts ??= new Set();
    this.#openedPorts.add(port);
  }

  removePort(port: OpenPort): void {
    this.#openedPorts?.delete(port);
  }

  #started(): void {
    if (this.state !== "starting") return;
    this.state = "running";
    this.proc.hooks.actorStarted(this);
    this.#mailbox.open();
    this.#onStarted?.();
  }

  async #stop(options: StopOptions): Promise<void> {
    const { clock } = this.proc;
    const end = clock.now() + options.drain;
    const drain = (what: Promise<unknown>) => this.#waitAtMost(Math.max(0, end - clock.now()), what);
    if (options.drain > 0 && this.state === "starting" && this.waitingCount > 0) {
      await drain(new Promise<void>((started) => (this.#onStarted = started)));
    }
    const drains = options.drain > 0 && this.state === "running";
    // What has come in a layout that it cannot read was sent before the end, and comes again.
    const paused = (this.#lanes ?? []).flatMap(({ whenResumed }) => whenResumed ?? []);
    if (drains && paused.length > 0) await drain(Promise.all(paused));
    if (this.state !== "failed") {
      this.state = "stopping";
      this.#ended = new DeliveryError("stopped", `the actor ${this.name} was stopped${reasonSuffix(options.reason)}`);
      if (drains) await drain(this.#mailbox.whenDrained());
      this.#mailbox.close(this.#ended);
      this.#releasePorts();
      this.#windingDown = this.#windDown(options);
    }
    await this.whenVacated();
    this.state = "stopped";
    const error = this.#ended!;
    for (const lane of this.#lanes?.splice(0) ?? []) lane.sendGone(error.reason, error.message);
    this.#closeSessions();
    this.proc.removeCell(this);
  }

  /** What it has sent has been taken, or sent again in a layout that its receivers can read: before they hear of its end. */
  async #whenSchemasAgreed(): Promise<void> {
    const asking = [...(this.#sessions?.values() ?? [])].filter((session) => session.isAskingForSchema);
    if (asking.length === 0) return;
    const sent = (session: Session) => new Promise<void>((resolve) => session.afterAllSent(resolve));
    await this.#waitAtMost(SCHEMA_AGREEMENT_MS, Promise.all(asking.map(sent)));
  }

  #closeSessions(): void {
    this.sendingEnded = new DeliveryError("closed", `its sender has ended: ${this.#ended!.message}`);
    for (const session of this.#sessions?.values() ?? []) {
      session.close();
      if (session.target instanceof ActorTarget) session.target.sessionClosed(session);
    }
    this.#sessions = undefined;
    for (const caster of this.#activeCastSenders ?? []) caster.close();
    this.#castSenders = undefined;
  }

  #failureError(error: unknown): DeliveryError {
    const [first, ...others] = errorChainOf(error) as [PlainError, ...PlainError[]];
    const what = isError(error) ? `${first.name}: ${first.message}` : first.message;
    // As plain errors: callers read this, and whatever the actor threw may throw when it is read.
    const cause = isError(error) ? { cause: errorFromChain([first, ...others]) } : undefined;
    return new DeliveryError("failed", `the actor ${this.name} has failed: ${what}`, cause);
  }

  /** Stops what the actor owns, then lets it clean up. */
  async #windDown(options: StopOptions): Promise<void> {
    await this.proc.hooks.stopOwned(this, options);
    const { instance, turn } = this;
    try {
      const cleaned = promiseFrom(
        turn,
        runInTurn(turn, () => instance?.cleanup?.(options.error)),
      );
      if (cleaned !== undefined) await this.#waitAtMost(CLEANUP_MS, cleaned);
    } catch (error) {
      this.proc.hooks.cleanupFailed(this, error);
    }
    this.instance = undefined;
  }

  #waitAtMost(ms: number, done: PromiseLike<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = this.proc.clock.after(ms, () => resolve(undefined));
      const settled = (): void => timer.cancel();
      done.then(resolve, reject);
      done.then(settled, settled);
    });
  }

  /** Nobody can reach it any more by what it has given out or been given. */
  #releasePorts(): void {
    for (const port of [...(this.#openedPorts ?? [])]) port.close("the actor that opened it has ended");
    this.#ownedPorts?.releaseAll(this.#sessions?.values() ?? []);
    this.#ownedPorts = undefined;
  }

  /** The ports in what was decoded last are its own now. */
  ownDecodedPorts(): void {
    this.#ensureOwnedPorts.ownDecoded();
  }

  get #ensureOwnedPorts(): OwnedPorts {
    this.#ownedPorts ??= new OwnedPorts(this.proc, this.id);
    return this.#ownedPorts;
  }

  /** Another schema of the interface: its endpoints are known by their ids. */
  #bindByIds(lane: Lane, { firstSlot, key, endpoints }: Binding, actorClass: ActorClass, own: ActorDescriptor): void {
    for (const [i, endpoint] of endpoints.entries()) {
      const handler = handlerById(actorClass, own, endpoint);
      lane.slots[firstSlot + i] = handler;
      if (handler !== undefined) continue;
      const { id, name } = endpoint;
      const why = `the actor ${this.name} has no endpoint ${id} "${name}": its process has another schema of ${key}`;
      lane.slotRefusals ??= new Map();
      lane.slotRefusals.set(firstSlot + i, new DeliveryError("refused", why));
    }
  }

  /** Nobody holds the ports in a message that is not handled. */
  #releasePortsOfRefused(handler: Handler, flags: number, r: Reader): void {
    portsRead.length = 0;
    try {
      (handler.layout === (flags & FrameFlag.protobuf) ? handler : handlerForOtherLayout(handler, 0)).args.decodeFrom(
        r,
      );
    } catch {
      // It goes back to its sender as it is.
    }
    if (portsRead.length > 0) this.#ensureOwnedPorts.releaseDecoded();
  }

  #rejectMessage(lane: Lane, slot: number, call: number, size: number): void {
    const error = this.#ended ?? lane.slotRefusals?.get(slot) ?? lane.refusal;
    if (error === undefined) throw new ProtocolError(`cannot read message: slot ${slot} of its lane is not bound`);
    if (call === 0) bounce(lane, slot, size, error);
    else answerUndelivered(lane, call, this.name, error);
  }
}

/** Every receiver reads the protobuf layout; the lockstep layout is for those that have the same schema. */
function handlerForOtherLayout(handler: Handler, slot: number): Handler {
  if (handler.layout === 0) return protobufVariant(handler);
  throw new ProtocolError(
    `cannot read message: slot ${slot} of its lane was agreed to be in the protobuf layout, and it is in another one`,
  );
}
