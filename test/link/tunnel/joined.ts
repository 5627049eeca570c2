/** Two ends of a tunnel in this process, and peers that break its protocol. */
import { inProcessPipePair } from "../../../runtime/link/transport/in-process/pipe.js";
import type { Pipe, PipeSink } from "../../../runtime/link/transport/pipe.js";
import type { Channel } from "../../../runtime/link/tunnel/channel.js";
import type { TunnelLimits } from "../../../runtime/link/tunnel/limits.js";
import { type ChannelRequest, Tunnel } from "../../../runtime/link/tunnel/tunnel.js";

export interface JoinedTunnel {
  readonly near: Tunnel;
  readonly far: Tunnel;
  /** The requests that the far side has got and that nobody has answered. */
  readonly requests: ChannelRequest[];
  /** The ends of both sides. */
  readonly ends: string[];
  /** Opens a channel and connects it. Returns both ends. */
  pair(): Promise<readonly [Channel, Channel]>;
}

export function joinedTunnel(limits: Partial<TunnelLimits> = {}): JoinedTunnel {
  const [a, b] = inProcessPipePair();
  const requests: ChannelRequest[] = [];
  const ends: string[] = [];
  const ended = (side: string) => (error: Error | undefined) => ends.push(`${side}: ${error?.message ?? "in order"}`);
  const near = new Tunnel(a, { limits, ended: ended("near") });
  const far = new Tunnel(b, { limits, ended: ended("far"), opened: (request) => requests.push(request) });
  const pair = async () => {
    const { connected } = near.openChannel("n2:26600");
    while (requests.length === 0) await turn();
    const { channel, confirm } = requests.shift()!;
    confirm();
    return [await connected, channel] as const;
  };
  return { near, far, requests, ends, pair };
}

export const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Lets everything that is under way happen. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 50; i++) await turn();
}

/** Reads a pipe and counts. */
export class Counter implements PipeSink {
  bytes = 0;
  sum = 0;
  end: string | undefined;
  readonly #memory = Buffer.alloc(10_000);

  constructor(pipe: Pipe) {
    pipe.open(this);
  }

  buffer(): Uint8Array {
    return this.#memory;
  }

  received(n: number): void {
    for (let i = 0; i < n; i++) this.sum = (Math.imul(this.sum, 31) + this.#memory[i]!) | 0;
    this.bytes += n;
  }

  closed(error?: Error): void {
    this.end = error?.message ?? "in order";
  }
}

/** Returns the sum that a Counter has after these bytes. */
export function sumOf(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = (Math.imul(sum, 31) + byte) | 0;
  return sum;
}
