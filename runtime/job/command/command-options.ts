/** The options of the commands of `viceroy job` and of `viceroy repl --job`, and the outputs to which they print. */

/** The options of the commands. */
export interface JobCommandOptions {
  /** Whether to print JSON, one value per line. */
  readonly json: boolean;
  /** Whether `logs` waits for further lines. */
  readonly follow: boolean;
  /** Whether `state` goes on with what happens to the job. */
  readonly watch: boolean;
  /** Whether the command only looks at the job: `state`, `logs` and `repl` take the option. */
  readonly readOnly?: boolean;
  /** Whether `run` returns when the job has been submitted. */
  readonly detach: boolean;
  /** The program and the arguments of `run`, `exec` and `spmd`, the sizes of `resize`, and the ports of `port`. */
  readonly command: readonly string[];
  /** The mesh of the hosts on which `exec` runs and to which `sync` brings the code, absent for all meshes; and `spmd`, absent for the only one. */
  readonly mesh?: string;
  /** What `sync` leaves out, and the folders that it brings; absent: those of the job. */
  readonly exclude?: readonly string[];
  readonly root?: readonly string[];
  /** The rank of the host in its mesh on which `exec` runs; absent for all hosts. */
  readonly rank?: number;
  /** The number of processes that `spmd` starts on each host. */
  readonly procs?: number;
  /** The number of GPUs that each process of `spmd` sees alone. */
  readonly gpusPerProc?: number;
  /** The number of times that `spmd` starts all processes again. */
  readonly maxRestarts?: number;
  /** The file of the job as the user has named it, for `repl`. */
  readonly source?: string;
  /** The generated modules of the project for `repl`: names of variables, and URLs. */
  readonly modules?: readonly (readonly [string, string])[];
}

export interface CommandOutput {
  out(line: string): void;
  err(line: string): void;
}
