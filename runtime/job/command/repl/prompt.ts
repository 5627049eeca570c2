/** The prompt of a job at a terminal. */
import { start } from "node:repl";
import { inspect } from "node:util";
import { historyFile } from "./history.js";
import { defineNames, type PromptNames } from "./names.js";

/** Opens the prompt. Resolves with the exit code when the user leaves it. */
export async function runPrompt(names: PromptNames): Promise<number> {
  const prompt = start({
    prompt: "viceroy> ",
    breakEvalOnSigint: true,
    writer: (value: unknown) => inspect(value, { colors: prompt.useColors }),
  });
  defineNames(prompt.context, names);
  const history = historyFile();
  if (history !== undefined) prompt.setupHistory(history, () => {});
  // The user at the prompt decides how to continue after a failure.
  (names.viceroy["onUnhandledFault"] as typeof import("../../../index.js").onUnhandledFault)((failure) => {
    process.stderr.write(`\nunhandled fault: ${failure.report()}\n`);
    prompt.displayPrompt(true);
  });
  await new Promise((left) => prompt.once("exit", left));
  return 0;
}
