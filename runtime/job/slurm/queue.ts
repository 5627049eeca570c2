/** What Slurm says about a job: the lines of `squeue`, read from their portable text form. */
import { LoginCommandError, type LoginCommands } from "../reach/login-commands.js";

/** The state of one job, or of one component of a heterogeneous job. */
export interface QueueLine {
  /** The state in Slurm's words, such as `PENDING`. */
  readonly state: string;
  /** The nodes in Slurm's notation, such as `n[1-3]`; empty while the job waits. */
  readonly nodes: string;
  /** Why the job waits or has ended, in Slurm's words. */
  readonly reason: string;
  /** The comment of the job, which begins with the id of the run. */
  readonly comment: string;
  /** The number of times that Slurm has started the job again. */
  readonly restarts: number;
  /** The time that is left in seconds; undefined if there is no limit. */
  readonly left: number | undefined;
}

/** States in which a job has not ended. */
const livingStates = new Set([
  "PENDING",
  "CONFIGURING",
  "RUNNING",
  "COMPLETING",
  "SUSPENDED",
  "REQUEUED",
  "REQUEUE_HOLD",
  "REQUEUE_FED",
  "RESIZING",
  "SIGNALING",
  "STAGE_OUT",
  "STOPPED",
  "RESV_DEL_HOLD",
  "SPECIAL_EXIT",
]);

/** Returns whether a state is one of a job that has not ended. */
export function isLiving({ state }: QueueLine): boolean {
  return livingStates.has(state);
}

/** The fields of a line, with the number of characters to which Slurm pads or cuts them. */
const format = ["State:30", "NodeList:4000", "Reason:300", "TimeLeft:30", "RestartCnt:12", "Comment:300"]
  .map((field) => `${field}|`)
  .join(",");

/** Returns whether the controller of Slurm, or the login node, does not answer, which passes. */
export function isTransient(error: unknown): error is LoginCommandError {
  if (!(error instanceof LoginCommandError)) return false;
  return (
    error.isOfSsh ||
    /unable to contact slurm controller|connection (?:refused|timed out|reset)|socket timed out|zero bytes/i.test(
      error.said,
    )
  );
}

/**
 * Asks Slurm about a job.
 * @returns one line per component; none if Slurm does not know the job any more
 * @throws LoginCommandError if Slurm does not answer
 */
export async function queryQueue(commands: LoginCommands, jobId: number): Promise<readonly QueueLine[]> {
  try {
    const out = await commands.run(["squeue", "--noheader", `--jobs=${jobId}`, "--states=all", `--Format=${format}`]);
    return out.split("\n").flatMap(parseLine);
  } catch (error) {
    if (error instanceof LoginCommandError && /invalid job id/i.test(error.said)) return [];
    throw error;
  }
}

function parseLine(line: string): QueueLine[] {
  const [state, nodes, reason, left, restarts, comment] = line.split("|").map((field) => field.trim());
  // A login node may print other lines first.
  if (comment === undefined || !/^[A-Z_]+$/.test(state!)) return [];
  return [
    { state: state!, nodes: nodes!, reason: reason!, left: parseLeft(left!), restarts: Number(restarts), comment },
  ];
}

/** Reads `days-hours:minutes:seconds`; the parts before the seconds may be missing. */
function parseLeft(text: string): number | undefined {
  const [, days = "0", rest] = /^(?:(\d+)-)?(\d+(?::\d+){1,2})$/.exec(text) ?? [];
  if (rest === undefined) return undefined;
  return rest.split(":").reduce((total, part) => total * 60 + Number(part), 0) + Number(days) * 86_400;
}

/** The text that a job adds to its comment when Slurm has signalled that it will end soon. */
export const warnedMark = "warned";

/** Returns whether a job has a comment, to which it may have added something. */
export function hasComment({ comment }: Pick<QueueLine, "comment">, wanted: string): boolean {
  return comment === wanted || comment.startsWith(`${wanted} `);
}

/** Returns whether Slurm has signalled that the job will end soon. */
export function isWarned({ comment }: QueueLine): boolean {
  return comment.endsWith(` ${warnedMark}`);
}

/** A job that was found by the beginning of its comment. */
export interface FoundJob {
  readonly id: number;
  /** The comment after its beginning. */
  readonly rest: string;
}

/** Finds the jobs of a run by the beginning of their comment. @param ended whether to return those that have ended, too */
export async function findComments(commands: LoginCommands, comment: string, ended = false): Promise<FoundJob[]> {
  const out = await commands.run(["squeue", "--noheader", "--me", "--states=all", "--format=%i|%T|%k"]);
  const found = out.split("\n").flatMap((line): [number, FoundJob][] => {
    const [name = "", state = "", ...parts] = line.split("|");
    const id = Number.parseInt(name, 10);
    const said = parts.join("|");
    if (!(ended || livingStates.has(state)) || !hasComment({ comment: said }, comment)) return [];
    return [[id, { id, rest: said.slice(comment.length) }]];
  });
  // A heterogeneous job has a line for each component.
  return [...new Map(found).values()];
}

/** Returns the names of nodes, in Slurm's order. */
export async function hostNames(commands: LoginCommands, nodes: string): Promise<string[]> {
  if (nodes === "") return [];
  const out = await commands.run(["scontrol", "show", "hostnames", nodes]);
  return out.split("\n").filter((name) => /^[\w.-]+$/.test(name));
}

/**
 * Returns how a job has ended by the accounting of Slurm; undefined if Slurm keeps no accounts, or does not know the job.
 */
export async function accountedEnd(commands: LoginCommands, jobId: number): Promise<string | undefined> {
  try {
    const out = await commands.run([
      "sacct",
      "--noheader",
      "--parsable2",
      "--allocations",
      `--jobs=${jobId}`,
      "--format=State,ExitCode",
    ]);
    const [line = ""] = out.split("\n");
    const [state, code] = line.split("|");
    return code === undefined ? undefined : `${state} (exit code ${code})`;
  } catch {
    return undefined;
  }
}
