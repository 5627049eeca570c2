/**
 * The command `viceroy host` after its options have been parsed: listens, prints the addresses, and runs until it is
 * ended.
 */

import { lstatSync, readFileSync, unlinkSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { errorMessage } from "../../../shared/text/error-message.js";
import type { AwaitedIssuerOrder, IssuerOptions } from "../../job/credentials/host-enrolment.js";
import { MAX_TIMER_MS, systemClock, systemRandom } from "../../link/clock.js";
import { parseToken } from "../../link/handshake/proof.js";
import { type AcceptPipe, checkIsHost, connectSocket, connectTo, listenAt } from "../../link/transport/connect.js";
import type { Listener } from "../../link/transport/listener.js";
import {
  formatNetworkAddress,
  isLocalAddress,
  type ListenAddress,
  type PathAddress,
  parseListenAddress,
} from "../../link/transport/network-address.js";
import type { TakeDataConnection } from "../../link/transport/socket/data-connection.js";
import { FileCredentials, type TlsFiles } from "../../link/transport/tls/credentials.js";
import { formatIdentity } from "../../link/transport/tls/identity.js";
import { ArrivedConnections } from "../../link/tunnel/arrived-connections.js";
import { MAX_SPARES } from "../../proc/launch/spare-processes.js";
import { importModule } from "../../proc/platform/import-module.js";
import { makeNodePlatform, makeSpares } from "../../proc/platform/node-platform.js";
import { shareCompiledCode } from "../../proc/platform/share-compiled-code.js";
import { version } from "../../version.js";
import { ControllerProcesses } from "./controller-processes.js";
import { HostListener } from "./host-listener.js";
import { listenWebSockets } from "./listen-websockets.js";
import { makeMachine } from "./node-machine.js";

export interface HostCommandOptions extends IssuerOptions {
  readonly listen: readonly string[];
  readonly tokenFile?: string;
  /** The token itself. The command line has no such option, because other users see the arguments of a process. */
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
  readonly insecure?: boolean;
  readonly singlePort?: boolean;
  /** Whether the daemon also prints what processes print. */
  readonly print?: boolean;
  /** Whether the daemon ends with its standard input. */
  readonly lifeline?: boolean;
  /** The time in ms after which the daemon ends if it has no driver. */
  readonly idle?: string;
  /** The number of processes that wait to become processes of drivers. */
  readonly spares?: string;
  /**
   * The time in ms for which the daemon goes on after SIGTERM if it has drivers, so that they can use it to the end. The command line has no
   * such option. Absent: it ends at once.
   */
  readonly grace?: number;
  /** The order that tells this host how to get its certificate, if its issuer calls it. The command line has no such option. */
  readonly awaitedIssuer?: AwaitedIssuerOrder | undefined;
}

/** The module with the credentials of jobs, beside the bundle of the runtime. */
const jobCredentials = new URL("./job-credentials.mjs", import.meta.url).href;

/** The number of spares without the option: one for the code that a driver brings, and one for its first process. */
const DEFAULT_SPARES = 2;

interface CommandOutput {
  out(line: string): void;
  err(line: string): void;
}

/**
 * Runs the daemon, and resolves with the exit code when the daemon has ended.
 * @throws TypeError, Error if the options are invalid or listening is not possible
 */
export async function runHost(options: HostCommandOptions, output: CommandOutput): Promise<number> {
  const io = ignoringOutputErrors(output);
  const held = setInterval(() => {}, 0x7fff_ffff);
  const ended = Promise.race([waitForSignal(), ...(options.lifeline === true ? [waitForInputEnd()] : [])]);
  try {
    const enrolled = await Promise.race([enrolledFiles(options, io), ended]);
    const reason = typeof enrolled === "string" ? enrolled : await listenUntil(ended, options, enrolled, io);
    io.out(`viceroy host: ended: ${reason}`);
    return 0;
  } finally {
    clearInterval(held);
    // Input that does not end would keep this process alive.
    if (options.lifeline === true) process.stdin.destroy();
  }
}

/** Gets the certificate of a host of a job; undefined for other hosts, which do not load the module. */
async function enrolledFiles(options: HostCommandOptions, io: CommandOutput): Promise<TlsFiles | undefined> {
  const { issuer, identity, secretFile, awaitedIssuer } = options;
  if ([issuer, identity, secretFile, awaitedIssuer].every((option) => option === undefined)) return undefined;
  const { enrolHost } = (await importModule(jobCredentials)) as typeof import("../../job/credentials/index.js");
  return enrolHost(options, awaitedIssuer, io);
}

/**
 * Listens until the daemon ends, and returns the reason.
 * @param asked resolves with the reason when this process is asked to end
 * @param enrolled the files of the certificate that this host of a job has got
 */
async function listenUntil(
  asked: Promise<string>,
  options: HostCommandOptions,
  enrolled: TlsFiles | undefined,
  io: CommandOutput,
): Promise<string> {
  // A token of the environment is meant for other hosts than those of jobs.
  const token = options.token ?? tokenFrom(options.tokenFile, enrolled === undefined);
  const files = enrolled ?? tlsFilesFrom(options);
  const credentials = files === undefined ? undefined : new FileCredentials(files);
  const proof = { ...(token === undefined ? {} : { token }), ...(files === undefined ? {} : { tls: { ...files } }) };
  const listened = options.listen.map(parseListenAddress);
  if (listened.length === 0) throw new TypeError("cannot start a host: give an address with --listen");
  const addresses = listened.filter((address) => address.kind !== "ws");
  if (addresses.length === 0) {
    const text =
      "only drivers reach ws:// addresses; give another address with --listen, by which other hosts reach this one";
    throw new TypeError(`cannot start a host: ${text}`);
  }
  for (const address of listened) {
    checkAuthenticated(address, { token, files, insecure: options.insecure === true });
    if (enrolled !== undefined && address.kind === "tcp") {
      const text = `cannot listen at ${formatNetworkAddress(address)}: a host with a certificate of its job`;
      throw new TypeError(`${text} listens at tls:// addresses`);
    }
  }
  const onRefused = rateLimited((text) => io.err(`viceroy host: refused a connection${text}`));
  const audit = (line: string) => io.out(`viceroy host: ${line}`);
  const arrived = new ArrivedConnections(systemClock);
  const spares = makeSpares(sparesFrom(options.spares));
  const machine = {
    clock: systemClock,
    random: systemRandom,
    hostname: hostname(),
    platform: () => makeNodePlatform(spares),
    connectSocket,
    arrived,
    ...(credentials === undefined
      ? {}
      : { checkIsHost: (...[to, signal]: Parameters<typeof connectSocket>) => checkIsHost(to, credentials, signal) }),
    machine: makeMachine(),
    addresses: options.singlePort === true ? [] : addresses,
    ...(options.print === true ? { print: io.out } : {}),
    ...(options.idle === undefined ? {} : { idle: idleLimit(options.idle) }),
    ...(process.env["VICEROY_JOB"] === undefined ? {} : { gpuEnv: process.env }),
  };
  const controllers = new ControllerProcesses(systemRandom, audit);
  const listener = new HostListener({ ...machine, proof, controllers, onRefused, audit });
  const listeners: Listener<ListenAddress>[] = [];
  for (const address of listened) {
    const tls = credentials === undefined ? {} : { credentials };
    const accept: AcceptPipe = (...accepted) => listener.accept(address.kind, ...accepted);
    if (address.kind === "ws") {
      listeners.push(await listenWebSockets(address, accept, { ...tls, onRefused }));
      continue;
    }
    const takeData: TakeDataConnection = (...came) => arrived.arrived(...came);
    const listen = () => listenAt(address, accept, { ...tls, onRefused, takeData });
    listeners.push(address.kind === "unix" ? await listenPrivately(address, listen) : await listen());
  }
  const { identity } = credentials?.current() ?? {};
  for (const { address } of listeners) {
    // Drivers give the identity with the address.
    const isSecure = address.kind === "tls" || address.kind === "ws";
    const expected = isSecure && identity !== undefined ? { identity: formatIdentity(identity) } : {};
    const text = formatNetworkAddress({ ...address, ...expected });
    io.out(`viceroy host ${version}, process ${process.pid}, listens at ${text}`);
  }
  // Whoever waits for the lines above shall not wait for the spares.
  systemClock.nextTurn(() => {
    shareCompiledCode();
    spares?.fill();
  });
  const { grace = 0 } = options;
  const askedInTime = asked.then(async (why) => {
    if (grace > 0) io.out(`viceroy host: ${why}; it goes on for its drivers, for ${grace} ms at most`);
    await listener.daemon.unused(grace);
    return why;
  });
  const reason = await Promise.race([listener.daemon.ended, askedInTime]);
  for (const listener of listeners) listener.close();
  spares?.close();
  await listener.end(reason);
  return reason;
}

/**
 * Makes output errors harmless: the reader of the daemon's output may go away, or the disk may be full, and the
 * processes must go on. A file reports such errors by an exception, a pipe by an event.
 */
function ignoringOutputErrors({ out, err }: CommandOutput): CommandOutput {
  // The CLI ends other commands at such an error.
  for (const output of [process.stdout, process.stderr]) output.removeAllListeners("error").on("error", () => {});
  const tried = (print: (line: string) => void) => (line: string) => {
    try {
      print(line);
    } catch {
      // There is no other output for the error.
    }
  };
  return { out: tried(out), err: tried(err) };
}

/**
 * Listens at a socket to which only this user can connect, regardless of the permissions of the folder. Removes the
 * socket that a killed daemon has left.
 * @throws Error if another host listens there
 */
async function listenPrivately(address: PathAddress, listen: () => Promise<Listener>): Promise<Listener> {
  const mask = process.umask(0o177);
  try {
    return await listen();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    if (await isAnswered(address)) {
      throw new Error(`cannot listen at ${formatNetworkAddress(address)}: a host listens there already`, {
        cause: error,
      });
    }
    unlinkSync(address.path);
    return await listen();
  } finally {
    process.umask(mask);
  }
}

async function isAnswered(address: PathAddress): Promise<boolean> {
  try {
    (await connectTo(address, undefined)).destroy();
    return true;
  } catch (error) {
    if (lstatSync(address.path).isSocket()) return false;
    throw new Error(`cannot listen at ${formatNetworkAddress(address)}: a file that is not a socket is there already`, {
      cause: error,
    });
  }
}

/**
 * Limits reports of refused connections to one line per second, which counts the omitted ones, so that strangers cannot
 * fill a log.
 */
function rateLimited(print: (text: string) => void): (error: Error, peer?: string) => void {
  let printedAt = -Infinity;
  let others = 0;
  return (error, peer) => {
    const message = `${peer === undefined ? "" : ` from ${peer}`}: ${error.message}`;
    const now = systemClock.now();
    if (now - printedAt < 1000) {
      others++;
      return;
    }
    print(others === 0 ? message : `${message} (and ${others} before)`);
    printedAt = now;
    others = 0;
  };
}

/** Waits for the first signal that asks this process to end. A second signal of the same kind ends it at once. */
function waitForSignal(): Promise<string> {
  return new Promise((done) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => done(`the host was ended by ${signal}`));
    }
  });
}

