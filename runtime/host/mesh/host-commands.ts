/** Commands on one host of a mesh, which are not processes of Viceroy. */
import type { CommandEvent, CommandOrder } from "../../../generated/host-agent.js";
import type { AttachedHost } from "../attached/attached-host.js";
import { makeMachine } from "../daemon/node-machine.js";
import { SessionCommands } from "../daemon/session-commands.js";

/** A host, as a program uses it to run commands beside its processes. */
export interface HostCommands {
  /** The name or the IP address by which other hosts reach the host; undefined for a host that only this machine reaches. */
  readonly address: string | undefined;
  /**
   * The wait for the host, if it was lost and may come back: it resolves when commands can be started there again, by
   * commands that are asked for then, and rejects with the reason if the host does not come back.
   */
  readonly comeback: Promise<void> | undefined;
  /** Runs a command. It is ended when the reader leaves, or the signal is aborted. */
  start(order: CommandOrder, signal: AbortSignal): AsyncIterable<CommandEvent>;
  /** Ends a command by the id of its order. Its events go on until it has ended. @param grace ms between SIGTERM and SIGKILL */
  end(id: bigint, grace: number): void;
  /** Returns a TCP port that no process of the host listens on. */
  freePort(): Promise<number>;
}

let own: SessionCommands | undefined;

/** Returns the commands of this machine. They end with this process. */
export function ownCommands(): HostCommands {
  own ??= new SessionCommands(makeMachine());
  const commands = own;
  return {
    address: undefined,
    comeback: undefined,
    start: (order, signal) => commands.start(order, signal),
    end: (id, grace) => commands.end(id, grace),
    freePort: () => commands.freePort(),
  };
}

/** Returns the commands of an attached host. They end when this program leaves the host. */
export function commandsOf(host: AttachedHost): HostCommands {
  const { address } = host.target;
  return {
    address: address.kind === "unix" ? undefined : address.host,
    comeback: host.comeback,
    start: (order, signal) => startOn(host, order, signal),
    end: (id, grace) => void host.ask((agent) => agent.endCommand.broadcast(id, grace)),
    freePort: () => host.ask((agent) => agent.freePort.callOne()),
  };
}

async function* startOn(
  host: AttachedHost,
  order: CommandOrder,
  signal: AbortSignal,
): AsyncGenerator<CommandEvent, void> {
  const events = host.ask((agent) => agent.execute.with({ signal }).stream(order));
  for await (const [, event] of events) yield event;
}
