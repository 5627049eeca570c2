/** The RDMA ports of this process: which there are, and, once they are used, what has been opened of them. */
import type { Clock } from "../../link/clock.js";
import type { RdmaAddon } from "../../native/rdma-addon.js";
import { Device } from "./device.js";
import { Locals } from "./locals.js";
import { activePorts, type Port } from "./ports.js";

export interface OpenPort {
  readonly device: Device;
  readonly locals: Locals;
}

export class Devices {
  readonly clock: Clock;
  readonly #addon: RdmaAddon;
  readonly #only: string | undefined;
  readonly #open = new Map<Port, Promise<OpenPort>>();
  #ports: readonly Port[] | undefined;

  /** @param only `device` or `device:port`: no other is used */
  constructor(addon: RdmaAddon, clock: Clock, only: string | undefined) {
    this.#addon = addon;
    this.clock = clock;
    this.#only = only;
  }

  get ports(): readonly Port[] {
    this.#ports ??= activePorts(this.#only);
    return this.#ports;
  }

  portOf(gid: Uint8Array): Port | undefined {
    return this.ports.find((port) => Buffer.compare(port.gid, gid) === 0);
  }

  /** @throws Error when it cannot be used; the next one who asks tries again */
  open(port: Port): Promise<OpenPort> {
    let opening = this.#open.get(port);
    if (opening === undefined) {
      opening = Device.open(this.#addon, port, this.clock).then((device) => ({
        device,
        locals: new Locals(device, this.clock),
      }));
      this.#open.set(port, opening);
      opening.catch(() => this.#open.delete(port));
    }
    return opening;
  }

  close(): void {
    for (const opening of this.#open.values()) {
      opening.then(
        ({ device, locals }) => {
          locals.close();
          return device.close();
        },
        () => undefined,
      );
    }
    this.#open.clear();
  }
}
