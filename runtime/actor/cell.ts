/**
 * The cell of an actor: its identity, its life from construction to its end, its mailbox, and the sessions by which it
 * sends. A proc's root is a cell too, one that takes no messages.
 */
import type { Caster } from "../cast/caster.js";
import { type ActorId, type Location, type MeshId, ROOT_MESH } from "../link/address.js";
import { type Binding, type BoundEndpoint, Layout, type OtherSchema } from "../link/binding.js";
import { DeliveryError } from "../link/errors.js";
import { chainToken, readExtension } from "../link/extension.js";
import { Flag, ProtocolError } from "../link/frame.js";
import type { Destination, Lane } from "../link/lane.js";
import type { BoundMessage, Interface, Sender, Session, SessionTarget } from "../link/session.js";
import type { Encoded } from "../link/waiting.js";
import { type Extent, Point } from "../shape/index.js";
import { chainOf, errorOfChain, isError, messageOf, type PlainError } from "../thrown.js";
import type { ActorDescriptor } from "../wire/descriptor.js";
import { protobufArguments, protobufValue } from "../wire/protobuf-messages.js";
import type { Reader } from "../wire/reader.js";
import type { Actor, Failure } from "./actor.js";
import { ActorTarget, because, type MeshRecord } from "./address.js";
import { answerUndecodable, answerUndelivered, bounce } from "./answer.js";
import { makeCaster } from "./casting.js";
import { type ActorContext, type AnyTurn, OwnTurn, runTurn } from "./context.js";
import { type Handler, handlerById, handlersOf, inProtobuf, interfaceOf } from "./handler.js";
import { HeldPorts } from "./held-ports.js";
import { holderName, portsRead } from "./holders.js";
import type { ActorClass, ActorFailure, ActorRequest, StopOptions } from "./hooks.js";
import { promiseOf } from "./invoke.js";
import { Mailbox, type MailboxOwner } from "./mailbox.js";
import type { OpenPort } from "./open-port.js";
import { PortInterface } from "./port-interface.js";
import type { Proc } from "./proc.js";
import { compareSchemas, schemaOf } from "./schemas.js";
import { translate } from "./translate.js";
import { Turn } from "./turn.js";
import { Watchdog, type Watched } from "./watchdog.js";

/** `starting`: constructor or `init` is running. `stopping`: what waits is still handled. */
export type CellState = "starting" | "running" | "stopping" | "failed" | "stopped";

/** What its creator said of an actor. A root has neither class nor descriptor. */
export type ActorShape = Omit<ActorRequest, "args" | "actorClass" | "descriptor"> &
  Partial<Pick<ActorRequest, "actorClass" | "descriptor">>;

/** How long `cleanup` may take, in milliseconds. */
const CLEANUP_MS = 3000;
/** How long an actor that ends waits for receivers that may have another schema, in milliseconds. */
const AGREE_MS = 1000;
/** Cancel reason of callers that are gone: an index of `cancelReasons`. */
const CALLER_GONE = 0;

export class Cell implements Destination, Sender, MailboxOwner, Watched {
  readonly proc: Proc;
  readonly shape: ActorShape;
  state: CellState = "starting";
  /** Undefined before the constructor has returned and after `cleanup`. */
  instance: Actor | undefined;
  /** Why it takes no messages any more. */
  #ended: DeliveryError | undefined;
  readonly #mailbox: Mailbox;
  #sessions: Map<unknown, Session> | undefined;
  #lanes: Lane[] | undefined;
  /** Who has replaced it. */
  #next: Cell | undefined;
  /** Of meshes that it casts to: for as long as anybody here has those. */
  #casters: WeakMap<MeshRecord, Caster> | undefined;
  /** Those of them that have something to do. */
  #awake: Set<Caster> | undefined;
  /** Ports that it was sent and has not dropped. */
  #held: HeldPorts | undefined;
  /** Ports that end with it. */
  #ports: Set<OpenPort> | undefined;
  /** Why it sends nothing any more, whatever of its code still runs. */
  closed: DeliveryError | undefined;
  #windingDown: Promise<void> | undefined;
  /** Somebody waits until it has been started, or has failed. */
  #whenStarted: (() => void) | undefined;
  #stopping: Promise<void> | undefined;

