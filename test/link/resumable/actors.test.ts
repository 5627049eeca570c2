/**
 * Tests of actors over real TCP connections that are cut again and again: each message is handled once, in order, each
 * call gets its answer, and no failure is reported.
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, afterEach, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../../runtime/link/clock.js";
import { ResumableAcceptor } from "../../../runtime/link/resumable/accept.js";
import { dialResumable } from "../../../runtime/link/resumable/dial.js";
import { connectTo, listenAt } from "../../../runtime/link/transport/connect.js";
import type { Listener } from "../../../runtime/link/transport/listener.js";
import type { SocketAddress } from "../../../runtime/link/transport/network-address.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { FileCredentials } from "../../../runtime/link/transport/tls/credentials.js";
import { Counter } from "../../actor/counter.js";
import { type TestProc, World } from "../../actor/world.js";
import { cases } from "../../profile.js";
import { withRandom } from "../../random.js";
import { Authority } from "../transport/tls/certificates.js";

const token = "a token that nobody guesses";
const authority = new Authority();
const credentials = new FileCredentials(authority.issue("host"));
const machine = { clock: systemClock, random: systemRandom };

/**
 * A TCP proxy that cuts connections when the test says so, or after a number of bytes. It does not cut after a time, so
 * that some connections carry data however slow the machine is.
 */
class Cutter {
  cuts = 0;
  #lifetime = () => Number.POSITIVE_INFINITY;
  #left = Number.POSITIVE_INFINITY;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  constructor(to: number) {
    this.#server = createServer((near) => {
      const far = connect(to, "127.0.0.1");
      for (const end of [near, far]) {
        this.#open.add(end);
        end.on("error", () => {});
        end.on("data", ({ length }) => this.#passed(length));
        end.once("close", () => {
          this.#open.delete(end);
          near.destroy();
          far.destroy();
        });
      }
      near.pipe(far).pipe(near);
    });
  }

  listen(): Promise<number> {
    return new Promise((resolve) => {
      this.#server.listen(0, "127.0.0.1", () => resolve((this.#server.address() as { port: number }).port));
    });
  }

  /**
   * Cuts all connections again and again, each time after a number of bytes.
   * @param bytes returns the number of bytes until the next cut
   */
  cutAfter(bytes: () => number): void {
    this.#lifetime = bytes;
    this.#left = bytes();
  }

  /** Closes all connections. Bytes in transit are lost. */
  cut(): void {
    this.cuts += this.#open.size / 2;
    for (const socket of this.#open) socket.resetAndDestroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  #passed(bytes: number): void {
    this.#left -= bytes;
    if (this.#left > 0) return;
    this.#left = this.#lifetime();
    this.cut();
  }
}

/** Creates procs that reach each other over TCP or TLS only. */
class FarWorld extends World {
  readonly #kind: "tcp" | "tls";
  readonly #giveUpMs: number;
  readonly cutters = new Map<string, Cutter>();
  readonly #ports = new Map<string, number>();
  readonly #listeners: Listener[] = [];

  constructor(kind: "tcp" | "tls", giveUpMs: number) {
    super();
    this.#kind = kind;
    this.#giveUpMs = giveUpMs;
  }

  async listen(name: string): Promise<TestProc> {
    const made = this.proc(name);
    const acceptor = new ResumableAcceptor({
      ...machine,
      token,
      resumable: { giveUpMs: this.#giveUpMs },
      admit: () => ({ kind: "open", open: (pipe) => void made.proc.attach(pipe) }),
    });
    const address = { kind: this.#kind, host: "127.0.0.1", port: 0 };
    const listener = await listenAt(address, (pipe) => acceptor.accept(pipe), { credentials });
    this.#listeners.push(listener);
    const cutter = new Cutter((listener.address as SocketAddress).port);
    this.cutters.set(name, cutter);
    this.#ports.set(name, await cutter.listen());
    return made;
  }

  override dial(location: string): Promise<Pipe> {
    const { proc } = this.procs.get(location)!;
    const address = { kind: this.#kind, host: "127.0.0.1", port: this.#ports.get(location)! };
    return dialResumable({
      ...machine,
      universe: this.universe,
      from: this.root.proc.id,
      to: proc.id,
      direct: false,
      peer: location,
      token,
      limits: { redialMs: 1, redialMaxMs: 20, giveUpMs: this.#giveUpMs, resendBytes: 1_000_000 },
      connect: (_port, signal) => connectTo(address, credentials, signal),
    });
  }

  override close(): void {
    super.close();
    for (const cutter of this.cutters.values()) cutter.close();
    for (const listener of this.#listeners) listener.close();
  }
}

let world: FarWorld;

afterEach(() => world.close());
afterAll(() => authority.remove());

test.each([
  ["tcp", cases(40, 2000)],
  ["tls", cases(15, 500)],
] as const)("calls, broadcasts, streams and large messages survive frequent cuts of %s", async (kind, rounds) => {
  await withRandom(async (random) => {
    world = new FarWorld(kind, 60_000);
    const procs = [await world.listen("a"), await world.listen("b"), await world.listen("c")];
    const counters = world.spawn("counters", Counter, [1], procs);
    await counters.value.call();
    // The range is from the middle of a handshake to a few large messages.
    for (const cutter of world.cutters.values()) cutter.cutAfter(() => 2 ** (10 + random(12_000) / 1000));
    const block = new Uint8Array(300_000).map((_, i) => i * 31);
    const uncut = () => [...world.cutters.values()].some((cutter) => cutter.cuts === 0);
    let round = 0;
    for (; round < rounds || uncut(); round++) {
      for (let i = 0; i < 20; i++) counters.note.broadcast(`${round}.${i}`, 0);
      const back = counters.bytes.call(block);
      let sum = 0;
      for await (const [, n] of counters.watch.stream(10)) sum += n;
      expect(sum).toBe(3 * 10);
      for (const [, bytes] of await back) expect(Buffer.compare(bytes, block)).toBe(0);
    }
    const logs = await counters.log.call();
    const expected = Array.from({ length: round * 20 }, (_, i) => `${Math.floor(i / 20)}.${i % 20}`);
    for (const [, log] of logs)
      expect(log.filter((entry) => entry.startsWith("+"))).toEqual(expected.map((e) => `+${e}`));
    expect([world.root, ...procs].flatMap(({ events }) => events).filter(({ kind }) => kind !== "started")).toEqual([]);
  });
});

test("a call to a peer that does not come back fails with an error that says what happened", async () => {
  // This time is long enough for at least one failed attempt to dial.
  world = new FarWorld("tcp", 3000);
  const counters = world.spawn("counters", Counter, [0], [await world.listen("a")]);
  expect(await counters.value.callOne()).toBe(0);
  world.cutters.get("a")!.close();
  const error = await counters.value.callOne().then(undefined, (e) => e);
  expect(error.message).toMatch(
    /^cannot call counters.value on rank 0: the connection to a was lost and not restored within 3000 ms: connect ECONNREFUSED/,
  );
  expect(world.root.events.map(({ kind }) => kind)).toContain("peerDown");
});
