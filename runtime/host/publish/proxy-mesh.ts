/**
 * A mesh of another program as this program sees it: a mesh of local actors, one for each rank, each in an inline proc.
 * They forward their messages through a host, and through another one when that is gone. To all code that calls, slices or sends the mesh, it is like any other.
 */
import type { RankStatus } from "../../../generated/proc-agent.js";
import type { MovedSender, Publication, PublishedRankState, RelayedAnswer } from "../../../generated/published.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { cancelReasons, type Turn } from "../../actor/cell/turn.js";
import { ForwardFailure } from "../../actor/delivery/forward-failure.js";
import { DeliveryError } from "../../actor/errors.js";
import { type ActorMesh, wholeMesh } from "../../actor/mesh/actor-mesh.js";
import type { ActorClass } from "../../actor/reference/actor-request.js";
import type { MeshRecord } from "../../actor/reference/mesh-record.js";
import type { OutstandingCall } from "../../actor/reference/outstanding-call.js";
import type { ProcId } from "../../link/address.js";
import { WHOLE_MESH } from "../../link/frame/message-extension.js";
import { MappedStream } from "../../proc/agent/mapped-stream.js";
import type { ProcRuntime } from "../../proc/agent/proc-runtime.js";
import { waitForPredecessor } from "../../proc/agent/wait-for-predecessor.js";
import type { ChildProc } from "../../proc/mesh/child-proc.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { makeExtent } from "../../shape/extent.js";
import { errorFromChain, thrownMessage } from "../../thrown.js";
import type { ActorDescriptor, EndpointDescriptor } from "../../wire/descriptor.js";
import { AttachedHost } from "../attached/attached-host.js";
import { startInlineBackend } from "../mesh/start-inline-backend.js";
import { createProxyClass } from "./proxy-class.js";
import { dimensionsOf, valueCodec } from "./received-messages.js";
import type { UnsentCall } from "./relayed-message.js";
import { RelayedMessages } from "./relayed-messages.js";

/** Pause in ms before the program that owns the mesh is asked whether a failed rank is back. */
const POLL_MS = 250;
/**
 * Time in ms that is added to the timeout of a call, as `Turn` does: the caller reports its own timeout before an error
 * arrives that the timeout has caused in the other program.
 */
const GRACE_MS = 20;

/** One rank: the proc of its local actor, and its state in the other program. */
interface ProxyRank {
  readonly child: ChildProc;
  readonly here: ProcRuntime;
  state: PublishedRankState;
  incarnation: number;
}

export class ProxyMesh {
  readonly publication: Publication;
  readonly record: MeshRecord;
  readonly mesh: ActorMesh;
  readonly #runtime: ProcessRuntime;
  readonly #actorClass: ActorClass;
  readonly #messages: RelayedMessages;
  readonly #ranks: ProxyRank[];
  readonly #onEnd: () => void;
  #isEnded = false;
  /** Whether another host is being looked for. */
  #isMoving = false;
  /** The number of attempts to move to another host. */
  #moves = 0;

  /**
   * @param descriptor the interface of the mesh as this program knows it
   * @param onEnd called when the mesh cannot be reached any more
   */
  constructor(
    runtime: ProcessRuntime,
    host: AttachedHost,
    publication: Publication,
    descriptor: ActorDescriptor,
    onEnd: () => void,
  ) {
    this.publication = publication;
    this.#runtime = runtime;
    this.#onEnd = onEnd;
    const { random, clock } = runtime.mainProc.proc;
    this.#messages = new RelayedMessages(host, random.id(), clock, (reason) => void this.#move(reason));
    this.#actorClass = createProxyClass(descriptor, (turn, endpoint, args) => this.#forward(turn, endpoint, args));
    const { proc } = runtime.mainProc;
    const extent = makeExtent(publication.extent.map(({ name, size }) => [name, size]));
    this.record = proc.records.findOrCreate({ id: proc.random.id(), name: publication.name, owner: proc.id, extent });
    this.#ranks = Array.from({ length: this.record.size }, (_, rank) => this.#startRank(rank));
    this.mesh = wholeMesh(this.record, descriptor);
  }

