/** The real API server of SkyPilot, with a home of its own, so that nothing of the user is read or changed. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, openSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Connected } from "./connected.js";

export interface RealServer extends Connected {
  /** The folders of the server on this machine. */
  readonly folders: readonly string[];
  /** Kills the server with its workers, and starts it again at the same address. Resolves when it answers. */
  restart(): Promise<void>;
}

/** The id of the user of the tests. */
export const userId = "5ca1ab1e";

/** Time in ms for the start, which takes about 12 s of two idle processors. */
const startMs = 120_000;

/** The place where a server runs. */
export interface ServerPlace {
  /** The Python that has SkyPilot. */
  readonly python: string;
  /** A folder for all files of the server, which is removed with it. */
  readonly home: string;
  readonly port: number;
  /** The command prefix of its machine. */
  readonly through: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Starts a server without any infrastructure on this machine. @param python the Python that has SkyPilot */
export async function startRealServer(python: string): Promise<RealServer> {
  const home = mkdtempSync(path.join(tmpdir(), "viceroy-skypilot-"));
  const env = { PATH: process.env["PATH"], KUBECONFIG: path.join(home, "no-kubeconfig") };
  return startServerAt({ python, home, port: await freePort(), through: [], env });
}

export async function startServerAt(place: ServerPlace): Promise<RealServer> {
  const { python, home, port } = place;
  mkdirSync(path.join(home, ".sky"), { recursive: true });
  const url = `http://127.0.0.1:${port}`;
  let server = await startOnce(place);
  return {
    url,
    folders: [home, path.resolve(python, "../..")],
    restart: async () => {
      await end(server);
      server = await startOnce(place);
    },
    close: async () => {
      await end(server);
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function startOnce({ python, home, port, through, env: own }: ServerPlace): Promise<ChildProcess> {
  const log = path.join(home, "server.log");
  const output = openSync(log, "a");
  const command = [...through, python, "-m", "sky.server.server", "--host", "127.0.0.1", "--port", String(port)];
  const env = {
    ...own,
    HOME: home,
    SKYPILOT_API_SERVER_LOCAL_PORT: String(port),
    SKYPILOT_DISABLE_USAGE_COLLECTION: "1",
    SKYPILOT_USER_ID: userId,
  };
  // A process group of its own, with the workers in it.
  const server = spawn(command[0]!, command.slice(1), {
    cwd: home,
    env,
    detached: true,
    stdio: ["ignore", output, output],
  });
  const until = performance.now() + startMs;
  while (!isHealthy(port, through)) {
    if (server.exitCode !== null || performance.now() > until) {
      await end(server);
      throw new Error(`cannot start the API server of SkyPilot: see ${log}`);
    }
    await pause(200);
  }
  return server;
}

/** Asks on the machine of the server, whose loopback interface this process may not share. */
function isHealthy(port: number, through: readonly string[]): boolean {
  const program = `fetch("http://127.0.0.1:${port}/api/health").then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`;
  const [file, ...args] = [...through, process.execPath, "-e", program];
  return spawnSync(file!, args).status === 0;
}

async function end(server: ChildProcess): Promise<void> {
  const gone = server.exitCode === null ? new Promise((resolve) => server.once("exit", resolve)) : Promise.resolve();
  try {
    process.kill(-server.pid!, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
  await gone;
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
