/** One host that a keeper has started: its process, its output, and its state. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { ISSUER_REQUEST } from "../credentials/issuer-request.js";
import { formatPlace } from "../mesh-spec.js";
import { HostLosses } from "./host-losses.js";
import { givenBack, type HostOrder, type KeptHostInfo, type KeptState } from "./keeper-order.js";
import { LineFinder } from "./line-finder.js";
import { endMarkedProcesses, hostVariable } from "./marked-processes.js";
import { RotatingLog } from "./rotating-log.js";

/** The number of characters of output that are kept for the report of an end. */
const shownCharacters = 2000;

/** Returns the path of the log file of a host. */
export function logFileOf(logs: string, { mesh, rank }: { mesh: string; rank: number }): string {
  return join(logs, `${mesh}-${rank}.log`);
}

/** The calls from a host to its keeper. */
export interface KeptHostCalls {
  /** Called after each change of the state. */
  changed(host: KeptHost): void;
  /** Called after each change of `owners`. */
  ownersChanged(): void;
  /** Called when the host prints something for the first time after a start. */
  heard(): void;
  /** Called when the host asks for its certificate, which it gets at this socket. */
  certify(socket: string): void;
  /** Called before a host that was lost is started again, and after one was given back, whose place can get another one. */
  replaced(host: KeptHost): void;
}

/** The time in ms for a host to end by itself that a driver has lost. */
const fenceMs = 3000;

/** The time in ms for a host on this machine to end after SIGTERM that the job gives back. */
const endMs = 5000;

export class KeptHost {
  readonly order: HostOrder;
  readonly #log: RotatingLog;
  readonly #calls: KeptHostCalls;
  #owners = 0;
  #decoder = new StringDecoder("utf8");
  #child: ChildProcess | undefined;
  #state: KeptState = "waiting";
  #incarnation = 0;
  readonly #losses: HostLosses | undefined;
  /** Why the host was lost that is being started again. */
  #loss = "";
  #fence: NodeJS.Timeout | undefined;
  #address: string | undefined;
  #reason: string | undefined;
  #startedAt = 0;
  #took: number | undefined;
  /** Matches output that means that the host is useless. */
  readonly #fatal: RegExp | undefined;
  /** Finds the lines with which the host asks for its certificate, if it needs one. */
  #requests: LineFinder | undefined;
  #output = "";
  #isSupplied = false;
  #retries = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #beats: NodeJS.Timeout | undefined;
  #isGivenBack = false;

  constructor(order: HostOrder, logs: string, calls: KeptHostCalls) {
    this.order = order;
    this.#log = new RotatingLog(logFileOf(logs, order));
    this.#calls = calls;
    this.#losses = order.replace && new HostLosses(order.replace.limit);
    const { enrolmentSocket } = order;
    if (enrolmentSocket !== undefined) {
      this.#requests = new LineFinder(ISSUER_REQUEST, () => calls.certify(enrolmentSocket));
    }
    if (order.fatal !== undefined) this.#fatal = new RegExp(order.fatal);
  }

  get state(): KeptState {
    return this.#state;
  }

  /** The number of controllers on the host that own meshes. */
  get owners(): number {
    return this.#owners;
  }

  /** Whether the host is being started, and has printed nothing yet. A host at which `ssh` has logged in prints something. */
  get isSilent(): boolean {
    return this.#state === "starting" && this.#output === "";
  }

