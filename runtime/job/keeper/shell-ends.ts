/** Ends the processes of a job by the shell alone: for programs that must act when the Node.js beside them was killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { markVariable } from "./marked-processes.js";

/** Lines of the POSIX shell that end all processes whose mark (marked-processes.ts) is the argument `$2`. */
export const endMarkedLines = `
for signal in TERM KILL; do
  for process in /proc/[0-9]*; do
    pid=\${process#/proc/}
    if [ "$pid" != $$ ] && tr '\\0' '\\n' < "$process/environ" | grep -qx "${markVariable}=$2"; then
      kill -s "$signal" "$pid"
    fi
  done
  sleep 1
done`;

/**
 * Returns a command that prints a line for each process with a mark. Its exit code tells nothing: some processes cannot be read.
 * @param variable the environment variable of the mark
 * @param value its value, as the shell reads it between double quotes
 */
export function findMarked(variable: string, value: string): string {
  return `grep -lzxF "${variable}=${value}" /proc/[0-9]*/environ 2> /dev/null`;
}

/** Returns lines of the POSIX shell that kill all processes with a mark at once. See {@link findMarked}. */
export function killMarkedLines(variable: string, value: string): string {
  return `for file in $(${findMarked(variable, value)}); do
  pid=\${file#/proc/}
  kill -KILL "\${pid%/environ}" 2> /dev/null
done
`;
}

/**
 * Starts a shell that ends all processes with a mark when this process ends in any way. Standard input of the shell then
 * ends.
 * @returns the shell, which has no mark itself; whoever ends it calls the guard off
 */
export function guardMarked(id: string): ChildProcess {
  const script = `read -r end\n${endMarkedLines}`;
  const guard = spawn("/bin/sh", ["-c", script, "sh", "", id], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  // Without a guard, the processes stay until the job is killed.
  guard.on("error", () => {});
  return guard;
}
