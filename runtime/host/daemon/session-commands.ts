/** The commands that a driver runs on a host. They end with the session of the driver at the latest. */
import type { CommandEvent, CommandOrder, SeenFile } from "../../../generated/host-agent.js";
import type { RunningCommand } from "./run-command.js";

/** The machine of a host, on which a driver runs commands beside its processes. */
export interface Machine {
  /** Starts a command, which ends when the signal is aborted. */
  readonly execute: (order: CommandOrder, signal: AbortSignal) => RunningCommand;
  /** Returns a TCP port that no process listens on. */
  readonly freePort: () => Promise<number>;
  /** Returns whether the machine has the same file at the same path, on a file system that it shares with the driver. */
  readonly hasFile: (file: SeenFile) => boolean;
}

export class SessionCommands {
  readonly #machine: Machine;
  readonly #running = new Set<RunningCommand>();
  readonly #byId = new Map<bigint, RunningCommand>();
  readonly #ending = new AbortController();

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  freePort(): Promise<number> {
    return this.#machine.freePort();
  }

  hasFile(file: SeenFile): boolean {
    return this.#machine.hasFile(file);
  }

  start(order: CommandOrder, signal: AbortSignal): AsyncIterable<CommandEvent> {
    const command = this.#machine.execute(order, AbortSignal.any([signal, this.#ending.signal]));
    const { id } = order;
    this.#running.add(command);
    if (id !== undefined) this.#byId.set(id, command);
    void command.exited.then(() => {
      this.#running.delete(command);
      if (id !== undefined) this.#byId.delete(id);
    });
    return command.events;
  }

  /** Ends one command. Its events go on until it has ended. @param grace time in ms between SIGTERM and SIGKILL */
  end(id: bigint, grace: number): void {
    this.#byId.get(id)?.end(grace);
  }

  /** Ends all commands. Resolves when they have ended. */
  async endAll(): Promise<void> {
    this.#ending.abort();
    await Promise.all([...this.#running].map(({ exited }) => exited));
  }
}
