/** The life of a container: it starts, restarts after failures, and ends. Its main program is a real process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { V1Container, V1ContainerStatus } from "@kubernetes/client-node";
import { ContainerLog } from "./container-log.js";
import { Probes } from "./probes.js";
import { besides } from "./root-file-system.js";

/** What a container needs to start. */
export interface Launch {
  /** The command that starts the main program in the container; empty for a container without one. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface ContainerOptions {
  /** Prepares a start. @throws Error if something that the container needs is missing */
  readonly launch: () => Promise<Launch>;
  /** Whether the image exists. */
  readonly hasImage: boolean;
  readonly restartPolicy: "Always" | "OnFailure" | "Never";
  /** The address of the pod, where probes connect. */
  readonly address: string;
  /** Called after each change of the status. */
  readonly onChange: () => void;
  /** How long the container waits before its second restart, in milliseconds. The time doubles with each further restart. */
  readonly backoff: number;
}

type State = NonNullable<V1ContainerStatus["state"]>;

export class ContainerRun {
  readonly spec: V1Container;
  /** The log of the current start, and that of the one before. */
  log = new ContainerLog();
  previousLog: ContainerLog | undefined;
  readonly #options: ContainerOptions;
  #state: State = { waiting: { reason: "PodInitializing" } };
  #lastState: State = {};
  #restarts = 0;
  #process: ChildProcess | undefined;
  #probes: Probes | undefined;
  #env: Readonly<Record<string, string>> = {};
  #stopping = false;
  #isOutOfMemory = false;
  #wake: () => void = () => {};
  #finished: Promise<void> | undefined;

  constructor(spec: V1Container, options: ContainerOptions) {
    this.spec = spec;
    this.#options = options;
  }

  /** The exit code of the last end; undefined while the container runs or has not started. */
  get exitCode(): number | undefined {
    return this.#state.terminated?.exitCode;
  }

  get isStarted(): boolean {
    return this.#state.running !== undefined && (this.#probes?.started ?? false);
  }

