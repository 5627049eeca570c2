/**
 * Compiles many projects in one process. A command of its own for each would load the type checker, and read the
 * declarations of the language, as often as there are projects.
 */
import { fork } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./program.js";

const program = fileURLToPath(new URL("compile-projects.mjs", import.meta.url));
const commands = path.join(root, "dist/node_modules/@viceroy/compiler/dist/commands.js");

export class CompilerProcess {
  readonly #child;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  /** @param env on top of the environment of this process */
  constructor(env: Readonly<Record<string, string>>) {
    this.#child = fork(program, [commands], { execArgv: [], env: { ...process.env, ...env } });
    this.#child.on("message", ({ id, complaint }: { readonly id: number; readonly complaint: string }) => {
      this.#waiting.get(id)?.resolve(complaint);
      this.#waiting.delete(id);
    });
    this.#child.once("exit", (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the compiler has ended: ${signal ?? code}`));
    });
  }

  /** Compiles the project of a folder. Returns what is printed if the compiler refuses it, and otherwise nothing. */
  compile(folder: string): Promise<string> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, folder });
    });
  }

  end(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}

interface Waiting {
  resolve(complaint: string): void;
  reject(error: Error): void;
}
