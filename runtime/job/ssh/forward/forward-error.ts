/** Says why a connection through `ssh -W` has ended: in the words of `ssh`, and with what a user can do about it. */
import { causeOf } from "../end-advice.js";
import type { ForwardTarget } from "../ssh-command.js";
import type { ChildEnd } from "./child-pipe.js";

/** The number of lines of ssh that an error contains, the last ones. Servers greet in lines before. */
const shownLines = 4;

/** The line with which ssh says that the server has not connected it. */
const notOpened = /^channel \d+: open failed: /;

/** The code of connections that end before they are used, after which another attempt may succeed. */
const transientCode = "ECONNRESET";

/** The checks whose failure stays until somebody does something about it. */
const lastingChecks = new Set(["key", "login"]);

/** Returns the error of a connection; undefined if it was closed in order. */
export function forwardError(target: ForwardTarget, end: ChildEnd): Error | undefined {
  if (end.code === 0) return undefined;
  const { machine, host, port } = target;
  const name = JSON.stringify(machine);
  const why = wordsOf(end);
  // The words of a jump host before the machine, after which ssh cannot talk to the machine.
  const isBefore = /exchange_identification: |UNKNOWN port/.test(why);
  if (!isBefore && /open failed: administratively prohibited/.test(why)) {
    return new Error(
      `ssh cannot connect to anything through ${name}: ${why}; the server of ssh there must allow "AllowTcpForwarding yes", and ` +
        "no PermitOpen may exclude the hosts of the job",
    );
  }
  if (!isBefore && /open failed: /.test(why)) {
    const text = `ssh cannot connect to ${host}:${port} through ${name}: ${why}; see whether something listens there, and whether ${name} reaches it`;
    return Object.assign(new Error(text), { code: transientCode });
  }
  const cause = end.signal === null ? causeOf(why, machine) : undefined;
  const advice = cause === undefined ? "" : `; ${cause.advice}`;
  const error = new Error(`the connection of ssh to ${name} has failed: ${why}${advice}`);
  return lastingChecks.has(cause?.check ?? "") ? error : Object.assign(error, { code: transientCode });
}

function wordsOf({ code, signal, said }: ChildEnd): string {
  if (signal !== null) return `ssh was ended by ${signal}`;
  const lines = said
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const first = lines.findIndex((line) => notOpened.test(line));
  const own = first === -1 ? lines : lines.slice(first);
  return own.length === 0 ? `ssh has ended with exit code ${code}` : own.slice(-shownLines).join("; ");
}
