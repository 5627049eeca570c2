/**
 * Reads the output files of batch jobs where the commands of Slurm run. `srun --label` marks each line with the number
 * of its task, which is the rank in the mesh of the step.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { JobLogLine } from "../provider.js";
import type { LoginCommands } from "../reach/login-commands.js";

/** Time in ms between two looks at files that are followed. */
const followMs = 500;

export interface SlurmLogFile {
  readonly file: string;
  readonly meshes: readonly string[];
  /** The rank of the first host of each mesh, which is task 0. */
  readonly first: number;
}

/** @param isOver returns whether nothing is written any more; undefined to read what is there only */
export async function* readSlurmLogs(
  commands: LoginCommands,
  files: readonly SlurmLogFile[],
  isOver: (() => Promise<boolean>) | undefined,
  signal: AbortSignal,
): AsyncGenerator<JobLogLine, void> {
  const read = new Map<string, number>();
  for (;;) {
    const isLast = isOver === undefined || (await isOver());
    for (const { file, meshes, first } of files) {
      const from = read.get(file) ?? 0;
      const text = await commands.run([
        "sh",
        "-c",
        `test ! -f "$1" || tail -c "+$2" "$1"`,
        "sh",
        file,
        String(from + 1),
      ]);
      const complete = isLast ? text : text.slice(0, text.lastIndexOf("\n") + 1);
      read.set(file, from + Buffer.byteLength(complete));
      yield* linesOf(complete, meshes, first);
    }
    if (isLast || signal.aborted) return;
    await pause(followMs, undefined, { signal }).catch(() => {});
  }
}

function* linesOf(text: string, meshes: readonly string[], first: number): Generator<JobLogLine> {
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, mesh, rank, rest] = /^(\w+) +(\d+): (.*)$/.exec(line) ?? [];
    const isOfHost = mesh !== undefined && meshes.includes(mesh);
    // The rest is from the batch script: its command, and Slurm itself.
    yield isOfHost ? { mesh, rank: Number(rank) + first, line: rest! } : { line };
  }
}
