/** Runs the command of a job in its pod. What it prints is what the pod prints. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { batchVariable, notStarted, recordFileOf } from "../../../batch/client.js";
import { type CommandOrder, failureMark, orderVariable } from "../command-order.js";
import { linkPrograms } from "./link-programs.js";

/** The variables that belong to the daemon of the pod. */
const ownVariables = [orderVariable, "VICEROY_JOB_MESH", "VICEROY_JOB_RANK", "VICEROY_HOST_GRACE", "VICEROY_HOST_IDLE"];

/**
 * @param folder the folder of the run
 * @param ending aborted when the pod is told to end; the command gets SIGTERM then
 * @returns the exit code, or 128 plus the number of the signal that has ended the command
 */
export async function runCommand(order: CommandOrder, folder: string, ending: AbortSignal): Promise<number> {
  const { command, cwd } = order;
  const inherited = Object.entries(process.env).filter(([name]) => !ownVariables.includes(name));
  const env = { ...Object.fromEntries(inherited), ...order.env, [batchVariable]: recordFileOf(folder) };
  if (!existsSync(cwd)) return refuse(command, `there is no folder ${cwd} in its pod`);
  linkPrograms(cwd);
  const [file, ...args] = command;
  const child = spawn(file!, args, { cwd, env, stdio: ["ignore", "inherit", "inherit"] });
  const tell = () => child.kill("SIGTERM");
  if (ending.aborted) tell();
  ending.addEventListener("abort", tell);
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals];
    return code ?? 128 + constants.signals[signal];
  } catch (error) {
    return refuse(command, `${(error as Error).message} in ${cwd} of its pod`);
  }
}

function refuse(command: readonly string[], why: string): number {
  const { exitCode, error } = notStarted(command, why);
  process.stderr.write(`${failureMark}${error}\n`);
  return exitCode;
}
