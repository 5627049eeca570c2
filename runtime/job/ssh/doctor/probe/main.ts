/**
 * The part of the probe that runs in the Node.js of a host. It is built as one text, which `ssh` brings to the host, where
 * it runs as a function of `require` and `order`, like the starter of a daemon (starter/main.ts). It opens what a daemon
 * opens, and ends with its standard input.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { connect, createServer, type ListenOptions, type Server } from "node:net";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { insideAddress } from "../../starter/inside-address.js";
import {
  type NodeFacts,
  nativePlatform,
  type Peer,
  type PeerAnswer,
  type PeerOrder,
  type ProbeOrder,
  probeMark,
} from "../probe-lines.js";

declare const order: ProbeOrder;

/** Maximum time in ms to reach another host. */
const reachLimit = 5000;
/** Maximum lifetime in ms: the end of a connection that is cut is never announced. */
const lifetime = 120_000;

function say(key: string, value: unknown): void {
  process.stdout.write(`\n${probeMark}${key}=${JSON.stringify(value)}\n`);
}

/** Listens, and answers each connection with the secret of this host. Resolves with the reason of a failure. */
function listen(where: ListenOptions, used: (server: Server) => void): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.on("error", () => {}).end(order.secret));
    server.once("error", (error) => resolve(error.message));
    server.listen(where, () => {
      used(server);
      resolve(undefined);
    });
  });
}

async function describe(): Promise<NodeFacts> {
  const facts = {
    version: process.versions.node,
    path: process.execPath,
    platform: nativePlatform(),
    hasPackage: existsSync(order.folder),
  };
  let socketError: string | undefined;
  try {
    mkdirSync(dirname(order.socket), { mode: 0o700 });
    socketError = await listen({ path: order.socket }, () => {});
  } catch (error) {
    socketError = (error as Error).message;
  }
  let port: number | undefined;
  const address = insideAddress();
  const addressError = await listen({ host: address, port: order.port }, (server) => {
    port = (server.address() as { port: number }).port;
  });
  return {
    ...facts,
    address,
    ...(port === undefined ? {} : { port }),
    ...(socketError === undefined ? {} : { socketError }),
    ...(addressError === undefined ? {} : { addressError }),
  };
}

function reach({ host, address, port, secret }: Peer): Promise<PeerAnswer> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    let answer = "";
    const end = (error?: string) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(error === undefined ? { host } : { host, error });
    };
    const timer = setTimeout(() => end(`no answer from ${address}:${port} within ${reachLimit} ms`), reachLimit);
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("end", () => end(answer === secret ? undefined : `another machine answers at ${address}:${port}`));
    socket.on("error", (error) => end(error.message));
  });
}

const lines = createInterface({ input: process.stdin });
lines.once("line", (line) => {
  const { peers } = JSON.parse(line) as PeerOrder;
  void Promise.all(peers.map(reach)).then((answers) => say("peers", answers));
});
function end(): never {
  rmSync(dirname(order.socket), { recursive: true, force: true });
  process.exit();
}
lines.once("close", end);
setTimeout(end, lifetime);
void describe().then((facts) => say("node", facts));
