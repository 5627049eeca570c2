/** The probes of a container: whether it has started, is ready, and is alive. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { connect } from "node:net";
import type { V1Container, V1Probe } from "@kubernetes/client-node";

export interface ProbeActions {
  readonly exec: (command: readonly string[]) => ChildProcess | undefined;
  /** Called when a result changes. */
  readonly onChange: () => void;
  /** Called when the container must be restarted. */
  readonly onFailure: () => void;
}

export class Probes {
  started: boolean;
  ready: boolean;
  readonly #container: V1Container;
  readonly #address: string;
  readonly #actions: ProbeActions;
  readonly #timers = new Set<NodeJS.Timeout>();
  #stopped = false;

  constructor(container: V1Container, address: string, actions: ProbeActions) {
    this.#container = container;
    this.#address = address;
    this.#actions = actions;
    this.started = container.startupProbe === undefined;
    this.ready = this.started && container.readinessProbe === undefined;
  }

  start(): void {
    const { startupProbe } = this.#container;
    if (startupProbe === undefined) {
      this.#startOthers();
      return;
    }
    this.#repeat(startupProbe, (ok) => {
      if (!ok) {
        this.#actions.onFailure();
        return "stop";
      }
      this.started = true;
      this.ready = this.#container.readinessProbe === undefined;
      this.#actions.onChange();
      this.#startOthers();
      return "stop";
    });
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #startOthers(): void {
    const { readinessProbe, livenessProbe } = this.#container;
    if (readinessProbe !== undefined) {
      this.#repeat(readinessProbe, (ok) => {
        if (this.ready !== ok) {
          this.ready = ok;
          this.#actions.onChange();
        }
        return undefined;
      });
    }
    if (livenessProbe !== undefined) {
      this.#repeat(livenessProbe, (ok) => {
        if (!ok) this.#actions.onFailure();
        return undefined;
      });
    }
  }

  /** Calls a function when the probe has passed or failed as often in a row as its thresholds say. */
  #repeat(probe: V1Probe, onResult: (ok: boolean) => "stop" | undefined): void {
    const { periodSeconds = 10, initialDelaySeconds = 0, successThreshold = 1, failureThreshold = 3 } = probe;
    let successes = 0;
    let failures = 0;
    const attempt = async () => {
      const ok = await this.#passes(probe);
      if (this.#stopped) return;
      successes = ok ? successes + 1 : 0;
      failures = ok ? 0 : failures + 1;
      const decided = successes >= successThreshold || failures >= failureThreshold;
      if (decided && onResult(ok) === "stop") return;
      this.#later(attempt, periodSeconds * 1000);
    };
    this.#later(attempt, initialDelaySeconds * 1000);
  }

  #later(call: () => Promise<void>, delay: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void call();
    }, delay);
    this.#timers.add(timer);
  }

  async #passes({ exec, tcpSocket, httpGet, timeoutSeconds = 1 }: V1Probe): Promise<boolean> {
    const timeout = timeoutSeconds * 1000;
    if (exec?.command !== undefined) {
      const child = this.#actions.exec(exec.command);
      if (child === undefined) return false;
      const timer = setTimeout(() => child.kill("SIGKILL"), timeout);
      const [code] = await once(child, "exit");
      clearTimeout(timer);
      return code === 0;
    }
    if (tcpSocket !== undefined)
      return this.#connects(tcpSocket.host ?? this.#address, this.#port(tcpSocket.port), timeout);
    if (httpGet === undefined) return true;
    return new Promise((resolve) => {
      const { host = this.#address, path = "/", port } = httpGet;
      const request = get({ host, path, port: this.#port(port), timeout }, ({ statusCode = 500 }) => {
        request.destroy();
        resolve(statusCode >= 200 && statusCode < 400);
      });
      request.on("timeout", () => request.destroy(new Error("no answer in time"))).on("error", () => resolve(false));
    });
  }

  #connects(host: string, port: number, timeout: number): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect({ host, port, timeout });
      const end = (ok: boolean) => {
        socket.destroy();
        resolve(ok);
      };
      socket
        .on("connect", () => end(true))
        .on("timeout", () => end(false))
        .on("error", () => end(false));
    });
  }

  #port(port: number | string): number {
    if (typeof port === "number") return port;
    return this.#container.ports?.find(({ name }) => name === port)?.containerPort ?? Number(port);
  }
}