  /** Returns the status of a rank, for processes of this program that cannot reach its local actor. */
  statusOf(rank: number): RankStatus {
    const known = this.#ranks[rank];
    if (known === undefined || known.state === "lost" || this.#isEnded) return { state: "lost" };
    if (known.state === "restarting") return { state: "restarting" };
    const place = { mesh: this.record.id, rank, proc: known.child.id, location: "", generation: known.incarnation };
    return { state: "living", place };
  }

  /** Handles that a host is gone, or does not know the mesh any more. */
  hostFailed(host: ProcId, reason: string): void {
    if (host === this.#messages.host.id) void this.#move(reason);
  }

  /** Ends the local actors: calls to them reject with the reason. Idempotent. */
  end(reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#onEnd();
    this.#messages.end(reason);
    for (const { child } of this.#ranks) {
      child.isExitExpected = true;
      for (const { proc } of [...this.#runtime.procs.values()])
        if (proc.id !== child.id) proc.peerDown(child.id, reason);
      child.discard({ kind: "process", cause: { name: "PublicationEnd", message: reason } });
    }
  }

  /** Moves to another host on which the mesh is published. If there is none, the mesh ends. */
  async #move(reason: string): Promise<void> {
    if (this.#isMoving || this.#isEnded) return;
    this.#isMoving = true;
    this.#messages.pause();
    const { host: left } = this.#messages;
    let refusals = "";
    for (const host of [...this.#runtime.attachedHosts.values()]) {
      // A host whose daemon is not known has not accepted this program yet.
      if (
        !(host instanceof AttachedHost) ||
        host === left ||
        host.isGateway ||
        host.isLost ||
        host.daemon === undefined
      )
        continue;
      const moves = ++this.#moves;
      const moved = await this.#askToMove(host, moves);
      if (this.#isEnded) return;
      if (typeof moved === "string") {
        refusals += `; host ${host.address} cannot be used instead: ${moved}`;
        continue;
      }
      this.#isMoving = false;
      this.#messages.resume({ host, moves, received: moved.received, reason });
      return;
    }
    this.end(`${reason}${refusals}`);
  }

  /** @returns what the publisher has received, or why the host cannot pass messages on. Never rejects */
  async #askToMove(host: AttachedHost, moves: number): Promise<MovedSender | string> {
    const move = { publication: this.publication.id, sender: this.#messages.sender, moves };
    try {
      const moved = await host.ask((agent) => agent.movePublishedSender.callOne(move));
      if (host.isLost) return "it is gone, too";
      return moved.isPublished ? moved : "the mesh is not published there";
    } catch (error) {
      return errorMessage(error);
    }
  }

  #startRank(rank: number): ProxyRank {
    const runtime = this.#runtime;
    const { proc } = runtime.mainProc;
    const { extent } = this.record;
    const id = proc.random.id();
    const host = runtime.childLocationOf(proc);
    const place = { rank, extent, runDir: "", ...(host === undefined ? {} : { host }) };
    const backend = startInlineBackend(runtime, { universe: runtime.universe, id, parent: proc.id, ...place });
    const child = runtime.addChild(proc, { id, rank, location: "", backend }, () => {});
    const made: ProxyRank = { child, here: runtime.procs.get(id)!, state: "living", incarnation: 0 };
    this.record.setLocation(rank, { proc: id, location: "" });
    this.#createActor(rank, made);
    return made;
  }

  #createActor(rank: number, { here, incarnation }: ProxyRank): void {
    const { id: mesh, name, owner, extent } = this.record;
    const actorClass = this.#actorClass;
    const { descriptor } = actorClass;
    here.proc.createActor({ mesh, rank, incarnation, name, extent, owner, descriptor, actorClass, args: [] });
  }

  #forward(turn: Turn, endpoint: EndpointDescriptor, args: readonly unknown[]): unknown {
    const call = this.#messageOf(turn, endpoint, args);
    return endpoint.stream ? this.#stream(turn, endpoint, call) : this.#call(turn, endpoint, call);
  }

  #messageOf(turn: Turn, endpoint: EndpointDescriptor, args: readonly unknown[]): UnsentCall {
    const { rank } = turn.cell;
    const isWhole = turn.extension === undefined || turn.extension.extent === WHOLE_MESH;
    const { timeLeft, key, chain } = turn;
    return {
      publication: this.publication.id,
      rank,
      sliceRank: isWhole ? rank : turn.rank.rank,
      ...(isWhole ? {} : { slice: dimensionsOf(turn.extent) }),
      ...(key === undefined ? {} : { key }),
      endpoint: endpoint.id,
      name: endpoint.name,
      args: endpoint.args.toProtobuf(args),
      isCall: turn.call !== 0,
      ...(timeLeft === 0 ? {} : { timeout: timeLeft + GRACE_MS }),
      traceparent: turn.span.toString(),
      ...(chain.length === 0 ? {} : { chain: [...chain] }),
    };
  }

  async #call(turn: Turn, endpoint: EndpointDescriptor, call: UnsentCall): Promise<unknown> {
    const { rank } = turn.cell;
    try {
      const message = this.#messages.send(call);
      const outstanding = outstandingCall(`${this.record.name}.${endpoint.name}`, () => message.cancel());
      turn.addOutstanding(outstanding);
      const answer = await message.answer;
      turn.removeOutstanding(outstanding);
      return this.#valueOf(rank, endpoint, answer);
    } catch (error) {
      if (call.isCall) throw error;
      // A message without an answer must not make the local actor fail. The sender is told as by any other actor.
      turn.cell.undeliverable(
        `${this.record.name}.${endpoint.name}`,
        new DeliveryError("refused", thrownMessage(error)),
      );
      return undefined;
    }
  }

  #stream(turn: Turn, endpoint: EndpointDescriptor, call: UnsentCall): AsyncIterable<unknown> {
    const { rank } = turn.cell;
    const fail = (error: unknown): never => {
      throw error;
    };
    const source = this.#messages.stream(call);
    const items = new MappedStream(source, (answer) => this.#valueOf(rank, endpoint, answer), fail, undefined);
    turn.addOutstanding(outstandingCall(`${this.record.name}.${endpoint.name}`, () => void items.return()));
    return items;
  }

  /** Returns the value of an answer. @throws what the handler has thrown */
  #valueOf(rank: number, endpoint: EndpointDescriptor, answer: RelayedAnswer): unknown {
    const { ended, failure, deadlock, errors, value } = answer;
    if (ended !== undefined) throw new ForwardFailure(new DeliveryError("peer-down", ended));
    if (failure !== undefined) {
      this.#rankFailed(rank, failure);
      throw new ForwardFailure(new DeliveryError("failed", failure));
    }
    if (deadlock !== undefined) throw new ForwardFailure(new DeliveryError("deadlock", deadlock));
    if (errors !== undefined) throw errorFromChain(errors.map(({ stack, ...error }) => ({ ...error, stack })));
    return value === undefined || endpoint.result === undefined
      ? undefined
      : valueCodec(endpoint.result).fromProtobuf(value)[0];
  }

