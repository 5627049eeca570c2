/** The agent of a host for one driver: the actor that takes the driver's orders. `DriverSession` carries them out. */
import {
  HostAgentActor,
  type HostInfo,
  type HostSignal,
  type HostTerms,
  type OwnPort,
  type StartOrder,
} from "../../../generated/host-agent.js";
import type { ProcId } from "../../link/address.js";
import type { DriverSession } from "./driver-session.js";

export class HostAgent extends HostAgentActor {
  readonly #session: DriverSession;

  constructor(tenant: DriverSession) {
    super();
    this.#session = tenant;
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

  async leave(reason: string): Promise<void> {
    await this.#session.end();
    this.#session.closeSoon(reason);
  }

  async shutdown(reason: string): Promise<void> {
    await this.#session.shutdown(reason);
  }

  beat(): void {
    this.#session.beat();
  }

  driverEnded(reason: string): void {
    this.#session.driverEnded(reason);
  }
}
