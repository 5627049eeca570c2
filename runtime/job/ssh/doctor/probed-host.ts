/** The probe of one host: its `ssh`, what it has said, and what this machine can reach through it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { markVariable } from "../../keeper/marked-processes.js";
import { sshCommand } from "../ssh-command.js";
import { type NodeFacts, type Peer, type PeerAnswer, type ProbeOrder, probeMark } from "./probe-lines.js";
import { shellProbe } from "./shell-probe.js";

/** Maximum time in ms for a host to describe itself. `ssh` alone may try to connect for 15 s (ssh-command.ts). */
const describeLimit = 40_000;
/** Maximum time in ms for a host to reach all others, and for the forwarded socket to answer. */
const reachLimit = 15_000;
/** Time in ms for `ssh` to end before it is killed. */
const endLimit = 3000;
/** The number of characters of output that are kept. */
const keptCharacters = 4000;

/** The output of the probe on a host. */
export interface HostFacts {
  readonly host: string;
  /** What the shell of the host has said, by key: see shell-probe.ts. */
  readonly said: ReadonlyMap<string, readonly string[]>;
  /** What `ssh`, login shells and the lines of `setup` have printed. */
  readonly output: string;
  /** The time in ms since 1970 at which the first word of the shell has arrived. */
  readonly heardAt?: number;
  /** The exit code of `ssh`, if it has ended before Node.js has described itself; null after a signal. */
  readonly endCode?: number | null;
  /** Why `ssh` could not be started. */
  readonly startError?: string;
  readonly node?: NodeFacts;
  /** Why this machine does not reach the socket on the host; null if it does, undefined if it was not tried. */
  readonly socketError?: string | null;
  /** Which of the other hosts this one reaches. */
  readonly peers?: readonly PeerAnswer[];
}

/** How to probe a host. */
export interface ProbeRequest {
  readonly host: string;
  readonly sshOptions: readonly string[];
  readonly setup: string | null;
  readonly node: string;
  readonly localSocket: string;
  readonly order: ProbeOrder;
}

export class ProbedHost {
  readonly #request: ProbeRequest;
  readonly #child: ChildProcess;
  readonly #said = new Map<string, string[]>();
  readonly #ended: Promise<number | null>;
  #output = "";
  #heardAt: number | undefined;
  #startError: string | undefined;
  #socketError: string | null | undefined;
  #wake = () => {};

  /** Starts `ssh`. */
  constructor(request: ProbeRequest) {
    const { order, setup, node, localSocket, ...connection } = request;
    this.#request = request;
    const probe = shellProbe(setup, node);
    const [file, ...args] = sshCommand({
      ...connection,
      forwards: [{ local: localSocket, remote: order.socket }],
      env: { [markVariable]: order.secret },
      setup: probe,
      node,
    });
    this.#child = spawn(file!, args, { stdio: ["pipe", "pipe", "pipe"] });
    const { stdin, stdout, stderr } = this.#child;
    stdin!.on("error", () => {});
    stdin!.write(`${JSON.stringify(order)}\n`);
    for (const stream of [stdout!, stderr!]) this.#readLines(stream);
    this.#ended = new Promise((resolve) => {
      this.#child.once("error", (error: NodeJS.ErrnoException) => {
        this.#startError = error.message;
        resolve(null);
      });
      this.#child.once("close", resolve);
    });
    void this.#ended.then(() => this.#wake());
  }

  /** Resolves when the host has described itself and this machine has tried to reach its socket, or `ssh` has ended. */
  async described(): Promise<void> {
    await this.#until(() => this.#said.has("node"), describeLimit);
    if (this.#node !== undefined && this.#node.socketError === undefined) await this.#reachSocket();
  }

  /** The place at which other hosts reach this one; undefined if it listens nowhere. */
  get peer(): Peer | undefined {
    const { address, port } = this.#node ?? {};
    if (address === undefined || port === undefined) return undefined;
    const { host, order } = this.#request;
    return { host, address, port, secret: order.secret };
  }

  /** Lets the host reach others. Resolves when it has told the results, or does not answer. */
  async reach(peers: readonly Peer[]): Promise<void> {
    if (this.#node === undefined) return;
    this.#child.stdin!.write(`${JSON.stringify({ peers })}\n`);
    await this.#until(() => this.#said.has("peers"), reachLimit);
  }

  /** Ends the probe, and returns what it has found. */
  async end(): Promise<HostFacts> {
    const hadEnded = this.#child.exitCode !== null || this.#startError !== undefined;
    this.#child.stdin!.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), this.#node === undefined ? 0 : endLimit);
    const code = await this.#ended;
    clearTimeout(timer);
    const peers = this.#said.get("peers");
    return {
      host: this.#request.host,
      said: this.#said,
      output: this.#output.trim(),
      ...(this.#heardAt === undefined ? {} : { heardAt: this.#heardAt }),
      ...(hadEnded && this.#node === undefined ? { endCode: code } : {}),
      ...(this.#startError === undefined ? {} : { startError: this.#startError }),
      ...(this.#node === undefined ? {} : { node: this.#node }),
      ...(this.#socketError === undefined ? {} : { socketError: this.#socketError }),
      ...(peers === undefined ? {} : { peers: JSON.parse(peers[0]!) as PeerAnswer[] }),
    };
  }

  get #node(): NodeFacts | undefined {
    const [line] = this.#said.get("node") ?? [];
    return line === undefined ? undefined : (JSON.parse(line) as NodeFacts);
  }

  /** Resolves when a condition is true, `ssh` has ended, or the time is over. */
  async #until(isTrue: () => boolean, limit: number): Promise<void> {
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      this.#wake();
    }, limit);
    while (!isTrue() && !isOver && this.#child.exitCode === null && this.#startError === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    clearTimeout(timer);
  }

  /** Connects to the socket on the host by the one that `ssh` forwards. */
  async #reachSocket(): Promise<void> {
    const socket = connect({ path: this.#request.localSocket });
    const answer = Promise.all([once(socket, "connect", { signal: AbortSignal.timeout(reachLimit) }), text(socket)]);
    const end = this.#ended.then(() => "ssh has ended");
    const outcome = await Promise.race([
      answer.then(([, got]) => (got === this.#request.order.secret ? null : "the connection was closed")),
      end,
    ]).catch((error) => (error as Error).message);
    socket.destroy();
    this.#socketError = outcome;
  }

  #readLines(stream: NodeJS.ReadableStream): void {
    let partial = "";
    const read = (line: string) => {
      const [, key, value] = /^viceroy doctor: (\w+)=(.*)$/.exec(line) ?? [];
      if (key === undefined || value === undefined) this.#output += `${line}\n`;
      else this.#said.set(key, [...(this.#said.get(key) ?? []), value]);
      this.#output = this.#output.slice(-keptCharacters);
      if (line.startsWith(probeMark)) this.#heardAt ??= Date.now();
    };
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      const lines = (partial + chunk).split(/\r?\n/);
      partial = lines.pop()!;
      for (const line of lines) if (line.trim() !== "") read(line);
      this.#wake();
    });
    stream.on("end", () => {
      if (partial.trim() !== "") read(partial);
    });
  }
}