  /** Fails the local actor of a rank whose actor has failed, so that all senders learn of it and avoid the rank. */
  #rankFailed(rank: number, reason: string): void {
    const failed = this.#ranks[rank]!;
    if (failed.state !== "living" || this.#isEnded) return;
    failed.state = "restarting";
    const { proc } = failed.here;
    proc.cell(this.record.id)?.fail({ kind: "killed", error: new Error(reason), at: proc.clock.epochMs() });
    void this.#recover(rank, failed);
  }

  /** Creates the local actor of a failed rank again when the actor is back. */
  async #recover(rank: number, failed: ProxyRank): Promise<void> {
    const { proc } = failed.here;
    let state: PublishedRankState = "restarting";
    while (state === "restarting") {
      await new Promise<void>((resolve) => proc.clock.after(POLL_MS, resolve));
      if (this.#isEnded) return;
      state = await this.#askState(rank);
    }
    if (state === "living") await waitForPredecessor(proc, this.record.id);
    if (this.#isEnded) return;
    failed.state = state;
    if (state === "lost") {
      this.record.target(rank).downtime?.markLost();
      return;
    }
    failed.incarnation++;
    this.#createActor(rank, failed);
    const place = { proc: proc.id, location: "", generation: failed.incarnation };
    void this.#runtime.announceMove({ mesh: this.record.id, rank, ...place }, proc.id);
  }

  /** Returns the state of a rank in the other program; `restarting` if it cannot be asked now. Never rejects. */
  async #askState(rank: number): Promise<PublishedRankState> {
    const { host } = this.#messages;
    if (this.#isMoving) return "restarting";
    const asked = host.ask((agent) => agent.publishedRankState.callOne(this.publication.id, rank));
    const state = await asked.catch(() => "restarting" as const);
    // A host that does not know the mesh any more says that the rank is lost.
    return this.#isMoving || host !== this.#messages.host ? "restarting" : state;
  }
}

/**
 * Makes what a turn abandons when its caller no longer waits. After a timeout it does nothing: the other program has the
 * same time limit, and its handler shall see a timeout and not a cancelled call.
 */
function outstandingCall(label: string, cancel: () => void): OutstandingCall {
  const abandon = (_error: unknown, reason: number) => {
    if (cancelReasons[reason] !== "timeout") cancel();
  };
  return { label, turn: undefined, waitText: "", abandon };
}
