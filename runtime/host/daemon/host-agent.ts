/** The agent of a host for one driver: the actor that does what the driver asks for. How it is done is the tenant's concern. */
import {
  HostAgentActor,
  type HostInfo,
  type HostSignal,
  type HostTerms,
  type OwnPort,
  type StartOrder,
} from "../../../generated/host-agent.js";
import type { ProcId } from "../../link/address.js";
import type { Tenant } from "./tenant.js";

export class HostAgent extends HostAgentActor {
  readonly #tenant: Tenant;

  constructor(tenant: Tenant) {
    super();
    this.#tenant = tenant;
  }

  attach(terms: HostTerms): HostInfo {
    return this.#tenant.attach(terms);
  }

  start(order: StartOrder): void {
    this.#tenant.start(order);
  }

  async portOf(proc: ProcId): Promise<OwnPort> {
    const port = await this.#tenant.portOf(proc);
    return port === undefined ? {} : { port };
  }

  signal(proc: ProcId, signal: HostSignal): void {
    this.#tenant.signal(proc, signal);
  }

  async leave(reason: string): Promise<void> {
    await this.#tenant.end();
    this.#tenant.closeSoon(reason);
  }

  async shutdown(reason: string): Promise<void> {
    await this.#tenant.shutdown(reason);
  }

  beat(): void {
    this.#tenant.beat();
  }

  driverEnded(reason: string): void {
    this.#tenant.driverEnded(reason);
  }
}
