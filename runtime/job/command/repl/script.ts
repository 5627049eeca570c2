/**
 * A script that is piped into the prompt of a job: its lines are evaluated one after the other, as at the prompt, and the
 * first error ends it.
 */
import { createInterface } from "node:readline";
import { type REPLServer, Recoverable, start } from "node:repl";
import { PassThrough, Writable } from "node:stream";
import { inspect } from "node:util";
import type { CommandOutput } from "../command-options.js";
import { defineNames, type PromptNames } from "./names.js";

/** Exit codes. */
const done = 0;
const failed = 1;

/** Evaluates the script, and prints the results that are not undefined. Resolves with the exit code. */
export async function runScript(
  names: PromptNames,
  script: NodeJS.ReadableStream,
  output: CommandOutput,
): Promise<number> {
  const aside = errorsAside(output);
  // It is given no lines, because it would begin with a line while the previous one awaits something.
  const server = start({ prompt: "", input: new PassThrough(), output: aside.printer, terminal: false });
  defineNames(server.context, names);
  server.context["console"] = console;
  const evaluated = evaluateLines(server, script, output);
  return Promise.race([evaluated, aside.failed.then(() => failed)]);
}

/** Takes what the prompt prints by itself, which are errors that nothing has caught, such as those of timers. */
function errorsAside(output: CommandOutput): { readonly printer: Writable; readonly failed: Promise<void> } {
  let fail = () => {};
  const failing = new Promise<void>((resolve) => {
    fail = resolve;
  });
  const printer = new Writable({
    write(chunk, _, written) {
      const text = String(chunk).trimEnd();
      if (text !== "") {
        output.err(text);
        fail();
      }
      written();
    },
  });
  return { printer, failed: failing };
}

async function evaluateLines(
  server: REPLServer,
  script: NodeJS.ReadableStream,
  output: CommandOutput,
): Promise<number> {
  /** The lines of an expression that goes on. */
  let begun = "";
  let unfinished: Error | undefined;
  for await (const line of createInterface({ input: script })) {
    if (begun === "" && line.trim() === ".exit") return done;
    const code = `${begun}${line}\n`;
    if (code.trim() === "") continue;
    try {
      const { value } = await evaluate(server, code);
      if (value !== undefined) output.out(inspect(value));
      begun = "";
      unfinished = undefined;
    } catch (error) {
      if (!(error instanceof Recoverable)) return printError(error, output);
      begun = code;
      unfinished = error.err;
    }
  }
  return unfinished === undefined ? done : printError(unfinished, output);
}

/** Evaluates an expression. The value may be a promise, which is not awaited. @throws Recoverable if more lines must follow */
function evaluate(server: REPLServer, code: string): Promise<{ readonly value: unknown }> {
  return new Promise((resolve, reject) => {
    server.eval(code, server.context, "script", (error, value) => {
      if (error === null) resolve({ value });
      else reject(error);
    });
  });
}

function printError(error: unknown, output: CommandOutput): number {
  output.err(`Uncaught ${inspect(error)}`);
  return failed;
}
