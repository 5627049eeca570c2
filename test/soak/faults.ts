/** Chooses the faults of a soak and their times from a seed. */
import type { Network } from "../host/make-proxy.js";

/** The targets of faults. */
export interface Victims {
  /** Returns the processes of the host `shaky`. */
  procs(): readonly number[];
  /** Returns the processes of the program that may be paused. */
  stoppable(): readonly number[];
  /** Returns the process that watches hosts for the driver. */
  watcher(): number | undefined;
  readonly networks: readonly Network[];
  order(text: "fail" | "exit"): void;
  /** Kills the daemon, and starts another one when all its processes have ended. */
  respawn(): Promise<void>;
}

const kinds = {
  "kill a process": 4,
  "stop a process": 3,
  "cut connections": 5,
  "hold the network": 3,
  "fail an actor": 3,
  "end a process": 2,
  "kill the watcher": 1,
  "kill a host": 2,
} as const;
export type FaultKind = keyof typeof kinds;
export const faultKinds = Object.entries(kinds).flatMap(([kind, times]) =>
  Array<FaultKind>(times).fill(kind as FaultKind),
);

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Causes a fault, and resolves when it is over. */
export async function strike(kind: FaultKind, victims: Victims, random: () => number): Promise<void> {
  const pick = <T>(among: readonly T[]): T | undefined => among[Math.floor(random() * among.length)];
  switch (kind) {
    case "kill a process":
      return signal(pick(victims.procs()), "SIGKILL");
    case "stop a process": {
      const pid = pick(victims.stoppable());
      signal(pid, "SIGSTOP");
      await pause(300 + 1500 * random());
      return signal(pid, "SIGCONT");
    }
    case "cut connections":
      for (let i = 0; i <= 3 * random(); i++) {
        pick(victims.networks)?.cut();
        await pause(200 * random());
      }
      return;
    case "hold the network": {
      const network = pick(victims.networks);
      network?.freeze();
      await pause(300 + 1200 * random());
      network?.thaw();
      return;
    }
    case "fail an actor":
      return victims.order("fail");
    case "end a process":
      return victims.order("exit");
    case "kill the watcher":
      return signal(victims.watcher(), "SIGKILL");
    case "kill a host":
      return victims.respawn();
  }
}

function signal(pid: number | undefined, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, name);
  } catch {
    // The process has ended meanwhile.
  }
}