  get isReady(): boolean {
    return this.isStarted && (this.#probes?.ready ?? false);
  }

  get status(): V1ContainerStatus {
    const { name, image } = this.spec;
    return {
      name,
      image: image!,
      imageID: this.#options.hasImage ? `stand-in/${image}` : "",
      state: this.#state,
      lastState: this.#lastState,
      ready: this.isReady,
      started: this.isStarted,
      restartCount: this.#restarts,
    };
  }

  /** Runs the container. @returns a promise that resolves when it has ended for good */
  run(): Promise<void> {
    this.#finished ??= this.#run();
    return this.#finished;
  }

  /**
   * Ends the container: SIGTERM, and SIGKILL after the grace period.
   * @param grace in milliseconds
   */
  async stop(grace: number): Promise<void> {
    this.#stopping = true;
    this.#wake();
    const process = this.#process;
    if (process !== undefined) {
      const end = Date.now() + grace;
      await this.#preStop(grace);
      process.kill((this.spec.lifecycle?.stopSignal as NodeJS.Signals | undefined) ?? "SIGTERM");
      const timer = setTimeout(() => killAll(process), Math.max(0, end - Date.now()));
      await this.#finished;
      clearTimeout(timer);
    }
    await this.#finished;
  }

  /** Kills the container as the kernel does when it has used more memory than its limit. It does nothing to one that does not run. */
  exceedMemory(): void {
    if (this.#process === undefined) return;
    this.#isOutOfMemory = true;
    killAll(this.#process);
  }

  /** Starts a command beside the main program. @returns undefined if the container does not run */
  exec(command: readonly string[]): ChildProcess | undefined {
    const pid = this.#process?.pid;
    if (pid === undefined) return undefined;
    const [file, ...args] = besides(pid, command);
    return spawn(file!, args, { env: this.#env });
  }

  async #run(): Promise<void> {
    for (;;) {
      const launch = await this.#prepare();
      if (launch === undefined) return;
      await this.#runOnce(launch);
      const restarts =
        this.#options.restartPolicy === "Always" ||
        (this.#options.restartPolicy === "OnFailure" && this.exitCode !== 0);
      if (this.#stopping || !restarts) return;
      // The first restart is immediate.
      const delay = this.#restarts === 0 ? 0 : this.#options.backoff * 2 ** Math.min(this.#restarts - 1, 5);
      const message = `back-off ${delay / 1000}s restarting failed container=${this.spec.name}`;
      this.#lastState = this.#state;
      this.previousLog = this.log;
      if (delay > 0) this.#set({ waiting: { reason: "CrashLoopBackOff", message } });
      await this.#pause(delay);
      if (this.#stopping) return this.#set(this.#lastState);
      this.log = new ContainerLog();
      this.#restarts++;
    }
  }

  /** Waits until the container can start. @returns undefined if it is stopped before */
  async #prepare(): Promise<Launch | undefined> {
    for (let attempt = 0; !this.#stopping; attempt++) {
      const { image } = this.spec;
      let waiting: { reason: string; message: string };
      if (this.#options.hasImage) {
        try {
          return await this.#options.launch();
        } catch (error) {
          const text = (error as Error).message;
          waiting = {
            reason: "CreateContainerConfigError",
            message: /HTTP-Code: 404/.test(text) ? "an object that a variable refers to was not found" : text,
          };
        }
      } else if (this.spec.imagePullPolicy === "Never") {
        waiting = {
          reason: "ErrImageNeverPull",
          message: `Container image "${image}" is not present with pull policy of Never`,
        };
      } else if (attempt === 0) {
        waiting = {
          reason: "ErrImagePull",
          message: `failed to pull and unpack image "${image}": failed to resolve reference "${image}": not found`,
        };
      } else {
        waiting = { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}": ErrImagePull: not found` };
      }
      this.#set({ waiting });
      await this.#pause(this.#options.backoff);
    }
    return undefined;
  }

  /** Does as if a program ran that is ready at once, and ends at SIGTERM. */
  async #runIdle(): Promise<void> {
    const startedAt = new Date();
    this.#probes = new Probes({ name: this.spec.name }, this.#options.address, idleActions);
    this.#set({ running: { startedAt } });
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#set({ terminated: { exitCode: 0, reason: "Completed", startedAt, finishedAt: new Date() } });
  }

  async #runOnce({ command, env }: Launch): Promise<void> {
    if (command.length === 0) return this.#runIdle();
    const startedAt = new Date();
    const [file, ...args] = command;
    this.#env = env;
    // A group of its own, so that what the main program leaves behind ends with it.
    const child = spawn(file!, args, { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    this.#process = child;
    const written = this.log.read(child.stdout, child.stderr);
    this.#probes = new Probes(this.spec, this.#options.address, {
      exec: (probe) => this.exec(probe),
      onChange: this.#options.onChange,
      onFailure: () => void this.#restartUnhealthy(),
    });
    this.#set({ running: { startedAt } });
    this.#probes.start();
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    killAll(child);
    await written;
    this.#probes.stop();
    this.#process = undefined;
    this.log.end();
    const exitCode = code ?? 128 + signalNumber(signal!);
    const failure = this.#isOutOfMemory ? "OOMKilled" : "Error";
    this.#isOutOfMemory = false;
    const fallback = this.spec.terminationMessagePolicy === "FallbackToLogsOnError" && exitCode !== 0;
    const message = fallback ? { message: this.log.tail } : {};
    this.#set({
      terminated: {
        exitCode,
        reason: exitCode === 0 ? "Completed" : failure,
        startedAt,
        finishedAt: new Date(),
        ...message,
      },
    });
  }

  async #restartUnhealthy(): Promise<void> {
    const process = this.#process;
    if (process === undefined) return;
    process.kill("SIGTERM");
    const timer = setTimeout(() => killAll(process), 30_000);
    process.once("exit", () => clearTimeout(timer));
  }

  async #preStop(limit: number): Promise<void> {
    const hook = this.spec.lifecycle?.preStop;
    const timeout = new Promise((resolve) => setTimeout(resolve, limit).unref());
    if (hook?.sleep !== undefined)
      await Promise.race([timeout, new Promise((resolve) => setTimeout(resolve, hook.sleep!.seconds * 1000))]);
    if (hook?.exec?.command === undefined) return;
    const child = this.exec(hook.exec.command);
    if (child !== undefined) await Promise.race([timeout, once(child, "exit")]);
  }

  #set(state: State): void {
    this.#state = state;
    this.#options.onChange();
  }

  #pause(duration: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#stopping ? 0 : duration);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const idleActions = { exec: () => undefined, onChange: () => {}, onFailure: () => {} };

/** Kills a process with everything that it has started. */
function killAll({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, "SIGKILL");
  } catch {
    // All of them have ended.
  }
}

function signalNumber(signal: NodeJS.Signals): number {
  return { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 }[signal as string] ?? 1;
}
