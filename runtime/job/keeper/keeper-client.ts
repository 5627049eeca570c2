/** A driver's side of a keeper: starts the keeper, and sends requests to its socket. */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { taskMarkVariable } from "../../process-table.js";
import type { HostPlace } from "../mesh-spec.js";
import {
  type HostOrder,
  type KeeperEvent,
  type KeeperOrder,
  type KeeperState,
  keeperSocket,
  type LostHost,
} from "./keeper-order.js";
import { keeperVariable } from "./marked-processes.js";

/** The errors of a connection to a keeper that has ended. */
const endCodes = new Set<string | undefined>(["ECONNRESET", "ECONNREFUSED", "ENOENT"]);

const program = fileURLToPath(new URL("./job-keeper.js", import.meta.url));

/**
 * Starts a keeper, and resolves when it listens. It runs in a session of its own, and goes on when this process ends.
 * @param logFile the file for what the keeper itself prints
 * @throws Error with the output of the keeper if it cannot be started
 */
export async function startKeeper(order: KeeperOrder, logFile: string): Promise<void> {
  const log = openSync(logFile, "a", 0o600);
  const child = spawn(process.execPath, [program], {
    cwd: "/",
    env: { ...process.env, [keeperVariable]: order.applyId, [taskMarkVariable]: undefined },
    detached: true,
    stdio: ["pipe", "pipe", log],
  });
  closeSync(log);
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  child.stdin!.on("error", () => {});
  child.stdin!.end(JSON.stringify(order));
  const said = await Promise.race([text(child.stdout!), failed]);
  child.unref();
  if (said.trim() === "ready") return;
  throw new Error(`its keeper could not start: ${said.trim() || readFileSync(logFile, "utf8").trim()}`);
}

/** Returns what a keeper holds; undefined if no keeper listens in the directory. */
export async function keeperState(directory: string): Promise<KeeperState | undefined> {
  try {
    const answer = await ask(directory, "GET", "/state");
    return JSON.parse(await text(answer)) as KeeperState;
  } catch {
    return undefined;
  }
}

/** Asks a keeper to end everything. Resolves with false if no keeper listens, and otherwise when nothing is left. */
export async function endKeeper(directory: string): Promise<boolean> {
  try {
    await text(await ask(directory, "POST", "/end"));
    return true;
  } catch {
    return false;
  }
}

/** Tells a keeper that this driver has lost a host. Resolves with false if the keeper has no host at that place any more. */
export async function reportLostHost(directory: string, lost: LostHost): Promise<boolean> {
  const path = `/lost?${new URLSearchParams({ ...lost, rank: String(lost.rank), incarnation: String(lost.incarnation) })}`;
  // The events of the keeper tell that it does not listen any more.
  const answer = await ask(directory, "POST", path).then(text, () => "true");
  return answer !== "false";
}

/** Has a keeper end the hosts of a mesh from a rank on. Resolves when nothing of them is left. @throws Error if no keeper listens */
export async function giveBackHosts(directory: string, { mesh, rank }: HostPlace): Promise<void> {
  await text(await ask(directory, "POST", `/give-back?${new URLSearchParams({ mesh, rank: String(rank) })}`));
}

/** Has a keeper start further hosts. A place that has a host keeps it. @throws Error if no keeper listens */
export async function addHosts(directory: string, orders: readonly HostOrder[]): Promise<void> {
  await text(await ask(directory, "POST", "/hosts", undefined, JSON.stringify(orders)));
}

/**
 * Connects to a keeper as a driver, and reads its events until the job or the keeper has ended, or `signal` is aborted.
 * As long as the connection is open, the keeper knows that the driver lives. It does not keep this process alive.
 */
export async function* keeperEvents(directory: string, signal: AbortSignal): AsyncGenerator<KeeperEvent, void> {
  try {
    const answer = await ask(directory, "GET", "/events", signal);
    answer.socket.unref();
    let partial = "";
    for await (const chunk of answer.setEncoding("utf8")) {
      const lines = (partial + chunk).split("\n");
      partial = lines.pop()!;
      for (const line of lines) yield JSON.parse(line) as KeeperEvent;
    }
  } catch (error) {
    // The socket of a keeper that was killed is closed without a last event, or was never reached.
    const isOver = signal.aborted || endCodes.has((error as NodeJS.ErrnoException).code);
    if (!isOver) throw error;
  }
}

async function ask(
  directory: string,
  method: string,
  path: string,
  signal?: AbortSignal,
  body?: string,
): Promise<IncomingMessage> {
  // Programs whose jobs have no keeper do not load it.
  const { request } = await import("node:http");
  return new Promise((resolve, reject) => {
    const socketPath = join(directory, keeperSocket);
    request({ socketPath, method, path, agent: false, ...(signal === undefined ? {} : { signal }) }, resolve)
      .once("error", reject)
      .end(body);
  });
}
