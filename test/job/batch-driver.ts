/** Runs `viceroy job` on the jobs of test/fixtures/crew/programs/batch-jobs.ts, as processes that can be killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { project } from "../proc/crew.js";
import { until } from "../proc/until.js";

export const cli = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));

/** A line of JSON that the command of the job prints. */
export interface ClientLine {
  readonly pid?: number;
  readonly applyId?: string;
  /** The id of the job that `thisJob` returns. */
  readonly own?: string;
  /** The processes of the crew. */
  readonly pids?: readonly number[];
  readonly node?: string;
  readonly cwd?: string;
  readonly word?: string;
  readonly answers?: number;
  /** The ranks of the hosts after a resize. */
  readonly ranks?: readonly string[];
  readonly active?: boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Which job, and where the command line runs. */
export interface JobPlace {
  readonly job: "kubernetes" | "local" | "process" | "slurm" | "ssh";
  readonly cache: string;
  /** Further options of the job. */
  readonly options?: object;
  readonly env?: NodeJS.ProcessEnv;
  /** The command prefix that runs a program on a machine. */
  readonly through?: readonly string[];
}

export interface StartedCommand {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Returns what the command has printed on its standard output until now. */
  printed(): string;
  /** Kills the command and the process that does its work. */
  kill(): void;
}

/** Starts `viceroy job <args>`. */
export function startViceroyJob(place: JobPlace, ...args: readonly string[]): StartedCommand {
  const { job, cache, options = {}, env = process.env, through = [] } = place;
  const [name, ...rest] = args;
  const words = [...through, process.execPath, cli, "job", name!, "--job", "programs/batch-jobs.ts", ...rest];
  const [file, ...argv] = words;
  const own = { JOB: job, JOB_CACHE: cache, JOB_OPTIONS: JSON.stringify(options) };
  const child = spawn(file!, argv, {
    cwd: project,
    env: { ...env, ...own },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    err += chunk;
  });
  const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, out, err })));
  return { child, ended, printed: () => out, kill: () => process.kill(-child.pid!, "SIGKILL") };
}

export function viceroyJob(place: JobPlace, ...args: readonly string[]): Promise<Ended> {
  return startViceroyJob(place, ...args).ended;
}

/** The arguments that run test/fixtures/crew/programs/batch-client.ts. */
export function client(how: string): string[] {
  return ["--", process.execPath, "--import", "tsx", "programs/batch-client.ts", how];
}

/** The arguments that run test/fixtures/crew/programs/batch-talk.ts. */
export const talk = ["--", process.execPath, "--import", "tsx", "programs/batch-talk.ts"];

/** Returns the lines that the crew of batch-talk.ts and the command have printed, in the output of `viceroy job logs`. */
export function talkLines(text: string): string[] {
  return text.split("\n").filter((line) => line.includes("this"));
}

/** Returns the lines of JSON in a text. */
export function clientLines(text: string): ClientLine[] {
  return text.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as ClientLine] : []));
}

/** Waits until the command of the job prints where it runs. @param file returns the path of its output in the folder of the run */
export async function clientAt({ cache }: JobPlace, file: (folder: string) => string): Promise<ClientLine> {
  const jobs = join(dirname(cache), "jobs");
  const read = () => {
    try {
      const [run] = readdirSync(jobs);
      return clientLines(readFileSync(file(join(jobs, run!)), "utf8"));
    } catch {
      return [];
    }
  };
  await until(() => read().length > 0);
  return read()[0]!;
}
