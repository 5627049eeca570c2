/**
 * The host through which a driver reaches other hosts, as the driver sees it: the connections through it, the driver's
 * agent on it, and the process there that watches the other hosts, so that a driver that is absent for a while declares
 * none of them gone.
 */
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { DriverGateway } from "../../proc/remote/driver-gateway.js";
import { routeByDialling } from "../../proc/remote/host-route.js";
import { AttachedHost, type HostAccess } from "./attached-host.js";
import type { HostAddress } from "./host-targets.js";
import { HostWatcher, startWatching } from "./host-watcher.js";

export interface GatewayOptions {
  readonly target: HostAddress;
  /** The time in ms for which the driver may have no connection to the gateway. */
  readonly absence: number;
}

export class GatewayHost {
  readonly route: DriverGateway;
  /** Watches the hosts behind the gateway, on the gateway. */
  readonly watcher: HostWatcher;
  readonly #host: AttachedHost;

  /** @param lost called with the reason when the gateway is gone, and was not left */
  constructor(
    runtime: ProcessRuntime,
    { target, absence }: GatewayOptions,
    access: HostAccess,
    lost: (reason: string) => void,
  ) {
    const { platform, mainProc } = runtime;
    const { proof } = access;
    const { address, dial, name } = target;
    const way = dial && routeByDialling(platform, dial, absence);
    this.route = new DriverGateway(platform, mainProc.proc, { address, name, way, proof, absence });
    const ownAccess = { ...access, silence: absence, keepAlive: absence, role: "gateway" as const, way };
    const calls = {
      lost: () => lost(`the driver gateway ${this.route.address} is gone`),
      waitFor: () => undefined,
    };
    this.#host = new AttachedHost(runtime, target, ownAccess, calls);
    this.watcher = new HostWatcher(runtime, (id) =>
      startWatching(mainProc.proc, id, (request) => this.#host.start(mainProc.proc, request)),
    );
  }

  /** Resolves when the gateway has accepted this driver; rejects with the reason if it has not. */
  get ready(): Promise<unknown> {
    return this.#host.ready;
  }

  /** The random id of the daemon; undefined until it is known. */
  get daemon(): bigint | undefined {
    return this.#host.daemon;
  }

  /** Leaves the gateway, after the hosts behind it. Never rejects. */
  async leave(reason: string): Promise<void> {
    await this.#host.leave(reason);
    this.route.close();
  }

  /** Leaves the gateway to nobody: what the driver had there ends, and what it had behind it passes to another process. */
  giveUp(reason: string): void {
    void this.leave(reason);
  }
}