  /** Made by `proc.createActor`. */
  constructor(proc: Proc, shape: ActorShape) {
    this.proc = proc;
    this.shape = shape;
    const { watch } = shape;
    this.#mailbox = new Mailbox(this, proc.clock, watch && new Watchdog(this, watch, proc.clock));
  }

  get mesh(): MeshId {
    return this.shape.mesh;
  }

  get rank(): number {
    return this.shape.rank;
  }

  get isRoot(): boolean {
    return this.shape.mesh === ROOT_MESH;
  }

  get id(): ActorId {
    const { mesh, rank, incarnation } = this.shape;
    return { universe: this.proc.universe, proc: this.proc.id, mesh, rank, incarnation };
  }

  get name(): string {
    return this.isRoot ? this.shape.name : `${this.shape.name}[${this.shape.rank}]`;
  }

  /** Its name in call chains. */
  get token(): readonly [number, number] {
    return chainToken({ proc: this.proc.id, mesh: this.shape.mesh, rank: this.shape.rank });
  }

  /** What code of this actor runs in when it handles no message. */
  get turn(): OwnTurn {
    return new OwnTurn(this);
  }

  /** Why it takes no messages any more. */
  get ended(): DeliveryError | undefined {
    return this.#ended;
  }

  get context(): ActorContext {
    const { name, rank } = this.shape;
    const extent = this.shape.extent as Extent;
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
  get waiting(): number {
    return this.#mailbox.length;
  }

  /** Constructs the actor and runs its `init`. Never throws. */
  start(args: readonly unknown[]): void {
    const turn = new OwnTurn(this, this.token);
    const { actorClass } = this.shape;
    const construct = actorClass as unknown as new (...args: readonly unknown[]) => Actor;
    try {
      runTurn(turn, () => {
        this.instance = new construct(...args);
      });
    } catch (error) {
      this.fail({ kind: "constructor", error, at: this.proc.clock.wall() });
      return;
    }
    const failed = (error: unknown): void => this.fail({ kind: "init", error, at: this.proc.clock.wall() });
    try {
      const initialised = promiseOf(
        turn,
        runTurn(turn, () => this.instance?.init?.()),
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
  supervise(failure: Failure): unknown {
    return runTurn(this.turn, () => this.instance?.supervise?.(failure));
  }

  /** The actor has failed: callers are told, then its owner. Idempotent. */
  fail(failure: ActorFailure): void {
    if (this.state === "failed" || this.state === "stopped") return;
    const { error } = failure;
    this.state = "failed";
    this.#ended = this.#failedOf(error);
    this.#mailbox.close(this.#ended);
    this.#letGo();
    this.#whenStarted?.();
    this.proc.hooks.actorFailed(this, failure);
    const reason = isError(error) ? error : errorOfChain(chainOf(error));
    this.#windingDown = this.#windDown({ reason: this.#ended.message, drain: 0, error: reason });
  }

  /**
   * Another one takes over its lanes: messages and casts alike come back to their senders until now, and go to the new one
   * from now on, so that what that handles of a sender has no gaps.
   */
  replaceBy(next: Cell): void {
    const lanes = this.#lanes ?? [];
    for (const lane of lanes) lane.redirect(next);
    next.#lanes = lanes;
    this.#lanes = undefined;
    this.#next = next;
    this.#closeSessions();
  }

  /** A failed actor has come to its end, but for its place, which another one takes over. Never rejects. */
  async vacated(): Promise<void> {
    await this.#windingDown;
    await this.#agreed();
  }

  /** It never came to be: its callers are told why. */
  refuse(failure: ActorFailure): void {
    this.state = "failed";
    this.#ended = this.#failedOf(failure.error);
    this.#mailbox.close(this.#ended);
  }

  /** Stops the actor: no new messages, those that wait for at most `drain`, what it owns, `cleanup`. Never rejects. */
  stop(options: StopOptions): Promise<void> {
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  bind(lane: Lane, binding: Binding): void {
    if (this.#next !== undefined) {
      // What names its interface has waited for casts while this actor was replaced.
      lane.redirect(this.#next);
      this.#next.bind(lane, binding);
      return;
    }
    this.#lanes ??= [];
    if (!this.#lanes.includes(lane)) this.#lanes.push(lane);
    if (this.state === "stopped") lane.gone(this.#ended!.reason, this.#ended!.message);
    const { base, layout, key } = binding;
    const { actorClass, descriptor } = this.shape;
    const own = descriptor === undefined ? undefined : interfaceOf(descriptor, key);
    if (actorClass === undefined || own === undefined) {
      const is = descriptor?.key ?? "root";
      lane.refusal = new DeliveryError("refused", `the actor ${this.name} is no ${key}: it is a ${is}`);
      if (layout === Layout.lockstep) lane.link.sendBound(lane.id, base, undefined);
    } else if (layout === Layout.protobuf) this.#bindByIds(lane, binding, actorClass, own);
    else if (layout === Layout.lockstep && own.fingerprint === binding.fingerprint) {
      for (const [i, handler] of handlersOf(actorClass, own).entries()) lane.slots[base + i] = handler;
      lane.link.sendBound(lane.id, base, undefined);
    } else if (layout === Layout.lockstep) {
      lane.pause();
      lane.link.sendBound(lane.id, base, schemaOf(own));
    }
  }

  message(lane: Lane, slot: number, call: number, flags: number, r: Reader, size: number): void {
    const extension = (flags & Flag.extended) === 0 ? undefined : readExtension(r);
    let handler = lane.slots[slot] as Handler | undefined;
    if (this.#ended !== undefined || handler === undefined) {
      this.#turnAway(lane, slot, call, size);
      if (handler !== undefined) this.#dropPorts(handler, flags, r);
      return;
    }
    if (handler.layout !== (flags & Flag.protobuf)) handler = otherLayout(handler, slot);
    let args: readonly unknown[];
    // Left over from a message that could not be decoded to its end.
    if (portsRead.length > 0) portsRead.length = 0;
    try {
      args = handler.args.decodeFrom(r);
    } catch (error) {
      if (call !== 0) answerUndecodable(lane, call, this.name, error);
      else bounce(lane, slot, size, new DeliveryError("refused", messageOf(error)));
      return;
    }
    if (portsRead.length > 0) this.holdPorts();
    this.#mailbox.add(new Turn(this, lane, slot, handler, call, args, size, extension));
  }

  cancel(lane: Lane, call: number, reason: number): void {
    this.#mailbox.cancel(lane, call, reason);
  }

  /** The sender of a lane wants to know when everything that has come before has been handled. */
  reached(lane: Lane): void {
    if (this.#next !== undefined) this.#next.reached(lane);
    else this.#mailbox.afterHandling(() => lane.reached());
  }

  laneClosed(lane: Lane): void {
    const lanes = this.#lanes;
    const index = lanes?.indexOf(lane) ?? -1;
    if (index >= 0) lanes!.splice(index, 1);
    this.#mailbox.cancelLane(lane, CALLER_GONE);
  }

  messageFailed(turn: Turn, error: unknown): void {
    const { endpoint } = turn.handler;
    this.fail({ kind: "message", error, endpoint: endpoint.name, at: this.proc.clock.wall() });
  }

  /**
   * Code that it has left running has thrown, outside of any handler: it has failed.
   * @param turn that the code belongs to
   */
  uncaught(turn: AnyTurn, error: unknown): void {
    const endpoint = turn instanceof Turn ? { endpoint: turn.handler.endpoint.name } : {};
    this.fail({ kind: "message", error, ...endpoint, at: this.proc.clock.wall() });
  }

  slow(message: string): void {
    this.proc.hooks.handlerSlow(this, message);
  }

  stuck({ handler }: Turn, message: string): void {
    const { name: endpoint } = handler.endpoint;
    this.fail({ kind: "stuck", error: new Error(message), endpoint, at: this.proc.clock.wall() });
  }

  /**
   * The session to a destination, opened on first use.
   * @throws DeliveryError if its process is known to be dead, or if this actor has come to its end
   */
  session(key: unknown, target: SessionTarget, location: Location): Session {
    const known = this.#sessions?.get(key);
    if (known !== undefined) return known;
    if (this.closed !== undefined) throw this.closed;
    const session = this.proc.routes.to(target.proc, location, target.owner).openSession(this, target, key);
    this.#sessions ??= new Map();
    this.#sessions.set(key, session);
    if (target instanceof ActorTarget) {
      target.opened(session);
      this.#casters?.get(target.mesh)?.attach(session, target.rank, false);
    }
    return session;
  }

  /** By which it casts to a mesh: from its first cast on. */
  caster(record: MeshRecord): Caster {
    let caster = this.#casters?.get(record);
    if (caster === undefined) {
      caster = makeCaster(this, record, this.#sessions?.values() ?? []);
      this.#casters ??= new WeakMap();
      this.#casters.set(record, caster);
    }
    return caster;
  }

  casterAwake(caster: Caster): void {
    this.#awake ??= new Set();
    this.#awake.add(caster);
  }

  /** @param ended it is not needed any more */
  casterAsleep(record: MeshRecord, caster: Caster, ended: boolean): void {
    this.#awake?.delete(caster);
    if (ended && this.#casters?.get(record) === caster) this.#casters.delete(record);
  }

  knownSession(key: unknown): Session | undefined {
    return this.#sessions?.get(key);
  }

  sessionEnded(session: Session): void {
    if (session.target instanceof ActorTarget) session.target.closed(session);
    if (this.#sessions?.get(session.key) === session) this.#sessions.delete(session.key);
  }

  targetEnded(target: SessionTarget): void {
    if (!(target instanceof ActorTarget)) return;
    target.wentDown();
    const { number: mesh, rank, generation } = target;
    for (let i = 0; i <= generation; i++) this.proc.holderEnded(holderName({ mesh, rank, incarnation: i }));
  }

  compare({ target }: Session, known: Interface, other: OtherSchema): DeliveryError | undefined {
    return compareSchemas(target, known, other);
  }

  translate(known: Interface, endpoint: BoundEndpoint, body: Encoded): Encoded {
    // All that it sends is encoded here: by endpoints that have codecs.
    const { args } = endpoint as BoundMessage;
    const protobuf = known instanceof PortInterface ? protobufValue(args) : protobufArguments(args);
    return translate(args, protobuf, body, this.proc.limits);
  }

  bounced(session: Session, slot: number, error: DeliveryError): void {
    this.undeliverable(session.labelOf(slot), error);
  }

  /** A message without an answer could not be delivered. */
  undeliverable(to: string, { reason, message }: DeliveryError): void {
    const told = { to, reason, message };
    try {
      if (this.instance?.undeliverable !== undefined) {
        runTurn(this.turn, () => this.instance?.undeliverable?.(told));
        return;
      }
    } catch (error) {
      this.fail({ kind: "message", error, at: this.proc.clock.wall() });
      return;
    }
    if (this.state !== "stopped") this.proc.hooks.undeliverable(this, told);
  }

  /** It has opened a port, which ends with it. */
  addPort(port: OpenPort): void {
    this.#ports ??= new Set();
    this.#ports.add(port);
  }

  removePort(port: OpenPort): void {
    this.#ports?.delete(port);
  }

  #started(): void {
    if (this.state !== "starting") return;
    this.state = "running";
    this.proc.hooks.actorStarted(this);
    this.#mailbox.open();
    this.#whenStarted?.();
  }

  async #stop(options: StopOptions): Promise<void> {
    const { clock } = this.proc;
    const end = clock.now() + options.drain;
    const drain = (what: Promise<unknown>) => this.#within(Math.max(0, end - clock.now()), what);
    if (options.drain > 0 && this.state === "starting" && this.waiting > 0) {
      await drain(new Promise<void>((started) => (this.#whenStarted = started)));
    }
    const drains = options.drain > 0 && this.state === "running";
    // What has come in a layout that it cannot read was sent before the end, and comes again.
    const paused = (this.#lanes ?? []).flatMap(({ resumed }) => resumed ?? []);
    if (drains && paused.length > 0) await drain(Promise.all(paused));
    if (this.state !== "failed") {
      this.state = "stopping";
      this.#ended = new DeliveryError("stopped", `the actor ${this.name} was stopped${because(options.reason)}`);
      if (drains) await drain(this.#mailbox.drained());
      this.#mailbox.close(this.#ended);
      this.#letGo();
      this.#windingDown = this.#windDown(options);
    }
    await this.vacated();
    this.state = "stopped";
    const error = this.#ended!;
    for (const lane of this.#lanes?.splice(0) ?? []) lane.gone(error.reason, error.message);
    this.#closeSessions();
    this.proc.forget(this);
  }

  /** What it has sent has been taken, or sent again in a layout that its receivers can read: before they hear of its end. */
  async #agreed(): Promise<void> {
    const asking = [...(this.#sessions?.values() ?? [])].filter((session) => session.asking);
    if (asking.length === 0) return;
    const sent = (session: Session) => new Promise<void>((resolve) => session.afterSending(resolve));
    await this.#within(AGREE_MS, Promise.all(asking.map(sent)));
  }

  #closeSessions(): void {
    this.closed = new DeliveryError("closed", `its sender has ended: ${this.#ended!.message}`);
    for (const session of this.#sessions?.values() ?? []) {
      session.close();
      if (session.target instanceof ActorTarget) session.target.closed(session);
    }
    this.#sessions = undefined;
    for (const caster of this.#awake ?? []) caster.close();
    this.#casters = undefined;
  }

  #failedOf(error: unknown): DeliveryError {
    const [first, ...others] = chainOf(error) as [PlainError, ...PlainError[]];
    const what = isError(error) ? `${first.name}: ${first.message}` : first.message;
    // As plain errors: callers read this, and whatever the actor threw may throw when it is read.
    const cause = isError(error) ? { cause: errorOfChain([first, ...others]) } : undefined;
    return new DeliveryError("failed", `the actor ${this.name} has failed: ${what}`, cause);
  }

  /** Stops what the actor owns, then lets it clean up. */
  async #windDown(options: StopOptions): Promise<void> {
    await this.proc.hooks.stopOwned(this, options);
    const { instance, turn } = this;
    try {
      const cleaned = promiseOf(
        turn,
        runTurn(turn, () => instance?.cleanup?.(options.error)),
      );
      if (cleaned !== undefined) await this.#within(CLEANUP_MS, cleaned);
    } catch (error) {
      this.proc.hooks.cleanupFailed(this, error);
    }
    this.instance = undefined;
  }

  #within(ms: number, done: PromiseLike<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = this.proc.clock.after(ms, () => resolve(undefined));
      const settled = (): void => timer.cancel();
      done.then(resolve, reject);
      done.then(settled, settled);
    });
  }

  /** Nobody can reach it any more by what it has given out or been given. */
  #letGo(): void {
    for (const port of [...(this.#ports ?? [])]) port.close("the actor that opened it has ended");
    this.#held?.letGo(this.#sessions?.values() ?? []);
    this.#held = undefined;
  }

  /** The ports in what was decoded last are its own now. */
  holdPorts(): void {
    this.#heldPorts.take();
  }

  get #heldPorts(): HeldPorts {
    this.#held ??= new HeldPorts(this.proc, this.id);
    return this.#held;
  }

  /** Another schema of the interface: its endpoints are known by their ids. */
  #bindByIds(lane: Lane, { base, key, endpoints }: Binding, actorClass: ActorClass, own: ActorDescriptor): void {
    for (const [i, endpoint] of endpoints.entries()) {
      const handler = handlerById(actorClass, own, endpoint);
      lane.slots[base + i] = handler;
      if (handler !== undefined) continue;
      const { id, name } = endpoint;
      const why = `the actor ${this.name} has no endpoint ${id} "${name}": its process has another schema of ${key}`;
      lane.refusals ??= new Map();
      lane.refusals.set(base + i, new DeliveryError("refused", why));
    }
  }

  /** Nobody holds the ports in a message that is not handled. */
  #dropPorts(handler: Handler, flags: number, r: Reader): void {
    portsRead.length = 0;
    try {
      (handler.layout === (flags & Flag.protobuf) ? handler : otherLayout(handler, 0)).args.decodeFrom(r);
    } catch {
      // It goes back to its sender as it is.
    }
    if (portsRead.length > 0) this.#heldPorts.refuse();
  }

  #turnAway(lane: Lane, slot: number, call: number, size: number): void {
    const error = this.#ended ?? lane.refusals?.get(slot) ?? lane.refusal;
    if (error === undefined) throw new ProtocolError(`cannot read message: slot ${slot} of its lane is not bound`);
    if (call === 0) bounce(lane, slot, size, error);
    else answerUndelivered(lane, call, this.name, error);
  }
}

/** Every receiver reads the protobuf layout; the lockstep layout is for those that have the same schema. */
function otherLayout(handler: Handler, slot: number): Handler {
  if (handler.layout === 0) return inProtobuf(handler);
  throw new ProtocolError(
    `cannot read message: slot ${slot} of its lane was agreed to be in the protobuf layout, and it is in another one`,
  );
}
