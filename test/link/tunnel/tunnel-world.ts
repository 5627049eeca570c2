/**
 * A resumable link through tunnels that end at random places: in a handshake, in a header, inside the bytes of a channel.
 * The gateway may also be restarted, and its connections to the host may end. Simulated time passes only when nothing
 * else happens, and one seed determines every random number.
 */
import { offerLink } from "../../../runtime/link/handshake/dial.js";
import { ResumableAcceptor } from "../../../runtime/link/resumable/accept.js";
import { inProcessPipePair } from "../../../runtime/link/transport/in-process/pipe.js";
import type { PausablePipe, Pipe, PipeSink } from "../../../runtime/link/transport/pipe.js";
import { TunnelDialler } from "../../../runtime/link/tunnel/dial.js";
import { TunnelServer } from "../../../runtime/link/tunnel/serve.js";
import { Cut, CutWorld, type CutWorldOptions } from "../resumable/cut-world.js";

/** A pipe that can be paused, over one that cannot. */
class Pausable implements PausablePipe, PipeSink {
  readonly #pipe: Pipe;
  readonly #memory = Buffer.alloc(8 * 1024);
  readonly #held: Buffer[] = [];
  #sink: PipeSink | undefined;
  #isPaused = false;
  #end: { readonly error: Error | undefined } | undefined;

  constructor(pipe: Pipe) {
    this.#pipe = pipe;
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    this.#pipe.open(this);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliver();
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    this.#pipe.write(chunks, done);
  }

  close(): void {
    this.#pipe.close();
  }

  destroy(error?: Error): void {
    this.#pipe.destroy(error);
  }

  ref(): void {}

  unref(): void {}

  buffer(): Uint8Array {
    return this.#memory;
  }

  received(n: number): void {
    this.#held.push(Buffer.from(this.#memory.subarray(0, n)));
    this.#deliver();
  }

  closed(error?: Error): void {
    this.#end = { error };
    this.#deliver();
  }

  #deliver(): void {
    while (!this.#isPaused) {
      const bytes = this.#held.shift();
      if (bytes === undefined) break;
      for (let at = 0; at < bytes.length; ) {
        const target = this.#sink!.buffer();
        const size = Math.min(target.length, bytes.length - at);
        target.set(bytes.subarray(at, at + size));
        this.#sink!.received(size);
        at += size;
      }
    }
    if (this.#isPaused || this.#end === undefined) return;
    const { error } = this.#end;
    this.#end = undefined;
    this.#sink!.closed(error);
  }
}

export class TunnelWorld extends CutWorld {
  /** The number of tunnels, and of connections of the gateway to the host. */
  tunnels = 0;
  channels = 0;
  /** Bytes pass more processes than without a gateway. */
  protected override readonly quietTurns = 30;
  readonly #server: TunnelServer;
  readonly #dialler: TunnelDialler;
  readonly #gateway: ResumableAcceptor;

  constructor(options: CutWorldOptions) {
    super(options);
    const { clock, random } = this;
    this.#server = new TunnelServer({
      clock,
      limits: { window: 2000 },
      connect: async () => this.#connectHost(options),
    });
    this.#gateway = new ResumableAcceptor({
      clock,
      random,
      admit: () => ({ kind: "open", open: (pipe) => this.#server.accept(pipe) }),
    });
    const gateway = { name: "tcp://gateway:26600", connect: () => this.#connectGateway(options) };
    this.#dialler = new TunnelDialler({ clock, gateways: () => [gateway], limits: { window: 2000 } });
  }

  override connect(): Promise<Pipe> {
    return this.#dialler.connect({ kind: "tcp", host: "n1", port: 1 }, new AbortController().signal);
  }

  async #connectGateway({ budget, dumb }: CutWorldOptions): Promise<Pipe> {
    if (this.unreachable) throw new Error("nobody is there");
    this.tunnels++;
    const [near, far] = inProcessPipePair();
    const silence = dumb?.(this.random) ?? "no";
    const left = { left: Math.max(1, Math.floor(2 * budget(this.random))) };
    this.#gateway.accept(
      new Cut(far, silence === "dialler" ? { left: Number.MAX_SAFE_INTEGER } : left, silence === "both"),
    );
    const { clock, random } = this;
    const offer = { universe: 1n, from: 2n, to: 0n, direct: true, use: "tunnel", link: random.id() } as const;
    const cut = new Cut(near, left, silence !== "no");
    const outcome = await offerLink(cut, { ...offer, first: true, received: 0 }, { clock, random });
    if (outcome.kind !== "open") throw new Error("redirected");
    return outcome.pipe;
  }

  /** The connection of the gateway to the host breaks, too, and less often. */
  #connectHost({ budget }: CutWorldOptions): PausablePipe {
    this.channels++;
    const [near, far] = inProcessPipePair();
    const left = { left: Math.max(1, Math.floor(4 * budget(this.random))) };
    this.acceptor.accept(new Cut(far, left, false));
    return new Pausable(new Cut(near, left, false));
  }
}
