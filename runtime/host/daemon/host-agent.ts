/** The agent of a host for one driver: the actor that receives the driver's orders. Its session carries them out. */
import {
  type CommandEvent,
  type CommandOrder,
  HostAgentActor,
  type HostInfo,
  type HostSignal,
  type HostTerms,
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
import type { SessionCommands } from "./session-commands.js";

/** The session of a driver, as its agent uses it. */
export interface DriverRequests {
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
    return this.#session.attach(terms);
  }

  start(order: StartOrder): void {
    this.#session.start(order);
  }

  async portOf(proc: ProcId): Promise<OwnPort> {
    const port = await this.#session.portOf(proc);
    return port === undefined ? {} : { port };
  }

  signal(proc: ProcId, signal: HostSignal): void {
    this.#session.signal(proc, signal);
  }

  execute(order: CommandOrder): AsyncIterable<CommandEvent> {
    return this.#session.commands.start(order, context().signal);
  }

  endCommand(id: bigint, grace: number): void {
    this.#session.endCommand(id, grace);
  }

  freePort(): Promise<number> {
    return this.#session.commands.freePort();
  }

  async leave(reason: string): Promise<void> {
    await this.#session.end();
    this.#session.closeSoon(reason);
  }

  async shutdown(reason: string): Promise<void> {
    await this.#session.shutdown(reason);
  }

  beat(): void {
    this.#session.beat(context().caller.id.proc);
  }

  driverEnded(reason: string): void {
    this.#session.driverEnded(reason, context().caller.id.proc);
  }

  publish(publication: Publication): void {
    this.#session.relay.publish(publication);
  }

  unpublish(publication: bigint, reason: string): void {
    this.#session.relay.unpublish(publication, reason);
  }

  findPublication(name: string, wait: number): Promise<FoundPublication> {
    return this.#session.relay.find(name, wait, context().signal);
  }

  relayCall(call: RelayedCall): Promise<RelayedAnswer> {
    return this.#session.relay.call(call, context().signal);
  }

  relayStream(call: RelayedCall): AsyncIterable<RelayedAnswer> {
    return this.#session.relay.stream(call, context().signal);
  }

  publishedRankState(publication: bigint, rank: number): Promise<PublishedRankState> {
    return this.#session.relay.rankState(publication, rank);
  }

  startController(state: string): Promise<bigint> {
    return this.#session.controllers.start(state);
  }

  handOver(controller: bigint, state: string): Promise<void> {
    return this.#session.controllers.handOver(controller, state);
  }

  endController(controller: bigint): void {
    this.#session.controllers.end(controller);
  }

  hold(limit: number): void {
    this.#session.hold(limit);
  }

  resume(publisher?: string): void {
    this.#session.resume(publisher);
  }

  processes(): bigint[] {
    return [...this.#session.processes];
  }

  serve(name: string, order: string): Promise<void> {
    return this.#session.controllers.serve(name, order);
  }

  hasFile(file: SeenFile): boolean {
    return this.#session.commands.hasFile(file);
  }

  movePublishedSender(move: SenderMove): Promise<MovedSender> {
    return this.#session.relay.moveSender(move);
  }
}
