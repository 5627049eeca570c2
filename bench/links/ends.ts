/**
 * Client and server that exchange 64 bytes, over each kind of connection. `main.js` bundles this file and runs it in two processes. `ring`
 * is the bare addon and `net` a bare socket of Node.js. The others are links that carry the frames of an actor call: an envelope, credit,
 * an answer.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { systemClock } from "../../runtime/link/clock.js";
import { FrameKind } from "../../runtime/link/frame/frame.js";
import type { Destination } from "../../runtime/link/inbound/lane.js";
import { noKeepAlive } from "../../runtime/link/keep-alive.js";
import { Link } from "../../runtime/link/link.js";
import type { LinkHost } from "../../runtime/link/link-host.js";
import { defaultLinkLimits } from "../../runtime/link/link-limits.js";
import type { MessageSender, OutboundMessage } from "../../runtime/link/outbound/message-sender.js";
import { RING_BYTES, usesSharedMemory } from "../../runtime/link/transport/shared-memory/pipe.js";
import { connectUnix, listenUnix } from "../../runtime/link/transport/unix/connect.js";
import { type NativeChannel, rdmaAddonState } from "../../runtime/native/rdma-addon.js";
import { codec } from "../../runtime/wire/composed/index.js";

const size = 64;
const echoed: OutboundMessage = { label: "echo", codec: codec.bytes, protobuf: codec.bytes };
const payload = new Uint8Array(size).fill(7);
const target = { kind: "actor", proc: 11n, number: 5n, rank: 0, owner: 10n, fingerprint: 0n } as const;

/** Sends one request. `heard` is called when the answer has arrived. */
export type Ask = (heard: () => void) => void;

function hostOf(id: bigint, destination: Destination): LinkHost<Link> {
  const none = (): void => {};
  return {
    id,
    universe: 1n,
    clock: systemClock,
    limits: defaultLinkLimits,
    keepAlive: noKeepAlive,
    linkOpened: none,
    linkClosed: none,
    laneOpened: () => destination,
    readError: () => new Error("remote"),
    meshQueried: none,
    meshQueryAnswered: none,
    portHolderChanged: none,
    relayFrameReceived: none,
    laneSynced: none,
    treeFrameReceived: none,
  };
}

const answering: Destination = {
  bind() {},
  message(lane, _slot, call, _flags, r) {
    lane.link.sendReply(FrameKind.reply, call, false, codec.bytes, codec.bytes.decodeFrom(r));
  },
  cancel() {},
  laneClosed() {},
};

const sender = {
  id: { universe: 1n, proc: 10n, mesh: 2n, rank: 0, incarnation: 0 },
  name: "bench",
  compare: () => undefined,
  translate: (_known: unknown, _endpoint: unknown, body: never) => body,
  bounced() {},
  targetEnded() {},
  sessionEnded() {},
} as unknown as MessageSender;

function addon() {
  const state = rdmaAddonState();
  if (state.addon === undefined) throw new Error(`cannot measure shared memory: it needs the addon, and ${state.why}`);
  return state.addon;
}

/** Starts the server. Resolves when clients can connect. */
export async function serve(kind: string, address: string): Promise<void> {
  if (kind === "ring") {
    const memory = new Uint8Array(4096);
    const token = new Uint8Array(16);
    const channel = new (addon().Channel)(RING_BYTES, token);
    put(address, JSON.stringify([process.pid, ...channel.descriptors()]));
    void appears(`${address}.joined`).then(() => channel.begin(0, () => echo(channel, memory)));
  } else if (kind === "net") {
    await new Promise<void>((resolve) =>
      createServer((socket: Socket) => socket.on("data", (bytes) => socket.write(bytes))).listen(address, resolve),
    );
  } else {
    const server = await listenUnix(address, (pipe) => {
      pipe.ref();
      new Link(hostOf(11n, answering), undefined).attach(pipe);
    });
    server.ref();
  }
}

function echo(channel: NativeChannel, memory: Uint8Array): boolean {
  for (let n = channel.read(memory); n > 0; n = channel.read(memory)) channel.write(memory.subarray(0, n), 0);
  return true;
}

export async function ask(kind: string, address: string): Promise<Ask> {
  if (kind === "ring") return askRing(address);
  if (kind === "net") return askNet(address);
  const pipe = await connectUnix(address);
  pipe.ref();
  const link = new Link(hostOf(10n, answering), 11n, { number: 1, over: 0 });
  link.attach(pipe);
  const session = link.openSession(sender, target, "key");
  let heard: () => void = () => {};
  const call = {
    id: 0,
    session: undefined,
    credit: 0,
    isAbandoned: false,
    answered: () => heard(),
    failed(error: Error) {
      throw error;
    },
    item() {},
    ended() {},
  };
  const asks: Ask = (then) => {
    heard = then;
    session.call(0, echoed, payload, call);
  };
  await new Promise<void>((resolve) => asks(resolve));
  if (usesSharedMemory(pipe) !== (kind === "memory"))
    throw new Error(`cannot measure ${kind}: the link uses another transport`);
  return asks;
}

async function askRing(address: string): Promise<Ask> {
  await appears(address);
  const [pid, memory, waker, awaited] = JSON.parse(readFileSync(address, "utf8"));
  const channel = new (addon().Channel)(RING_BYTES, new Uint8Array(16), pid, memory, waker, awaited);
  const bytes = new Uint8Array(4096);
  let heard: () => void = () => {};
  channel.begin(0, () => {
    while (channel.read(bytes) > 0) heard();
    return true;
  });
  put(`${address}.joined`, "");
  return (then) => {
    heard = then;
    channel.write(payload, 0);
  };
}

/** Writes a file atomically: it appears with its whole content. */
function put(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

async function appears(file: string): Promise<void> {
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function askNet(address: string): Promise<Ask> {
  let heard: () => void = () => {};
  const buffer = Buffer.alloc(4096);
  const callback = () => {
    heard();
    return true;
  };
  const socket = connect({ path: address, onread: { buffer, callback } });
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  return (then) => {
    heard = then;
    socket.write(payload);
  };
}
