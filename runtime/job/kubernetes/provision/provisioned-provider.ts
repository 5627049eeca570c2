/**
 * The provider of hosts that the controller has given to this program. The controller has submitted their job, signs for them and watches them; this
 * program asks it how they are, which also renews the lease.
 */
import { setTimeout as pause } from "node:timers/promises";
import { holding } from "../../batch/batch-run.js";
import { JobStartError } from "../../errors.js";
import type { TlsSpec } from "../../job-options.js";
import type { Json } from "../../json.js";
import { formatPlace, hostPlaces } from "../../mesh-spec.js";
import type { JobLogLine, JobProvider, ReadyHost, Report } from "../../provider.js";
import { type ControllerClient, ControllerError } from "./controller-client.js";
import { type LostHost, type ProvisionState, provisionsPath } from "./protocol.js";

/** Time in ms between two requests while the controller is away. */
const awayMs = 1000;

/** The events of hosts that are awaited, which whoever waits reports. */
const waitKinds: readonly string[] = ["pending", "starting", "running"];

export interface ProvisionedHosts {
  readonly id: string;
  readonly name: string;
  readonly meshes: Readonly<Record<string, { readonly hosts: number }>>;
  readonly client: ControllerClient;
  /** Returns why the actor that has asked for the hosts has ended; undefined while it runs. */
  readonly ownerEnd: () => Error | undefined;
}

export class ProvisionedProvider implements JobProvider<string> {
  readonly kind = "provisioned";
  readonly #hosts: ProvisionedHosts;
  readonly #listeners = new Set<(state: ProvisionState) => void>();
  #state: ProvisionState | undefined;

  constructor(hosts: ProvisionedHosts) {
    this.#hosts = hosts;
  }

  get spec(): Json {
    return { id: this.#hosts.id };
  }

  get meshes() {
    return this.#hosts.meshes;
  }

  /** The certificates are those of the controller, and no one renews them here. */
  get tls(): TlsSpec {
    return { lifetime: 86_400_000 };
  }

  submit = refused;
  find = refused;
  outcome = refused;
  startOf = refused;

  ownAllocation(): string {
    return this.#hosts.id;
  }

  async isAlive(): Promise<boolean> {
    return (await holding(this.#ask(new AbortController().signal, ""))).ended === undefined;
  }

  hosts(_id: string, report: Report, signal: AbortSignal): Promise<readonly ReadyHost[]> {
    const places = hostPlaces(this.meshes);
    const told = reporting(report, (kind) => waitKinds.includes(kind));
    return this.#until((state) => {
      told(state);
      this.#checkRuns(state);
      const up = new Map(state.hosts.map((host) => [formatPlace(host), host]));
      const found = places.flatMap((place) => up.get(formatPlace(place)) ?? []);
      return found.length === places.length ? found : undefined;
    }, signal);
  }

  async returned(_id: string, lost: ReadyHost, report: Report, signal: AbortSignal): Promise<ReadyHost> {
    const { id, client } = this.#hosts;
    const host: LostHost = { mesh: lost.mesh, rank: lost.rank, incarnation: lost.incarnation ?? 0 };
    // The controller ends a pod that nobody reaches, and that is not replaced by itself.
    client.ask("POST", `${provisionsPath}/${id}/lost`, signal, host).catch(() => {});
    const told = reporting(report, (kind, place) => waitKinds.includes(kind) && place === formatPlace(lost));
    return this.#until((state) => {
      told(state);
      this.#checkRuns(state);
      const next = state.hosts.find((found) => formatPlace(found) === formatPlace(lost));
      const isSame = next?.address === lost.address && next.incarnation <= host.incarnation;
      return isSame ? undefined : next;
    }, signal);
  }

  /** Asks for the state again and again, until the hosts have ended. */
  async watch(_id: string, report: Report, signal: AbortSignal): Promise<string> {
    const told = reporting(report, (kind) => !waitKinds.includes(kind) && kind !== "ended");
    for (;;) {
      const end = this.#hosts.ownerEnd();
      if (end !== undefined) {
        void this.destroy().catch(() => {});
        return `the actor that has asked for it has ended: ${end.message}`;
      }
      try {
        const state = await this.#ask(signal, this.#state?.version ?? "");
        this.#state = state;
        told(state);
        for (const listener of [...this.#listeners]) listener(state);
        if (state.ended !== undefined) return state.ended;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ControllerError)) throw error;
        // Its hosts go on without the controller, which may be replaced.
        if (!error.isTransient) return error.message;
        await pause(awayMs, undefined, { signal, ref: false });
      }
    }
  }

  async destroy(): Promise<void> {
    const { id, client } = this.#hosts;
    for (;;) {
      try {
        await client.ask("DELETE", `${provisionsPath}/${id}`, new AbortController().signal);
        return client.close();
      } catch (error) {
        if (!(error instanceof ControllerError)) throw error;
        // What the controller does not know any more has ended.
        if (error.status === 404) return client.close();
        if (!error.isTransient) throw error;
        await pause(awayMs);
      }
    }
  }

  // biome-ignore lint/correctness/useYield: It ends before its first line.
  async *logs(): AsyncGenerator<JobLogLine, void> {
    await refused();
  }

  #ask(signal: AbortSignal, after: string): Promise<ProvisionState> {
    const { id, client } = this.#hosts;
    return client.ask("GET", `${provisionsPath}/${id}?after=${encodeURIComponent(after)}`, signal);
  }

  #checkRuns({ ended }: ProvisionState): void {
    if (ended !== undefined) throw new JobStartError(this.#hosts.name, ended);
  }

  #until<T>(pick: (state: ProvisionState) => T | undefined, signal: AbortSignal): Promise<T> {
    const picked = new Promise<T>((resolve, reject) => {
      const settle = (how: () => void) => {
        this.#listeners.delete(look);
        signal.removeEventListener("abort", aborted);
        how();
      };
      const aborted = () => settle(() => reject(signal.reason));
      const look = (state: ProvisionState) => {
        try {
          const picked = pick(state);
          if (picked !== undefined) settle(() => resolve(picked));
        } catch (error) {
          settle(() => reject(error));
        }
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener("abort", aborted);
      this.#listeners.add(look);
      if (this.#state !== undefined) look(this.#state);
    });
    // The requests do not keep the program alive, which may have nothing else to do.
    return holding(picked);
  }
}

/** Returns a function that reports each event once that it has not reported, if it is wanted. */
function reporting(report: Report, wants: (kind: string, place: string | undefined) => boolean) {
  let last = 0;
  return ({ events }: ProvisionState): void => {
    for (const { number, ...event } of events) {
      if (number <= last) continue;
      last = number;
      const { kind, mesh, rank } = event;
      const place = mesh === undefined || rank === undefined ? undefined : formatPlace({ mesh, rank });
      if (wants(kind, place)) report(event);
    }
  };
}

function refused(): Promise<never> {
  return Promise.reject(new Error("the controller has submitted these hosts, and knows what else there is about them"));
}