  get info(): KeptHostInfo {
    const { mesh, rank, route } = this.order;
    return {
      mesh,
      rank,
      state: this.#state,
      incarnation: this.#incarnation,
      ...(this.#took === undefined ? {} : { took: this.#took }),
      ...(this.#address === undefined ? {} : { address: this.#address }),
      ...(route === undefined ? {} : { route }),
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
      ...(this.#isGivenBack ? { isGivenBack: true } : {}),
    };
  }

  start(): void {
    this.#startedAt = performance.now();
    this.#setState("starting");
    this.#spawn();
  }

  #spawn(): void {
    const { command, env, cwd, input = "" } = this.order;
    const [file, ...args] = command;
    // A session of its own: Ctrl-C in the terminal of the driver does not reach it.
    const child = spawn(file!, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    this.#child = child;
    child.stdin.on("error", () => {});
    child.stdin.write(input);
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => this.#read(chunk));
    child.once("error", (error) => this.#end(`it could not be started: ${error.message}`));
    child.once("close", (code, signal) => {
      if (this.#retry()) return;
      const reason = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
      // A host that ends in order was ended by somebody.
      if (code === 0 || !this.#replace(reason)) this.#end(reason);
    });
  }

  /** Asks the host to end. Resolves when it has ended, or its time for that is over. */
  async stop(): Promise<void> {
    const { endLimit } = this.order;
    clearInterval(this.#beats);
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#fence);
    this.#losses?.stop();
    // A host that ends now is not started again.
    this.#retries = Number.POSITIVE_INFINITY;
    this.#child?.stdin?.end();
    if (endLimit === undefined || this.#state !== "up") this.#child?.kill("SIGTERM");
    else if (this.#child?.exitCode === null) {
      await once(this.#child, "close", { signal: AbortSignal.timeout(endLimit) }).catch(() => {});
    }
  }

  /** Ends the host, which the job needs no more. Resolves when nothing of it is left on this machine. */
  async giveBack(): Promise<void> {
    this.#isGivenBack = true;
    const child = this.#child;
    const isRunning = child !== undefined && child.exitCode === null && child.signalCode === null;
    const closed = isRunning && once(child, "close", { signal: AbortSignal.timeout(endMs) }).catch(() => {});
    await this.stop();
    await closed;
    this.#end(givenBack);
    const { replace } = this.order;
    if (replace !== undefined) await endMarkedProcesses(replace.mark, hostVariable);
    this.#calls.replaced(this);
  }

  #read(chunk: Buffer): void {
    this.#log.write(chunk);
    const wasSilent = this.isSilent;
    const text = this.#decoder.write(chunk);
    this.#output = (this.#output + text).slice(-shownCharacters);
    this.#requests?.add(text);
    if (this.#fatal?.test(this.#output)) this.#child?.kill("SIGTERM");
    this.#countOwners();
    if (wasSilent) this.#calls.heard();
    if (this.#state !== "starting" && this.#state !== "lost") return;
    this.#supply();
    const [, address] = /^viceroy host .* listens at (\S+)\r?\n/m.exec(this.#output) ?? [];
    if (address === undefined) return;
    this.#address = address;
    this.#took = Math.round(performance.now() - this.#startedAt);
    this.#losses?.up();
    this.#reason = undefined;
    if (this.#state === "lost") this.#incarnation++;
    this.#setState("up");
    this.#beat();
  }

  /** Reads what the daemon says about its controllers. What processes print begins with their names. */
  #countOwners(): void {
    const said = [...this.#output.matchAll(/^viceroy host: controller .*controllers that own meshes: (\d+)\r?$/gm)].at(
      -1,
    );
    const owners = Number(said?.[1] ?? this.#owners);
    if (owners === this.#owners) return;
    this.#owners = owners;
    this.#calls.ownersChanged();
  }

  /** Starts the host again later, if it has ended for a reason that passes. Returns whether it does. */
  #retry(): boolean {
    const { retry } = this.order;
    const pause = retry?.pauses[this.#retries];
    if (this.#state !== "starting" || pause === undefined || !new RegExp(retry!.said).test(this.#output)) return false;
    this.#retries++;
    const delay = Math.round(pause * (1 + Math.random() / 2));
    this.#log.write(Buffer.from(`viceroy host: tries again in ${delay} ms\n`));
    this.#retryTimer = setTimeout(() => {
      this.#output = "";
      this.#spawn();
    }, delay);
    return true;
  }

  /**
   * Handles what a driver says: it has lost the host, of which it knew this incarnation. A host that does not end by itself is
   * ended, because what it still runs belongs to nobody.
   */
  lostBy(incarnation: number): void {
    if (this.#losses === undefined || this.#state !== "up" || incarnation !== this.#incarnation) return;
    this.#fence ??= setTimeout(() => this.#child!.kill("SIGKILL"), fenceMs);
  }

  /** Starts the host again later, as the next incarnation. Returns whether it does. */
  #replace(reason: string): boolean {
    const losses = this.#losses;
    if (losses === undefined || losses.isStopped) return false;
    const wasUp = this.#state === "up";
    if (!wasUp && this.#state !== "lost") return false;
    clearInterval(this.#beats);
    clearTimeout(this.#fence);
    this.#fence = undefined;
    this.#loss = wasUp ? reason : this.#loss;
    const verdict = losses.lost(
      wasUp,
      () => this.#startAgain(),
      () => this.#end(`${this.#loss}; ${losses.lateness}`),
    );
    if (verdict !== undefined) {
      this.#end(`${reason}; ${verdict}`);
      return true;
    }
    if (wasUp) {
      this.#owners = 0;
      this.#reason = this.#describe(reason);
      this.#setState("lost");
    }
    return true;
  }

  /** Ends what is left of the host on this machine, and starts it again. */
  async #startAgain(): Promise<void> {
    await endMarkedProcesses(this.order.replace!.mark, hostVariable);
    if (this.#losses!.isStopped || this.#state !== "lost") return;
    this.#log.write(Buffer.from("viceroy host: is started again\n"));
    this.#output = "";
    this.#decoder = new StringDecoder("utf8");
    this.#isSupplied = false;
    this.#retries = 0;
    this.#startedAt = performance.now();
    this.#calls.replaced(this);
    this.#spawn();
  }

  /** Sends signs of life until the host has ended. */
  #beat(): void {
    const { beat } = this.order;
    if (beat === undefined) return;
    this.#beats = setInterval(() => this.#child!.stdin!.write("\n"), beat);
  }

  /** Sends the file that the host asks for. */
  #supply(): void {
    const { supply } = this.order;
    if (supply === undefined || this.#isSupplied || !this.#output.includes(`${supply.request}\n`)) return;
    this.#isSupplied = true;
    // Standard input stays open: its end would end the host.
    this.#child!.stdin!.write(readFileSync(supply.file));
  }

  #end(reason: string): void {
    if (this.#state === "ended") return;
    this.#reason = this.#describe(this.#isGivenBack ? givenBack : reason);
    this.#losses?.stop();
    this.#child?.kill("SIGKILL");
    clearInterval(this.#beats);
    this.#log.close();
    this.#owners = 0;
    this.#setState("ended");
  }

  #describe(reason: string): string {
    const said = this.#output.replaceAll("\r", "").trim();
    return `host ${formatPlace(this.order)} is gone: ${reason}${said === "" ? "" : `; its output ends with: ${said}`}`;
  }

  #setState(state: KeptState): void {
    this.#state = state;
    this.#calls.changed(this);
  }
}
