/** The agent of a host for one driver: the actor that receives the driver's orders. Its session carries them out. */
import {
  type CommandEvent,
  type CommandOrder,
  HostAgentActor,
  type HostInfo,
  type HostSignal,
  type HostTerms,
  type HostUse,
  type OwnPort,
  type SeenFile,
  type StartOrder,
} from "../../../generated/host-agent.js";
import type {
  FoundPublication,
  MovedSender,
  Publication,
  PublishedRankState,
  RelayedAnswer,
  RelayedCall,
  SenderMove,
} from "../../../generated/published.js";
import { context } from "../../actor/context.js";
import type { ProcId } from "../../link/address.js";
import type { Controllers } from "./controllers.js";
import type { PublicationRelay } from "./publication-relay.js";
import { checkReadOnlyRequest, type HostRequest, type ReadOnlyReason } from "./read-only.js";
import type { SessionCommands } from "./session-commands.js";

/** The session of a driver, as its agent uses it. */
export interface DriverRequests {
  /** Why the driver is read-only; undefined if it is not. */
  readonly readOnly: ReadOnlyReason | undefined;
  attach(terms: HostTerms): HostInfo;
  start(order: StartOrder): void;
  /** Resolves with the port on which a process listens itself; undefined if it does not listen. */
  portOf(proc: ProcId): Promise<number | undefined>;
  signal(proc: ProcId, signal: HostSignal): void;
  /** Starts commands. Reading it throws if the driver has not attached, or the session is ending. */
  readonly commands: SessionCommands;
  /** Ends a command. One that is not known has ended already. @param grace time in ms between SIGTERM and SIGKILL */
  endCommand(id: bigint, grace: number): void;
  /** Ends everything that the driver has started on this host. */
  end(): Promise<void>;
  /** Closes the connection to the driver after the answer has been sent. */
  closeSoon(reason: string): void;
  /** Ends the daemon. */
  shutdown(reason: string): Promise<void>;
  /** @param from the process that watches this host for the driver */
  beat(from: ProcId): void;
  driverEnded(reason: string, from: ProcId): void;
  /** Keeps all messages to the driver, because a controller takes its place. */
  hold(limit: number): void;
  /** Sends the kept messages. @param publisher the new owner of the published meshes; undefined: the driver goes on */
  resume(publisher: string | undefined): void;
  /** Describes the use of the host by all its drivers. */
  describe(): HostUse;
  /** The processes of the driver that have not ended. */
  readonly processes: readonly ProcId[];
  /** The controllers of this host. */
  readonly controllers: Controllers;
  /** Passes messages to and from other drivers. */
  readonly relay: PublicationRelay;
}

export class HostAgent extends HostAgentActor {
  readonly #session: DriverRequests;

  constructor(session: DriverRequests) {
    super();
    this.#session = session;
  }

  attach(terms: HostTerms): HostInfo {
    return this.#for("attach").attach(terms);
  }

  start(order: StartOrder): void {
    this.#for("start").start(order);
  }

  async portOf(proc: ProcId): Promise<OwnPort> {
    const port = await this.#for("portOf").portOf(proc);
    return port === undefined ? {} : { port };
  }

  signal(proc: ProcId, signal: HostSignal): void {
    this.#for("signal").signal(proc, signal);
  }

  execute(order: CommandOrder): AsyncIterable<CommandEvent> {
    return this.#for("execute").commands.start(order, context().signal);
  }

  endCommand(id: bigint, grace: number): void {
    this.#for("endCommand").endCommand(id, grace);
  }

  freePort(): Promise<number> {
    return this.#for("freePort").commands.freePort();
  }

  async leave(reason: string): Promise<void> {
    const session = this.#for("leave");
    await session.end();
    session.closeSoon(reason);
  }

  async shutdown(reason: string): Promise<void> {
    await this.#for("shutdown").shutdown(reason);
  }

  beat(): void {
    this.#for("beat").beat(context().caller.id.proc);
  }

  driverEnded(reason: string): void {
    this.#for("driverEnded").driverEnded(reason, context().caller.id.proc);
  }

  publish(publication: Publication): void {
    this.#for("publish").relay.publish(publication);
  }

  unpublish(publication: bigint, reason: string): void {
    this.#for("unpublish").relay.unpublish(publication, reason);
  }

  findPublication(name: string, wait: number): Promise<FoundPublication> {
    return this.#for("findPublication").relay.find(name, wait, context().signal);
  }

  relayCall(call: RelayedCall): Promise<RelayedAnswer> {
    return this.#for("relayCall").relay.call(call, context().signal);
  }

  relayStream(call: RelayedCall): AsyncIterable<RelayedAnswer> {
    return this.#for("relayStream").relay.stream(call, context().signal);
  }

  publishedRankState(publication: bigint, rank: number): Promise<PublishedRankState> {
    return this.#for("publishedRankState").relay.rankState(publication, rank);
  }

  startController(state: string): Promise<bigint> {
    return this.#for("startController").controllers.start(state);
  }

  handOver(controller: bigint, state: string): Promise<void> {
    return this.#for("handOver").controllers.handOver(controller, state);
  }

  endController(controller: bigint): void {
    this.#for("endController").controllers.end(controller);
  }

  hold(limit: number): void {
    this.#for("hold").hold(limit);
  }

  resume(publisher?: string): void {
    this.#for("resume").resume(publisher);
  }

  describe(): HostUse {
    return this.#for("describe").describe();
  }

  processes(): bigint[] {
    return [...this.#for("processes").processes];
  }

  serve(name: string, order: string): Promise<void> {
    return this.#for("serve").controllers.serve(name, order);
  }

  hasFile(file: SeenFile): boolean {
    return this.#for("hasFile").commands.hasFile(file);
  }

  movePublishedSender(move: SenderMove): Promise<MovedSender> {
    return this.#for("movePublishedSender").relay.moveSender(move);
  }

  /** Returns the session, for one request. @throws Error if the driver is read-only, and the request is not for looking */
  #for(request: HostRequest): DriverRequests {
    const { readOnly } = this.#session;
    if (readOnly !== undefined) checkReadOnlyRequest(request, readOnly);
    return this.#session;
  }
}
