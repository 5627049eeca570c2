/** Runs programs that use jobs on machines of a network, and reads what they print: one line of JSON for each event. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { JobEvent } from "viceroy/job";
import { project } from "../proc/crew.js";
import { limitUnderLoad, until } from "../proc/until.js";

/** A line that the programs print (test/fixtures/crew/programs/on-slurm.ts, on-ssh.ts). */
export interface Printed {
  readonly event?: JobEvent;
  readonly applyId?: string;
  /** The processes of the crew. */
  readonly pids?: readonly number[];
  /** The machines of the crew. */
  readonly names?: readonly string[];
  /** The hosts of the crew, such as `workers[0]`. */
  readonly places?: readonly string[];
  readonly gpus?: readonly string[];
  /** The value of the variable WORD in the processes of the crew. */
  readonly words?: readonly string[];
  /** What the first of the crew says about its job (describe-this-job.ts). */
  readonly thisJob?: unknown;
  /** What the crew has answered to one of it (through-login.ts). */
  readonly heard?: readonly string[];
  /** What the crew has said until the program was told to end (through-login.ts): the items of a stream, and the answers to calls. */
  readonly said?: { readonly numbers: readonly number[]; readonly kept: readonly number[] };
  /** The bytes that the machine of the driver has sent and received while the crew talked. */
  readonly bytes?: number;
  /** The name of the error. */
  readonly name?: string;
  readonly message?: string;
}

export interface JobDriver {
  readonly child: ChildProcess;
  readonly printed: readonly Printed[];
  /** Returns what the program has written to standard error. */
  complaints(): string;
  readonly exited: Promise<number | null>;
  /** Resolves with the line that tells where the crew runs, or why it does not. */
  outcome(): Promise<Printed>;
  events(): readonly string[];
}

/**
 * Hosts that live answer within this time in ms. It is the same for all programs of a test, which may share a job. A host over
 * ssh that is cut off ends by itself after 20 s, and the driver must notice sooner.
 */
const silence = limitUnderLoad(4000, 8000);
const timeout = 60_000;

/** How a program ends: it waits, leaves the job running, or kills it. */
export type DriverEnd = "wait" | "leave" | "kill";

/**
 * Starts a program.
 * @param through the command prefix that runs it on a machine
 * @param program the name of a file of the crew's programs
 * @param options the options of the job
 * @param further further arguments of the program
 */
export function startJobDriver(
  through: readonly string[],
  program: string,
  options: object,
  how: DriverEnd,
  env: NodeJS.ProcessEnv,
  ...further: readonly string[]
): JobDriver {
  const patient = JSON.stringify({ attach: { silence, timeout }, ...options });
  const node = [process.execPath, "--import", "tsx", join(project, "programs", program), patient, how];
  const [file, ...args] = [...through, ...node, ...further];
  const child = spawn(file!, args, { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
  const printed: Printed[] = [];
  let complaints = "";
  child.stderr.on("data", (chunk) => {
    complaints += chunk;
  });
  let partial = "";
  child.stdout.on("data", (chunk) => {
    const lines = (partial + chunk).split("\n");
    partial = lines.pop()!;
    printed.push(...lines.map((line) => JSON.parse(line) as Printed));
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const settled = () => printed.find(({ names, message }) => names !== undefined || message !== undefined);
  return {
    child,
    printed,
    complaints: () => complaints,
    exited,
    outcome: async () => {
      await until(() => settled() !== undefined || child.exitCode !== null);
      return settled()!;
    },
    events: () => printed.flatMap(({ event }) => (event === undefined ? [] : [`${event.kind}: ${event.reason}`])),
  };
}
