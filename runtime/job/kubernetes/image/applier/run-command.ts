/** Runs the command of a step, in a process group of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** The end of a command. */
export interface CommandEnd {
  /** Why it has failed; undefined if it has not. */
  readonly reason: string | undefined;
  /** The last lines that it has printed. */
  readonly lastLines: readonly string[];
}

/** Number of lines that an error contains. */
const maxLastLines = 20;

/** Exit code of this program when it is asked to end, as shells have it. */
const terminated = 143;

/** The command that runs now. */
let running: ChildProcess | undefined;

/** Ends this program and the command that runs, with all of its processes. */
export function endWithCommand(): never {
  try {
    if (running?.pid !== undefined) process.kill(-running.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
  process.exit(terminated);
}

export async function runCommand(
  program: string,
  args: readonly string[],
  {
    cwd,
    env,
    print,
  }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly print: (line: string) => void },
): Promise<CommandEnd> {
  const lastLines: string[] = [];
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  running = child;
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on("line", (line) => {
      print(line);
      lastLines.push(line);
      if (lastLines.length > maxLastLines) lastLines.shift();
    });
  }
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    return { reason: reasonOf(code, signal), lastLines };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (!isMissing) throw error;
    return { reason: `the container image has no program ${program}`, lastLines };
  } finally {
    running = undefined;
  }
}

function reasonOf(code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (code === 0) return undefined;
  if (signal === "SIGKILL") return "it was ended by SIGKILL, which the system sends when the pod uses too much memory";
  return signal === null ? `it has ended with exit code ${code}` : `it was ended by ${signal}`;
}
