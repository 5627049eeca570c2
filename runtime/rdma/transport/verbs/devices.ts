/** The active RDMA ports of this machine, opened on first use. */
import type { Clock } from "../../../link/clock.js";
import type { RdmaAddon } from "../../../native/rdma-addon.js";
import { RdmaDevice } from "./device.js";
import { LocalRegions } from "./local-regions.js";
import { activePorts, type RdmaPort } from "./ports.js";

export interface OpenRdmaPort {
  readonly device: RdmaDevice;
  readonly localRegions: LocalRegions;
}

export class RdmaDevices {
  readonly clock: Clock;
  readonly #addon: RdmaAddon;
  readonly #requested: string | undefined;
  readonly #open = new Map<RdmaPort, Promise<OpenRdmaPort>>();
  #ports: readonly RdmaPort[] | undefined;

  /** @param only the only device to use, as `device` or `device:port` */
  constructor(addon: RdmaAddon, clock: Clock, only: string | undefined) {
    this.#addon = addon;
    this.clock = clock;
    this.#requested = only;
  }

  get ports(): readonly RdmaPort[] {
    this.#ports ??= activePorts(this.#requested);
    return this.#ports;
  }

  portOf(gid: Uint8Array): RdmaPort | undefined {
    return this.ports.find((port) => Buffer.compare(port.gid, gid) === 0);
  }

  /** Opens a port, or returns the open one. Rejects if the port cannot be used; the next call then tries again. */
  open(port: RdmaPort): Promise<OpenRdmaPort> {
    let opening = this.#open.get(port);
    if (opening === undefined) {
      opening = RdmaDevice.open(this.#addon, port, this.clock).then((device) => ({
        device,
        localRegions: new LocalRegions(device, this.clock),
      }));
      this.#open.set(port, opening);
      opening.catch(() => this.#open.delete(port));
    }
    return opening;
  }

  close(): void {
    for (const opening of this.#open.values()) {
      opening.then(
        ({ device, localRegions }) => {
          localRegions.close();
          return device.close();
        },
        () => undefined,
      );
    }
    this.#open.clear();
  }
}