/** @throws TypeError if the limit is not a number of milliseconds of a timer */
function idleLimit(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit > 0 && limit <= MAX_TIMER_MS) return limit;
  throw new TypeError(`cannot start a host: expected --idle as milliseconds from 1 to ${MAX_TIMER_MS}, got ${text}`);
}

/** @throws TypeError if the text is not a number of spares */
function sparesFrom(text: string | undefined): number {
  if (text === undefined) return DEFAULT_SPARES;
  const count = Number(text);
  if (/^\d+$/.test(text) && count <= MAX_SPARES) return count;
  throw new TypeError(`cannot start a host: expected --spares as a number from 0 to ${MAX_SPARES}, got ${text}`);
}

/** Waits for the end of the process that holds the other end of standard input. */
function waitForInputEnd(): Promise<string> {
  return new Promise((done) => {
    const ended = () => done("the process that has started the host has ended");
    if (process.stdin.readableEnded) ended();
    process.stdin.once("end", ended).once("error", ended).resume();
  });
}

/** @param usesVariable whether the environment can have the token */
function tokenFrom(file: string | undefined, usesVariable: boolean): string | undefined {
  if (file !== undefined) return parseToken(readToken(file), file);
  const variable = usesVariable ? process.env["VICEROY_TOKEN"] : undefined;
  return variable === undefined ? undefined : parseToken(variable, "VICEROY_TOKEN");
}

function readToken(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const why = errorMessage(cause);
    throw new Error(`cannot read the token from ${file}, given as --token-file: ${why}`, { cause });
  }
}

function tlsFilesFrom({ cert, key, ca }: HostCommandOptions): TlsFiles | undefined {
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined || ca === undefined) {
    throw new TypeError("cannot start a host: TLS needs --cert, --key and --ca, all three");
  }
  return { cert: resolve(cert), key: resolve(key), ca: resolve(ca) };
}

interface HostProofs {
  readonly token: string | undefined;
  readonly files: TlsFiles | undefined;
  readonly insecure: boolean;
}

/** @throws Error if the address is open to the network without any authentication */
function checkAuthenticated(address: ListenAddress, { token, files, insecure }: HostProofs): void {
  const { kind } = address;
  if (isLocalAddress(address) || kind === "tls" || token !== undefined || insecure) return;
  if (kind === "ws" && files !== undefined) return;
  const certificate = kind === "ws" ? "give a certificate (--cert, --key and --ca)" : "use tls://";
  throw new Error(
    `cannot listen at ${formatNetworkAddress(address)}: anyone who reaches it could run programs here; ` +
      `${certificate}, give a token (--token-file or VICEROY_TOKEN), or say --insecure`,
  );
}
