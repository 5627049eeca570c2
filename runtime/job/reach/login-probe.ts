/**
 * Asks the login node whether hosts accept connections, where this machine does not reach them itself. All hosts that are asked at
 * the same time share one command.
 */
import type { AskedHost } from "./answering-hosts.js";
import type { LoginCommands } from "./login-commands.js";

/** The largest number of hosts that one command asks. */
const batchSize = 64;

/** Time in seconds for a host to answer. A node that is starting may swallow the first packets. */
const attemptSeconds = 2;

/** Connects to each of its arguments, all at the same time, and prints for each whether it has answered, or why not. */
const script = `for at; do
  if said=$(timeout ${attemptSeconds} bash -c 'exec 3<> "/dev/tcp/$1/$2"' bash "\${at%:*}" "\${at##*:}" 2>&1)
  then echo "$at answers"
  else code=$?; said=\${said##*: }; [ $code -ne 124 ] || said="no answer within ${attemptSeconds * 1000} ms"; echo "$at fails: $said"
  fi &
done
wait`;

interface Question {
  readonly at: string;
  readonly answered: () => void;
  readonly failed: (reason: Error) => void;
}

export class LoginProbe {
  readonly #commands: LoginCommands;
  #questions: Question[] = [];
  #isAsking = false;

  constructor(commands: LoginCommands) {
    this.#commands = commands;
  }

  /** Resolves if a host accepts a connection. @throws Error with the reason if it does not, or the login node cannot be asked */
  ask({ node, port }: AskedHost): Promise<void> {
    return new Promise((answered, failed) => {
      this.#questions.push({ at: `${node}:${port}`, answered, failed });
      if (!this.#isAsking) void this.#askAll();
    });
  }

  async #askAll(): Promise<void> {
    this.#isAsking = true;
    // Hosts that are asked in this turn of the event loop belong to the first command.
    await Promise.resolve();
    while (this.#questions.length > 0) await this.#askSome(this.#questions.splice(0, batchSize));
    this.#isAsking = false;
  }

  async #askSome(questions: readonly Question[]): Promise<void> {
    try {
      const said = await this.#commands.run(["bash", "-c", script, "bash", ...questions.map(({ at }) => at)]);
      const answers = new Map(
        [...said.matchAll(/^(\S+:\d+) (?:answers|fails: (.*))$/gm)].map(([, at, reason]) => [at, reason] as const),
      );
      for (const { at, answered, failed } of questions) {
        const reason = answers.has(at) ? answers.get(at) : "the login node does not say whether it answers";
        if (reason === undefined) answered();
        else failed(new Error(reason));
      }
    } catch (error) {
      for (const { failed } of questions) failed(error as Error);
    }
  }
}
