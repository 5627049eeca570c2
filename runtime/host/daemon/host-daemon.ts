/**
 * The daemon of a host: takes drivers in, each as a tenant of its own, and ends them when it is ended. How connections come
 * about and prove who they are is decided elsewhere.
 */
import type { HostProof } from "../../../generated/proc-agent.js";
import type { ProcId } from "../../link/address.js";
import type { HandshakeReason } from "../../link/handshake/errors.js";
import type { Offer } from "../../link/handshake/message.js";
import type { Admission } from "../../link/lasting/accept.js";
import type { NetworkAddress } from "../../link/network-address.js";
import type { Pipe } from "../../link/pipe.js";
import type { ScopedPlatform } from "../../proc/platform/platform.js";
import { DriverSession, type SessionOwner } from "./driver-session.js";

export interface HostDaemonOptions {
  readonly id: bigint;
  readonly hostname: string;
  readonly proof: HostProof;
  /** A platform for one tenant. */
  readonly platform: () => ScopedPlatform;
  /** Where the host listens, as far as processes may listen there, too. */
  readonly addresses: readonly NetworkAddress[];
  /** More at the same time are refused. */
  readonly maxDrivers: number;
}

/** How long a link to a driver may be without a connection, in ms: when that is given up is decided by beats. */
const maxDisconnectMs = 600_000;

export class HostDaemon implements SessionOwner {
  readonly id: bigint;
  readonly hostname: string;
  readonly proof: HostProof;
  readonly #options: HostDaemonOptions;
  readonly #sessions = new Map<ProcId, { readonly universe: bigint; readonly tenant: DriverSession }>();
  #resolveEnded: (() => void) | undefined;
  #stopping: Promise<void> | undefined;
  /** Resolves when a driver has shut the daemon down, and nothing is left. */
  readonly ended: Promise<void>;

  constructor(options: HostDaemonOptions) {
    this.id = options.id;
    this.hostname = options.hostname;
    this.proof = options.proof;
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** What becomes of a connection that has proved to come from a driver's tree. */
  admit(offer: Offer): Admission | Promise<Admission> {
    const { universe, from, to, first } = offer;
    if (this.#stopping !== undefined) return refusedAdmission("busy", "the host is being shut down");
    const known = this.#sessions.get(to);
    if (offer.use === "memory" && (known !== undefined || !offer.direct)) {
      return refusedAdmission("unknown", "the agent of a host has no memory");
    }
    const open = (pipe: Pipe) => this.#openSession(offer, pipe, known?.tenant);
    if (known !== undefined) {
      if (known.universe !== universe)
        return refusedAdmission("unknown", "there is no such agent for this tree of processes");
      // Whether others are gone is for their links to find out.
      return from === known.tenant.driver ? { kind: "open", giveUpMs: maxDisconnectMs, open } : { kind: "open", open };
    }
    // Whoever an agent is made for is its driver: processes that want one may be sooner than that.
    if (offer.direct) return this.#redirect(offer);
    if (!first) return refusedAdmission("gone", "the host has ended what it did for this driver");
    const { size } = this.#sessions;
    if (size >= this.#options.maxDrivers)
      return refusedAdmission("busy", `the host serves ${size} drivers and takes no more`);
    return { kind: "open", giveUpMs: maxDisconnectMs, open };
  }

  /** A link that was admitted. Since then things may have changed. */
  #openSession({ universe, from, to }: Offer, pipe: Pipe, known: DriverSession | undefined): void {
    const found = this.#sessions.get(to);
    const full = this.#sessions.size >= this.#options.maxDrivers;
    if (found === undefined && (known !== undefined || full || this.#stopping !== undefined)) {
      pipe.destroy(new Error("the host has ended what it did for this driver, or takes no more of them"));
      return;
    }
    const tenant =
      found?.tenant ?? new DriverSession(this.#options.platform(), { universe, id: to, driver: from }, this);
    if (found === undefined) this.#sessions.set(to, { universe, tenant });
    tenant.accept(pipe);
  }

  /** To the port of the process that is wanted. */
  async #redirect(offer: Offer): Promise<Admission> {
    for (const { universe, tenant } of this.#sessions.values()) {
      const port = universe === offer.universe ? await tenant.portOf(offer.to) : undefined;
      if (port !== undefined) return { kind: "redirect", port };
    }
    return refusedAdmission("unknown", "there is no such process here, or it takes no links itself");
  }

  /** With several addresses of a kind it is not known by which one a driver comes: only one that stands for all will do. */
  addressFor(kind: NetworkAddress["kind"]): NetworkAddress | undefined {
    const all = this.#options.addresses.filter((address) => address.kind === kind);
    return all.length === 1 ? all[0] : all.find((address) => isWildcard(address));
  }

  sessionEnded(tenant: DriverSession): void {
    this.#sessions.delete(tenant.id);
  }

  /** @param by the tenant who asks for it, if one does */
  shutdown(reason: string, by?: DriverSession): Promise<void> {
    this.#stopping ??= this.#shutdown(reason, by);
    return this.#stopping;
  }

  async #shutdown(reason: string, by: DriverSession | undefined): Promise<void> {
    const tenants = [...this.#sessions.values()].map(({ tenant }) => tenant);
    await Promise.all(tenants.map((tenant) => (tenant === by ? tenant.end() : tenant.evict(reason))));
    for (const tenant of tenants) tenant.closeSoon(reason);
    this.#resolveEnded?.();
  }
}

function refusedAdmission(reason: HandshakeReason, text: string): Admission {
  return { kind: "refuse", reason, text };
}

function isWildcard(address: NetworkAddress): boolean {
  return address.kind !== "unix" && (address.host === "0.0.0.0" || address.host === "::");
}
