/** Starts processes that measure and processes that serve, pins them to cores, and reads their answers. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/**
 * Returns the command that runs `command` only on the cores `cpus` ("0", "0,1"), or `command` itself if `cpus` is undefined or
 * taskset is missing.
 *
 * @param {string | undefined} cpus
 * @param {readonly string[]} command
 * @returns {[string, ...string[]]}
 */
export function pinned(cpus, command) {
  return cpus !== undefined && canPin() ? ["taskset", "-c", cpus, ...command] : [...command];
}

let taskset;
/** Returns whether processes can be pinned to cores. */
export function canPin() {
  taskset ??= succeeds("taskset", "--version");
  return taskset;
}

function succeeds(command, ...args) {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/**
 * Runs a command to its end and returns the JSON of its last line. Rejects with the command's stderr when the command fails or
 * takes more than `timeout` ms.
 */
export async function runJson([command, ...args], { timeout = 180_000, cwd, env } = {}) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], cwd, env: { ...process.env, ...env } });
  const [output, errors] = [collect(child.stdout), collect(child.stderr)];
  const timer = setTimeout(() => child.kill("SIGKILL"), timeout);
  const [code, signal] = await once(child, "close");
  clearTimeout(timer);
  const last = output.text().trimEnd().split("\n").at(-1) ?? "";
  if (code === 0 && last !== "") return JSON.parse(last);
  throw new Error(`cannot run ${[command, ...args].join(" ")}: ended with ${signal ?? code}\n${errors.text()}`);
}

/**
 * Starts a command that prints one line of JSON, and then one more for each line of its input.
 *
 * @returns {Promise<{ first: unknown, ask: (line: string) => Promise<unknown>, stop: () => Promise<void> }>}
 */
export async function startAnswering([command, ...args]) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const answer = async () => {
    const { done, value } = await lines.next();
    if (done) throw new Error(`cannot run ${[command, ...args].join(" ")}: it ended`);
    return JSON.parse(value);
  };
  return {
    first: await answer(),
    ask(line) {
      child.stdin.write(`${line}\n`);
      return answer();
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

function collect(stream) {
  const chunks = [];
  stream.on("data", (chunk) => chunks.push(chunk));
  return { text: () => Buffer.concat(chunks).toString("utf8") };
}

/**
 * Starts a server and waits until it has printed a line. Further output is dropped; `stop` ends the server. Servers call
 * `endWithParent`, so that they do not outlive a client that was killed.
 */
export async function startReady([command, ...args]) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const line = await Promise.race([once(child.stdout, "data"), ended.then(() => undefined)]);
  if (line === undefined) throw new Error(`cannot start ${[command, ...args].join(" ")}: it ended`);
  child.stdout.resume();
  return {
    child,
    pid: child.pid,
    line: String(line[0]).trim(),
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Ends this process when its parent has ended. */
export function endWithParent() {
  process.stdin.once("end", () => process.exit()).resume();
}
