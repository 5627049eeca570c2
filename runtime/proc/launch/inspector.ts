/** The option `inspect` of `spawnProcs`: at which port the debugger of each process listens. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { checkOptionNames } from "../../shape/index.js";

/** The debugger of processes; see `SpawnProcsOptions.inspect`. */
export interface InspectOptions {
  /**
   * The port of rank 0, from 1 to 65,535; rank `r` listens at `port + r`. Default: each process listens at a free port.
   * With `ProcMesh.replace`, use free ports: the old process still listens while the new one starts.
   */
  readonly port?: number;
  /**
   * Whether each process waits for a debugger before it loads any module of the program. Calls wait meanwhile. Default:
   * false.
   */
  readonly break?: boolean;
}

/** The debugger of one process. */
export interface InspectedPort {
  /** 0 selects a free port. */
  readonly port: number;
  readonly break: boolean;
}

const maxPort = 65_535;

/**
 * @param count the number of processes
 * @returns the debugger of each rank
 * @throws TypeError if the option is malformed; RangeError if a port is out of range
 */
export function planInspect(
  inspect: boolean | InspectOptions | undefined,
  count: number,
  execArgv: readonly string[] = [],
): (rank: number) => InspectedPort | undefined {
  if (inspect === undefined || inspect === false) return () => undefined;
  const given = execArgv.find((option) => option.startsWith("--inspect"));
  if (given !== undefined) {
    throw new TypeError(`cannot spawn procs: inspect and execArgv both start a debugger, got execArgv ${given}`);
  }
  if (inspect !== true && (typeof inspect !== "object" || inspect === null)) {
    throw new TypeError(`cannot spawn procs: expected inspect to be true or options, got ${describeValue(inspect)}`);
  }
  const options: InspectOptions = inspect === true ? {} : inspect;
  checkOptionNames("cannot spawn procs with inspect", options, ["port", "break"]);
  const { port, break: waits = false } = options;
  if (typeof waits !== "boolean") {
    throw new TypeError(`cannot spawn procs: expected inspect.break to be a boolean, got ${describeValue(waits)}`);
  }
  if (port === undefined) return () => ({ port: 0, break: waits });
  if (!Number.isInteger(port) || port < 1 || port + count - 1 > maxPort) {
    const expected = `inspect.port from 1 to ${maxPort - count + 1} for ${count} processes`;
    throw new RangeError(`cannot spawn procs: expected ${expected}, got ${describeValue(port)}`);
  }
  return (rank) => ({ port: port + rank, break: waits });
}

/** Returns options of Node.js that start the debugger, too. It accepts connections from its own machine only. */
export function withInspector(execArgv: readonly string[], inspect: InspectedPort | undefined): readonly string[] {
  if (inspect === undefined) return execArgv;
  return [...execArgv, `--inspect${inspect.break ? "-brk" : ""}=127.0.0.1:${inspect.port}`];
}
